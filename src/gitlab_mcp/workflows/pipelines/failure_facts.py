"""Reads from GitLab why a pipeline failed: jobs, logs, tests, downstream pipelines and the default branch."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from gitlab_mcp.actions.action import fill
from gitlab_mcp.actions.exchange import GitLab, Request
from gitlab_mcp.actions.server import MayReach
from gitlab_mcp.gitlab.concurrently import all_at_once, concurrently
from gitlab_mcp.gitlab.faults import FAULTS
from gitlab_mcp.gitlab.paging import every_page, has_next_page, items_of
from gitlab_mcp.results.job_logs import LogWindow, read_log
from gitlab_mcp.workflows.pipelines.culprits import History, read_culprits, read_history, suspects
from gitlab_mcp.workflows.pipelines.waiting import UNDER_WAY

MOST_LOGS = 8
TAIL_LINES = 12
"""Lines from the end of each log."""
DEEPEST_DOWNSTREAM = 2
"""How many levels of downstream pipelines are read."""
_FINISHED = ("success", "failed")

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class JobLog:
    job: Json
    window: LogWindow | None
    """None when it could not be read."""


@dataclass(frozen=True, slots=True)
class PipelineFacts:
    pipeline: Json
    jobs: Sequence[Json]
    """The failed ones of a failed pipeline, else all of them, retried ones too."""
    bridges: Sequence[Json] = ()
    test_report: Json | None = None
    logs: Sequence[JobLog] = ()
    downstream: Sequence[PipelineFacts] = ()
    """The failed pipelines that its bridges started."""


@dataclass(frozen=True, slots=True)
class DefaultBranch:
    name: str
    pipelines: Sequence[Json]
    """The newest first."""
    failed_jobs: Sequence[Json] = ()
    """Of its newest finished pipeline, if that failed."""

    @property
    def newest_finished(self) -> Json | None:
        return next((each for each in self.pipelines if each["status"] in _FINISHED), None)


@dataclass(frozen=True, slots=True)
class FailureFacts:
    top: PipelineFacts
    """Of the pipeline that was asked about."""
    default_branch: DefaultBranch | None = None
    culprits: Sequence[Json] = ()
    """What broke its failed jobs, as far as its ref was green before."""
    flaky_before: Mapping[str, int] = field(default_factory=dict)
    """Of its failed jobs, those that needed a second try lately, each with the pipeline."""
    earlier_without_green: int = 0
    """How many earlier pipelines of its ref were looked at, where none of them was green."""
    newer: Json | None = None
    """A pipeline of its ref that is newer and has not ended."""
    unread: Sequence[str] = ()
    """What could not be read."""
    skipped_logs: int = 0
    """How many logs of failed jobs were not read, because of `MOST_LOGS`."""


async def read_failure_facts(
    gitlab: GitLab,
    may_reach: MayReach,
    project: str | int,
    pipeline: Json,
    on_ref: Sequence[Json] | None = None,
) -> FailureFacts:
    """`pipeline` is GitLab's answer for one; `project` is how the caller names its project; `on_ref` are the newest
    pipelines of its ref, where they are read already."""
    reader = _Reader(gitlab, may_reach, {pipeline["project_id"]: project})
    first: list[Callable[[], Awaitable[Any]]] = [
        partial(reader.jobs_of, pipeline),
        partial(reader.default_branch_name, pipeline),
        partial(reader.before, pipeline, on_ref),
    ]
    jobs, name, before = await all_at_once(first)
    failed = [job["name"] for job in failed_jobs(jobs.jobs) if not job.get("allow_failure")]
    then: list[Callable[[], Awaitable[Any]]] = [
        partial(reader.in_depth, pipeline, jobs, depth=0),
        partial(reader.default_branch, pipeline, name, before.on_ref),
        partial(reader.blamed, pipeline, failed, before),
    ]
    top, branch, blamed = await all_at_once(then)
    on_ref, history = before.on_ref or (), blamed.history
    earlier = [each for each in on_ref if each["id"] < pipeline["id"]]
    return FailureFacts(
        top,
        branch,
        blamed.culprits,
        {name: history.flaky[name] for name in failed if name in history.flaky},
        0 if history.last_green else len(earlier),
        next((each for each in on_ref if each["id"] > pipeline["id"] and _is_under_way(each)), None),
        tuple(reader.unread),
        reader.skipped_logs,
    )


async def read_failure_log(gitlab: GitLab, project: str | int, job_id: int) -> LogWindow:
    """The lines around the error, and the end of the log."""
    path = fill("/projects/{project}/jobs/{job}/trace", project=project, job=job_id)
    return await gitlab.stream(
        Request("GET", path), lambda chunks, _: read_log(chunks, tail=TAIL_LINES, find_error=True)
    )


def failed_jobs(jobs: Iterable[Json]) -> list[Json]:
    """The failed jobs that were not retried since; those that are allowed to fail come last."""
    newest: dict[str, int] = {}
    for job in jobs:
        newest[job["name"]] = max(job["id"], newest.get(job["name"], 0))
    failed = [job for job in jobs if job["status"] == "failed" and newest[job["name"]] == job["id"]]
    return sorted(failed, key=lambda job: (bool(job.get("allow_failure")), job["id"]))


@dataclass(frozen=True, slots=True)
class _Jobs:
    """What a pipeline consists of."""

    jobs: Sequence[Json]
    bridges: Sequence[Json]
    has_failed_tests: bool


@dataclass(frozen=True, slots=True)
class _Before:
    """The newest pipelines of the ref of a pipeline; None where they could not be read."""

    on_ref: Sequence[Json] | None
    history: History | None = None
    """None where it is still to be read."""


@dataclass(frozen=True, slots=True)
class _Blamed:
    history: History
    culprits: Sequence[Json]


def _has_history(pipeline: Json) -> bool:
    """Whether earlier pipelines of its ref say what broke it: not of a tag, and not of a merge request, which is itself
    what changed."""
    on_branch = not pipeline.get("tag") and not str(pipeline.get("ref", "")).startswith("refs/")
    return on_branch and pipeline["status"] == "failed"


def _is_under_way(pipeline: Json) -> bool:
    return pipeline["status"] in UNDER_WAY


class _Reader:
    """Reads pipelines, and holds what is counted across all of them."""

    def __init__(self, gitlab: GitLab, may_reach: MayReach, project_names: Mapping[int, str | int]) -> None:
        self.gitlab = gitlab
        self.may_reach = may_reach
        self.project_names = project_names
        self.unread: list[str] = []
        self.skipped_logs = 0
        self._logs_left = MOST_LOGS

    async def jobs_of(self, pipeline: Json) -> _Jobs:
        of = f" of pipeline {pipeline['id']}"
        # A failed pipeline may have hundreds of jobs that did not fail. Of others one wants to see what they
        # wait for, and which jobs needed a second try.
        which: dict[str, Any] = (
            {"scope": ["failed"]} if pipeline["status"] == "failed" else {"include_retried": True}
        )
        jobs, bridges, summary = await self._read_all(
            (f"jobs{of}", lambda: every_page(self.gitlab, self._path(pipeline, "/jobs"), **which)),
            (f"bridges{of}", lambda: every_page(self.gitlab, self._path(pipeline, "/bridges"))),
            (f"tests{of}", lambda: self.gitlab.get(self._path(pipeline, "/test_report_summary"))),
        )
        self.unread += [
            f"the rest of the {what}{of}"
            for what, list_ in (("jobs", jobs), ("bridges", bridges))
            if list_ and has_next_page(list_)
        ]
        total = (summary.body if summary else {}).get("total") or {}
        return _Jobs(
            jobs.body if jobs else [],
            bridges.body if bridges else [],
            bool(total.get("failed") or total.get("error") or total.get("suite_error")),
        )

    async def in_depth(self, pipeline: Json, of: _Jobs, depth: int) -> PipelineFacts:
        jobs, bridges = of.jobs, of.bridges
        logged = self._choose_logs(failed_jobs(jobs))
        started = [
            bridge["downstream_pipeline"]
            for bridge in bridges
            if depth < DEEPEST_DOWNSTREAM
            and bridge["status"] == "failed"
            and bridge.get("downstream_pipeline")
        ]
        asks: list[tuple[str, Callable[[], Awaitable[Any]]]] = [
            (f"log of job {job['id']}", lambda job=job: self._log(pipeline, job))  # type: ignore[misc]
            for job in logged
        ]
        asks += [
            (f"pipeline {each['id']}", lambda each=each: self._downstream(each, depth + 1))  # type: ignore[misc]
            for each in started
        ]
        if of.has_failed_tests:
            report = self._path(pipeline, "/test_report")
            asks.append((f"test report of pipeline {pipeline['id']}", lambda: self.gitlab.get(report)))
        answers = await self._read_all(*asks)
        downstream = answers[len(logged) : len(logged) + len(started)]
        reports = answers[len(logged) + len(started) :]
        return PipelineFacts(
            pipeline,
            jobs,
            bridges,
            reports[0].body if reports and reports[0] else None,
            tuple(JobLog(job, window) for job, window in zip(logged, answers, strict=False)),
            tuple(each for each in downstream if each),
        )

    async def default_branch_name(self, pipeline: Json) -> str | None:
        path = fill("/projects/{project}", project=self._project(pipeline))
        (project,) = await self._read_all(("default branch", lambda: self.gitlab.get(path)))
        name = (project.body if project else {}).get("default_branch")
        return str(name) if name else None

    async def before(self, pipeline: Json, on_ref: Sequence[Json] | None) -> _Before:
        """What came before the pipeline on its own ref, as far as one look tells."""
        if not _has_history(pipeline):
            return _Before((), History())
        if on_ref is not None:
            return _Before(on_ref, await self._history(pipeline, on_ref))
        ref = pipeline.get("ref")
        (on_ref,) = await self._read_all(
            ("earlier pipelines of the ref", partial(self._pipelines_of, pipeline, ref))
        )
        return _Before(on_ref)

    async def _history(self, pipeline: Json, on_ref: Sequence[Json]) -> History:
        history = await read_history(self.gitlab, self._project(pipeline), pipeline, on_ref)
        self.unread += history.unread
        return history

    async def blamed(self, pipeline: Json, failed: Sequence[str], before: _Before) -> _Blamed:
        history = before.history or await self._history(pipeline, before.on_ref or ())
        suspected = suspects(pipeline, failed, history)
        culprits, unread = await read_culprits(self.gitlab, self._project(pipeline), suspected)
        self.unread += unread
        return _Blamed(history, culprits)

    async def default_branch(
        self, pipeline: Json, name: str | None, on_ref: Sequence[Json] | None
    ) -> DefaultBranch | None:
        """The default branch with the jobs that fail there, where they are not those of the pipeline itself."""
        pipelines = on_ref
        if name != pipeline.get("ref") or not _has_history(pipeline):
            (pipelines,) = await self._read_all(
                ("pipelines of the default branch", partial(self._pipelines_of, pipeline, name))
            )
        if name is None or pipelines is None:
            return None
        branch = DefaultBranch(name, pipelines)
        newest = branch.newest_finished
        if newest is None or newest["status"] == "success" or newest["id"] == pipeline["id"]:
            return branch
        (jobs,) = await self._read_all(
            (
                f"jobs of pipeline {newest['id']}",
                lambda: every_page(self.gitlab, self._path(newest, "/jobs"), scope=["failed"]),
            )
        )
        return replace(branch, failed_jobs=jobs.body) if jobs else branch

    async def _pipelines_of(self, pipeline: Json, ref: str | None) -> Sequence[Json]:
        if ref is None:
            return ()
        path = fill("/projects/{project}/pipelines", project=self._project(pipeline))
        return items_of(await self.gitlab.get(path, ref=ref), "pipelines")

    async def _downstream(self, started: Json, depth: int) -> PipelineFacts | None:
        project_id = started["project_id"]
        if project_id not in self.project_names and not await self.may_reach(project_id):
            self.unread.append(f"pipeline {started['id']}, of a project that the operator does not allow")
            return None
        pipeline = (await self.gitlab.get(self._path(started))).body
        return await self.in_depth(pipeline, await self.jobs_of(pipeline), depth)

    async def _log(self, pipeline: Json, job: Json) -> LogWindow:
        return await read_failure_log(self.gitlab, self._project(pipeline), job["id"])

    def _choose_logs(self, jobs: Sequence[Json]) -> Sequence[Json]:
        chosen = jobs[: self._logs_left]
        self._logs_left -= len(chosen)
        self.skipped_logs += len(jobs) - len(chosen)
        return chosen

    async def _read_all(self, *asks: tuple[str, Callable[[], Awaitable[Any]]]) -> list[Any]:
        """The answers; None for what could not be read, whose name is kept in `unread`."""
        answers = await concurrently([ask for _, ask in asks])
        self.unread += [
            name for (name, _), answer in zip(asks, answers, strict=True) if isinstance(answer, FAULTS)
        ]
        return [None if isinstance(answer, FAULTS) else answer for answer in answers]

    def _path(self, pipeline: Json, rest: str = "") -> str:
        path = fill("/projects/{project}/pipelines/{id}", project=self._project(pipeline), id=pipeline["id"])
        return path + rest

    def _project(self, pipeline: Json) -> str | int:
        project_id = pipeline["project_id"]
        return self.project_names.get(project_id, project_id)

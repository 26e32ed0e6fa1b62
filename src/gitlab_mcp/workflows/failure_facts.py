"""Reads from GitLab why a pipeline failed: jobs, logs, tests, downstream pipelines and the default branch."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from gitlab_mcp.actions.action import fill
from gitlab_mcp.actions.exchange import GitLab, Request
from gitlab_mcp.gitlab.concurrently import answered, concurrently
from gitlab_mcp.gitlab.faults import FAULTS
from gitlab_mcp.gitlab.paging import every_page, has_next_page, items_of
from gitlab_mcp.results.job_logs import LogWindow, read_log
from gitlab_mcp.workflows.culprits import History, read_culprits, read_history, suspects
from gitlab_mcp.workflows.waiting import UNDER_WAY

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


async def read_failure_facts(gitlab: GitLab, project: str | int, pipeline: Json) -> FailureFacts:
    """`pipeline` is GitLab's answer for one; `project` is how the caller names its project."""
    reader = _Reader(gitlab, {pipeline["project_id"]: project})
    found, around = await concurrently(
        [lambda: reader.pipeline_facts(pipeline, depth=0), lambda: reader.surroundings(pipeline)]
    )
    top = answered(found)
    assert isinstance(top, PipelineFacts) and isinstance(around, _Surroundings)
    failed = [job["name"] for job in failed_jobs(top.jobs) if not job.get("allow_failure")]
    branch, blamed = await concurrently(
        [
            lambda: reader.failing_on(around.default_branch, pipeline),
            lambda: read_culprits(gitlab, project, suspects(pipeline, failed, around.history)),
        ]
    )
    culprits: Sequence[Json] = ()
    if isinstance(blamed, tuple):
        culprits, unread = blamed
        reader.unread += unread
    flaky = around.history.flaky
    return FailureFacts(
        top,
        branch if isinstance(branch, DefaultBranch) else around.default_branch,
        culprits,
        {name: flaky[name] for name in failed if name in flaky},
        around.earlier_without_green,
        around.newer,
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
class _Surroundings:
    default_branch: DefaultBranch | None
    history: History
    earlier_without_green: int
    newer: Json | None


def _has_history(pipeline: Json) -> bool:
    """Whether earlier pipelines of its ref say what broke it: not of a tag, and not of a merge request, which is itself
    what changed."""
    on_branch = not pipeline.get("tag") and not str(pipeline.get("ref", "")).startswith("refs/")
    return on_branch and pipeline["status"] == "failed"


def _is_under_way(pipeline: Json) -> bool:
    return pipeline["status"] in UNDER_WAY


class _Reader:
    """Reads pipelines, and holds what is counted across all of them."""

    def __init__(self, gitlab: GitLab, project_names: Mapping[int, str | int]) -> None:
        self.gitlab = gitlab
        self.project_names = project_names
        self.unread: list[str] = []
        self.skipped_logs = 0
        self._logs_left = MOST_LOGS

    async def pipeline_facts(self, pipeline: Json, depth: int) -> PipelineFacts:
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
        jobs, bridges = jobs.body if jobs else [], bridges.body if bridges else []
        logged = self._choose_logs(failed_jobs(jobs))
        started = [
            bridge["downstream_pipeline"]
            for bridge in bridges
            if depth < DEEPEST_DOWNSTREAM
            and bridge["status"] == "failed"
            and bridge.get("downstream_pipeline")
        ]
        total = (summary.body if summary else {}).get("total") or {}
        asks: list[tuple[str, Callable[[], Awaitable[Any]]]] = [
            (f"log of job {job['id']}", lambda job=job: self._log(pipeline, job))  # type: ignore[misc]
            for job in logged
        ]
        asks += [
            (f"pipeline {each['id']}", lambda each=each: self._downstream(each, depth + 1))  # type: ignore[misc]
            for each in started
        ]
        if total.get("failed") or total.get("error") or total.get("suite_error"):
            report = self._path(pipeline, "/test_report")
            asks.append((f"test report{of}", lambda: self.gitlab.get(report)))
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

    async def surroundings(self, pipeline: Json) -> _Surroundings:
        """The default branch, and what came before the pipeline on its own ref."""
        project_path = fill("/projects/{project}", project=self._project(pipeline))
        ref = pipeline.get("ref") if _has_history(pipeline) else None
        project, own = await self._read_all(
            ("default branch", lambda: self.gitlab.get(project_path)),
            ("earlier pipelines of the ref", partial(self._pipelines_of, project_path, ref)),
        )
        name = (project.body if project else {}).get("default_branch")
        default, history = await self._read_all(
            (
                "pipelines of the default branch",
                partial(self._pipelines_of, project_path, name if name != ref else None),
            ),
            (
                "earlier pipelines of the ref",
                partial(read_history, self.gitlab, self._project(pipeline), pipeline, own or ()),
            ),
        )
        self.unread += history.unread
        on_default = own if name == ref else default
        earlier = [each for each in own or () if each["id"] < pipeline["id"]]
        return _Surroundings(
            DefaultBranch(name, on_default) if name and on_default is not None else None,
            history,
            0 if history.last_green else len(earlier),
            next((each for each in own or () if each["id"] > pipeline["id"] and _is_under_way(each)), None),
        )

    async def _pipelines_of(self, project_path: str, ref: str | None) -> Sequence[Json]:
        if ref is None:
            return ()
        return items_of(await self.gitlab.get(f"{project_path}/pipelines", ref=ref), "pipelines")

    async def failing_on(self, branch: DefaultBranch | None, pipeline: Json) -> DefaultBranch | None:
        """The default branch with the jobs that fail there, where they are not those of the pipeline itself."""
        newest = branch.newest_finished if branch else None
        if (
            branch is None
            or newest is None
            or newest["status"] == "success"
            or newest["id"] == pipeline["id"]
        ):
            return branch
        jobs = await self._read_all(
            (
                f"jobs of pipeline {newest['id']}",
                lambda: every_page(self.gitlab, self._path(newest, "/jobs"), scope=["failed"]),
            )
        )
        return replace(branch, failed_jobs=jobs[0].body) if jobs[0] else branch

    async def _downstream(self, started: Json, depth: int) -> PipelineFacts:
        pipeline = (await self.gitlab.get(self._path(started))).body
        return await self.pipeline_facts(pipeline, depth)

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

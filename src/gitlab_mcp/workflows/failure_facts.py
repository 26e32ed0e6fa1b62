"""Reads from GitLab why a pipeline failed: jobs, logs, tests, downstream pipelines and the default branch."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gitlab_mcp.actions.action import fill
from gitlab_mcp.actions.exchange import GitLab, Request
from gitlab_mcp.gitlab.concurrently import concurrently
from gitlab_mcp.gitlab.faults import FAULTS
from gitlab_mcp.gitlab.paging import every_page, has_next_page
from gitlab_mcp.results.job_logs import LogWindow, read_log

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
    unread: Sequence[str] = ()
    """What could not be read."""
    skipped_logs: int = 0
    """How many logs of failed jobs were not read, because of `MOST_LOGS`."""


async def read_failure_facts(gitlab: GitLab, project: str | int, pipeline: Json) -> FailureFacts:
    """`pipeline` is GitLab's answer for one; `project` is how the caller names its project."""
    reader = _Reader(gitlab, {pipeline["project_id"]: project})
    top, branch = await concurrently(
        [lambda: reader.pipeline_facts(pipeline, depth=0), lambda: reader.default_branch(pipeline)]
    )
    if isinstance(top, FAULTS):
        raise top
    if isinstance(branch, FAULTS):
        reader.unread.append("pipelines of the default branch")
    assert isinstance(top, PipelineFacts)
    return FailureFacts(
        top,
        branch if isinstance(branch, DefaultBranch) else None,
        tuple(reader.unread),
        reader.skipped_logs,
    )


def failed_jobs(jobs: Iterable[Json]) -> list[Json]:
    """The failed jobs that were not retried since; those that are allowed to fail come last."""
    newest: dict[str, int] = {}
    for job in jobs:
        newest[job["name"]] = max(job["id"], newest.get(job["name"], 0))
    failed = [job for job in jobs if job["status"] == "failed" and newest[job["name"]] == job["id"]]
    return sorted(failed, key=lambda job: (bool(job.get("allow_failure")), job["id"]))


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

    async def default_branch(self, pipeline: Json) -> DefaultBranch | None:
        """Its newest pipelines, and the jobs that fail there."""
        project_path = fill("/projects/{project}", project=self._project(pipeline))
        name = (await self.gitlab.get(project_path)).body.get("default_branch")
        if not name:
            return None
        branch = DefaultBranch(name, (await self.gitlab.get(f"{project_path}/pipelines", ref=name)).body)
        newest = branch.newest_finished
        if newest is None or newest["status"] == "success" or newest["id"] == pipeline["id"]:
            return branch
        jobs = await every_page(self.gitlab, self._path(newest, "/jobs"), scope=["failed"])
        return DefaultBranch(name, branch.pipelines, jobs.body)

    async def _downstream(self, started: Json, depth: int) -> PipelineFacts:
        pipeline = (await self.gitlab.get(self._path(started))).body
        return await self.pipeline_facts(pipeline, depth)

    async def _log(self, pipeline: Json, job: Json) -> LogWindow:
        path = fill("/projects/{project}/jobs/{job}/trace", project=self._project(pipeline), job=job["id"])
        return await self.gitlab.stream(
            Request("GET", path), lambda chunks, _: read_log(chunks, tail=TAIL_LINES, find_error=True)
        )

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

"""Why a pipeline failed, asked of GitLab: everything that can be asked at once is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from gitlab_mcp.actions.action import fill
from gitlab_mcp.actions.exchange import GitLab, Request
from gitlab_mcp.gitlab.concurrently import concurrently
from gitlab_mcp.gitlab.faults import FAULTS
from gitlab_mcp.gitlab.pages import every_page, has_next_page
from gitlab_mcp.results.logs import LogWindow, read_log
from gitlab_mcp.workflows.failure_digest import TAIL, DefaultBranch, Evidence, Gathered, JobLog, failed

MOST_LOGS = 8
DEEPEST = 2
"""Pipelines below pipelines."""

Json = Mapping[str, Any]


async def investigate(gitlab: GitLab, project: str | int, pipeline: Json) -> Gathered:
    """`pipeline` is as GitLab answers for one; `project` is how the caller names its project."""
    search = _Investigation(gitlab, {pipeline["project_id"]: project})
    evidence, branch = await concurrently(
        [lambda: search.evidence(pipeline, depth=0), lambda: search.default_branch(pipeline)]
    )
    if isinstance(evidence, FAULTS):
        raise evidence
    if isinstance(branch, FAULTS):
        search.unread.append("pipelines of the default branch")
    assert isinstance(evidence, Evidence)
    return Gathered(
        evidence,
        branch if isinstance(branch, DefaultBranch) else None,
        tuple(search.unread),
        search.more_logs,
    )


class _Investigation:
    """Holds what is counted across the pipelines of one search."""

    def __init__(self, gitlab: GitLab, names: Mapping[int, str | int]) -> None:
        self.gitlab = gitlab
        self.names = names
        self.unread: list[str] = []
        self.more_logs = 0
        self._logs_left = MOST_LOGS

    async def evidence(self, pipeline: Json, depth: int) -> Evidence:
        of = f" of pipeline {pipeline['id']}"
        # A failed pipeline may have hundreds of jobs that did not fail; of others one wants to see what they
        # wait for, and which jobs needed a second try.
        which: dict[str, Any] = (
            {"scope": ["failed"]} if pipeline["status"] == "failed" else {"include_retried": True}
        )
        jobs, bridges, summary = await self._all(
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
        self.gitlab.report(depth + 1, None, f"read the jobs{of}")
        logs = self._worth_reading(failed(jobs))
        started = [each["downstream_pipeline"] for each in bridges if _failed_below(each) and depth < DEEPEST]
        total = (summary.body if summary else {}).get("total") or {}
        asks: list[tuple[str, Callable[[], Awaitable[Any]]]] = [
            (f"log of job {job['id']}", lambda job=job: self._log(pipeline, job))  # type: ignore[misc]
            for job in logs
        ]
        asks += [
            (f"pipeline {each['id']}", lambda each=each: self._below(each, depth + 1))  # type: ignore[misc]
            for each in started
        ]
        if total.get("failed") or total.get("error") or total.get("suite_error"):
            report = self._path(pipeline, "/test_report")
            asks.append((f"test report{of}", lambda: self.gitlab.get(report)))
        found = await self._all(*asks)
        below = found[len(logs) : len(logs) + len(started)]
        tests = found[-1].body if len(found) > len(logs) + len(started) and found[-1] else None
        return Evidence(
            pipeline,
            jobs,
            bridges,
            tests,
            tuple(JobLog(job, window) for job, window in zip(logs, found, strict=False)),
            tuple(each for each in below if each),
        )

    async def default_branch(self, pipeline: Json) -> DefaultBranch | None:
        """What its newest pipelines did, and which jobs fail there too."""
        here = fill("/projects/{project}", project=self._name(pipeline["project_id"]))
        name = (await self.gitlab.get(here)).body.get("default_branch")
        if not name:
            return None
        branch = DefaultBranch(name, (await self.gitlab.get(f"{here}/pipelines", ref=name)).body)
        newest = branch.newest
        if newest is None or newest["status"] == "success" or newest["id"] == pipeline["id"]:
            return branch
        jobs = await every_page(self.gitlab, self._path(newest, "/jobs"), scope=["failed"])
        return DefaultBranch(name, branch.pipelines, jobs.body)

    async def _below(self, started: Json, depth: int) -> Evidence:
        whole = (await self.gitlab.get(self._path(started))).body
        return await self.evidence(whole, depth)

    async def _log(self, pipeline: Json, job: Json) -> LogWindow:
        project = self._name(pipeline["project_id"])
        path = fill("/projects/{project}/jobs/{job}/trace", project=project, job=job["id"])
        return await self.gitlab.stream(
            Request("GET", path), lambda chunks, _: read_log(chunks, tail=TAIL, find_error=True)
        )

    def _worth_reading(self, jobs: Sequence[Json]) -> Sequence[Json]:
        chosen = jobs[: self._logs_left]
        self._logs_left -= len(chosen)
        self.more_logs += len(jobs) - len(chosen)
        return chosen

    async def _all(self, *asks: tuple[str, Callable[[], Awaitable[Any]]]) -> list[Any]:
        """The answers; None for what could not be read, and its name kept."""
        answers = await concurrently([ask for _, ask in asks])
        self.unread += [
            name for (name, _), answer in zip(asks, answers, strict=True) if isinstance(answer, FAULTS)
        ]
        return [None if isinstance(answer, FAULTS) else answer for answer in answers]

    def _path(self, pipeline: Json, below: str = "") -> str:
        project = self._name(pipeline["project_id"])
        return fill("/projects/{project}/pipelines/{id}", project=project, id=pipeline["id"]) + below

    def _name(self, project_id: int) -> str | int:
        return self.names.get(project_id, project_id)


def _failed_below(bridge: Json) -> bool:
    return bridge["status"] == "failed" and bool(bridge.get("downstream_pipeline"))

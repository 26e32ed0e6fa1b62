"""Which commits broke the jobs of a red pipeline: those between the last pipeline of the ref in which a job succeeded
and the first in which it fails since. And which of the jobs needed a second try before, so that no commit need be at
fault.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final

from gitlab_mcp.actions.action import fill
from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.gitlab.concurrently import concurrently
from gitlab_mcp.gitlab.faults import FAULTS
from gitlab_mcp.gitlab.paging import every_page
from gitlab_mcp.results.shown_fields import pick_fields, shown_fields

MOST_PIPELINES: Final = 6
"""How many pipelines are read job by job: the newest red ones before it, and the last green one."""
MOST_CULPRITS: Final = 3
MOST_COMMITS: Final = 5
MOST_MERGE_REQUESTS: Final = 2
"""Of one culprit that are named."""
_FINISHED: Final = ("success", "failed")

_PIPELINE: Final = shown_fields("id sha").in_a_list
_COMMIT: Final = shown_fields("sha=short_id title author=author_name").in_a_list
_MERGE_REQUEST: Final = shown_fields("iid title author=author.username web_url").in_a_list

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class History:
    """What came before a red pipeline on its ref."""

    last_green: Json | None = None
    red: Sequence[Json] = ()
    """The red pipelines between, the newest first."""
    jobs: Mapping[int, Sequence[Json]] = field(default_factory=dict)
    """Of each pipeline that was read, retried ones too."""
    unread: Sequence[str] = ()

    @property
    def flaky(self) -> Mapping[str, int]:
        """Jobs that failed and succeeded in one pipeline, each with the newest such pipeline."""
        found: dict[str, int] = {}
        for pipeline_id in sorted(self.jobs, reverse=True):
            jobs = self.jobs[pipeline_id]
            green = {job["name"] for job in jobs if job["status"] == "success"}
            for job in jobs:
                if job["status"] == "failed" and job["name"] in green:
                    found.setdefault(job["name"], pipeline_id)
        return found


@dataclass(frozen=True, slots=True)
class Suspect:
    """The first pipeline in which some jobs fail, and the last in which they did not."""

    first_red: Json
    last_good: Json
    jobs: Sequence[str]


async def read_history(gitlab: GitLab, project: str | int, pipeline: Json, on_ref: Sequence[Json]) -> History:
    """`on_ref` are the newest pipelines of its ref, the newest first."""
    earlier = [each for each in on_ref if each["id"] < pipeline["id"] and each["status"] in _FINISHED]
    last_green = next((each for each in earlier if each["status"] == "success"), None)
    if last_green is None:
        return History()
    red = [each for each in earlier if each["id"] > last_green["id"]]
    asked = [*red[: MOST_PIPELINES - 1], last_green]
    answers = await concurrently([partial(_jobs, gitlab, project, each["id"]) for each in asked])
    jobs = {
        each["id"]: answer.body
        for each, answer in zip(asked, answers, strict=True)
        if isinstance(answer, Answer)
    }
    unread = [f"jobs of pipeline {each['id']}" for each in asked if each["id"] not in jobs]
    return History(last_green, red, jobs, unread)


async def _jobs(gitlab: GitLab, project: str | int, pipeline_id: int) -> Answer:
    path = fill("/projects/{project}/pipelines/{id}/jobs", project=project, id=pipeline_id)
    return await every_page(gitlab, path, include_retried=True)


def suspects(pipeline: Json, failed: Sequence[str], history: History) -> list[Suspect]:
    """By the jobs that fail in the pipeline. A job that did not run in one says nothing of its commits."""
    if history.last_green is None:
        return []
    if not failed:
        # It failed in a pipeline that it started.
        return [Suspect([pipeline, *history.red][-1], history.last_green, ())]
    found: dict[tuple[int, int], list[str]] = {}
    by_id = {each["id"]: each for each in (pipeline, *history.red, history.last_green)}
    for name in dict.fromkeys(failed):
        first_red, last_good = pipeline["id"], history.last_green["id"]
        for each in history.red:
            status = _status(history.jobs.get(each["id"], ()), name)
            if status == "success":
                last_good = each["id"]
                break
            if status == "failed":
                first_red = each["id"]
        found.setdefault((first_red, last_good), []).append(name)
    return [Suspect(by_id[red], by_id[good], names) for (red, good), names in sorted(found.items())]


def _status(jobs: Sequence[Json], name: str) -> str | None:
    """Of the newest job of this name."""
    same = [job for job in jobs if job["name"] == name]
    return str(max(same, key=lambda job: int(job["id"]))["status"]) if same else None


async def read_culprits(
    gitlab: GitLab, project: str | int, found: Sequence[Suspect]
) -> tuple[list[dict[str, Any]], list[str]]:
    """What a person is told of each, and what could not be read."""
    asked = found[:MOST_CULPRITS]
    asks: list[Callable[[], Awaitable[Answer]]] = []
    for each in asked:
        path = fill("/projects/{project}/repository/commits", project=project)
        asks.append(partial(_commits, gitlab, path, each.last_good["sha"], each.first_red["sha"]))
        asks.append(partial(gitlab.get, f"{path}/{each.first_red['sha']}/merge_requests"))
    answers = await concurrently(asks)
    told, unread = [], []
    for index, each in enumerate(asked):
        commits_answer, requests_answer = answers[2 * index : 2 * index + 2]
        told.append(_culprit(each, commits_answer, requests_answer))
        if isinstance(commits_answer, FAULTS) and each.first_red["sha"] != each.last_good["sha"]:
            unread.append(f"commits of pipeline {each.first_red['id']}")
        if isinstance(requests_answer, FAULTS):
            unread.append(f"merge requests of pipeline {each.first_red['id']}")
    return told, unread


async def _commits(gitlab: GitLab, path: str, good: str, bad: str) -> Answer:
    """Those between, the newest first. Where the good one is gone, pushed over, the bad one alone."""
    try:
        return await gitlab.get(path, ref_name=f"{good}..{bad}")
    except FAULTS:
        answer = await gitlab.get(f"{path}/{bad}")
        return replace(answer, body=[answer.body])


def _culprit(suspect: Suspect, commits: object, requests: object) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "jobs": list(suspect.jobs),
        "first_red": pick_fields(suspect.first_red, _PIPELINE),
        "last_good": pick_fields(suspect.last_good, _PIPELINE),
    }
    if suspect.first_red["sha"] == suspect.last_good["sha"]:
        return {**shown, "means": "The same commit was green before: no commit is at fault."}
    if isinstance(commits, Answer):
        shown["commits"] = [pick_fields(each, _COMMIT) for each in commits.body[:MOST_COMMITS]]
        if len(commits.body) > MOST_COMMITS:
            shown["more_commits"] = "browse_commits list, ref_name=LAST_GOOD_SHA..FIRST_RED_SHA"
    if isinstance(requests, Answer):
        # An open one may hold the commit, too, and has brought nothing here.
        merged = [each for each in requests.body if each.get("state") == "merged"]
        shown["merge_requests"] = [pick_fields(each, _MERGE_REQUEST) for each in merged[:MOST_MERGE_REQUESTS]]
    return {name: value for name, value in shown.items() if value}

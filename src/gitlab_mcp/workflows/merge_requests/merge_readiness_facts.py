"""Reads from GitLab what stands between a merge request and its merge."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gitlab_mcp.actions.action import fill
from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.actions.server import MayReach
from gitlab_mcp.gitlab.concurrently import concurrently, unread
from gitlab_mcp.gitlab.faults import FAULTS
from gitlab_mcp.gitlab.merge_checks import read_merge_checks, read_once_checked
from gitlab_mcp.gitlab.paging import every_page, items_if_read
from gitlab_mcp.workflows.merge_requests.open_threads import open_threads

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class MergeFacts:
    """A merge request and what is known around it. None is what could not be read."""

    merge_request: Json
    checks: Json | None = None
    """The merge request in GitLab's answer to GraphQL."""
    approvals: Json | None = None
    reviewers: Sequence[Json] = ()
    threads: Sequence[Json] = ()
    jobs: Sequence[Json] = ()
    """Of its head pipeline."""
    unread: Sequence[str] = ()
    pipeline_must_succeed: bool = False
    """By the project's settings. Read only where GraphQL does not tell the checks."""


async def read_merge_facts(gitlab: GitLab, may_reach: MayReach, path: str) -> MergeFacts:
    """`path` is that of the merge request. Only the merge request itself must be readable."""
    merge_request = await read_once_checked(
        gitlab, path, include_rebase_in_progress=True, include_diverged_commits_count=True
    )
    asks: dict[str, Callable[[], Awaitable[Any]]] = {
        "checks": lambda: read_merge_checks(gitlab, merge_request),
        "approvals": lambda: gitlab.get(f"{path}/approvals"),
        "reviewers": lambda: gitlab.get(f"{path}/reviewers"),
        "threads": lambda: every_page(gitlab, f"{path}/discussions"),
    }
    jobs = _jobs_path(merge_request, path)
    fork = _fork_of_pipeline(merge_request) if jobs else None
    fenced_off = ["jobs of the pipeline"] if fork and not await may_reach(fork) else []
    if jobs is not None and not fenced_off:
        asks["jobs of the pipeline"] = lambda: every_page(gitlab, jobs)
    answers = dict(zip(asks, await concurrently(list(asks.values())), strict=True))
    checks = None if isinstance(answers["checks"], FAULTS) else answers["checks"]
    approvals = answers["approvals"]
    return MergeFacts(
        merge_request,
        checks,
        approvals.body if isinstance(approvals, Answer) else None,
        items_if_read(answers["reviewers"]),
        open_threads(items_if_read(answers["threads"])),
        items_if_read(answers.get("jobs of the pipeline")),
        (*(name for name in unread(answers) if name != "checks"), *fenced_off),
        checks is None and await _pipeline_must_succeed(gitlab, path),
    )


async def _pipeline_must_succeed(gitlab: GitLab, path: str) -> bool:
    try:
        project = (await gitlab.get(path.partition("/merge_requests/")[0])).body
    except FAULTS:
        return False
    return isinstance(project, Mapping) and project.get("only_allow_merge_if_pipeline_succeeds") is True


def _jobs_path(merge_request: Json, path: str) -> str | None:
    """The path of the jobs of its head pipeline, where they say more than the pipeline does."""
    pipeline = merge_request.get("head_pipeline")
    if not pipeline or pipeline["status"] in ("success", "skipped"):
        return None
    project_path = path.partition("/merge_requests/")[0]
    if fork := _fork_of_pipeline(merge_request):
        project_path = fill("/projects/{project}", project=fork)
    return f"{project_path}/pipelines/{pipeline['id']}/jobs"


def _fork_of_pipeline(merge_request: Json) -> int | None:
    """The pipeline of a merge request from a fork lives in the fork."""
    project_id: int = merge_request["head_pipeline"]["project_id"]
    return project_id if project_id != merge_request["project_id"] else None

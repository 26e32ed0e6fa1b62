"""The commit that brought a merge request into its target branch."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from gitlab_mcp.actions.action import fill
from gitlab_mcp.actions.exchange import GitLab
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import CallFailed, Failure

_NAMED: Final = re.compile(r"!([1-9]\d{0,9})")


def merge_request_named(text: str) -> int | None:
    """The 5 of `!5`."""
    match = _NAMED.fullmatch(text)
    return int(match[1]) if match else None


def path_of(project_id: str, iid: int) -> str:
    path = "/projects/{project_id}/merge_requests/{iid}"
    return fill(path, project_id=project_id, iid=iid)


def own_commit_of(request: Mapping[str, Any]) -> str | None:
    """The commit of the merge, or the one that all were squashed into. None of what was merged by fast-forward."""
    sha = request.get("merge_commit_sha") or request.get("squash_commit_sha")
    return str(sha) if request.get("state") == "merged" and sha else None


async def commit_of(gitlab: GitLab, project_id: str, iid: int, request: Mapping[str, Any]) -> str:
    """`request` is GitLab's answer for it. Raises CallFailed where it has no such commit."""
    if request["state"] != "merged":
        raise CallFailed(_not_merged(str(request["state"])))
    if own := own_commit_of(request):
        return own
    # Fast-forwarded: of several commits the last is not all of it.
    commits = (await gitlab.get(f"{path_of(project_id, iid)}/commits", per_page=2)).body
    if len(commits) != 1 or not request.get("sha"):
        raise CallFailed(_no_single_commit())
    return str(request["sha"])


def _not_merged(state: str) -> Failure:
    return Failure(
        Code.CONFLICT, "It is not merged: no commit has brought it into its target. Nothing was done."
    ).knowing(
        state=state if state in ("opened", "closed", "locked") else "not merged",
        confidence="certain",
        evidence=["GitLab shows its state"],
        suggested_fix="Merge it first, or close it if it is not wanted: manage_merge_request.",
    )


def _no_single_commit() -> Failure:
    return Failure(
        Code.CONFLICT,
        "It was merged by fast-forward with several commits, which GitLab cannot take at once. Nothing was done.",
    ).knowing(
        state="several commits",
        confidence="certain",
        evidence=["it has neither a merge commit nor a squash commit, and more than one commit"],
        suggested_fix="Take each commit of browse_merge_requests commits by itself, on a branch: manage_commit revert"
        " the newest first, manage_commit cherry_pick the oldest first.",
        retryable=False,
    )

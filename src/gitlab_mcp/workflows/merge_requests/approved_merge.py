"""Approves a merge request and merges it: two writes of GitLab's, and one yes of a person."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from gitlab_mcp.actions.result import Result
from gitlab_mcp.actions.server import Server
from gitlab_mcp.failures.failure import CallFailed
from gitlab_mcp.gitlab.merge_checks import read_once_checked
from gitlab_mcp.workflows.steps import not_done, require_steps, take, warnings_of

APPROVE: Final = "manage_merge_request approve"
MERGE: Final = "manage_merge_request merge"
_SHOWN: Final = (
    "iid",
    "state",
    "auto_merge",
    "merge_commit_sha",
    "squash_commit_sha",
    "merge_error",
    "web_url",
)
_OF_BOTH: Final = ("project_id", "merge_request_iid", "sha")


async def approve_and_merge(server: Server, path: str, merge: Mapping[str, Any]) -> Result:
    """`path` is that of the merge request, `merge` the arguments of its merge."""
    require_steps(server, APPROVE, MERGE)
    # GitLab answers a second approval with 401, as if the token were bad.
    approvals = (await server.gitlab.get(f"{path}/approvals")).body
    already = approvals.get("user_has_approved") is True
    if not already:
        await take(server, APPROVE, {name: merge[name] for name in _OF_BOTH if name in merge})
        # With an approval GitLab checks again whether it can be merged.
        await read_once_checked(server.gitlab, path)
    approved = {"approved": "already" if already else "now"}
    try:
        merged = await take(server, MERGE, merge)
    except CallFailed as failed:
        if already:
            raise
        warning = not_done("It is approved; it was not merged.", MERGE, merge, failed.failure)
        return Result(data=approved, warnings=[warning], own_members=frozenset(approved))
    shown = {name: merged[name] for name in _SHOWN if name in merged}
    return Result(data={**shown, **approved}, warnings=warnings_of(merged), own_members=frozenset(approved))

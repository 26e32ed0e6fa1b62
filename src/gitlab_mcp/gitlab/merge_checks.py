"""Reads a merge request once GitLab has checked it, and every check of it.

REST names only the first check that fails; GraphQL all, since 16.5.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from gitlab_mcp.actions.exchange import GitLab
from gitlab_mcp.actions.references import project_of
from gitlab_mcp.gitlab.faults import GraphQLRefused

BEING_CHECKED: Final = ("checking", "unchecked", "preparing", "approvals_syncing")
"""What `detailed_merge_status` says while GitLab has not decided yet."""
_CHECK_SECONDS: Final = 1.0
_MOST_WAITS: Final = 4

_CHECKS = (
    "query($p: ID!, $i: String!) { project(fullPath: $p) { mergeRequest(iid: $i) { iid state draft conflicts"
    " mergeable detailedMergeStatus mergeabilityChecks { identifier status } mergeError shouldBeRebased"
    " rebaseInProgress divergedFromTargetBranch sourceBranchExists targetBranchExists diffHeadSha approved"
    " approvalsRequired approvalsLeft autoMergeEnabled autoMergeStrategy availableAutoMergeStrategies"
    " userDiscussionsCount mergeableDiscussionsState userPermissions { canMerge canApprove }"
    " headPipeline { status } } } }"
)
# Asked where GitLab refuses the first: one field that it does not know makes it refuse a whole query.
_CHECKS_ALONE = (
    "query($p: ID!, $i: String!) { project(fullPath: $p) { mergeRequest(iid: $i) {"
    " mergeabilityChecks { identifier status } sourceBranchExists targetBranchExists } } }"
)


async def read_merge_checks(gitlab: GitLab, merge_request: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The merge request as GraphQL shows it; None where GraphQL does not show it."""
    return await read_checks_of(gitlab, project_of(merge_request), str(merge_request["iid"]))


async def read_checks_of(gitlab: GitLab, project: str, iid: str) -> Mapping[str, Any] | None:
    """By the path of the project."""
    variables = {"p": project, "i": iid}
    try:
        data = await gitlab.graphql(_CHECKS, variables)
    except GraphQLRefused:
        data = await gitlab.graphql(_CHECKS_ALONE, variables)
    return (data.get("project") or {}).get("mergeRequest")


async def read_once_checked(gitlab: GitLab, path: str, **query: Any) -> Mapping[str, Any]:
    """The merge request. Reading it makes GitLab check it, which takes a moment: waited for, but not for long."""
    merge_request: Mapping[str, Any] = (await gitlab.get(path, **query)).body
    for _ in range(_MOST_WAITS):
        if merge_request.get("detailed_merge_status") not in BEING_CHECKED:
            break
        if not await gitlab.pause(_CHECK_SECONDS):
            break
        merge_request = (await gitlab.get(path, **query)).body
    return merge_request

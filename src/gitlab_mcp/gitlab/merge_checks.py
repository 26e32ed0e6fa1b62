"""Asks GraphQL for every check of a merge request. REST names only the first that fails; GraphQL all, since 16.5."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gitlab_mcp.actions.exchange import GitLab
from gitlab_mcp.gitlab.faults import GraphQLRefused

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
    project_path, _, iid = str(merge_request["references"]["full"]).rpartition("!")
    variables = {"p": project_path, "i": iid}
    try:
        data = await gitlab.graphql(_CHECKS, variables)
    except GraphQLRefused:
        data = await gitlab.graphql(_CHECKS_ALONE, variables)
    return (data.get("project") or {}).get("mergeRequest")

"""Merge requests, read."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from gitlab_mcp.core.action import GET, Action, Role
from gitlab_mcp.core.fields import (
    Branch,
    Flag,
    GroupId,
    Ids,
    Labels,
    Line,
    MergeRequestIid,
    Page,
    PerPage,
    ProjectId,
    Search,
    Sent,
    Sort,
    Time,
    UserId,
    UserOrNone,
    Words,
)
from gitlab_mcp.core.tool import Tool

browse = Tool(
    "browse_merge_requests", "Read merge requests, and what keeps them from merging.", switch="merge_requests"
)

MERGE_REQUEST = (
    "iid title state author=author.username source_branch target_branch detailed_merge_status web_url"
    " | draft description labels assignees=assignees.username reviewers=reviewers.username"
    " milestone=milestone.title sha head_pipeline_id=head_pipeline.id head_pipeline=head_pipeline.status"
    " has_conflicts blocking_discussions_resolved changes_count user_notes_count merge_when_pipeline_succeeds"
    " merge_error rebase_in_progress diverged_commits_count squash source_project_id created_at updated_at"
    " merged_at merged_by=merge_user.username merge_commit_sha squash_commit_sha closed_at"
)
COMMIT = "id=short_id title author=author_name created_at | message"
ISSUE = "iid title state labels assignees=assignees.username web_url"
PIPELINE = "id status ref sha source updated_at web_url"
VERSION = "id head_commit_sha base_commit_sha start_commit_sha real_size created_at"
APPROVALS = (
    "approved approvals_required approvals_left approved_by=approved_by.user.username"
    " user_has_approved user_can_approve rules_left=approval_rules_left.name"
)
DEPENDENCY = (
    "id iid=blocking_merge_request.iid title=blocking_merge_request.title"
    " state=blocking_merge_request.state project_id=blocking_merge_request.project_id"
    " web_url=blocking_merge_request.web_url"
)


class InMergeRequest(Action):
    project_id: ProjectId
    merge_request_iid: MergeRequestIid


@browse.action(
    "list",
    GET("/projects/{project_id}/merge_requests", "/groups/{group_id}/merge_requests", "/merge_requests"),
    docs="api/merge_requests/#list-merge-requests",
    example={"project_id": "acme/website"},
    shows=MERGE_REQUEST,
    role=Role.REPORTER,
)
class ListMergeRequests(Action):
    """List merge requests of a project, of a group, or (naming neither) your own."""

    project_id: ProjectId | None = None
    group_id: GroupId | None = None
    state: Literal["opened", "closed", "locked", "merged", "all"] | None = None
    scope: Literal["created_by_me", "assigned_to_me", "all"] | None = None
    search: Search | None = None
    author_username: Line | None = None
    author_id: UserId | None = None
    assignee_username: Words | None = None
    assignee_id: UserOrNone | None = None
    reviewer_username: Line | None = None
    reviewer_id: UserOrNone | None = None
    approved_by_usernames: Words | None = None
    approved: Literal["yes", "no"] | None = None
    labels: Labels | None = None
    milestone: Annotated[Line, Field(description="Title, None or Any")] | None = None
    source_branch: Branch | None = None
    target_branch: Branch | None = None
    wip: Annotated[Literal["yes", "no"], Field(description="Drafts")] | None = None
    environment: Line | None = None
    iids: Ids | None = None
    created_after: Time | None = None
    created_before: Time | None = None
    updated_after: Time | None = None
    updated_before: Time | None = None
    not_labels: Annotated[Labels, Sent("not[labels]")] | None = None
    not_author_username: Annotated[Line, Sent("not[author_username]")] | None = None
    order_by: (
        Literal["created_at", "updated_at", "merged_at", "title", "priority", "milestone_due", "popularity"]
        | None
    ) = None
    sort: Sort | None = None
    page: Page | None = None
    per_page: PerPage | None = None


@browse.action(
    "get",
    GET("/projects/{project_id}/merge_requests/{merge_request_iid}"),
    docs="api/merge_requests/#get-single-mr",
    example={"project_id": "acme/website", "merge_request_iid": 1},
    shows=MERGE_REQUEST,
    role=Role.REPORTER,
)
class GetMergeRequest(InMergeRequest):
    """Read one merge request."""

    include_diverged_commits_count: Flag | None = None
    include_rebase_in_progress: Flag | None = None


@browse.action(
    "commits",
    GET("/projects/{project_id}/merge_requests/{merge_request_iid}/commits"),
    docs="api/merge_requests/#get-single-merge-request-commits",
    example={"project_id": "acme/website", "merge_request_iid": 1},
    shows=COMMIT,
    role=Role.REPORTER,
)
class ListCommits(InMergeRequest):
    """List the commits, the newest first."""

    page: Page | None = None
    per_page: PerPage | None = None

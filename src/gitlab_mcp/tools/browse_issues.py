"""Issues: lists, links, time tracking and history."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from gitlab_mcp.actions.action import GET, Role
from gitlab_mcp.actions.fields import (
    Flag,
    Id,
    Integer,
    Labels,
    Line,
    Needs,
    Page,
    Search,
    Sent,
    Sort,
    Time,
    UserOrNone,
    Words,
)
from gitlab_mcp.actions.scopes import InProjectOrGroup, OfIssue, Paged
from gitlab_mcp.actions.tool import Tool

browse = Tool("browse_issues", "Find and read issues of a project, a group, or your own.", switch="issues")

ISSUE = (
    "iid title state labels assignees web_url"
    " | id description author milestone due_date confidential issue_type created_at updated_at closed_at"
    " closed_by time_stats task_status user_notes_count merge_requests_count weight epic=epic.title moved_to_id"
)
MERGE_REQUEST = "iid title state draft author project=references.full web_url"
CHANGE = "user action state created_at"

DueDate = Annotated[
    Literal["0", "any", "today", "tomorrow", "overdue", "week", "month"],
    Field(description="overdue finds closed ones too"),
]


class PagedOfIssue(OfIssue):
    page: Page | None = None


@browse.action(
    "list",
    GET("/projects/{project_id}/issues", "/groups/{group_id}/issues", "/issues"),
    docs="api/issues/#list-all-project-issues",
    example={"project_id": "acme/website"},
    shows=ISSUE,
    role=Role.GUEST,
)
class ListIssues(InProjectOrGroup, Paged):
    """List the issues of a project or a group; without either, those you created or what `scope` says."""

    state: Literal["opened", "closed", "all"] | None = None
    search: Search | None = None
    labels: Labels | None = None
    not_labels: Annotated[Labels, Sent("not[labels]")] | None = None
    milestone: Annotated[Line, Field(description="Title, None or Any")] | None = None
    assignee_username: Words | None = None
    assignee_id: UserOrNone | None = None
    author_username: Line | None = None
    scope: Literal["created_by_me", "assigned_to_me", "all"] | None = None
    due_date: DueDate | None = None
    confidential: Flag | None = None
    issue_type: Literal["issue", "incident", "test_case", "task"] | None = None
    created_after: Time | None = None
    created_before: Time | None = None
    updated_after: Time | None = None
    updated_before: Time | None = None
    weight: Annotated[Integer, Needs("issue_weight")] | None = None
    epic_id: Annotated[Id, Needs("issue_epic_param")] | None = None
    order_by: (
        Literal["created_at", "updated_at", "due_date", "priority", "milestone_due", "popularity", "title"]
        | None
    ) = None
    sort: Sort | None = None


@browse.action(
    "get",
    GET("/projects/{project_id}/issues/{issue_iid}"),
    docs="api/issues/#retrieve-a-project-issue",
    example={"project_id": "acme/website", "issue_iid": 1},
    shows=ISSUE,
    role=Role.GUEST,
)
class GetIssue(OfIssue):
    """Read one issue."""


@browse.action(
    "statistics",
    GET(
        "/projects/{project_id}/issues_statistics",
        "/groups/{group_id}/issues_statistics",
        "/issues_statistics",
    ),
    docs="api/issues_statistics/#retrieve-issues-statistics-for-a-project",
    example={"project_id": "acme/website"},
    shows="all=statistics.counts.all opened=statistics.counts.opened closed=statistics.counts.closed",
    role=Role.GUEST,
)
class IssueStatistics(InProjectOrGroup):
    """Count open and closed issues."""


@browse.action(
    "related_merge_requests",
    GET("/projects/{project_id}/issues/{issue_iid}/related_merge_requests"),
    docs="api/issues/#list-all-merge-requests-related-to-an-issue",
    example={"project_id": "acme/website", "issue_iid": 1},
    shows=MERGE_REQUEST,
    role=Role.GUEST,
    lists=True,
)
class RelatedMergeRequests(OfIssue):
    """List the merge requests that mention an issue."""


@browse.action(
    "closed_by",
    GET("/projects/{project_id}/issues/{issue_iid}/closed_by"),
    docs="api/issues/#list-all-merge-requests-that-close-an-issue-on-merge",
    example={"project_id": "acme/website", "issue_iid": 1},
    shows=MERGE_REQUEST,
    role=Role.GUEST,
    lists=True,
)
class ClosedBy(OfIssue):
    """List the merge requests that close an issue when merged."""


@browse.action(
    "participants",
    GET("/projects/{project_id}/issues/{issue_iid}/participants"),
    docs="api/issues/#list-all-participants-in-an-issue",
    example={"project_id": "acme/website", "issue_iid": 1},
    shows="id username name",
    role=Role.GUEST,
    lists=True,
)
class Participants(OfIssue):
    """List who takes part in an issue."""


@browse.action(
    "links",
    GET("/projects/{project_id}/issues/{issue_iid}/links"),
    docs="api/issue_links/#list-all-issue-links",
    example={"project_id": "acme/website", "issue_iid": 1},
    shows="issue_link_id link_type issue=references.full title state",
    role=Role.GUEST,
    lists=True,
)
class Links(OfIssue):
    """List the issues an issue is linked to."""


@browse.action(
    "time_stats",
    GET("/projects/{project_id}/issues/{issue_iid}/time_stats"),
    docs="api/issues/#retrieve-time-tracking-stats-for-an-issue",
    example={"project_id": "acme/website", "issue_iid": 1},
    shows="human_time_estimate human_total_time_spent time_estimate total_time_spent",
    role=Role.GUEST,
)
class TimeStats(OfIssue):
    """Read the time estimated for and spent on an issue."""


@browse.action(
    "label_events",
    GET("/projects/{project_id}/issues/{issue_iid}/resource_label_events"),
    docs="api/resource_label_events/#list-project-issue-label-events",
    example={"project_id": "acme/website", "issue_iid": 1},
    shows=f"{CHANGE} label",
    role=Role.GUEST,
)
class LabelEvents(PagedOfIssue):
    """List who added or removed which label, and when."""


@browse.action(
    "state_events",
    GET("/projects/{project_id}/issues/{issue_iid}/resource_state_events"),
    docs="api/resource_state_events/#list-project-issue-state-events",
    example={"project_id": "acme/website", "issue_iid": 1},
    shows=f"{CHANGE} source_merge_request_id source_commit",
    role=Role.GUEST,
)
class StateEvents(PagedOfIssue):
    """List who closed or reopened an issue, and when."""


@browse.action(
    "milestone_events",
    GET("/projects/{project_id}/issues/{issue_iid}/resource_milestone_events"),
    docs="api/resource_milestone_events/#list-project-issue-milestone-events",
    example={"project_id": "acme/website", "issue_iid": 1},
    shows=f"{CHANGE} milestone",
    role=Role.GUEST,
)
class MilestoneEvents(PagedOfIssue):
    """List how an issue's milestone changed."""


@browse.action(
    "weight_events",
    GET("/projects/{project_id}/issues/{issue_iid}/resource_weight_events"),
    docs="api/resource_weight_events/#list-all-project-issue-weight-events",
    example={"project_id": "tiers-a/one", "issue_iid": 1},
    shows="user weight created_at",
    feature="resource_weight_events",
    role=Role.GUEST,
)
class WeightEvents(PagedOfIssue):
    """List how an issue's weight changed."""


@browse.action(
    "iteration_events",
    GET("/projects/{project_id}/issues/{issue_iid}/resource_iteration_events"),
    docs="api/resource_iteration_events/#list-project-issue-iteration-events",
    example={"project_id": "tiers-a/one", "issue_iid": 1},
    shows=f"{CHANGE} iteration=iteration.title",
    feature="resource_iteration_events",
    role=Role.GUEST,
)
class IterationEvents(PagedOfIssue):
    """List how an issue's iteration changed."""

"""Issues: lists, links, time tracking and history."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from gitlab_mcp.actions.action import GET
from gitlab_mcp.actions.exchange import GitLab
from gitlab_mcp.actions.fields import (
    Flag,
    Id,
    Iids,
    Integer,
    Labels,
    Needs,
    NonEmpty,
    Search,
    SearchIn,
    SentAs,
    Sort,
    Time,
    Username,
    Usernames,
    UserOrNone,
    Within,
)
from gitlab_mcp.actions.other_names import Instead
from gitlab_mcp.actions.result import Result
from gitlab_mcp.actions.scopes import InProjectOrGroupOrOwn, OfIssue
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.workflows.counts import Countable, counted_by_statistics

browse = Tool(
    "browse_issues",
    "Find and read issues of a project, a group, or your own.",
    instead={
        "comments notes list_comments": "browse_discussions list_notes",
        "discussions threads": "browse_discussions list",
        "merge_requests mrs linked_merge_requests": "related_merge_requests",
        "related related_issues linked linked_issues": "links",
        "time time_tracking": "browse_time_tracking get",
        "history activity events": Instead(
            "browse_discussions list_notes", {"activity_filter": "only_activity"}
        ),
        "stats count counts": "statistics",
        "mine my_issues": Instead(
            "list",
            {"scope": "created_by_me"},
            advice="Use action list with scope: created_by_me or assigned_to_me.",
        ),
    },
)

ISSUE = (
    "iid title state confidential:mark author labels assignees due_date created_at:date updated_at:date"
    " web_url | id description milestone issue_type closed_at closed_by time_stats task_status user_notes_count"
    " merge_requests_count weight epic=epic.title moved_to_id"
)
MERGE_REQUEST = "iid title state draft author project=references.full web_url"
COUNTED_BY = {
    "label": "labels",
    "author": "author.username",
    "assignee": "assignees.username",
    "milestone": "milestone.title",
    "state": "state",
    "week": "created_at",
    "month": "created_at",
}
"""Where a row has what is counted by."""

DueDate = Annotated[
    Literal["0", "any", "today", "tomorrow", "overdue", "week", "month", "next_month_and_previous_two_weeks"],
    Field(description="overdue finds closed ones too"),
]


class IssueFilters(InProjectOrGroupOrOwn):
    """What narrows both a list and a count."""

    search: Search | None = None
    search_in: SearchIn | None = None
    labels: Labels | None = None
    not_labels: Annotated[Labels, SentAs("not[labels]")] | None = None
    milestone: Annotated[NonEmpty, Field(description="Title, None or Any")] | None = None
    milestone_phase: Annotated[Literal["Upcoming", "Started"], SentAs("milestone_id")] | None = None
    not_milestone: Annotated[NonEmpty, SentAs("not[milestone]")] | None = None
    assignee_username: Usernames | None = None
    not_assignee_username: Annotated[Usernames, SentAs("not[assignee_username]")] | None = None
    assignee_id: UserOrNone | None = None
    author_username: Username | None = None
    not_author_username: Annotated[Username, SentAs("not[author_username]")] | None = None
    scope: Literal["created_by_me", "assigned_to_me", "all"] | None = None
    iids: Iids | None = None
    confidential: Flag | None = None
    created_after: Time | None = None
    created_before: Time | None = None
    updated_after: Time | None = None
    updated_before: Time | None = None


@browse.action(
    "list",
    GET("/projects/{project_id}/issues", "/groups/{group_id}/issues", "/issues"),
    example={"project_id": "acme/website"},
    shows=ISSUE,
    not_taken={"milestone_id": "milestone takes the title of the milestone, None or Any"},
    seldom_given="assignee_id search_in milestone_phase iids confidential due_date issue_type weight epic_id count_by",
)
class ListIssues(IssueFilters, Countable):
    """List the issues of a project or a group; without either, your own, or with a person or a text everybody's."""

    counts = ("issues", COUNTED_BY)

    state: Literal["opened", "closed", "all"] | None = None
    due_date: DueDate | None = None
    issue_type: Literal["issue", "incident", "test_case", "requirement", "task", "ticket"] | None = None
    weight: Annotated[Integer, Needs("issue_weight")] | None = None
    epic_id: Annotated[Id, Needs("issue_epic_param"), Within()] | None = None
    count_by: Literal["label", "author", "assignee", "milestone", "state", "week", "month"] | None = None
    order_by: (
        Literal[
            "created_at",
            "updated_at",
            "due_date",
            "priority",
            "label_priority",
            "milestone_due",
            "popularity",
            "relative_position",
            "title",
            "weight",
        ]
        | None
    ) = None
    sort: Sort | None = None

    async def counted(self, gitlab: GitLab, by: str) -> Result:
        if by == "state" and self.model_fields_set <= {*IssueFilters.model_fields, "count_by"}:
            return await counted_by_statistics(gitlab, self, "issues")
        return await super().counted(gitlab, by)


@browse.action(
    "get",
    GET("/projects/{project_id}/issues/{issue_iid}"),
    example={"project_id": "acme/website", "issue_iid": 1},
    shows=ISSUE,
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
    example={"project_id": "acme/website"},
    shows="all=statistics.counts.all opened=statistics.counts.opened closed=statistics.counts.closed",
    seldom_given="assignee_id search_in milestone_phase iids confidential",
)
class IssueStatistics(IssueFilters):
    """Count open and closed issues."""


@browse.action(
    "related_merge_requests",
    GET("/projects/{project_id}/issues/{issue_iid}/related_merge_requests"),
    example={"project_id": "acme/website", "issue_iid": 1},
    shows=MERGE_REQUEST,
    lists=True,
)
class RelatedMergeRequests(OfIssue):
    """List the merge requests that mention an issue."""


@browse.action(
    "closed_by",
    GET("/projects/{project_id}/issues/{issue_iid}/closed_by"),
    example={"project_id": "acme/website", "issue_iid": 1},
    shows=MERGE_REQUEST,
    lists=True,
    has_line=True,
)
class ClosedBy(OfIssue):
    """List the merge requests that close an issue when merged."""


@browse.action(
    "links",
    GET("/projects/{project_id}/issues/{issue_iid}/links"),
    example={"project_id": "acme/website", "issue_iid": 1},
    shows="issue_link_id link_type issue=references.full title state",
    lists=True,
)
class Links(OfIssue):
    """List the issues an issue is linked to."""

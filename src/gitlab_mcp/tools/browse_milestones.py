"""Milestones of a project or a group."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from gitlab_mcp.actions.action import GET, Role
from gitlab_mcp.actions.action_facts import Differs
from gitlab_mcp.actions.exchange import GitLab
from gitlab_mcp.actions.fields import Flag, Iids, NonEmpty, Search, Time
from gitlab_mcp.actions.result import Result
from gitlab_mcp.actions.scopes import InProjectOrGroup, OfMilestone, Paged
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.workflows.planning.milestone_report import milestone_report

browse = Tool(
    "browse_milestones",
    "Read milestones of a project or a group.",
    toolset="planning",
    instead={"progress status summary overview stands burndown": "report"},
)

MILESTONE = "id iid title state start_date due_date expired web_url | description created_at updated_at"


@browse.action(
    "list",
    GET("/projects/{project_id}/milestones", "/groups/{group_id}/milestones"),
    example={"project_id": "acme/website"},
    shows=MILESTONE,
)
class ListMilestones(InProjectOrGroup, Paged):
    """List milestones; those of the groups above only with `include_ancestors`."""

    state: Literal["active", "closed", "all"] | None = None
    title: NonEmpty | None = None
    search: Search | None = None
    include_ancestors: Flag | None = None
    include_descendants: Annotated[Flag, Field(description="In a group")] | None = None
    iids: Iids | None = None
    updated_after: Time | None = None
    updated_before: Time | None = None


@browse.action(
    "get",
    GET("/projects/{project_id}/milestones/{milestone_id}", "/groups/{group_id}/milestones/{milestone_id}"),
    example={"project_id": "acme/website", "milestone_id": 1},
    shows=MILESTONE,
)
class GetMilestone(OfMilestone):
    """Read one milestone."""


@browse.action(
    "issues",
    GET(
        "/projects/{project_id}/milestones/{milestone_id}/issues",
        "/groups/{group_id}/milestones/{milestone_id}/issues",
    ),
    example={"project_id": "acme/website", "milestone_id": 1},
    shows="iid title state labels assignees due_date web_url",
)
class MilestoneIssues(OfMilestone, Paged):
    """List the issues of a milestone."""


@browse.action(
    "merge_requests",
    GET(
        "/projects/{project_id}/milestones/{milestone_id}/merge_requests",
        "/groups/{group_id}/milestones/{milestone_id}/merge_requests",
    ),
    example={"project_id": "acme/website", "milestone_id": 1},
    shows="iid title state draft author assignees web_url",
    role=Differs(Role.REPORTER, "a guest gets an empty list and no refusal"),
)
class MilestoneMergeRequests(OfMilestone, Paged):
    """List the merge requests of a milestone."""


@browse.action(
    "report",
    GET("/projects/{project_id}/milestones/{milestone_id}", "/groups/{group_id}/milestones/{milestone_id}"),
    example={"project_id": "acme/shop", "milestone_id": 20},
)
class Report(OfMilestone):
    """How a milestone stands: what is done, open and late, and by whom."""

    async def run(self, gitlab: GitLab) -> Result:
        return await milestone_report(gitlab, self.request().path, in_group=self.project_id is None)


@browse.action(
    "burndown_events",
    GET(
        "/projects/{project_id}/milestones/{milestone_id}/burndown_events",
        "/groups/{group_id}/milestones/{milestone_id}/burndown_events",
    ),
    example={"project_id": "acme/website", "milestone_id": 1},
    shows="created_at action weight",
    role=Role.GUEST,
    lists=True,
)
class BurndownEvents(OfMilestone):
    """List what the burndown chart of a milestone is drawn from."""

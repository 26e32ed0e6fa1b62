"""Who takes part in an issue, and how its labels, state and plans changed."""

from __future__ import annotations

from gitlab_mcp.actions.action import GET, Role
from gitlab_mcp.actions.scopes import OfIssue, Paged
from gitlab_mcp.actions.tool import Tool

browse = Tool(
    "browse_issue_details",
    "Read who takes part in an issue, and how it changed.",
    toolset="planning",
    also=("issue_history", "issue_event"),
)


CHANGE = "user action state created_at"


class PagedOfIssue(OfIssue, Paged):
    """A part of an issue's history."""


@browse.action(
    "participants",
    GET("/projects/{project_id}/issues/{issue_iid}/participants"),
    example={"project_id": "acme/website", "issue_iid": 1},
    shows="id username name",
    lists=True,
    moved_from="browse_issues",
)
class Participants(OfIssue):
    """List who takes part in an issue."""


@browse.action(
    "label_events",
    GET("/projects/{project_id}/issues/{issue_iid}/resource_label_events"),
    example={"project_id": "acme/website", "issue_iid": 1},
    shows=f"{CHANGE} label",
    moved_from="browse_issues",
)
class LabelEvents(PagedOfIssue):
    """List who added or removed which label, and when."""


@browse.action(
    "state_events",
    GET("/projects/{project_id}/issues/{issue_iid}/resource_state_events"),
    example={"project_id": "acme/website", "issue_iid": 1},
    shows=f"{CHANGE} source_merge_request_id source_commit",
    moved_from="browse_issues",
)
class StateEvents(PagedOfIssue):
    """List who closed or reopened an issue, and when."""


@browse.action(
    "milestone_events",
    GET("/projects/{project_id}/issues/{issue_iid}/resource_milestone_events"),
    example={"project_id": "acme/website", "issue_iid": 1},
    shows=f"{CHANGE} milestone",
    moved_from="browse_issues",
)
class MilestoneEvents(PagedOfIssue):
    """List how an issue's milestone changed."""


@browse.action(
    "weight_events",
    GET("/projects/{project_id}/issues/{issue_iid}/resource_weight_events"),
    example={"project_id": "tiers-a/one", "issue_iid": 1},
    shows="user weight created_at",
    role=Role.GUEST,
    moved_from="browse_issues",
)
class WeightEvents(PagedOfIssue):
    """List how an issue's weight changed."""


@browse.action(
    "iteration_events",
    GET("/projects/{project_id}/issues/{issue_iid}/resource_iteration_events"),
    example={"project_id": "tiers-a/one", "issue_iid": 1},
    shows=f"{CHANGE} iteration=iteration.title",
    role=Role.GUEST,
    moved_from="browse_issues",
)
class IterationEvents(PagedOfIssue):
    """List how an issue's iteration changed."""

"""The time estimated for and spent on issues and merge requests."""

from __future__ import annotations

from gitlab_mcp.actions.action import GET
from gitlab_mcp.actions.scopes import OfIssueOrMergeRequest
from gitlab_mcp.actions.tool import Tool

browse = Tool(
    "browse_time_tracking",
    "Read the time estimated for and spent on an issue or a merge request.",
    toolset="planning",
    also=("time", "time_stats", "estimate"),
)


@browse.action(
    "get",
    GET(
        "/projects/{project_id}/issues/{issue_iid}/time_stats",
        "/projects/{project_id}/merge_requests/{merge_request_iid}/time_stats",
    ),
    example={"project_id": "acme/website", "issue_iid": 1},
    shows="human_time_estimate human_total_time_spent time_estimate total_time_spent",
    moved_from="browse_issues time_stats, browse_merge_requests time_stats",
)
class TimeStats(OfIssueOrMergeRequest):
    """Read the estimate and the time spent."""

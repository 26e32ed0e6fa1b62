"""Emoji reactions to issues, merge requests and notes."""

from __future__ import annotations

from gitlab_mcp.actions.action import GET
from gitlab_mcp.actions.fields import Id
from gitlab_mcp.actions.scopes import OfIssueOrMergeRequest, Paged
from gitlab_mcp.actions.tool import Tool

browse = Tool(
    "browse_reactions",
    "Read the emoji reactions to an issue, a merge request or a note.",
    toolset="planning",
    also=("emoji", "award_emoji"),
)


ISSUE = "/projects/{project_id}/issues/{issue_iid}"


MERGE_REQUEST = "/projects/{project_id}/merge_requests/{merge_request_iid}"


NOTE = "/notes/{note_id}"


SHOWN_EMOJI = "id name user created_at"


@browse.action(
    "list",
    GET(
        ISSUE + "/award_emoji",
        MERGE_REQUEST + "/award_emoji",
        ISSUE + NOTE + "/award_emoji",
        MERGE_REQUEST + NOTE + "/award_emoji",
    ),
    example={"project_id": "acme/website", "issue_iid": 1},
    shows=SHOWN_EMOJI,
    moved_from="browse_discussions list_emoji",
)
class ListEmoji(OfIssueOrMergeRequest, Paged):
    """List the reactions to something, or to one note on it."""

    note_id: Id | None = None

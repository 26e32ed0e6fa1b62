"""React to issues, merge requests and notes with emoji."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from gitlab_mcp.actions.action import DELETE, POST, Danger, Role
from gitlab_mcp.actions.fields import Expects, Id
from gitlab_mcp.actions.recovery_lookup import RecoveryLookup, made
from gitlab_mcp.actions.scopes import OfIssueOrMergeRequest
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.actions.undo import Undo

manage = Tool(
    "manage_reaction",
    "React to an issue, a merge request or a note with an emoji.",
    toolset="planning",
    also=("emoji", "award_emoji"),
)


ISSUE = "/projects/{project_id}/issues/{issue_iid}"


MERGE_REQUEST = "/projects/{project_id}/merge_requests/{merge_request_iid}"


NOTE = "/notes/{note_id}"


Emoji = Annotated[str, Field(pattern=r"^[^\s:]+$"), Expects("a name without colons, like thumbsup")]


@manage.action(
    "add",
    POST(
        ISSUE + "/award_emoji",
        MERGE_REQUEST + "/award_emoji",
        ISSUE + NOTE + "/award_emoji",
        MERGE_REQUEST + NOTE + "/award_emoji",
    ),
    danger=Danger.REVERSIBLE,
    example={"project_id": "writes/app", "merge_request_iid": 1, "note_id": 146, "name": "eyes"},
    shows="id",
    recover_with=RecoveryLookup(
        "browse_reactions list", "project_id issue_iid merge_request_iid note_id", proof=made("name")
    ),
    moved_from="manage_discussion add_emoji",
    undo=Undo("remove", "project_id issue_iid merge_request_iid note_id", "award_id=id"),
)
class AddEmoji(OfIssueOrMergeRequest):
    """React to something, or to one note on it."""

    note_id: Id | None = None
    name: Emoji


@manage.action(
    "remove",
    DELETE(
        ISSUE + "/award_emoji/{award_id}",
        MERGE_REQUEST + "/award_emoji/{award_id}",
        ISSUE + NOTE + "/award_emoji/{award_id}",
        MERGE_REQUEST + NOTE + "/award_emoji/{award_id}",
    ),
    danger=Danger.REVERSIBLE,
    example={"project_id": "writes/app", "merge_request_iid": 1, "note_id": 146, "award_id": 6},
    role=Role.GUEST,
    recover_with=RecoveryLookup("browse_reactions list", "project_id issue_iid merge_request_iid note_id"),
    moved_from="manage_discussion remove_emoji",
)
class RemoveEmoji(OfIssueOrMergeRequest):
    """Take your reaction back."""

    note_id: Id | None = None
    award_id: Id

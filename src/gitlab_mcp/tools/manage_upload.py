"""Attach files to what is written in a project or group."""

from __future__ import annotations

from typing import Annotated

from gitlab_mcp.actions.action import DELETE, POST, Danger
from gitlab_mcp.actions.fields import AlsoCalled, Id, SentAs
from gitlab_mcp.actions.recovery_lookup import RecoveryLookup
from gitlab_mcp.actions.scopes import InProjectOrGroup
from gitlab_mcp.actions.sent_files import FileField
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.actions.undo import Undo

manage = Tool(
    "manage_upload",
    "Attach files to texts of a project or group: put the markdown of the answer into a comment or description.",
    toolset="planning",
    also=("attachment", "markdown_upload", "screenshot"),
    instead={"upload attach": "create"},
)


@manage.action(
    "create",
    POST("/projects/{project_id}/uploads", "/groups/{group_id}/uploads"),
    danger=Danger.REVERSIBLE,
    example={"project_id": "writes/app", "attached_file": {"filename": "note.txt", "content": "A note.\n"}},
    shows="id markdown url full_path",
    not_taken={
        **dict.fromkeys(
            ("filename", "file_name", "content", "encoding", "path", "file_path"),
            "attached_file holds filename and content (and encoding base64 where it is no text), or path",
        ),
        **dict.fromkeys(
            ("issue_iid", "merge_request_iid", "body", "note"),
            "here the file goes to the project alone: manage_discussion create_note takes it as attached_files",
        ),
    },
    recover_with=RecoveryLookup(
        "browse_uploads list", "project_id group_id", because="the list does not show a file's address"
    ),
    undo=Undo("delete", "project_id group_id", "upload_id=id"),
)
class CreateUpload(InProjectOrGroup):
    """Upload a file; whoever has its address in the answer can read it."""

    attached_file: Annotated[
        FileField, SentAs("file"), AlsoCalled("file", "attachment", "image", "screenshot", "upload")
    ]


@manage.action(
    "delete",
    DELETE("/projects/{project_id}/uploads/{upload_id}", "/groups/{group_id}/uploads/{upload_id}"),
    danger=Danger.DESTRUCTIVE,
    example={"project_id": 111, "upload_id": 273},
)
class DeleteUpload(InProjectOrGroup):
    """Delete an attached file; texts that show it stay as they are."""

    upload_id: Id

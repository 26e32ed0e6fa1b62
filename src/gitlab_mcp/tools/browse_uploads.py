"""Files that people attached to descriptions and comments."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from gitlab_mcp.actions.action import GET
from gitlab_mcp.actions.exchange import GitLab
from gitlab_mcp.actions.fields import Expects, Id
from gitlab_mcp.actions.result import Result
from gitlab_mcp.actions.scopes import InProjectOrGroup, Paged
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.results.file_contents import download_result

browse = Tool(
    "browse_uploads",
    "Read files attached to texts of a project or group.",
    toolset="planning",
    also=("attachment", "markdown_upload"),
    instead={"download read": "get"},
)


@browse.action(
    "list",
    GET("/projects/{project_id}/uploads", "/groups/{group_id}/uploads"),
    example={"project_id": 111},
    shows="id filename size created_at:date uploaded_by=uploaded_by.username",
)
class ListUploads(InProjectOrGroup, Paged):
    """List attached files; their addresses are only in the texts."""


@browse.action(
    "get",
    GET("/projects/{project_id}/uploads/{upload_id}", "/groups/{group_id}/uploads/{upload_id}"),
    example={"project_id": 111, "upload_id": 273},
)
class GetUpload(InProjectOrGroup):
    """Read an attached file: text as text, images as images."""

    upload_id: Id

    async def run(self, gitlab: GitLab) -> Result:
        return await gitlab.stream(
            self.request(), lambda chunks, _: download_result(chunks, f"upload {self.upload_id}")
        )


@browse.action(
    "by_address",
    GET(
        "/projects/{project_id}/uploads/{address_hex}/{filename}",
        "/groups/{group_id}/uploads/{address_hex}/{filename}",
    ),
    example={
        "project_id": 111,
        "address_hex": "e1cd2de701845a597753c641e808cb95",
        "filename": "note.txt",
    },
)
class GetByAddress(InProjectOrGroup):
    """Read the file that a text shows as /uploads/ADDRESS_HEX/FILENAME."""

    address_hex: Annotated[str, Field(pattern=r"^[0-9a-f]{10,64}$"), Expects("hex digits from the address")]
    filename: Annotated[
        str,
        Field(pattern=r"^(?!\.{1,2}$)[^/\\\x00-\x1f\x7f]{1,255}$"),
        Expects("a name without a folder"),
    ]

    async def run(self, gitlab: GitLab) -> Result:
        return await gitlab.stream(
            self.request(), lambda chunks, _: download_result(chunks, f"upload {self.filename}")
        )

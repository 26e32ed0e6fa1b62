"""Snippets of projects and of people."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from pydantic import Field

from gitlab_mcp.actions.action import GET, Action
from gitlab_mcp.actions.exchange import GitLab
from gitlab_mcp.actions.fields import FilePath, Id, ProjectId, Time
from gitlab_mcp.actions.result import Result
from gitlab_mcp.actions.scopes import InProject, Paged
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.results.file_contents import download_result

browse = Tool(
    "browse_snippets",
    "Read snippets of a project, or without one your own.",
    toolset="knowledge",
    also=("gist",),
    instead={"mine": "list_own", "read raw content": "file", "show": "get"},
)

SNIPPET = (
    "id title visibility author=author.username files=files.path created_at:date web_url"
    " | description updated_at project_id"
)


class OfSnippet(Action):
    """A snippet of a project, or without one a personal snippet."""

    project_id: ProjectId | None = None
    snippet_id: Id


@browse.action(
    "list", GET("/projects/{project_id}/snippets"), example={"project_id": "acme/website"}, shows=SNIPPET
)
class ListSnippets(InProject, Paged):
    """List the snippets of a project."""


@browse.action("list_own", GET("/snippets"), example={}, shows=SNIPPET)
class ListOwnSnippets(Paged):
    """List your snippets, those in projects as well."""

    created_after: Time | None = None
    created_before: Time | None = None


@browse.action(
    "get",
    GET("/projects/{project_id}/snippets/{snippet_id}", "/snippets/{snippet_id}"),
    example={"project_id": "acme/website", "snippet_id": 1},
    shows=SNIPPET,
)
class GetSnippet(OfSnippet):
    """Read what a snippet is about, and which files it has."""


@browse.action(
    "file",
    GET(
        "/projects/{project_id}/snippets/{snippet_id}/raw",
        "/snippets/{snippet_id}/raw",
        "/projects/{project_id}/snippets/{snippet_id}/files/{ref}/{file_path}/raw",
        "/snippets/{snippet_id}/files/{ref}/{file_path}/raw",
    ),
    example={"project_id": "acme/website", "snippet_id": 1},
)
class ReadFile(OfSnippet):
    """Read a file of a snippet, the first by default."""

    file_path: FilePath | None = None
    ref: Annotated[str, Field(min_length=1, description="main unless given")] | None = None

    async def run(self, gitlab: GitLab) -> Result:
        named = self
        if self.file_path is not None and self.ref is None:
            named = self.model_copy(update={"ref": "main"})
        name = f"{self.file_path or 'first file'} of snippet {self.snippet_id}"
        request = named.request() if self.file_path is not None else replace(named.request(), query={})
        return await gitlab.stream(request, lambda chunks, _: download_result(chunks, name))

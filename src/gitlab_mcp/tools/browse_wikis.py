"""Wiki pages of a project or a group."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from gitlab_mcp.actions.action import GET
from gitlab_mcp.actions.exchange import GitLab
from gitlab_mcp.actions.fields import (
    Flag,
    Sha,
)
from gitlab_mcp.actions.result import Result, Text
from gitlab_mcp.actions.scopes import OfWikiPage, WithWiki
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.workflows.unchanged_since import checksum_of_page

browse = Tool(
    "browse_wikis",
    "Read the wiki of a project or group (Premium).",
    toolset="knowledge",
    also=("wiki_page",),
    instead={"pages": "list"},
)

PAGE = "slug title format"


@browse.action(
    "list",
    GET("/projects/{project_id}/wikis", "/groups/{group_id}/wikis"),
    example={"project_id": "acme/website"},
    shows=PAGE + " content",
    lists=True,
)
class ListPages(WithWiki):
    """List all pages; GitLab does not page this list."""

    with_content: Flag | None = None


@browse.action(
    "get",
    GET("/projects/{project_id}/wikis/{slug}", "/groups/{group_id}/wikis/{slug}"),
    example={"project_id": "acme/website", "slug": "home"},
    shows=PAGE,
)
class GetPage(OfWikiPage):
    """Read one page, its content as text."""

    version: Annotated[Sha, Field(description="The page as of this commit")] | None = None

    async def run(self, gitlab: GitLab) -> Result:
        page = (await gitlab.send(self.request())).body
        facts = {name: page[name] for name in ("slug", "title", "format")}
        if self.version is None:
            facts["checksum"] = checksum_of_page(page)
        return Result(data=facts, text=Text(page.get("content") or "", f"wiki page {self.slug}"))

"""Wiki pages of a project or a group."""

from __future__ import annotations

from typing import Annotated

from gitlab_mcp.actions.action import GET, Action, Role
from gitlab_mcp.actions.exchange import GitLab
from gitlab_mcp.actions.fields import Flag, GroupId, Line, Needs, ProjectId
from gitlab_mcp.actions.result import Result, Text
from gitlab_mcp.actions.tool import Tool

browse = Tool(
    "browse_wikis", "Read the wiki of a project or group (Premium).", toolset="knowledge", switch="wiki"
)

PAGE = "slug title format"


class InProjectOrGroup(Action):
    project_id: ProjectId | None = None
    group_id: Annotated[GroupId, Needs("group_wikis")] | None = None


class OfPage(InProjectOrGroup):
    slug: Line


@browse.action(
    "list",
    GET("/projects/{project_id}/wikis", "/groups/{group_id}/wikis"),
    docs="api/wikis/#list-all-wiki-pages",
    example={"project_id": "acme/website"},
    shows=PAGE + " content",
    role=Role.GUEST,
)
class ListPages(InProjectOrGroup):
    """List all pages; GitLab does not page this list."""

    with_content: Flag | None = None


@browse.action(
    "get",
    GET("/projects/{project_id}/wikis/{slug}", "/groups/{group_id}/wikis/{slug}"),
    docs="api/wikis/#retrieve-a-wiki-page",
    example={"project_id": "acme/website", "slug": "home"},
    shows=PAGE,
    role=Role.GUEST,
)
class GetPage(OfPage):
    """Read one page, its content as text."""

    async def run(self, gitlab: GitLab) -> Result:
        page = (await gitlab.send(self.request())).body
        facts = {name: page[name] for name in ("slug", "title", "format")}
        return Result(data=facts, text=Text(page.get("content") or "", f"wiki page {self.slug}"))

"""Write wiki pages of a project or a group."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from gitlab_mcp.actions.action import DELETE, POST, PUT, Danger
from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.actions.fields import NonEmpty, broken_rule
from gitlab_mcp.actions.recovery_lookup import RecoveryLookup
from gitlab_mcp.actions.scopes import OfWikiPage, WithWiki
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.actions.undo import Undo
from gitlab_mcp.workflows.unchanged_since import IfSame, checksum_of_page

manage = Tool(
    "manage_wiki",
    "Write the wiki of a project or group (Premium).",
    toolset="knowledge",
    also=("wiki_page",),
)

PAGE = "slug title format"

Title = Annotated[str, Field(min_length=1, max_length=245, description="With its folder: guides/Set up")]

Markup = Literal["markdown", "rdoc", "asciidoc", "org"]


@manage.action(
    "create",
    POST("/projects/{project_id}/wikis", "/groups/{group_id}/wikis"),
    danger=Danger.REVERSIBLE,
    example={"project_id": "acme/website", "title": "Home", "content": "# Welcome\n"},
    shows=PAGE,
    recover_with=RecoveryLookup("browse_wikis list", "project_id group_id", because="a page has no date"),
    undo=Undo("delete", "project_id group_id", "slug"),
)
class CreatePage(WithWiki):
    """Write a new page."""

    title: Title
    content: NonEmpty
    format: Markup | None = None


@manage.action(
    "update",
    PUT("/projects/{project_id}/wikis/{slug}", "/groups/{group_id}/wikis/{slug}"),
    danger=Danger.REVERSIBLE,
    example={
        "project_id": "writes/app",
        "slug": "guides/Set-up",
        "title": "guides/Install",
        "content": "Install it twice.",
        "format": "markdown",
    },
    shows=PAGE,
    # A new title moves the page, so the same request sent again finds nothing at the old slug.
    repeatable=False,
    recover_with=RecoveryLookup(
        "browse_wikis list", "project_id group_id", because="a new title moves the page"
    ),
    seldom_given="expected_checksum",
)
class UpdatePage(IfSame, OfWikiPage):
    """Change a page; a new title moves it, and its slug with it."""

    title: Title | None = None
    content: NonEmpty | None = None
    format: Markup | None = None

    @model_validator(mode="after")
    def _changes_something(self) -> UpdatePage:
        if self.title is None and self.content is None:
            raise broken_rule("a title or a content", field="content")
        return self

    async def present_checksum(self, gitlab: GitLab) -> str:
        return checksum_of_page((await gitlab.get(self.request().path)).body)

    async def run(self, gitlab: GitLab) -> Answer:
        request = self.request()
        folder, in_folder, _ = self.slug.rpartition("/")
        if self.title is not None or not in_folder:
            return await gitlab.send(request)
        # Without the whole title GitLab moves the page out of its folder. It shows the title without the folder.
        title = str((await gitlab.get(request.path)).body["title"])
        return await gitlab.send(self.request(title=title if "/" in title else f"{folder}/{title}"))


@manage.action(
    "delete",
    DELETE("/projects/{project_id}/wikis/{slug}", "/groups/{group_id}/wikis/{slug}"),
    danger=Danger.DESTRUCTIVE,
    example={"project_id": "writes/app", "slug": "guides/Install"},
)
class DeletePage(OfWikiPage):
    """Delete a page; its history stays in the wiki's repository."""

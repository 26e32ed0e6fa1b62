"""Tags of a repository."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal

from pydantic import Field

from gitlab_mcp.actions.action import GET, Action, Role
from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.actions.fields import Line, Page, PerPage, ProjectId, Search, Sort
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.results.counts import counted

browse = Tool("browse_tags", "Read the tags of a repository.", toolset="delivery", switch="repository")

TAG = (
    "name protected message last_commit=commit.title committed=commit.committed_date"
    " | sha=commit.id target author=commit.author_name release created_at"
)

TagName = Annotated[Line, Field(max_length=255)]


@browse.action(
    "list",
    GET("/projects/{project_id}/repository/tags"),
    docs="api/tags/#list-project-repository-tags",
    example={"project_id": "acme/website"},
    shows=TAG,
    role=Role.REPORTER,
)
class ListTags(Action):
    """List tags, the latest first; order_by version sorts 1.10 after 1.9."""

    project_id: ProjectId
    search: Search | None = None
    order_by: Literal["name", "updated", "version"] | None = None
    sort: Sort | None = None
    page: Page | None = None
    per_page: PerPage | None = None

    async def run(self, gitlab: GitLab) -> Answer:
        answer = await gitlab.send(self.request())
        headers = counted(answer.headers, len(answer.body), searched=self.search is not None)
        return replace(answer, headers=headers)


@browse.action(
    "get",
    GET("/projects/{project_id}/repository/tags/{tag_name}"),
    docs="api/tags/#get-a-single-repository-tag",
    example={"project_id": "acme/website", "tag_name": "v1.0.0"},
    shows=TAG,
    role=Role.REPORTER,
)
class GetTag(Action):
    """Read one tag with its commit."""

    project_id: ProjectId
    tag_name: TagName


@browse.action(
    "signature",
    GET("/projects/{project_id}/repository/tags/{tag_name}/signature"),
    docs="api/tags/#get-x509-signature-of-a-tag",
    example={"project_id": "acme/website", "tag_name": "v1.0.0"},
    role=Role.REPORTER,
)
class TagSignature(Action):
    """Who signed a tag, and whether that holds; an unsigned tag has none."""

    project_id: ProjectId
    tag_name: TagName

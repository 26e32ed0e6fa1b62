"""Tags of a repository."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from gitlab_mcp.actions.action import GET, Role
from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.actions.fields import Search, Sort
from gitlab_mcp.actions.other_names import Instead
from gitlab_mcp.actions.scopes import InProject, OfTag, Paged
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.results.list_pages import correct_paging_headers

browse = Tool(
    "browse_tags",
    "Read the tags of a repository.",
    toolset="delivery",
    instead={
        "compare": "browse_commits compare",
        "releases": "browse_releases list",
        "latest": Instead("list", {"order_by": "updated", "sort": "desc", "per_page": 1}),
        "protected": "browse_protected_branches list_tags",
    },
)

TAG = (
    "name sha=commit.short_id protected message last_commit=commit.title committed=commit.committed_date"
    " | sha=commit.id target author=commit.author_name release created_at"
)


@browse.action(
    "list",
    GET("/projects/{project_id}/repository/tags"),
    example={"project_id": "acme/website"},
    shows=TAG,
)
class ListTags(InProject, Paged):
    """List tags, the latest first; order_by version sorts 1.10 after 1.9."""

    search: Search | None = None
    order_by: Literal["name", "updated", "version"] | None = None
    sort: Sort | None = None

    async def run(self, gitlab: GitLab) -> Answer:
        answer = await gitlab.send(self.request())
        headers = correct_paging_headers(answer.headers, len(answer.body), searched=self.search is not None)
        return replace(answer, headers=headers)


@browse.action(
    "get",
    GET("/projects/{project_id}/repository/tags/{tag_name}"),
    example={"project_id": "acme/website", "tag_name": "v1.0.0"},
    shows=TAG,
)
class GetTag(OfTag):
    """Read one tag with its commit."""


@browse.action(
    "signature",
    GET("/projects/{project_id}/repository/tags/{tag_name}/signature"),
    example={"project_id": "acme/website", "tag_name": "v1.0.0"},
    role=Role.REPORTER,
)
class TagSignature(OfTag):
    """Who signed a tag, and whether that holds; an unsigned tag has none."""

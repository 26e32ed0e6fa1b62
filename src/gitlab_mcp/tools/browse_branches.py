"""Branches of a repository."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from gitlab_mcp.actions.action import GET
from gitlab_mcp.actions.fields import Branch, Regex, Search
from gitlab_mcp.actions.scopes import InProject, Paged
from gitlab_mcp.actions.tool import Tool

browse = Tool(
    "browse_branches",
    "Read the branches of a repository.",
    instead={
        "compare": "browse_commits compare",
        "commits log history": "browse_commits list",
        "protected": "browse_protected_branches list",
    },
)

BRANCH = (
    "name default protected merged last_commit=commit.title committed=commit.committed_date"
    " | sha=commit.id author=commit.author_name can_push developers_can_push developers_can_merge web_url"
)


@browse.action(
    "list",
    GET("/projects/{project_id}/repository/branches"),
    example={"project_id": "acme/website"},
    shows=BRANCH,
    seldom_given="regex",
)
class ListBranches(InProject, Paged):
    """List branches; `^` and `$` in search bind to the ends of the name."""

    search: Search | None = None
    regex: Annotated[Regex, Field(min_length=1)] | None = None
    sort: Literal["name_asc", "updated_asc", "updated_desc"] | None = None


@browse.action(
    "get",
    GET("/projects/{project_id}/repository/branches/{branch}"),
    example={"project_id": "acme/website", "branch": "feature/login"},
    shows=BRANCH,
)
class GetBranch(InProject):
    """Read one branch with its last commit."""

    branch: Branch

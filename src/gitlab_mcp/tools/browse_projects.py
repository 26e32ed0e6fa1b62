"""Projects: lists, members, forks, events, statistics and templates."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from gitlab_mcp.actions.action import GET
from gitlab_mcp.actions.action_facts import Differs
from gitlab_mcp.actions.ask import is_gitlab_com
from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.actions.fields import (
    AccessLevel,
    Flag,
    GroupId,
    NonEmpty,
    Only,
    Search,
    Sort,
    Time,
    UserId,
    Visibility,
    Words,
    broken_rule,
)
from gitlab_mcp.actions.other_names import Instead
from gitlab_mcp.actions.result import Omission, Result
from gitlab_mcp.actions.scopes import InProject, Paged
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.workflows.project_overview import read_overview

browse = Tool(
    "browse_projects",
    "Read projects: all visible ones, those of a group or of a user.",
    also=(
        "repo",
        "namespace",
    ),
    instead={
        "members list_members collaborators": "browse_members list",
        "access_requests": "browse_members access_requests",
        "invitations": "browse_members invitations",
        "activity": "browse_project_details events",
        "files tree": "browse_files tree",
        "readme": Instead("browse_files get", {"file_path": "README.md"}),
        "about describe summary summarize tell_me_about dashboard": "overview",
        "mirrors": "browse_project_details remote_mirrors",
        "stars": "browse_project_details starrers",
        "mine my_projects": Instead("list", {"membership": True}),
        "issue_templates": Instead("browse_project_details templates", {"type": "issues"}),
        "merge_request_templates": Instead("browse_project_details templates", {"type": "merge_requests"}),
    },
)

PROJECT = (
    "id path_with_namespace description visibility archived marked_for_deletion_on last_activity_at"
    " | name web_url default_branch topics star_count forks_count open_issues_count created_at updated_at"
    " http_url_to_repo ssh_url_to_repo readme_url empty_repo forked_from=forked_from_project.path_with_namespace"
    " project_role=permissions.project_access.access_level group_role=permissions.group_access.access_level"
    " merge_method squash_option ci_config_path issues_access_level merge_requests_access_level"
    " builds_access_level repository_access_level import_status statistics"
)

OrderBy = Literal[
    "id", "name", "path", "created_at", "updated_at", "last_activity_at", "similarity", "star_count"
]

_ONLY_WITH_A_GROUP = ("include_subgroups", "with_shared")
_SAYS_WHOSE = frozenset(
    {"group_id", "user_id", "membership", "owned", "starred", "min_access_level", "visibility", "topic"}
)
"""Who gives none of these means the own projects. GitLab.com would list those of all its users."""
_ONLY_WITHOUT_A_GROUP = (
    "membership",
    "topic",
    "with_programming_language",
    "last_activity_after",
    "last_activity_before",
    "updated_after",
    "updated_before",
    "search_namespaces",
)


@browse.action(
    "list",
    GET("/projects", "/groups/{group_id}/projects", "/users/{user_id}/projects"),
    example={"group_id": "acme"},
    shows=PROJECT,
    seldom_given="with_programming_language search_namespaces include_subgroups with_shared owned"
    " min_access_level topic starred archived visibility",
)
class ListProjects(Paged):
    """List projects, the newest first; without a filter all that the token may see, on GitLab.com your own."""

    group_id: GroupId | None = None
    user_id: UserId | None = None
    search: Search | None = None
    membership: Annotated[Flag, Field(description="Only where I am a member")] | None = None
    owned: Flag | None = None
    starred: Flag | None = None
    archived: Flag | None = None
    active: Annotated[Flag, Only(since="19.3")] | None = None
    visibility: Visibility | None = None
    min_access_level: AccessLevel | None = None
    topic: Words | None = None
    with_programming_language: NonEmpty | None = None
    last_activity_after: Time | None = None
    last_activity_before: Time | None = None
    updated_after: Time | None = None
    updated_before: Time | None = None
    search_namespaces: Flag | None = None
    include_subgroups: Flag | None = None
    with_shared: Flag | None = None
    order_by: OrderBy | None = None
    sort: Sort | None = None

    @model_validator(mode="after")
    def _filters_the_route_knows(self) -> Self:
        # GitLab ignores a filter that the route does not know, and lists everything.
        unknown = _ONLY_WITHOUT_A_GROUP if self.group_id is not None else _ONLY_WITH_A_GROUP
        for name in unknown:
            if getattr(self, name) is not None:
                where = "without group_id" if self.group_id is not None else "with group_id"
                raise broken_rule(f"a filter that works {where}", field=name)
        return self

    async def run(self, gitlab: GitLab) -> Answer:
        if not is_gitlab_com(gitlab.base_url) or self.model_fields_set & _SAYS_WHOSE:
            return await gitlab.send(self.request())
        answer = await gitlab.send(self.request(membership=True))
        return replace(answer, left_out=(Omission("public projects of others", None, "membership=false"),))


@browse.action(
    "get",
    GET("/projects/{project_id}"),
    example={"project_id": "acme/website"},
    shows=PROJECT,
    seldom_given="statistics",
)
class GetProject(InProject):
    """Read one project: settings, switches, and the caller's role in it."""

    statistics: Flag | None = None


@browse.action(
    "overview",
    GET("/projects/{project_id}"),
    docs=Differs("user/project/", "the page about projects, not about its first request"),
    example={"project_id": "acme/shop"},
)
class Overview(InProject):
    """Sum a project up: what it is, how active, the state of its default branch, and whom to ask.

    In one call what a newcomer asks: description, languages, latest commits, pipeline of the default branch, open
    counts, last release, owners, maintainers and code owners."""

    async def run(self, gitlab: GitLab) -> Result:
        return await read_overview(gitlab, self.project_id)


class ListOfProject(InProject, Paged):
    search: Search | None = None


@browse.action(
    "languages",
    GET("/projects/{project_id}/languages"),
    example={"project_id": "acme/website"},
)
class Languages(InProject):
    """Programming languages with their share in percent."""


@browse.action(
    "users",
    GET("/projects/{project_id}/users"),
    example={"project_id": "acme/website"},
    shows="id username name state",
    has_line=True,
)
class Users(ListOfProject):
    """People who can be mentioned and assigned in the project."""

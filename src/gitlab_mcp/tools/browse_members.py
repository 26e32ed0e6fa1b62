"""Members of a project or group, their roles, invitations and access requests."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from gitlab_mcp.actions.action import GET
from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.actions.fields import AlsoCalled, Branch, Search, SentAs, UserId
from gitlab_mcp.actions.other_names import Instead
from gitlab_mcp.actions.result import Result
from gitlab_mcp.actions.scopes import InProject, InProjectOrGroup, Paged
from gitlab_mcp.actions.server import Server
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.gitlab.paging import has_next_page
from gitlab_mcp.workflows.access.membership import (
    named,
    source_of_one,
    with_place,
    with_role_name,
    with_sources,
)
from gitlab_mcp.workflows.access.who_can import What, who_can

browse = Tool(
    "browse_members",
    "Read the members of a project or group, their roles, invitations and access requests.",
    toolset="access",
    also=("collaborator", "people", "team", "role", "invitation", "access_request"),
    instead={
        "all list_all inherited effective": "list",
        "list_direct": "direct",
        "role role_of permission access": "get",
        "who_can_push who_may_push": Instead("who_can", {"what": "push"}),
        "who_can_merge who_may_merge": Instead("who_can", {"what": "merge"}),
        "who_can_see who_can_read": Instead("who_can", {"what": "see"}),
        "list_invitations pending": "invitations",
        "requests list_access_requests": "access_requests",
    },
)

MEMBER = (
    "id username name access_level from custom_role=member_role.name expires_at"
    " | state membership_state created_at added_by=created_by.username web_url"
)
MemberSearch = Annotated[Search, SentAs("query"), AlsoCalled("username", "name", "email")]


@browse.action(
    "list",
    GET("/projects/{project_id}/members/all", "/groups/{group_id}/members/all"),
    example={"project_id": "acme/website"},
    shows=MEMBER,
)
class ListMembers(InProjectOrGroup, Paged):
    """List all members, inherited ones too; from is the place that gives the role."""

    search: MemberSearch | None = None

    async def run(self, gitlab: GitLab) -> Answer:
        answer, place = await with_place(gitlab, self.request(), self.project_id, self.group_id)
        is_whole = not has_next_page(answer) and self.search is None and (self.page or 1) == 1
        return await with_sources(gitlab, answer, place, is_whole=is_whole)


@browse.action(
    "direct",
    GET("/projects/{project_id}/members", "/groups/{group_id}/members"),
    example={"project_id": "acme/website"},
    shows=MEMBER,
)
class ListDirectMembers(InProjectOrGroup, Paged):
    """List only those who were added right here."""

    search: MemberSearch | None = None

    async def completed(self, gitlab: GitLab, answer: Answer) -> Answer:
        return replace(answer, body=[with_role_name(member) for member in answer.body])


@browse.action(
    "get",
    GET("/projects/{project_id}/members/all/{user_id}", "/groups/{group_id}/members/all/{user_id}"),
    example={"project_id": "acme/shop", "user_id": 3},
    shows=MEMBER,
)
class GetMember(InProjectOrGroup):
    """Which role a person has here, and from where."""

    user_id: Annotated[UserId, AlsoCalled("username", "member", "person")]

    async def run(self, gitlab: GitLab) -> Answer:
        answer, place = await with_place(gitlab, self.request(), self.project_id, self.group_id)
        return replace(answer, body=named(answer.body, await source_of_one(gitlab, answer.body, place)))


@browse.action(
    "who_can",
    GET("/projects/{project_id}/members/all"),
    example={"project_id": "acme/website", "what": "push", "branch": "main"},
    lists=False,
)
class WhoCan(InProject):
    """Who may see the project, or push or merge to a branch: people, with the reason."""

    what: What
    branch: Branch | None = None

    async def run_with(self, server: Server) -> Result:
        return await who_can(server, self.what, self.project_id, self.branch)


@browse.action(
    "invitations",
    GET("/projects/{project_id}/invitations", "/groups/{group_id}/invitations"),
    example={"project_id": "acme/website"},
    shows="email=invite_email access_level expires_at created_at:date invited_by=created_by_name",
)
class ListInvitations(InProjectOrGroup, Paged):
    """List invitations by e-mail that nobody took up yet."""

    search: MemberSearch | None = None

    async def completed(self, gitlab: GitLab, answer: Answer) -> Answer:
        return replace(answer, body=[with_role_name(each) for each in answer.body])


@browse.action(
    "access_requests",
    GET("/projects/{project_id}/access_requests", "/groups/{group_id}/access_requests"),
    example={"project_id": "acme/website"},
    shows="id username name state requested_at",
)
class ListAccessRequests(InProjectOrGroup, Paged):
    """List who asked for access."""

"""Access tokens of people, projects and groups, and who and what else has access to a project."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal

from gitlab_mcp.actions.action import GET, Action
from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.actions.fields import Date, Flag, Id, Only, Search, Time, UserId
from gitlab_mcp.actions.result import Result
from gitlab_mcp.actions.scopes import InProject, InProjectOrGroup, Paged
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.workflows.access.access_overview import access_overview
from gitlab_mcp.workflows.access.membership import with_role_name

browse = Tool(
    "browse_access_tokens",
    "Read access tokens: your own, those of a project or group; never their secret values.",
    toolset="access",
    also=(
        "pat",
        "personal access token",
        "api key",
        "project access token",
        "group access token",
        "bot token",
    ),
    instead={
        "audit access list_all": "overview",
        "current whoami mine": "self",
    },
)

TOKEN = (
    "id name scopes access_level active revoked:mark expires_at last_used_at:date user_id granular:mark"
    " | description created_at last_used_ips"
)


@browse.action(
    "list",
    GET(
        "/personal_access_tokens", "/projects/{project_id}/access_tokens", "/groups/{group_id}/access_tokens"
    ),
    example={"project_id": "acme/website"},
    shows=TOKEN,
)
class ListTokens(InProjectOrGroup, Paged):
    """List those of a project or group, else your own; user_id is for administrators."""

    user_id: UserId | None = None
    state: Literal["active", "inactive"] | None = None
    revoked: Flag | None = None
    search: Search | None = None
    created_after: Time | None = None
    created_before: Time | None = None
    last_used_after: Time | None = None
    last_used_before: Time | None = None
    expires_after: Annotated[Date, Only(since="19.3")] | None = None
    expires_before: Annotated[Date, Only(since="19.3")] | None = None

    async def completed(self, gitlab: GitLab, answer: Answer) -> Answer:
        return replace(answer, body=[with_role_name(each) for each in answer.body])


@browse.action(
    "get",
    GET(
        "/personal_access_tokens/{token_id}",
        "/projects/{project_id}/access_tokens/{token_id}",
        "/groups/{group_id}/access_tokens/{token_id}",
    ),
    example={"project_id": "acme/website", "token_id": 12},
    shows=TOKEN,
)
class GetToken(InProjectOrGroup):
    """Read one; GitLab shows a revoked one too."""

    token_id: Id

    async def completed(self, gitlab: GitLab, answer: Answer) -> Answer:
        return replace(answer, body=with_role_name(answer.body))


@browse.action(
    "self",
    GET("/personal_access_tokens/self"),
    docs="api/personal_access_tokens/",
    example={},
    shows=TOKEN,
)
class GetOwnToken(Action):
    """Read the token that this server calls with: scopes, expiry."""


@browse.action(
    "overview",
    GET("/projects/{project_id}/access_tokens"),
    example={"project_id": "acme/website"},
)
class Overview(InProject):
    """List what has access to a project: access tokens, deploy tokens and keys, webhooks, job tokens of others."""

    async def run(self, gitlab: GitLab) -> Result:
        return await access_overview(gitlab, self.project_id)

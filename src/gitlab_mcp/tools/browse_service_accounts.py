"""Service accounts and custom roles."""

from __future__ import annotations

from typing import Literal

from gitlab_mcp.actions.action import GET, Role
from gitlab_mcp.actions.exchange import GitLab
from gitlab_mcp.actions.fields import (
    Sort,
)
from gitlab_mcp.actions.result import Result
from gitlab_mcp.actions.scopes import InGroupOrInstance, Paged
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.results.custom_roles import custom_role

browse = Tool(
    "browse_service_accounts",
    "Read service accounts (Premium before 18.11) and custom roles (Ultimate).",
    toolset="access",
)


@browse.action(
    "list",
    GET("/service_accounts", "/groups/{group_id}/service_accounts"),
    example={"group_id": "acme"},
    shows="id username name email",
)
class ListAccounts(InGroupOrInstance, Paged):
    """List service accounts."""

    order_by: Literal["id", "username"] | None = None
    sort: Sort | None = None


@browse.action(
    "list_roles",
    GET("/member_roles", "/groups/{group_id}/member_roles"),
    example={},
    role=Role.OWNER,
    lists=True,
)
class ListRoles(InGroupOrInstance):
    """List custom roles with the permissions they add."""

    async def run(self, gitlab: GitLab) -> Result:
        answer = await gitlab.send(self.request())
        return Result(data={"items": [custom_role(each) for each in answer.body], "total": len(answer.body)})

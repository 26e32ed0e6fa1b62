"""Service accounts, which are users that are no people, and custom roles."""

from __future__ import annotations

from gitlab_mcp.actions.action import GET, Action, Role
from gitlab_mcp.actions.exchange import GitLab
from gitlab_mcp.actions.fields import GroupId, Page
from gitlab_mcp.actions.result import Result
from gitlab_mcp.actions.tool import Tool

browse = Tool(
    "browse_service_accounts",
    "Read service accounts (Premium before 18.11) and custom roles (Ultimate).",
    toolset="access",
)


class InGroupOrHere(Action):
    """Of the instance where no group is given; GitLab.com has them in top-level groups only."""

    group_id: GroupId | None = None


@browse.action(
    "list",
    GET("/service_accounts", "/groups/{group_id}/service_accounts"),
    docs="api/service_accounts/#list-all-instance-service-accounts",
    example={"group_id": "acme"},
    shows="id username name email",
    feature="service_accounts",
    role=Role.OWNER,
)
class ListAccounts(InGroupOrHere):
    """List service accounts."""

    page: Page | None = None


@browse.action(
    "list_roles",
    GET("/member_roles", "/groups/{group_id}/member_roles"),
    docs="api/member_roles/#get-all-instance-member-roles",
    example={},
    feature="member_roles",
    role=Role.OWNER,
)
class ListRoles(InGroupOrHere):
    """List custom roles with the permissions they add."""

    async def run(self, gitlab: GitLab) -> Result:
        answer = await gitlab.send(self.request())
        return Result(data={"items": [_role(each) for each in answer.body], "total": len(answer.body)})


def _role(role: dict[str, object]) -> dict[str, object]:
    """GitLab shows a role as some thirty switches: those that are on are its permissions."""
    shown = {
        name: role[name] for name in ("id", "name", "description", "base_access_level") if role.get(name)
    }
    return {**shown, "permissions": [name for name, value in role.items() if value is True]}

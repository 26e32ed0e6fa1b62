"""Write service accounts, their tokens, and custom roles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field

from gitlab_mcp.actions.action import DELETE, POST, Danger, Role
from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.actions.fields import (
    AccessLevel,
    FutureDate,
    Id,
    NonEmpty,
    Only,
    UserId,
    Words,
)
from gitlab_mcp.actions.recovery_lookup import LostWrite, RecoveryLookup, as_asked, lost_token
from gitlab_mcp.actions.result import Notice, Result
from gitlab_mcp.actions.scopes import InGroup, InGroupOrInstance
from gitlab_mcp.actions.token_scopes import Scopes
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.failures.codes import NoticeCode
from gitlab_mcp.results.custom_roles import custom_role
from gitlab_mcp.results.secret_redaction import keep_visible

manage = Tool(
    "manage_service_account",
    "Create service accounts (Premium before 18.11), their tokens, and custom roles (Ultimate).",
    toolset="access",
)

Permissions = Annotated[Words, Field(min_length=1, description="Like read_code")]


def _has_the_given_name(write: LostWrite, found: Mapping[str, Any]) -> bool:
    """A username that GitLab made up does not tell one account from another; one that was given does."""
    return "username" in write.sent and as_asked(write, found)


class OfServiceAccount(InGroup):
    user_id: UserId


class CreatesToken(OfServiceAccount):
    async def run(self, gitlab: GitLab) -> Answer:
        answer = await gitlab.send(self.request())
        # GitLab shows the token in this answer only.
        return replace(answer, body=keep_visible(answer.body, "token"))


@manage.action(
    "create",
    POST("/service_accounts", "/groups/{group_id}/service_accounts"),
    danger=Danger.DANGEROUS,
    example={"group_id": "acme", "name": "Release bot", "username": "release-bot"},
    shows="id username name email",
    recover_with=RecoveryLookup("browse_service_accounts list", "group_id", proof=_has_the_given_name),
)
class CreateAccount(InGroupOrInstance):
    """Create a service account."""

    name: NonEmpty | None = None
    username: NonEmpty | None = None


@manage.action(
    "delete",
    DELETE("/groups/{group_id}/service_accounts/{user_id}"),
    danger=Danger.DANGEROUS,
    example={"group_id": "acme", "user_id": 57},
    role=Role.OWNER,
    recover_with=RecoveryLookup("browse_service_accounts list", "group_id"),
)
class DeleteAccount(OfServiceAccount):
    """Delete a service account; what it wrote becomes that of a ghost."""

    async def run(self, gitlab: GitLab) -> Result:
        await gitlab.send(self.request())
        return Result(data={"started": True, "then": "GitLab deletes it in the background, within minutes."})


@manage.action(
    "create_token",
    POST("/groups/{group_id}/service_accounts/{user_id}/personal_access_tokens"),
    danger=Danger.DANGEROUS,
    example={"group_id": "acme", "user_id": 57, "name": "ci", "scopes": ["read_api"]},
    shows="id name scopes expires_at token",
    role=Role.OWNER,
    recover_with=lost_token("browse_service_accounts list", "group_id"),
)
class CreateToken(CreatesToken):
    """Create a token for a service account; it is shown once."""

    name: NonEmpty
    scopes: Scopes
    expires_at: FutureDate | None = None


@manage.action(
    "rotate_token",
    POST("/groups/{group_id}/service_accounts/{user_id}/personal_access_tokens/{token_id}/rotate"),
    danger=Danger.DANGEROUS,
    example={"group_id": "acme", "user_id": 57, "token_id": 6},
    shows="id name scopes expires_at token",
    role=Role.OWNER,
    recover_with=lost_token("browse_service_accounts list", "group_id"),
)
class RotateToken(CreatesToken):
    """Replace a token by a new one; the old one stops at once, and the number changes."""

    token_id: Id
    expires_at: Annotated[FutureDate, Only(since="19.3")] | None = None


@manage.action(
    "create_role",
    POST("/member_roles", "/groups/{group_id}/member_roles"),
    danger=Danger.DANGEROUS,
    example={"base_access_level": 10, "name": "r", "permissions": ["read_code"]},
    role=Role.OWNER,
    recover_with=RecoveryLookup(
        "browse_service_accounts list_roles", "group_id", because="several roles may have one name"
    ),
)
class CreateRole(InGroupOrInstance):
    """Create a custom role on top of a built-in one."""

    base_access_level: AccessLevel
    name: NonEmpty
    permissions: Permissions

    async def run(self, gitlab: GitLab) -> Result:
        granted = dict.fromkeys(self.permissions, True)
        role = (await gitlab.send(self.request(permissions=None, **granted))).body
        # GitLab accepts a permission that it does not know, and creates the role without it.
        missing = [name for name in self.permissions if role.get(name) is not True]
        message = f"GitLab created the role without {', '.join(missing)}: it knows no such permission."
        warnings = [Notice(NoticeCode.NOT_APPLIED, message, {"field": "permissions"})] if missing else []
        return Result(data=custom_role(role), warnings=warnings)


@manage.action(
    "delete_role",
    DELETE("/member_roles/{member_role_id}", "/groups/{group_id}/member_roles/{member_role_id}"),
    danger=Danger.DANGEROUS,
    example={"member_role_id": 1},
    role=Role.OWNER,
    recover_with=RecoveryLookup("browse_service_accounts list_roles", "group_id"),
)
class DeleteRole(InGroupOrInstance):
    """Delete a custom role; its members keep the built-in one."""

    member_role_id: Id

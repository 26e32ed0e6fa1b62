"""Create, rotate and revoke access tokens. A new token is shown once, in the answer that made it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from gitlab_mcp.actions.action import DELETE, POST, Action, Danger
from gitlab_mcp.actions.ask import Ask
from gitlab_mcp.actions.entry import Entry
from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.actions.fields import (
    AlsoCalled,
    FromJson,
    FutureDate,
    Id,
    NamesPlace,
    NonEmpty,
    Only,
    RoleName,
    UserId,
    Words,
    broken_rule,
)
from gitlab_mcp.actions.recovery_lookup import RecoveryLookup, lost_token
from gitlab_mcp.actions.result import Notice, Result
from gitlab_mcp.actions.scopes import InProjectOrGroup
from gitlab_mcp.actions.token_scopes import Scopes
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.actions.undo import Undo
from gitlab_mcp.failures.codes import Code, NoticeCode
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.gitlab.faults import FAULTS
from gitlab_mcp.results.secret_redaction import keep_visible
from gitlab_mcp.workflows.access.membership import with_role_name

manage = Tool(
    "manage_access_token",
    "Create, rotate and revoke access tokens of a project, a group or a person. A new one is shown once.",
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
        "delete remove": "revoke",
        "renew regenerate": "rotate",
        "create_project_token create_group_token add": "create",
    },
)

CREATED = "id name token shown_once scopes access_level expires_at active user_id granular"
_DAYS = 30
_SELF = "/personal_access_tokens/self"
FIND_LOST = lost_token("browse_access_tokens list", "project_id group_id user_id")

ExpiresAt = Annotated[FutureDate, Field(description=f"At most a year ahead; without it {_DAYS} days")]


def _permission(title: str) -> str:
    """`read_work_item`, also where it is written as GitLab shows it: `Work Item: Read`."""
    resource, colon, verb = title.partition(":")
    return re.sub(r"\s+", "_", f"{verb} {resource}".strip().lower()) if colon else title.strip().lower()


def _permissions(titles: list[str]) -> list[str]:
    return [_permission(title) for title in titles]


class GranularScope(Entry):
    """Permissions, and where they hold."""

    access: Literal["personal_projects", "all_memberships", "selected_memberships", "user", "instance"]
    permissions: Annotated[Words, Field(min_length=1), AfterValidator(_permissions)]
    project_ids: list[Annotated[Id, NamesPlace("project")]] | None = None
    group_ids: list[Annotated[Id, NamesPlace("group")]] | None = None


class MakesToken(Action):
    expires_at: ExpiresAt | None = None

    async def run(self, gitlab: GitLab) -> Answer | Result:
        expires_at = self.expires_at or (datetime.now(UTC) + timedelta(days=_DAYS)).date().isoformat()
        return shown_once(await gitlab.send(self.request(expires_at=expires_at)))


def shown_once(answer: Answer) -> Answer:
    """The answer with the new token left readable: GitLab never shows it again."""
    body = {**with_role_name(keep_visible(answer.body, "token")), "shown_once": True}
    message = "GitLab made the token and does not accept it: it is not active."
    dead = Notice(NoticeCode.NOT_APPLIED, message, {"field": "expires_at"})
    return replace(answer, body=body, warnings=(dead,) if body.get("active") is False else ())


class OfToken(InProjectOrGroup):
    token_id: Id

    async def refuse_before_asking(self, ask: Ask) -> None:
        self._refuse_own(await ask.look(_SELF))

    async def run(self, gitlab: GitLab) -> Answer | Result:
        # An OAuth or job token has no number there.
        with suppress(*FAULTS):
            self._refuse_own((await gitlab.get(_SELF)).body)
        return await super().run(gitlab)

    def _refuse_own(self, own: Any) -> None:
        """Whoever rotates or revokes the token that this server calls with cannot call any more; and GitLab takes
        a rotated token that is used again for stolen, and revokes the new one too."""
        if isinstance(own, Mapping) and own.get("id") == self.token_id:
            raise CallFailed(_own_token())


def _own_token() -> Failure:
    return Failure(
        Code.CONFLICT, "This is the token that this server calls GitLab with. Nothing was sent."
    ).knowing(
        state="in use",
        confidence="certain",
        evidence=["GitLab shows this number as that of the token in use"],
        suggested_fix="Do it in GitLab's pages, and give the server the new token.",
    )


@manage.action(
    "create",
    POST("/projects/{project_id}/access_tokens", "/groups/{group_id}/access_tokens"),
    danger=Danger.DANGEROUS,
    example={
        "project_id": "acme/website",
        "name": "ci bot",
        "scopes": ["read_api"],
        "access_level": "reporter",
    },
    shows=CREATED,
    recover_with=FIND_LOST,
    undo=Undo("revoke", "project_id group_id", "token_id=id"),
)
class CreateToken(InProjectOrGroup, MakesToken):
    """Create a token of a project or group; GitLab makes a bot user for it."""

    name: NonEmpty
    scopes: Scopes
    access_level: Annotated[RoleName, AlsoCalled("role", "permission", "level")] | None = None
    description: Annotated[str, Only(since="19.3")] | None = None


@manage.action(
    "create_personal",
    POST("/user/personal_access_tokens", "/users/{user_id}/personal_access_tokens"),
    danger=Danger.DANGEROUS,
    example={"user_id": 24, "name": "to rotate", "scopes": ["api"]},
    shows=CREATED,
    recover_with=FIND_LOST,
)
class CreatePersonalToken(MakesToken):
    """Create a personal token: as administrator for somebody; for yourself fine-grained, k8s_proxy or self_rotate."""

    user_id: UserId | None = None
    name: NonEmpty
    scopes: Scopes | None = None
    granular_scopes: (
        Annotated[
            list[GranularScope],
            FromJson,
            Only(since="19.3"),
            Field(min_length=1, description="Fine-grained: permissions like Work Item: Read, and where"),
        ]
        | None
    ) = None
    description: Annotated[str, Only(since="19.3")] | None = None

    @model_validator(mode="after")
    def _scoped_once(self) -> Self:
        if (self.scopes is None) is (self.granular_scopes is None):
            raise broken_rule("one of scopes, granular_scopes", field="scopes")
        if self.granular_scopes is not None and self.user_id is not None:
            raise broken_rule("left out with user_id: only for yourself", field="granular_scopes")
        return self


@manage.action(
    "rotate",
    POST(
        "/personal_access_tokens/{token_id}/rotate",
        "/projects/{project_id}/access_tokens/{token_id}/rotate",
        "/groups/{group_id}/access_tokens/{token_id}/rotate",
    ),
    danger=Danger.DANGEROUS,
    example={"project_id": "writes/app", "token_id": 52},
    shows=CREATED,
    recover_with=FIND_LOST,
)
class RotateToken(OfToken, MakesToken):
    """Replace one by a new one with another number; the old stops at once, and using it again revokes the new too."""


@manage.action(
    "revoke",
    DELETE(
        "/personal_access_tokens/{token_id}",
        "/projects/{project_id}/access_tokens/{token_id}",
        "/groups/{group_id}/access_tokens/{token_id}",
    ),
    danger=Danger.DESTRUCTIVE,
    example={"project_id": "writes/app", "token_id": 53},
    recover_with=RecoveryLookup("browse_access_tokens get", "project_id group_id token_id"),
)
class RevokeToken(OfToken):
    """Make one useless for good."""

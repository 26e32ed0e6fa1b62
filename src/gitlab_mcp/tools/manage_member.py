"""Give and take access to a project or group: members, invitations, access requests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field, model_validator

from gitlab_mcp.actions.action import DELETE, POST, PUT, Danger, fill
from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.actions.fields import (
    ROLES,
    AlsoCalled,
    Email,
    Flag,
    FutureDate,
    FutureDateOrEmpty,
    Id,
    Needs,
    RoleName,
    UserId,
    Within,
    broken_rule,
)
from gitlab_mcp.actions.recovery_lookup import LostWrite, RecoveryLookup
from gitlab_mcp.actions.result import Notice
from gitlab_mcp.actions.scopes import InProjectOrGroup
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.actions.undo import Undo
from gitlab_mcp.failures.codes import NoticeCode
from gitlab_mcp.gitlab.faults import FAULTS, Refused
from gitlab_mcp.gitlab.paging import items_of
from gitlab_mcp.workflows.access.member_refusals import (
    refuse_error_inside,
    refuse_inherited,
    refuse_present,
    refuse_request,
)
from gitlab_mcp.workflows.access.membership import with_role_name

manage = Tool(
    "manage_member",
    "Give and take roles in a project or group: members, invitations, access requests.",
    toolset="access",
    also=("collaborator", "people", "team", "role", "invitation", "access_request"),
    instead={
        "create add_member grant join": "add",
        "create_invitation send_invitation": "invite",
        "promote demote change_role set_role edit extend": "update",
        "delete kick remove_member revoke_access": "remove",
        "revoke cancel_invitation delete_invitation": "revoke_invitation",
        "approve accept": "approve_request",
        "deny reject decline": "deny_request",
        "request ask": "request_access",
    },
)

MEMBER = "id username access_level expires_at"
Role = Annotated[RoleName, AlsoCalled("role", "permission", "level")]
CustomRole = Annotated[Id, Needs("member_roles"), Within()]
Person = Annotated[UserId, AlsoCalled("username", "member", "person")]


def _has_role(write: LostWrite, found: Mapping[str, Any]) -> bool:
    return write.has(found, "access_level", "expires_at")


class OfMember(InProjectOrGroup):
    user_id: Person


class OfInvitation(InProjectOrGroup):
    email: Email


@manage.action(
    "add",
    POST("/projects/{project_id}/members", "/groups/{group_id}/members"),
    danger=Danger.DANGEROUS,
    example={"project_id": "23", "user_id": 25, "access_level": "reporter", "expires_at": "2027-01-31"},
    shows=MEMBER,
    recover_with=RecoveryLookup(
        "browse_members direct",
        "project_id group_id",
        proof=lambda write, found: found["id"] == write.sent["user_id"] and _has_role(write, found),
        every_page=True,
    ),
    undo=Undo("remove", "project_id group_id user_id"),
)
class AddMember(InProjectOrGroup):
    """Make somebody a member, until a day if one is given."""

    user_id: Person
    access_level: Role
    expires_at: FutureDate | None = None
    member_role_id: CustomRole | None = None

    async def run(self, gitlab: GitLab) -> Answer:
        try:
            answer = await gitlab.send(self.request())
        except Refused as refused:
            if refused.status == 409:
                await refuse_present(gitlab, self.request().path, self.given(), int(self.user_id))
            raise
        refuse_error_inside(answer)
        return replace(answer, body=with_role_name(answer.body))


@manage.action(
    "update",
    PUT("/projects/{project_id}/members/{user_id}", "/groups/{group_id}/members/{user_id}"),
    danger=Danger.DANGEROUS,
    example={"project_id": "23", "user_id": 25, "access_level": "developer", "expires_at": "2027-02-28"},
    shows=MEMBER,
    recover_with=RecoveryLookup("browse_members get", "project_id group_id user_id"),
)
class UpdateMember(OfMember):
    """Change a member's role or its last day."""

    access_level: Role | None = None
    expires_at: FutureDateOrEmpty | None = None
    member_role_id: CustomRole | None = None

    @model_validator(mode="after")
    def _changes_something(self) -> UpdateMember:
        if not self.model_fields_set & {"access_level", "expires_at", "member_role_id"}:
            raise broken_rule("a role, or expires_at", field="access_level")
        return self

    async def run(self, gitlab: GitLab) -> Answer:
        request = self.request()
        try:
            if self.access_level is None:
                # GitLab demands the role, also where only the day changes.
                level = (await gitlab.get(request.path)).body["access_level"]
                request = self.request(access_level=level)
            answer = await gitlab.send(request)
        except Refused as refused:
            if refused.status == 404:
                await refuse_inherited(
                    gitlab, self.project_id, self.group_id, int(self.user_id), "manage_member update"
                )
            raise
        refuse_error_inside(answer)
        return replace(answer, body=with_role_name(answer.body))


@manage.action(
    "remove",
    DELETE("/projects/{project_id}/members/{user_id}", "/groups/{group_id}/members/{user_id}"),
    danger=Danger.DANGEROUS,
    example={"project_id": "23", "user_id": 25},
    recover_with=RecoveryLookup("browse_members get", "project_id group_id user_id"),
)
class RemoveMember(OfMember):
    """Take somebody's role away; of a group also those in its subgroups and projects."""

    skip_subresources: Annotated[Flag, Field(description="Keep roles in subgroups and projects")] | None = (
        None
    )
    unassign_issuables: (
        Annotated[Flag, Field(description="Take issues and merge requests off the person")] | None
    ) = None

    async def run(self, gitlab: GitLab) -> Answer:
        try:
            return await gitlab.send(self.request())
        except Refused as refused:
            if refused.status == 404:
                await refuse_inherited(
                    gitlab, self.project_id, self.group_id, int(self.user_id), "manage_member remove"
                )
            raise


@manage.action(
    "invite",
    POST("/projects/{project_id}/invitations", "/groups/{group_id}/invitations"),
    danger=Danger.DANGEROUS,
    example={
        "project_id": "23",
        "email": "guest-project@example.com",
        "access_level": "reporter",
        "expires_at": "2027-01-31",
    },
    shows="email=invite_email access_level expires_at",
    # A second invitation of an address changes nothing.
    repeatable=True,
    recover_with=RecoveryLookup("browse_members invitations", "project_id group_id"),
)
class Invite(OfInvitation):
    """Invite somebody by e-mail; who has an account with the address becomes a member at once."""

    access_level: Role
    expires_at: FutureDate | None = None
    member_role_id: CustomRole | None = None

    async def completed(self, gitlab: GitLab, answer: Answer) -> Answer:
        refuse_error_inside(answer)
        try:
            waiting = items_of(await gitlab.get(self.request().path, query=self.email), self.request().path)
        except FAULTS:
            return answer
        for each in waiting:
            if str(each.get("invite_email")).casefold() == self.email.casefold():
                return replace(answer, body=with_role_name(each))
        message = (
            "No invitation waits: an account has this address. Where it was a member already, nothing changed "
            "(manage_member update changes a role); otherwise it is one now."
        )
        notice = Notice(NoticeCode.NOT_APPLIED, message, {"field": "email"})
        return replace(answer, body={"invite_email": self.email}, warnings=(*answer.warnings, notice))


@manage.action(
    "update_invitation",
    PUT("/projects/{project_id}/invitations/{email}", "/groups/{group_id}/invitations/{email}"),
    danger=Danger.DANGEROUS,
    example={"project_id": "23", "email": "guest-project@example.com", "access_level": "developer"},
    shows="email=invite_email access_level expires_at",
    recover_with=RecoveryLookup("browse_members invitations", "project_id group_id"),
)
class UpdateInvitation(OfInvitation):
    """Change the role or the last day of an invitation."""

    access_level: Role | None = None
    expires_at: FutureDateOrEmpty | None = None

    @model_validator(mode="after")
    def _changes_something(self) -> UpdateInvitation:
        if self.access_level is None and self.expires_at is None:
            raise broken_rule("a role, or expires_at", field="access_level")
        return self

    async def completed(self, gitlab: GitLab, answer: Answer) -> Answer:
        return replace(answer, body=with_role_name(answer.body))


@manage.action(
    "revoke_invitation",
    DELETE("/projects/{project_id}/invitations/{email}", "/groups/{group_id}/invitations/{email}"),
    danger=Danger.DESTRUCTIVE,
    example={"project_id": "23", "email": "guest-project@example.com"},
    recover_with=RecoveryLookup("browse_members invitations", "project_id group_id"),
)
class RevokeInvitation(OfInvitation):
    """Take an invitation back."""


@manage.action(
    "approve_request",
    PUT(
        "/projects/{project_id}/access_requests/{user_id}/approve",
        "/groups/{group_id}/access_requests/{user_id}/approve",
    ),
    danger=Danger.DANGEROUS,
    example={"project_id": "69", "user_id": 25, "access_level": "reporter"},
    shows=MEMBER,
    recover_with=RecoveryLookup("browse_members get", "project_id group_id user_id"),
)
class ApproveRequest(OfMember):
    """Let in somebody who asked for access, as developer unless a role is given."""

    access_level: Role | None = None

    async def completed(self, gitlab: GitLab, answer: Answer) -> Answer:
        warnings = await self._if_still_open(gitlab)
        return replace(answer, body=with_role_name(answer.body), warnings=(*answer.warnings, *warnings))

    async def _if_still_open(self, gitlab: GitLab) -> list[Notice]:
        """GitLab says yes to a role that it does not have, and leaves the request open."""
        if self.access_level is None or ROLES[self.access_level] % 10 == 0:
            return []
        path = fill(self.endpoint().path.partition("/access_requests")[0], **self.given())
        try:
            await gitlab.get(f"{path}/members/{self.user_id}")
        except Refused as refused:
            if refused.status == 404:
                message = "The request is still open: this GitLab does not have the role. Give another one."
                return [Notice(NoticeCode.NOT_APPLIED, message, {"field": "access_level"})]
        return []


@manage.action(
    "deny_request",
    DELETE(
        "/projects/{project_id}/access_requests/{user_id}", "/groups/{group_id}/access_requests/{user_id}"
    ),
    danger=Danger.DESTRUCTIVE,
    example={"project_id": "69", "user_id": 25},
    recover_with=RecoveryLookup("browse_members access_requests", "project_id group_id"),
)
class DenyRequest(OfMember):
    """Turn an access request down, or take back one's own."""


@manage.action(
    "request_access",
    POST("/projects/{project_id}/access_requests", "/groups/{group_id}/access_requests"),
    danger=Danger.REVERSIBLE,
    example={"project_id": "69"},
    shows="id username requested_at",
    recover_with=RecoveryLookup(
        "browse_members access_requests",
        "project_id group_id",
        because="only who may approve it can see it",
    ),
)
class RequestAccess(InProjectOrGroup):
    """Ask to become a member."""

    async def run(self, gitlab: GitLab) -> Answer:
        try:
            return await gitlab.send(self.request())
        except Refused as refused:
            if refused.status == 403:
                await refuse_request(gitlab, self.project_id, self.group_id)
            raise

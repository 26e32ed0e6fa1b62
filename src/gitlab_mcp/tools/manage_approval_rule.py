"""Write what a merge must pass: approval rules and settings, external status checks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from gitlab_mcp.actions.action import DELETE, POST, PUT, Action, Danger, Role, something_to_change
from gitlab_mcp.actions.danger import Risk, equals
from gitlab_mcp.actions.fields import (
    Expects,
    Flag,
    GroupId,
    GroupIds,
    Id,
    Ids,
    Integer,
    MergeRequestIid,
    Needs,
    NonEmpty,
    People,
    ProjectId,
    WebUrl,
    Within,
    broken_rule,
)
from gitlab_mcp.actions.recovery_lookup import LostWrite, RecoveryLookup, as_asked
from gitlab_mcp.actions.scopes import InProject, InProjectOrGroup, OfMergeRequest
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.actions.undo import Undo

manage = Tool(
    "manage_approval_rule",
    "Set what a merge must pass: approval rules (Premium) and status checks (Ultimate).",
    toolset="access",
)

RULE = (
    "id name rule_type approvals_required approvers=eligible_approvers.username groups=groups.full_path"
    " users=users.username applies_to_all_protected_branches protected_branches=protected_branches.name"
)
CHECK = "id name external_url hmac protected_branches=protected_branches.name"

Count = Annotated[Integer, Field(ge=0, le=100)]
FullSha = Annotated[str, Field(pattern=r"^[0-9a-f]{40}([0-9a-f]{24})?$"), Expects("a whole commit id")]
PaidMergeRequestIid = Annotated[MergeRequestIid, Needs("mr_approval_rules")]
PaidGroupId = Annotated[GroupId, Needs("group_approval_rules")]

FIND_RULE = RecoveryLookup("browse_approval_rules list", "project_id group_id merge_request_iid")
FIND_CHECK = RecoveryLookup("browse_approval_rules status_checks", "project_id")


def _has_the_status(write: LostWrite, found: Mapping[str, Any]) -> bool:
    return (found["id"], found["status"]) == (
        write.sent["external_status_check_id"],
        write.sent["status"],
    )


class Approvers(Action):
    user_ids: People | None = None
    group_ids: GroupIds | None = None
    protected_branch_ids: Annotated[Ids, Within()] | None = None


@manage.action(
    "create",
    POST(
        "/projects/{project_id}/approval_rules",
        "/groups/{group_id}/approval_rules",
        "/projects/{project_id}/merge_requests/{merge_request_iid}/approval_rules",
    ),
    danger=Danger.DANGEROUS,
    example={"project_id": "tiers-a/one", "name": "R ee", "approvals_required": 1, "user_ids": [3]},
    shows=RULE,
    role=Role.MAINTAINER,
    recover_with=RecoveryLookup(
        "browse_approval_rules list", "project_id group_id merge_request_iid", proof=as_asked
    ),
    undo=Undo("delete", "project_id merge_request_iid", "approval_rule_id=id"),
)
class CreateRule(Approvers):
    """Require approvals of the people named."""

    project_id: ProjectId | None = None
    group_id: PaidGroupId | None = None
    merge_request_iid: PaidMergeRequestIid | None = None
    name: NonEmpty
    approvals_required: Count

    @model_validator(mode="after")
    def _fits_the_place(self) -> CreateRule:
        _only_a_project_has_branches(self)
        return self


@manage.action(
    "update",
    PUT(
        "/projects/{project_id}/approval_rules/{approval_rule_id}",
        "/groups/{group_id}/approval_rules/{approval_rule_id}",
        "/projects/{project_id}/merge_requests/{merge_request_iid}/approval_rules/{approval_rule_id}",
    ),
    danger=Danger.DANGEROUS,
    example={"project_id": "tiers-a/one", "approval_rule_id": 1, "name": "x"},
    shows=RULE,
    role=Role.MAINTAINER,
    recover_with=FIND_RULE,
)
class UpdateRule(Approvers):
    """Change a rule; people and groups that are not named again are taken off."""

    project_id: ProjectId | None = None
    group_id: PaidGroupId | None = None
    merge_request_iid: PaidMergeRequestIid | None = None
    approval_rule_id: Id
    name: NonEmpty | None = None
    approvals_required: Count | None = None

    @model_validator(mode="after")
    def _fits_the_place(self) -> UpdateRule:
        _only_a_project_has_branches(self)
        return self

    _changes_something = something_to_change("approvals_required")


@manage.action(
    "delete",
    DELETE(
        "/projects/{project_id}/approval_rules/{approval_rule_id}",
        "/projects/{project_id}/merge_requests/{merge_request_iid}/approval_rules/{approval_rule_id}",
    ),
    danger=Danger.DANGEROUS,
    example={"project_id": "tiers-a/one", "approval_rule_id": 1},
    role=Role.MAINTAINER,
    recover_with=FIND_RULE,
)
class DeleteRule(InProject):
    """Delete a rule: what it required is not required any more."""

    merge_request_iid: PaidMergeRequestIid | None = None
    approval_rule_id: Id


@manage.action(
    "update_settings",
    PUT(
        "/projects/{project_id}/merge_request_approval_setting",
        "/groups/{group_id}/merge_request_approval_setting",
    ),
    danger=Danger.DANGEROUS,
    example={"project_id": "tiers-a/one", "allow_author_approval": True},
    role=Role.MAINTAINER,
    recover_with=RecoveryLookup("browse_approval_rules settings", "project_id group_id"),
)
class UpdateSettings(InProjectOrGroup):
    """Change the approval settings of a project, or of a top-level group for all its projects."""

    allow_author_approval: Flag | None = None
    allow_committer_approval: Flag | None = None
    retain_approvals_on_push: Flag | None = None

    _changes_something = something_to_change("allow_author_approval")


@manage.action(
    "create_status_check",
    POST("/projects/{project_id}/external_status_checks"),
    danger=Danger.DANGEROUS,
    example={"project_id": "acme/shop", "name": "Compliance", "external_url": "https://checks.example.com"},
    shows=CHECK,
    role=Role.MAINTAINER,
    recover_with=RecoveryLookup("browse_approval_rules status_checks", "project_id", proof=as_asked),
    undo=Undo("delete_status_check", "project_id", "check_id=id"),
)
class CreateCheck(InProject):
    """Ask a service about every merge request."""

    name: NonEmpty
    external_url: WebUrl
    protected_branch_ids: Annotated[Ids, Within()] | None = None


@manage.action(
    "update_status_check",
    PUT("/projects/{project_id}/external_status_checks/{check_id}"),
    danger=Danger.DANGEROUS,
    example={"project_id": "acme/shop", "check_id": 1, "name": "Licences"},
    shows=CHECK,
    role=Role.MAINTAINER,
    recover_with=FIND_CHECK,
)
class UpdateCheck(InProject):
    """Change a check."""

    check_id: Id
    name: NonEmpty | None = None
    external_url: WebUrl | None = None
    protected_branch_ids: Annotated[Ids, Within()] | None = None

    _changes_something = something_to_change("name")


@manage.action(
    "delete_status_check",
    DELETE("/projects/{project_id}/external_status_checks/{check_id}"),
    danger=Danger.DANGEROUS,
    example={"project_id": "acme/shop", "check_id": 1},
    role=Role.MAINTAINER,
    recover_with=FIND_CHECK,
)
class DeleteCheck(InProject):
    """Delete a check: nothing waits for it any more."""

    check_id: Id


@manage.action(
    "respond_status_check",
    POST("/projects/{project_id}/merge_requests/{merge_request_iid}/status_check_responses"),
    danger=Danger.REVERSIBLE,
    example={
        "project_id": "acme/shop",
        "merge_request_iid": 1,
        "external_status_check_id": 1,
        "sha": "6dcd4ce23d88e2ee9568ba546c007c63d9131c1b",
        "status": "passed",
    },
    shows="id status",
    role=Role.DEVELOPER,
    recover_with=RecoveryLookup(
        "browse_approval_rules status_checks", "project_id merge_request_iid", proof=_has_the_status
    ),
)
class Respond(OfMergeRequest):
    """Say what a check found about a commit."""

    external_status_check_id: Annotated[Id, Within()]
    sha: FullSha
    status: Annotated[
        Literal["passed", "failed", "pending"],
        Risk(Danger.DESTRUCTIVE, "passed", "it can let a merge through", equals("passed")),
    ]


@manage.action(
    "retry_status_check",
    POST(
        "/projects/{project_id}/merge_requests/{merge_request_iid}/status_checks"
        "/{external_status_check_id}/retry"
    ),
    danger=Danger.REVERSIBLE,
    example={"project_id": "acme/shop", "merge_request_iid": 1, "external_status_check_id": 1},
    shows="message",
    role=Role.DEVELOPER,
    recover_with=RecoveryLookup(
        "browse_approval_rules status_checks",
        "project_id merge_request_iid",
        because="a check that is asked again looks like one that waits",
    ),
)
class RetryCheck(OfMergeRequest):
    """Ask a service again after it failed."""

    external_status_check_id: Id


def _only_a_project_has_branches(rule: CreateRule | UpdateRule) -> None:
    """GitLab accepts branches for the rule of a group or a merge request, and ignores them."""
    elsewhere = rule.group_id is not None or rule.merge_request_iid is not None
    if elsewhere and rule.protected_branch_ids is not None:
        raise broken_rule("left out: only a project's rule has branches", field="protected_branch_ids")

"""Protect branches of a project or a group, and tags of a project."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from gitlab_mcp.actions.action import DELETE, PATCH, POST, Danger, something_to_change
from gitlab_mcp.actions.allow_lists import AllowList
from gitlab_mcp.actions.fields import Flag, Needs, ProtectionLevel
from gitlab_mcp.actions.recovery_lookup import LostWrite, RecoveryLookup
from gitlab_mcp.actions.scopes import OfProtectedBranch, OfProtectedTag
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.actions.undo import Undo

manage = Tool(
    "manage_protected_branch",
    "Protect branches and tags. Levels: 0 nobody, 30 Developer, 40 Maintainer, 60 admin.",
    toolset="access",
    instead={
        "protect": "create",
        "unprotect": "delete",
    },
)

BRANCH = (
    "name push=push_access_levels.access_level_description merge=merge_access_levels.access_level_description"
    " allow_force_push code_owner_approval_required inherited"
    " | id unprotect=unprotect_access_levels.access_level_description"
    " push_access_levels(id access_level user_id group_id deploy_key_id)"
    " merge_access_levels(id access_level user_id group_id)"
)
TAG = (
    "name create=create_access_levels.access_level_description"
    " | create_access_levels(id access_level user_id group_id deploy_key_id)"
)


PaidList = Annotated[AllowList, Needs("protected_branch_allowlist")]


def _has_levels(write: LostWrite, found: Mapping[str, Any]) -> bool:
    """It is protected, with each level that was asked for."""
    asked = {name: level for name, level in write.sent.items() if name.endswith("_access_level")}
    shown = {name: {each["access_level"] for each in found[f"{name}s"]} for name in asked}
    return all(level in shown[name] for name, level in asked.items())


class BranchRules(OfProtectedBranch):
    allow_force_push: Flag | None = None
    allowed_to_push: PaidList | None = None
    allowed_to_merge: PaidList | None = None
    code_owner_approval_required: Annotated[Flag, Needs("code_owners")] | None = None


@manage.action(
    "create",
    POST("/projects/{project_id}/protected_branches", "/groups/{group_id}/protected_branches"),
    danger=Danger.DANGEROUS,
    example={
        "project_id": "acme/website",
        "name": "release/*",
        "push_access_level": 40,
        "merge_access_level": 30,
    },
    shows=BRANCH,
    recover_with=RecoveryLookup(
        "browse_protected_branches get", "project_id group_id name", proof=_has_levels
    ),
    undo=Undo("delete", "project_id group_id name"),
)
class ProtectBranch(BranchRules):
    """Protect a branch, or all that fit a wildcard."""

    push_access_level: ProtectionLevel | None = None
    merge_access_level: ProtectionLevel | None = None


@manage.action(
    "update",
    PATCH(
        "/projects/{project_id}/protected_branches/{name}",
        "/groups/{group_id}/protected_branches/{name}",
    ),
    danger=Danger.DANGEROUS,
    example={"project_id": "writes/app", "name": "release/*", "allow_force_push": True},
    shows=BRANCH,
)
class UpdateProtectedBranch(BranchRules):
    """Change who may do what on a protected branch; entries of a list are added, or changed by their id."""

    _changes_something = something_to_change("allow_force_push")


@manage.action(
    "delete",
    DELETE(
        "/projects/{project_id}/protected_branches/{name}",
        "/groups/{group_id}/protected_branches/{name}",
    ),
    danger=Danger.DANGEROUS,
    example={"project_id": "writes/app", "name": "release/*"},
)
class UnprotectBranch(OfProtectedBranch):
    """Take the protection off a branch; the branch stays."""


@manage.action(
    "protect_tag",
    POST("/projects/{project_id}/protected_tags"),
    danger=Danger.DANGEROUS,
    example={"project_id": "acme/website", "name": "v*", "create_access_level": 40},
    shows=TAG,
    recover_with=RecoveryLookup("browse_protected_branches get_tag", "project_id name", proof=_has_levels),
    undo=Undo("unprotect_tag", "project_id name"),
)
class ProtectTag(OfProtectedTag):
    """Protect a tag, or all that fit a wildcard."""

    create_access_level: ProtectionLevel | None = None
    allowed_to_create: PaidList | None = None


@manage.action(
    "unprotect_tag",
    DELETE("/projects/{project_id}/protected_tags/{name}"),
    danger=Danger.DANGEROUS,
    example={"project_id": "writes/app", "name": "v*"},
    recover_with=RecoveryLookup("browse_protected_branches get_tag", "project_id name"),
)
class UnprotectTag(OfProtectedTag):
    """Take the protection off a tag; the tag stays."""

"""What a merge must pass: approval rules and settings, external status checks, merge trains."""

from __future__ import annotations

from typing import Annotated, Literal

from gitlab_mcp.actions.action import GET, Action, Role
from gitlab_mcp.actions.fields import Branch, GroupId, Id, MergeRequestIid, Needs, Page, ProjectId, Sort
from gitlab_mcp.actions.scopes import InProject, InProjectOrGroup
from gitlab_mcp.actions.tool import Tool

browse = Tool(
    "browse_approval_rules",
    "Read what a merge must pass: approval rules, status checks (Ultimate), merge trains (Premium).",
    toolset="access",
)

RULE = (
    "id name rule_type approvals_required approvers=eligible_approvers.username groups=groups.full_path"
    " | users=users.username approved approved_by=approved_by.username applies_to_all_protected_branches"
    " protected_branches=protected_branches.name contains_hidden_groups overridden"
)
CONFIG = (
    "reset_approvals_on_push selective_code_owner_removals disable_overriding_approvers_per_merge_request"
    " merge_requests_author_approval merge_requests_disable_committers_approval require_password_to_approve"
    " require_reauthentication_to_approve"
)
MERGE_TRAIN_CAR = (
    "id merge_request=merge_request.iid title=merge_request.title status target_branch pipeline=pipeline.id"
    " pipeline_status=pipeline.status | user created_at merged_at duration pipeline_url=pipeline.web_url"
)

PaidMergeRequestIid = Annotated[MergeRequestIid, Needs("mr_approval_rules")]
PaidGroupId = Annotated[GroupId, Needs("group_approval_rules")]


class OfRule(InProject):
    merge_request_iid: PaidMergeRequestIid | None = None
    approval_rule_id: Id


@browse.action(
    "list",
    GET(
        "/projects/{project_id}/approval_rules",
        "/groups/{group_id}/approval_rules",
        "/projects/{project_id}/merge_requests/{merge_request_iid}/approval_rules",
    ),
    example={"project_id": "tiers-a/one"},
    shows=RULE,
    role=Role.DEVELOPER,
)
class ListRules(Action):
    """List the rules of a project, a group or one merge request."""

    project_id: ProjectId | None = None
    group_id: PaidGroupId | None = None
    merge_request_iid: PaidMergeRequestIid | None = None
    page: Page | None = None


@browse.action(
    "get",
    GET(
        "/projects/{project_id}/approval_rules/{approval_rule_id}",
        "/projects/{project_id}/merge_requests/{merge_request_iid}/approval_rules/{approval_rule_id}",
    ),
    example={"project_id": "tiers-a/one", "approval_rule_id": 1},
    shows=RULE,
    role=Role.DEVELOPER,
)
class GetRule(OfRule):
    """Read one rule."""


@browse.action(
    "config",
    GET("/projects/{project_id}/approvals"),
    example={"project_id": "tiers-a/one"},
    shows="approvals_before_merge " + CONFIG,
    role=Role.DEVELOPER,
)
class GetConfig(InProject):
    """Read what counts as an approval in a project."""


@browse.action(
    "settings",
    GET(
        "/projects/{project_id}/merge_request_approval_setting",
        "/groups/{group_id}/merge_request_approval_setting",
    ),
    example={"project_id": "tiers-a/one"},
    role=Role.MAINTAINER,
)
class GetSettings(InProjectOrGroup):
    """Read the approval settings, which of them are locked, and from where they are inherited."""


@browse.action(
    "status_checks",
    GET(
        "/projects/{project_id}/external_status_checks",
        "/projects/{project_id}/merge_requests/{merge_request_iid}/status_checks",
    ),
    example={"project_id": "acme/shop"},
    shows="id name status external_url protected_branches=protected_branches.name",
    role=Role.DEVELOPER,
)
class ListChecks(InProject):
    """List the checks of a project, or what they said about one merge request."""

    merge_request_iid: MergeRequestIid | None = None
    page: Page | None = None


@browse.action(
    "trains",
    GET("/projects/{project_id}/merge_trains", "/projects/{project_id}/merge_trains/{target_branch}"),
    example={"project_id": "acme/website"},
    shows=MERGE_TRAIN_CAR,
    role=Role.REPORTER,
)
class ListTrains(InProject):
    """List what waits, or what has been merged, on all trains or on that of one branch."""

    target_branch: Branch | None = None
    scope: Literal["active", "complete"] | None = None
    sort: Sort | None = None
    page: Page | None = None

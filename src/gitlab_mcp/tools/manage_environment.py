"""Write environments, deployments, freeze periods and protected environments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from gitlab_mcp.actions.action import DELETE, POST, PUT, Danger, Role, something_to_change
from gitlab_mcp.actions.allow_lists import AllowList
from gitlab_mcp.actions.ask import Ask
from gitlab_mcp.actions.cron import Cron, TimeZone
from gitlab_mcp.actions.fields import Flag, Id, NonEmpty, Only, Ref, Sha, Time, WebUrl, Within, broken_rule
from gitlab_mcp.actions.other_names import Instead
from gitlab_mcp.actions.recovery_lookup import LostWrite, RecoveryLookup, made, new
from gitlab_mcp.actions.result import Result
from gitlab_mcp.actions.scopes import InProject, WithProtectedEnvironments
from gitlab_mcp.actions.server import Server
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.actions.undo import Undo
from gitlab_mcp.failures.failure import CallFailed
from gitlab_mcp.workflows.pipelines.deployment_rollback import (
    Rollback,
    newest_of,
    path_of_deployments,
    roll_back,
    rollback,
)
from gitlab_mcp.workflows.unchanged_since import IfUnchanged

manage = Tool(
    "manage_environment",
    "Change environments, deployments, deploy freezes and protected environments (Premium).",
    toolset="ci",
    instead={
        "deploy": Instead(
            "",
            advice="A deployment is made by a job: manage_job play. Action create_deployment only records one.",
        ),
        "rollback revert redeploy re_deploy undo": "roll_back",
        "approve": Instead("approve_deployment", {"status": "approved"}, needs=("deployment_id",)),
        "reject": Instead("approve_deployment", {"status": "rejected"}, needs=("deployment_id",)),
    },
)

Tier = Literal["production", "staging", "testing", "development", "other"]
EnvironmentDescription = Annotated[str, Only(since="19.3")]
AutoStop = Annotated[Literal["always", "with_action"], Only(since="19.3")]
Status = Literal["running", "success", "failed", "canceled"]
FREEZE = "id freeze_start freeze_end cron_timezone"
PROTECTED = (
    "name deploy_access_levels(id access_level user_id group_id)"
    " approval_rules(id access_level user_id group_id required_approvals)"
)

FIND_DEPLOYMENT = RecoveryLookup("browse_environments get_deployment", "project_id deployment_id")
FIND_FREEZE_PERIOD = RecoveryLookup("browse_environments get_freeze_period", "project_id freeze_period_id")
FIND_PROTECTED = RecoveryLookup("browse_environments get_protected", "project_id group_id name")


def _is_stopped(write: LostWrite, found: Mapping[str, Any]) -> bool:
    return bool(found["state"] != "available")


def _approved_by_me(write: LostWrite, found: Mapping[str, Any]) -> bool:
    given = ((each["user"]["id"], each["status"]) for each in found.get("approvals") or ())
    return (write.user_id, write.sent["status"]) in given


class OfEnvironment(InProject):
    environment_id: Id


class OfDeployment(InProject):
    deployment_id: Id


class OfProtectedEnvironment(WithProtectedEnvironments):
    name: NonEmpty


@manage.action(
    "create",
    POST("/projects/{project_id}/environments"),
    danger=Danger.REVERSIBLE,
    example={
        "project_id": "acme/website",
        "name": "review/login",
        "external_url": "https://review.acme.example",
        "tier": "development",
    },
    shows="id slug state",
    recover_with=RecoveryLookup("browse_environments list", "project_id name", proof=new("name")),
)
class CreateEnvironment(InProject):
    """Create an environment."""

    name: Annotated[NonEmpty, Field(max_length=255)]
    external_url: WebUrl | None = None
    tier: Tier | None = None
    description: EnvironmentDescription | None = None
    auto_stop_setting: AutoStop | None = None


@manage.action(
    "update",
    PUT("/projects/{project_id}/environments/{environment_id}"),
    danger=Danger.REVERSIBLE,
    example={
        "project_id": "writes/sub-one/second",
        "environment_id": 9,
        "external_url": "https://review-one.example.com",
        "tier": "testing",
    },
    shows="id name external_url tier state",
    seldom_given="expected_updated_at",
)
class UpdateEnvironment(IfUnchanged, OfEnvironment):
    """Change the address, the tier, the description of an environment, or when it stops by itself."""

    external_url: WebUrl | None = None
    tier: Tier | None = None
    description: EnvironmentDescription | None = None
    auto_stop_setting: AutoStop | None = None

    _changes_something = something_to_change("external_url")


@manage.action(
    "stop",
    POST("/projects/{project_id}/environments/{environment_id}/stop"),
    # Its on_stop job takes down what runs there.
    danger=Danger.DESTRUCTIVE,
    example={"project_id": "writes/sub-one/second", "environment_id": 9},
    shows="id name state",
    recover_with=RecoveryLookup("browse_environments get", "project_id environment_id", proof=_is_stopped),
)
class StopEnvironment(OfEnvironment):
    """Stop an environment; force leaves its on_stop job out."""

    force: Flag | None = None


@manage.action(
    "delete",
    DELETE("/projects/{project_id}/environments/{environment_id}"),
    danger=Danger.DESTRUCTIVE,
    example={"project_id": "writes/sub-one/second", "environment_id": 9},
)
class DeleteEnvironment(OfEnvironment):
    """Delete a stopped environment with its deployments."""


@manage.action(
    "stop_stale",
    POST("/projects/{project_id}/environments/stop_stale"),
    danger=Danger.DANGEROUS,
    example={"project_id": "writes/sub-one/second", "before": "2026-11-01T00:00:00Z"},
    shows="message",
    recover_with=RecoveryLookup(
        "browse_environments list", "project_id", because="others may stop at the same time"
    ),
)
class StopStale(InProject):
    """Stop all environments that nothing was deployed to since a time."""

    before: Time


@manage.action(
    "delete_review_apps",
    DELETE("/projects/{project_id}/environments/review_apps"),
    danger=Danger.DANGEROUS,
    example={
        "project_id": "writes/sub-one/second",
        "dry_run": True,
        "before": "2026-11-17T00:00:00Z",
    },
    shows="scheduled_entries(id name) unprocessable_entries(id name)",
    repeatable=False,
    recover_with=RecoveryLookup(
        "browse_environments list", "project_id", because="they are deleted a week later"
    ),
)
class DeleteReviewApps(InProject):
    """Delete stopped review environments in a week; unless dry_run is false, only name them."""

    before: Time | None = None
    dry_run: Flag | None = None


@manage.action(
    "create_deployment",
    POST("/projects/{project_id}/deployments"),
    danger=Danger.REVERSIBLE,
    example={
        "project_id": "writes/sub-one/second",
        "environment": "review/one",
        "sha": "02f37e25175a845cde1a7f167e3f86af3bc529b2",
        "ref": "main",
        "tag": False,
        "status": "running",
    },
    shows="id iid status",
    recover_with=RecoveryLookup(
        "browse_environments list_deployments",
        "project_id environment",
        {"sort": "desc"},
        proof=made("sha", "ref"),
    ),
)
class CreateDeployment(InProject):
    """Record a deployment that something else makes."""

    environment: NonEmpty
    sha: Sha
    ref: Ref
    tag: Annotated[Flag, Field(description="ref is a tag")]
    status: Status


@manage.action(
    "update_deployment",
    PUT("/projects/{project_id}/deployments/{deployment_id}"),
    danger=Danger.REVERSIBLE,
    example={"project_id": "writes/sub-one/second", "deployment_id": 8, "status": "success"},
    shows="id iid status",
    recover_with=FIND_DEPLOYMENT,
)
class UpdateDeployment(OfDeployment):
    """Say how a deployment went."""

    status: Status


@manage.action(
    "delete_deployment",
    DELETE("/projects/{project_id}/deployments/{deployment_id}"),
    danger=Danger.DESTRUCTIVE,
    example={"project_id": "writes/sub-one/second", "deployment_id": 9},
    role=Role.MAINTAINER,
    recover_with=FIND_DEPLOYMENT,
)
class DeleteDeployment(OfDeployment):
    """Delete the record of a deployment that is not the current one."""


@manage.action(
    "approve_deployment",
    POST("/projects/{project_id}/deployments/{deployment_id}/approval"),
    # An approved deployment starts, a rejected one has failed.
    danger=Danger.DESTRUCTIVE,
    example={"project_id": "tiers-a/one", "deployment_id": 29, "status": "approved"},
    shows="status user=user.username",
    role=Role.REPORTER,
    recover_with=RecoveryLookup(
        "browse_environments get_deployment", "project_id deployment_id", proof=_approved_by_me
    ),
)
class ApproveDeployment(OfDeployment):
    """Approve or reject a deployment that waits for it."""

    status: Literal["approved", "rejected"]
    comment: str | None = None


@manage.action(
    "roll_back",
    POST("/projects/{project_id}/deployments"),
    danger=Danger.DESTRUCTIVE,
    example={"project_id": "acme/shop", "environment": "canary"},
    recover_with=RecoveryLookup(
        "browse_environments list_deployments",
        "project_id environment",
        because="the new try names no old one",
    ),
    has_line=True,
)
class RollBack(InProject):
    """Go back to the last successful deployment of an earlier commit, or to deployment_id: its job is run again."""

    environment: NonEmpty
    deployment_id: Annotated[Id, Within()] | None = None

    async def pinned(self, ask: Ask) -> Self:
        found = await self._found(ask) if self.deployment_id is None else None
        return self if found is None else self.model_copy(update={"deployment_id": int(found.earlier["id"])})

    async def refuse_before_asking(self, ask: Ask) -> None:
        deployments = await self._deployments(ask)
        if isinstance(deployments, list):
            rollback(deployments, self.deployment_id)

    async def foretold(self, ask: Ask) -> str:
        found = await self._found(ask)
        return "" if found is None else found.sentence()

    async def _found(self, ask: Ask) -> Rollback | None:
        deployments = await self._deployments(ask)
        try:
            return rollback(deployments, self.deployment_id) if isinstance(deployments, list) else None
        except CallFailed:
            # Told when it is run, or before a person is asked.
            return None

    async def _deployments(self, ask: Ask) -> Any:
        return await ask.look(path_of_deployments(self.project_id), **newest_of(self.environment))

    async def run_with(self, server: Server) -> Result:
        return await roll_back(server, self.project_id, self.environment, self.deployment_id)


@manage.action(
    "create_freeze_period",
    POST("/projects/{project_id}/freeze_periods"),
    danger=Danger.REVERSIBLE,
    example={
        "project_id": "acme/website",
        "freeze_start": "0 23 * * 5",
        "freeze_end": "0 7 * * 1",
        "cron_timezone": "UTC",
    },
    shows=FREEZE,
    recover_with=RecoveryLookup(
        "browse_environments list_freeze_periods",
        "project_id",
        proof=new("freeze_start", "freeze_end"),
    ),
    undo=Undo("delete_freeze_period", "project_id", "freeze_period_id=id"),
)
class CreateFreezePeriod(InProject):
    """Set a time in which jobs see CI_DEPLOY_FREEZE."""

    freeze_start: Cron
    freeze_end: Cron
    cron_timezone: TimeZone | None = None


@manage.action(
    "update_freeze_period",
    PUT("/projects/{project_id}/freeze_periods/{freeze_period_id}"),
    danger=Danger.REVERSIBLE,
    example={
        "project_id": "writes/sub-one/second",
        "freeze_period_id": 2,
        "freeze_end": "0 8 * * 1",
        "cron_timezone": "Europe/Berlin",
    },
    shows=FREEZE,
    recover_with=FIND_FREEZE_PERIOD,
)
class UpdateFreezePeriod(InProject):
    """Change a deploy freeze."""

    freeze_period_id: Id
    freeze_start: Cron | None = None
    freeze_end: Cron | None = None
    cron_timezone: TimeZone | None = None

    _changes_something = something_to_change("freeze_start")


@manage.action(
    "delete_freeze_period",
    DELETE("/projects/{project_id}/freeze_periods/{freeze_period_id}"),
    danger=Danger.DESTRUCTIVE,
    example={"project_id": "writes/sub-one/second", "freeze_period_id": 2},
    recover_with=FIND_FREEZE_PERIOD,
)
class DeleteFreezePeriod(InProject):
    """Delete a deploy freeze."""

    freeze_period_id: Id


@manage.action(
    "protect",
    POST("/projects/{project_id}/protected_environments", "/groups/{group_id}/protected_environments"),
    danger=Danger.DANGEROUS,
    example={
        "project_id": "tiers-a/one",
        "name": "production2",
        "deploy_access_levels": [{"user_id": 2}],
        "approval_rules": [{"access_level": 40, "required_approvals": 1}],
    },
    shows=PROTECTED,
    role=Role.MAINTAINER,
    recover_with=RecoveryLookup(
        "browse_environments get_protected",
        "project_id group_id name",
        because="GitLab does not say since when it is protected",
    ),
    undo=Undo("unprotect", "project_id group_id name"),
)
class Protect(OfProtectedEnvironment):
    """Let only some deploy to an environment, and have others approve; a group names a tier."""

    deploy_access_levels: AllowList
    approval_rules: AllowList | None = None


@manage.action(
    "update_protected",
    PUT(
        "/projects/{project_id}/protected_environments/{name}",
        "/groups/{group_id}/protected_environments/{name}",
    ),
    danger=Danger.DANGEROUS,
    example={
        "project_id": "tiers-a/one",
        "name": "production",
        "approval_rules": [{"access_level": 40, "required_approvals": 2}],
    },
    shows=PROTECTED,
    role=Role.MAINTAINER,
    recover_with=FIND_PROTECTED,
)
class UpdateProtected(OfProtectedEnvironment):
    """Add who may deploy or approve; an entry with its id is changed, or removed with _destroy."""

    deploy_access_levels: AllowList | None = None
    approval_rules: AllowList | None = None

    @model_validator(mode="after")
    def _changes_something(self) -> UpdateProtected:
        if self.deploy_access_levels is None and self.approval_rules is None:
            raise broken_rule("deploy_access_levels or approval_rules", field="approval_rules")
        return self


@manage.action(
    "unprotect",
    DELETE(
        "/projects/{project_id}/protected_environments/{name}",
        "/groups/{group_id}/protected_environments/{name}",
    ),
    danger=Danger.DANGEROUS,
    example={"project_id": "tiers-a/one", "name": "staging"},
    role=Role.MAINTAINER,
    recover_with=FIND_PROTECTED,
)
class Unprotect(OfProtectedEnvironment):
    """Let everybody who may run the job deploy again."""

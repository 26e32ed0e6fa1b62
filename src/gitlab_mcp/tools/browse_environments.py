"""Environments, deployments, freeze periods and protected environments."""

from __future__ import annotations

from typing import Annotated, Literal

from gitlab_mcp.actions.action import GET, Role
from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.actions.fields import (
    Flag,
    Id,
    Labels,
    NonEmpty,
    NotSent,
    Search,
    Sort,
    Time,
    Username,
)
from gitlab_mcp.actions.scopes import InProject, Paged, WithProtectedEnvironments
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.workflows.pipelines.shipped import with_merge_requests

browse = Tool(
    "browse_environments",
    "Read environments, deployments, deploy freezes and protected environments (Premium).",
    toolset="ci",
    also=(
        "deployment",
        "freeze_period",
    ),
    instead={
        "deployments": "list_deployments",
        "wait watch await poll wait_for_deployment": "browse_pipelines wait",
        "protected": "list_protected",
    },
)

ENVIRONMENT = (
    "id name state tier external_url"
    " | slug auto_stop_at created_at updated_at last_deployment=last_deployment.id"
    " last_ref=last_deployment.ref last_sha=last_deployment.sha last_status=last_deployment.status"
)
DEPLOYMENT = (
    "id iid status ref sha environment=environment.name user=user.username created_at"
    " merge_requests(iid title author=author.username)"
    " | updated_at pending_approval_count job=deployable.name job_id=deployable.id"
    " pipeline_id=deployable.pipeline.id approvals(status comment user) approval_summary"
)
FREEZE = "id freeze_start freeze_end cron_timezone"
PROTECTED = (
    "name deploy=deploy_access_levels.access_level_description"
    " approve=approval_rules.access_level_description"
    " | deploy_access_levels(id access_level user_id group_id)"
    " approval_rules(id access_level user_id group_id required_approvals)"
)


@browse.action(
    "list",
    GET("/projects/{project_id}/environments"),
    example={"project_id": "acme/website"},
    shows=ENVIRONMENT,
)
class ListEnvironments(InProject, Paged):
    """List environments."""

    name: NonEmpty | None = None
    search: Search | None = None
    states: Literal["available", "stopping", "stopped"] | None = None


@browse.action(
    "get",
    GET("/projects/{project_id}/environments/{environment_id}"),
    example={"project_id": "acme/website", "environment_id": 1},
    shows=ENVIRONMENT,
)
class GetEnvironment(InProject):
    """Read one environment with its last deployment."""

    environment_id: Id


@browse.action(
    "list_deployments",
    GET("/projects/{project_id}/deployments"),
    example={"project_id": "tiers-a/one", "environment": "production", "order_by": "id", "per_page": 1},
    shows=DEPLOYMENT,
)
class ListDeployments(InProject, Paged):
    """List deployments, newest first; with_merge_requests says what the first ones shipped."""

    with_merge_requests: Annotated[Flag, NotSent()] | None = None

    environment: NonEmpty | None = None
    status: Literal["created", "running", "success", "failed", "canceled", "skipped", "blocked"] | None = None
    updated_after: Time | None = None
    updated_before: Time | None = None
    finished_after: Time | None = None
    finished_before: Time | None = None
    order_by: Literal["id", "iid", "created_at", "updated_at", "finished_at"] | None = None
    sort: Sort | None = None

    async def run(self, gitlab: GitLab) -> Answer:
        # GitLab lists the oldest first.
        listed = await gitlab.send(self.request(sort=self.sort or "desc"))
        return (
            await with_merge_requests(gitlab, self.project_id, listed) if self.with_merge_requests else listed
        )


@browse.action(
    "get_deployment",
    GET("/projects/{project_id}/deployments/{deployment_id}"),
    example={"project_id": "acme/website", "deployment_id": 1},
    shows=DEPLOYMENT,
)
class GetDeployment(InProject):
    """Read one deployment with its approvals."""

    deployment_id: Id


@browse.action(
    "deployment_merge_requests",
    GET("/projects/{project_id}/deployments/{deployment_id}/merge_requests"),
    example={"project_id": "acme/website", "deployment_id": 1},
    shows="iid title state author=author.username merged_at web_url",
)
class DeploymentMergeRequests(InProject, Paged):
    """List the merge requests that a deployment shipped."""

    deployment_id: Id
    search: Search | None = None
    author_username: Username | None = None
    labels: Labels | None = None
    milestone: NonEmpty | None = None
    order_by: (
        Literal[
            "created_at",
            "updated_at",
            "merged_at",
            "title",
            "priority",
            "label_priority",
            "milestone_due",
            "popularity",
        ]
        | None
    ) = None
    sort: Sort | None = None


@browse.action(
    "list_freeze_periods",
    GET("/projects/{project_id}/freeze_periods"),
    example={"project_id": "acme/website"},
    shows=FREEZE,
)
class ListFreezePeriods(InProject, Paged):
    """List when nothing is to be deployed."""


@browse.action(
    "get_freeze_period",
    GET("/projects/{project_id}/freeze_periods/{freeze_period_id}"),
    example={"project_id": "acme/website", "freeze_period_id": 1},
    shows=FREEZE,
)
class GetFreezePeriod(InProject):
    """Read one deploy freeze."""

    freeze_period_id: Id


@browse.action(
    "list_protected",
    GET("/projects/{project_id}/protected_environments", "/groups/{group_id}/protected_environments"),
    example={"project_id": "tiers-a/one"},
    shows=PROTECTED,
    role=Role.MAINTAINER,
)
class ListProtected(WithProtectedEnvironments, Paged):
    """List protected environments of a project, or protected tiers of a group."""


@browse.action(
    "get_protected",
    GET(
        "/projects/{project_id}/protected_environments/{name}",
        "/groups/{group_id}/protected_environments/{name}",
    ),
    example={"project_id": "tiers-a/one", "name": "production"},
    shows=PROTECTED,
    role=Role.MAINTAINER,
)
class GetProtected(WithProtectedEnvironments):
    """Read who may deploy to an environment, and who must approve."""

    name: NonEmpty

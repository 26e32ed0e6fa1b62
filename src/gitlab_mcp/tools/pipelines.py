"""CI/CD pipelines of a project."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator

from gitlab_mcp.core.action import GET, Action, Role, fill
from gitlab_mcp.core.exchange import Answer, GitLab
from gitlab_mcp.core.fields import (
    CiStatus,
    Expects,
    Flag,
    Line,
    Page,
    PerPage,
    PipelineId,
    ProjectId,
    Ref,
    Sha,
    Sort,
    Time,
)
from gitlab_mcp.core.result import Result, Warning
from gitlab_mcp.core.tool import Tool
from gitlab_mcp.gitlab.together import FAULTS, every_page, together
from gitlab_mcp.results.pages import page
from gitlab_mcp.results.views import project, view

browse = Tool("browse_pipelines", "Read CI/CD pipelines and find out why they failed.", switch="builds")

PIPELINE = (
    "id name status ref sha source updated_at web_url"
    " | created_at finished_at duration coverage yaml_errors user=user.username"
)
JOB = "id name stage status failure_reason allow_failure duration"
BRIDGE = (
    "id name stage status failure_reason downstream_id=downstream_pipeline.id"
    " downstream_status=downstream_pipeline.status downstream_url=downstream_pipeline.web_url"
)

SOURCES = (
    "push",
    "web",
    "trigger",
    "schedule",
    "api",
    "external",
    "pipeline",
    "chat",
    "webide",
    "merge_request_event",
    "external_pull_request_event",
    "parent_pipeline",
    "ondemand_dast_scan",
    "ondemand_dast_validation",
    "security_orchestration_policy",
    "container_registry_push",
    "unknown",
)


def _a_source(value: str) -> str:
    if value not in SOURCES:
        raise ValueError("unknown source")
    return value


# Not in the schema: they are many and rarely needed, and a wrong one is answered with all of them.
Source = Annotated[str, AfterValidator(_a_source), Expects("one of " + ", ".join(SOURCES))]


class InPipeline(Action):
    project_id: ProjectId
    pipeline_id: PipelineId


@browse.action(
    "list",
    GET("/projects/{project_id}/pipelines"),
    docs="api/pipelines/#list-project-pipelines",
    example={"project_id": "acme/website"},
    shows=PIPELINE,
    role=Role.GUEST,
)
class ListPipelines(Action):
    """List pipelines, the newest first. Child pipelines are listed only with source: parent_pipeline."""

    project_id: ProjectId
    status: CiStatus | None = None
    ref: Ref | None = None
    sha: Sha | None = None
    source: Source | None = None
    username: Line | None = None
    name: Line | None = None
    yaml_errors: Flag | None = None
    updated_after: Time | None = None
    updated_before: Time | None = None
    order_by: Literal["id", "status", "ref", "updated_at", "user_id"] | None = None
    sort: Sort | None = None
    page: Page | None = None
    per_page: PerPage | None = None


@browse.action(
    "get",
    GET("/projects/{project_id}/pipelines/{pipeline_id}"),
    docs="api/pipelines/#get-a-single-pipeline",
    example={"project_id": "acme/website", "pipeline_id": 16},
    shows=PIPELINE,
    role=Role.GUEST,
)
class GetPipeline(InPipeline):
    """Read one pipeline."""


@browse.action(
    "jobs",
    GET("/projects/{project_id}/pipelines/{pipeline_id}/jobs"),
    docs="api/jobs/#list-pipeline-jobs",
    example={"project_id": "acme/website", "pipeline_id": 16},
    shows=JOB,
    role=Role.GUEST,
)
class ListJobsOfPipeline(InPipeline):
    """List the jobs of a pipeline, and its bridges: the jobs that start other pipelines."""

    include_retried: Flag | None = None
    page: Page | None = None
    per_page: PerPage | None = None

    async def run(self, gitlab: GitLab) -> Result:
        # GitLab leaves bridges out of this list: a pipeline that failed in a child looks green without them.
        bridges_path = fill(
            "/projects/{project_id}/pipelines/{pipeline_id}/bridges",
            project_id=self.project_id,
            pipeline_id=self.pipeline_id,
        )
        jobs, bridges = await together(
            [lambda: gitlab.send(self.request()), lambda: every_page(gitlab, bridges_path)]
        )
        if not isinstance(jobs, Answer):
            raise jobs
        shown = page(self, jobs, [project(job, view(JOB).in_a_list) for job in jobs.body])
        if isinstance(bridges, FAULTS):
            return Result(data=shown, warnings=[_bridges_unknown()])
        if bridges.body:
            shown["bridges"] = [project(bridge, view(BRIDGE).in_a_list) for bridge in bridges.body]
        return Result(data=shown)


def _bridges_unknown() -> Warning:
    facts: dict[str, Any] = {"how_to_get_it": "browse_pipelines bridges"}
    return Warning("PARTIAL", "The jobs that start other pipelines could not be read.", facts)

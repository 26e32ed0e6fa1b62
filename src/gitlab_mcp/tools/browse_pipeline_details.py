"""What is seldom asked about a pipeline: the pipelines it started, its variables, its tests in numbers."""

from __future__ import annotations

from gitlab_mcp.actions.action import GET
from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.actions.fields import (
    CiStatus,
)
from gitlab_mcp.actions.result import Result
from gitlab_mcp.actions.scopes import OfPipeline, Paged
from gitlab_mcp.actions.tool import Tool

browse = Tool(
    "browse_pipeline_details",
    "Read what is seldom asked about a pipeline.",
    toolset="ci",
    also=("bridge",),
)


BRIDGES = "/projects/{project_id}/pipelines/{pipeline_id}/bridges"


NO_REPORT = "No job of this pipeline has uploaded a test report."


BRIDGE = (
    "id name stage status failure_reason downstream_id=downstream_pipeline.id"
    " downstream_status=downstream_pipeline.status downstream_url=downstream_pipeline.web_url"
)


@browse.action(
    "bridges",
    GET(BRIDGES),
    example={"project_id": "acme/shop", "pipeline_id": 208},
    shows=BRIDGE,
    moved_from="browse_pipelines",
    has_line=True,
)
class ListBridges(OfPipeline, Paged):
    """List the jobs that start child and downstream pipelines, with the pipelines they started."""

    scope: CiStatus | None = None

    async def run(self, gitlab: GitLab) -> Answer:
        return await gitlab.send(self.request(scope=self.scope and [self.scope]))


@browse.action(
    "variables",
    GET("/projects/{project_id}/pipelines/{pipeline_id}/variables"),
    example={"project_id": "acme/website", "pipeline_id": 16},
    shows="key value variable_type",
    lists=True,
    moved_from="browse_pipelines",
)
class ListVariables(OfPipeline):
    """List the variables a pipeline was run with."""


@browse.action(
    "test_report_summary",
    GET("/projects/{project_id}/pipelines/{pipeline_id}/test_report_summary"),
    example={"project_id": "acme/shop", "pipeline_id": 202},
    moved_from="browse_pipelines",
)
class GetTestReportSummary(OfPipeline):
    """Read how many tests passed and failed, by suite."""

    async def run(self, gitlab: GitLab) -> Answer | Result:
        answer = await gitlab.send(self.request())
        if answer.body.get("test_suites"):
            return answer
        return Result(data={"empty": True, "why_empty": NO_REPORT})

"""Pipeline schedules, their variables and inputs, and the pipelines they started."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal

from gitlab_mcp.actions.action import GET
from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.actions.fields import CiStatus, Only, Sort
from gitlab_mcp.actions.other_names import Instead
from gitlab_mcp.actions.scopes import InProject, OfSchedule, Paged
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.results.short_refs import with_short_ref

browse = Tool(
    "browse_schedules",
    "Read pipeline schedules: when they run, on which ref, with which variables.",
    toolset="ci",
    also=("pipeline_schedule", "cron", "nightly", "scheduled_pipeline", "cron_job"),
    instead={
        "runs history pipeline_runs last_runs": "pipelines",
        "variables inputs next_run owner": Instead("get", needs=("schedule_id",)),
        "show_values": "manage_schedule show_values",
    },
)

SCHEDULE = (
    "id description ref cron cron_timezone active next_run_at owner=owner.username"
    " inputs(name value) | last_pipeline(id status) variables(key variable_type) created_at updated_at"
)


@browse.action(
    "list",
    GET("/projects/{project_id}/pipeline_schedules"),
    example={"project_id": "acme/website"},
    shows=SCHEDULE,
)
class ListSchedules(InProject, Paged):
    """List the schedules of a project with their next run."""

    scope: Literal["active", "inactive"] | None = None

    async def completed(self, gitlab: GitLab, answer: Answer) -> Answer:
        return replace(answer, body=[with_short_ref(schedule) for schedule in answer.body])


@browse.action(
    "get",
    GET("/projects/{project_id}/pipeline_schedules/{schedule_id}"),
    example={"project_id": "acme/website", "schedule_id": 1},
    shows=SCHEDULE,
    not_taken=dict.fromkeys(
        ("show_values", "show_value"), "values are kept back; manage_schedule show_values shows them"
    ),
)
class GetSchedule(OfSchedule):
    """Read one schedule with its last pipeline, its inputs and the names of its variables."""

    async def completed(self, gitlab: GitLab, answer: Answer) -> Answer:
        return replace(answer, body=with_short_ref(answer.body))


@browse.action(
    "pipelines",
    GET("/projects/{project_id}/pipeline_schedules/{schedule_id}/pipelines"),
    example={"project_id": "writes/sub-one/second-renamed", "schedule_id": 4},
    shows="id status ref sha created_at | web_url",
)
class SchedulePipelines(OfSchedule, Paged):
    """List the pipelines that a schedule started."""

    status: Annotated[CiStatus, Only(since="19.3")] | None = None
    sort: Annotated[Sort, Only(since="19.3")] | None = None

"""Runners: whose they are, how they are, and what they do."""

from __future__ import annotations

from typing import Annotated, Literal

from gitlab_mcp.actions.action import GET, Action, Role
from gitlab_mcp.actions.fields import Anywhere, CiStatus, Csv, Flag, Id, NonEmpty, Sort, Words
from gitlab_mcp.actions.other_names import Instead
from gitlab_mcp.actions.scopes import InProjectOrGroup, Paged
from gitlab_mcp.actions.tool import Tool

browse = Tool(
    "browse_runners",
    "Read the runners that run CI/CD jobs: of a project, a group, yourself or the instance.",
    toolset="ci",
    also=("ci_runner", "gitlab_runner", "build_agent", "executor"),
    instead={
        "all instance shared": "list_all",
        "status details": Instead("get", needs=("runner_id",)),
        "running running_jobs current_jobs": Instead("jobs", {"status": "running"}, needs=("runner_id",)),
        "machines": "managers",
    },
)

RunnerId = Annotated[Id, Anywhere("runner")]
RunnerType = Literal["instance_type", "group_type", "project_type"]
RUNNER = (
    "id description runner_type status paused:mark job_execution_status"
    " | tag_list run_untagged access_level locked maximum_timeout maintenance_note contacted_at version"
    " projects=projects.path_with_namespace groups=groups.web_url created_by=created_by.username"
)


class OfRunner(Action):
    runner_id: RunnerId


class Filtered(Paged):
    type: RunnerType | None = None
    status: Literal["online", "offline", "never_contacted", "stale"] | None = None
    paused: Flag | None = None
    tag_list: Annotated[Words, Csv()] | None = None
    version_prefix: NonEmpty | None = None


@browse.action(
    "list",
    GET("/runners", "/projects/{project_id}/runners", "/groups/{group_id}/runners"),
    example={"project_id": "acme/website"},
    shows=RUNNER,
    role=Role.MAINTAINER,
)
class ListRunners(InProjectOrGroup, Filtered):
    """List the runners that a project or group can use; without a place, those you may manage."""


@browse.action(
    "list_all",
    GET("/runners/all"),
    example={},
    shows=RUNNER,
)
class ListAllRunners(Filtered):
    """List all runners of the instance, for administrators."""


@browse.action(
    "get",
    GET("/runners/{runner_id}"),
    example={"runner_id": 3},
    shows=RUNNER,
)
class GetRunner(OfRunner):
    """Read one runner with its tags, its projects and its last contact."""


@browse.action(
    "jobs",
    GET("/runners/{runner_id}/jobs"),
    example={"runner_id": 1},
    shows="id name status ref project=project.path_with_namespace created_at duration | web_url",
)
class RunnerJobs(OfRunner, Paged):
    """List the jobs that a runner ran or runs, the newest first."""

    status: CiStatus | None = None
    sort: Sort | None = None


@browse.action(
    "managers",
    GET("/runners/{runner_id}/managers"),
    example={"runner_id": 1},
    shows="id system_id status version platform architecture contacted_at job_execution_status",
    lists=True,
)
class RunnerManagers(OfRunner):
    """List the machines that share the configuration of a runner."""


@browse.action(
    "projects",
    GET("/runners/{runner_id}/projects"),
    example={"runner_id": 2},
    docs="api/runners/",
    shows="id path_with_namespace visibility",
)
class RunnerProjects(OfRunner, Paged):
    """List the projects a runner is assigned to, since GitLab 19.3."""

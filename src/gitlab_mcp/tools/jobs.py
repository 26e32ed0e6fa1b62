"""CI/CD jobs: their state, logs and artifacts."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from gitlab_mcp.core.action import GET, Action, Role
from gitlab_mcp.core.exchange import GitLab
from gitlab_mcp.core.fields import (
    CiStatuses,
    Flag,
    Integer,
    JobId,
    Page,
    PerPage,
    PipelineId,
    ProjectId,
    Search,
    broken_rule,
)
from gitlab_mcp.core.result import Result
from gitlab_mcp.core.tool import Tool
from gitlab_mcp.results.failing_jobs import why_no_log
from gitlab_mcp.results.logs import DEFAULT_TAIL, LogWindow, read_log

browse = Tool("browse_jobs", "Read CI/CD jobs, their logs and artifacts.", switch="builds")

JOB = (
    "id name stage status failure_reason ref pipeline_id=pipeline.id web_url"
    " | allow_failure created_at started_at finished_at erased_at duration queued_duration coverage"
    " user=user.username commit=commit.title runner=runner.description tag_list artifacts artifacts_expire_at"
)
LONGEST_WINDOW = 200_000


class InJob(Action):
    project_id: ProjectId
    job_id: JobId


@browse.action(
    "list",
    GET("/projects/{project_id}/jobs", "/projects/{project_id}/pipelines/{pipeline_id}/jobs"),
    docs="api/jobs/#list-project-jobs",
    example={"project_id": "acme/website"},
    shows=JOB,
    role=Role.GUEST,
)
class ListJobs(Action):
    """List the jobs of a project or of one pipeline, without those that start other pipelines."""

    project_id: ProjectId
    pipeline_id: PipelineId | None = None
    scope: CiStatuses | None = None
    include_retried: Flag | None = None
    page: Page | None = None
    per_page: PerPage | None = None

    @model_validator(mode="after")
    def _retried_within_a_pipeline(self) -> ListJobs:
        if self.include_retried is not None and self.pipeline_id is None:
            raise broken_rule("include_retried only together with pipeline_id", field="include_retried")
        return self


@browse.action(
    "get",
    GET("/projects/{project_id}/jobs/{job_id}"),
    docs="api/jobs/#get-a-single-job",
    example={"project_id": "acme/website", "job_id": 63},
    shows=JOB,
    role=Role.GUEST,
)
class GetJob(InJob):
    """Read one job."""


@browse.action(
    "log",
    GET("/projects/{project_id}/jobs/{job_id}/trace"),
    docs="api/jobs/#get-a-log-file",
    example={"project_id": "acme/website", "job_id": 63},
    role=Role.GUEST,
)
class ReadLog(InJob):
    """Read the log of a job without colours and markers: its last lines, a range, or what a search finds."""

    tail: (
        Annotated[Integer, Field(ge=1, le=10_000, description=f"Last lines; {DEFAULT_TAIL} by default")]
        | None
    ) = None
    search: Search | None = None
    start_line: Annotated[Integer, Field(ge=1)] | None = None
    end_line: Annotated[Integer, Field(ge=1)] | None = None

    @model_validator(mode="after")
    def _one_window(self) -> ReadLog:
        ranged = self.start_line is not None or self.end_line is not None
        if sum((self.tail is not None, self.search is not None, ranged)) > 1:
            raise broken_rule("only one of tail, search, or start_line and end_line", field="tail")
        if self.start_line and self.end_line and self.end_line < self.start_line:
            raise broken_rule("a line not before start_line", field="end_line")
        return self

    async def run(self, gitlab: GitLab) -> Result:
        request = self.request(tail=None, search=None, start_line=None, end_line=None)
        window = await gitlab.stream(
            request,
            lambda chunks, _: read_log(
                chunks,
                tail=self.tail,
                search=self.search,
                start=self.start_line,
                end=self.end_line,
                limit_bytes=LONGEST_WINDOW,
            ),
        )
        if not window.total_bytes:
            return await self._why_there_is_none(gitlab)
        return self._shown(window)

    def _shown(self, window: LogWindow) -> Result:
        data: dict[str, object] = {"total_lines": window.total_lines, "total_bytes": window.total_bytes}
        if window.matches is not None:
            data["matches"] = window.matches
        if not window.excerpts:
            data["empty"] = True
            data["why_empty"] = (
                "No line holds the text."
                if window.matches == 0
                else f"The log ends at line {window.total_lines}."
            )
            return Result(data=data)
        data["start_line"] = window.start_line
        return Result(data=data, text=window.text(f"log of job {self.job_id}"))

    async def _why_there_is_none(self, gitlab: GitLab) -> Result:
        """GitLab answers 200 with nothing for a log that was erased, was never written, or is gone."""
        job = (await gitlab.get(self.request_path())).body
        return Result(data={"empty": True, "status": job["status"], "why_empty": why_no_log(job)})

    def request_path(self) -> str:
        return self.request().path.removesuffix("/trace")

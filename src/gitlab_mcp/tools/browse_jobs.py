"""CI/CD jobs with their logs and artifacts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator

from gitlab_mcp.actions.action import GET, Endpoint, encode_segment
from gitlab_mcp.actions.exchange import Answer, GitLab, Request
from gitlab_mcp.actions.fields import (
    CiStatus,
    Expects,
    Flag,
    Integer,
    JobId,
    NonEmpty,
    Only,
    PipelineId,
    Ref,
    Search,
    broken_rule,
)
from gitlab_mcp.actions.other_names import Instead
from gitlab_mcp.actions.result import Notice, Result, Text
from gitlab_mcp.actions.scopes import InProject, OfJob, Paged
from gitlab_mcp.actions.server import Server
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.failures.codes import NoticeCode
from gitlab_mcp.results.archives import archive_result
from gitlab_mcp.results.file_contents import content_result, read_beginning
from gitlab_mcp.results.job_explanations import why_no_log
from gitlab_mcp.results.job_logs import DEFAULT_TAIL, LogWindow, read_log
from gitlab_mcp.results.shown_fields import pick_fields, shown_fields
from gitlab_mcp.workflows.pipelines.artifact_search import newest_with_file, plain_path
from gitlab_mcp.workflows.pipelines.job_log_ranges import read_range, read_tail

browse = Tool(
    "browse_jobs",
    "Read CI/CD jobs, their logs and artifacts.",
    also=(
        "build",
        "pipeline_job",
        "ci_job",
    ),
    instead={
        "trace logs output console get_output tail": "log",
        "status": "get",
        "wait watch await poll follow wait_for wait_for_job": "browse_pipelines wait",
        "errors why failure failures": Instead(
            "log",
            advice="Use action log with search, or browse_pipelines failure_digest for all failed jobs.",
        ),
        "download_artifacts artifact": "artifacts",
        "download_artifact read_artifact": "artifact_file",
    },
)

JOB = (
    "id name stage status failure_reason ref pipeline_id=pipeline.id web_url"
    " | allow_failure created_at started_at finished_at erased_at duration queued_duration coverage"
    " user=user.username commit=commit.title runner=runner.description tag_list artifacts artifacts_expire_at"
)
FOUND_IN = shown_fields("job_id=id job=name ref job_status=status created_at").in_a_list
LONGEST_WINDOW = 200_000
LINES_AROUND = 10
LARGEST_FILE = 1_000_000

LineNumber = Annotated[Integer, Field(ge=1)]


def _inside_the_archive(path: str) -> str:
    if {"", ".", ".."} & set(path.split("/")):
        raise ValueError("a path inside the archive")
    return path


ArtifactPath = Annotated[
    NonEmpty,
    AfterValidator(_inside_the_archive),
    Expects("a path inside the archive, without // and dots alone"),
]
RefName = Annotated[NonEmpty, Field(description="Branch or tag: newest")]


@browse.action(
    "list",
    GET("/projects/{project_id}/jobs", "/projects/{project_id}/pipelines/{pipeline_id}/jobs"),
    example={"project_id": "acme/website"},
    shows=JOB,
    seldom_given="include_retried",
)
class ListJobs(InProject, Paged):
    """List the jobs of a project or of one pipeline, without those that start other pipelines."""

    pipeline_id: PipelineId | None = None
    scope: CiStatus | None = None
    ref: Annotated[Ref, Only(since="19.3")] | None = None
    include_retried: Flag | None = None

    @model_validator(mode="after")
    def _retried_jobs_of_a_pipeline(self) -> Self:
        if self.include_retried is not None and self.pipeline_id is None:
            raise broken_rule("include_retried only together with pipeline_id", field="include_retried")
        if self.ref is not None and self.pipeline_id is not None:
            raise broken_rule("left out where pipeline_id is given", field="ref")
        return self

    async def run(self, gitlab: GitLab) -> Answer:
        return await gitlab.send(self.request(scope=self.scope and [self.scope]))


@browse.action(
    "get",
    GET("/projects/{project_id}/jobs/{job_id}"),
    example={"project_id": "acme/website", "job_id": 63},
    shows=JOB,
)
class GetJob(OfJob):
    """Read one job."""


@browse.action(
    "log",
    GET("/projects/{project_id}/jobs/{job_id}/trace"),
    example={"project_id": "acme/website", "job_id": 63},
    seldom_given="byte_offset",
)
class ReadLog(OfJob):
    """Read the log of a job without colours and markers: its error and last lines, a range, or what a search finds."""

    tail: Annotated[Integer, Field(ge=1, le=10_000, description=f"{DEFAULT_TAIL} by default")] | None = None
    search: Search | None = None
    start_line: LineNumber | None = None
    end_line: LineNumber | None = None
    byte_offset: Annotated[Integer, Field(ge=0)] | None = None

    @model_validator(mode="after")
    def _one_window(self) -> Self:
        ranged = self.start_line is not None or self.end_line is not None
        windows = (self.tail, self.search, self.byte_offset)
        if sum((ranged, *(window is not None for window in windows))) > 1:
            raise broken_rule(
                "only one of tail, search, byte_offset, or start_line and end_line", field="tail"
            )
        _check_lines(self.start_line, self.end_line)
        return self

    async def run_with(self, server: Server) -> Result:
        gitlab, path = server.gitlab, self.request().path
        if self.byte_offset is not None:
            return await self._from_byte(self.byte_offset, server, path)
        if self.tail is not None:
            window = await read_tail(gitlab, server.ask, path, self.tail, LONGEST_WINDOW)
        else:
            window = await self._window(gitlab, path)
        if window.total_bytes and not _has_error_before(window):
            return self._shown(window)
        job = (await gitlab.get(path.removesuffix("/trace"))).body
        if window.total_bytes:
            # Programs talk of errors that they get over. Only the job tells whether it failed.
            shown = self._shown(window if job["status"] != "success" else replace(window, error=None))
            return replace(shown, data={"status": job["status"], **shown.data})
        # GitLab answers 200 and nothing for a log that was erased, was lost or never written; the job tells which.
        return Result(data={"empty": True, "status": job["status"], "why_empty": why_no_log(job)})

    async def _window(self, gitlab: GitLab, path: str) -> LogWindow:
        start, end = self._lines()

        def read(chunks: Iterator[bytes], headers: Mapping[str, str]) -> LogWindow:
            return read_log(
                chunks,
                search=self.search,
                start=start,
                end=end,
                limit_bytes=LONGEST_WINDOW,
                find_error=self.model_fields_set <= {"project_id", "job_id"},
            )

        return await gitlab.stream(Request("GET", path), read)

    async def _from_byte(self, offset: int, server: Server, path: str) -> Result:
        # Half of what the answer may hold, since text grows when it is written as JSON.
        part = await read_range(server.gitlab, server.ask, path, offset, server.max_bytes // 2)
        if not part.lines:
            return Result(data={"why_empty": f"The log has nothing from byte {offset} on."})
        data: dict[str, object] = {"byte_offset": offset}
        if part.next_byte_offset is not None:
            data["next_byte_offset"] = part.next_byte_offset
        return Result(data=data, text=Text("\n".join(part.lines), self._source))

    def _lines(self) -> tuple[int | None, int | None]:
        """One line alone, as a link names it, says little: it comes with those around it."""
        if self.start_line is None or self.start_line != self.end_line:
            return self.start_line, self.end_line
        return max(1, self.start_line - LINES_AROUND), self.start_line + LINES_AROUND

    @property
    def _source(self) -> str:
        return f"log of job {self.job_id}"

    def _shown(self, window: LogWindow) -> Result:
        if window.only_end_of is not None:
            data: dict[str, object] = {"total_bytes": window.only_end_of, "only_the_end_was_read": True}
            return Result(data=data, text=window.text(self._source), truncated=window.truncated)
        data = {"total_lines": window.total_lines}
        if window.matches is not None:
            data["matches"] = window.matches
        if not window.excerpts:
            beyond = f"The log ends at line {window.total_lines}."
            data["why_empty"] = beyond if window.matches is None else "No line holds the text."
            return Result(data=data)
        data["start_line"] = window.start_line
        if window.error is not None and _has_error_before(window):
            data["error_lines"] = window.error.numbered()
        return Result(data=data, text=window.text(self._source), truncated=window.truncated)


def _has_error_before(window: LogWindow) -> bool:
    """Whether the log has what looks like an error, and the lines to show do not hold it."""
    return window.error is not None and bool(window.excerpts) and window.error.start_line < window.start_line


class OfArtifacts(InProject):
    """Of one job, or of the newest successful job of that name on a branch or tag."""

    job_id: JobId | None = None
    ref_name: RefName | None = None
    job: Annotated[NonEmpty, Field(description="With ref_name")] | None = None

    @model_validator(mode="after")
    def _a_job_by_name(self) -> Self:
        if self.job is not None and self.ref_name is None:
            raise broken_rule("job and ref_name together, or job_id alone", field="ref_name")
        return self


@browse.action(
    "artifacts",
    GET(
        "/projects/{project_id}/jobs/{job_id}/artifacts",
        "/projects/{project_id}/jobs/artifacts/{ref_name}/download",
    ),
    example={"project_id": "acme/website", "job_id": 61},
)
class ListArtifacts(OfArtifacts):
    """List the files in the artifacts of a job."""

    @model_validator(mode="after")
    def _names_the_job(self) -> Self:
        if self.ref_name is not None and self.job is None:
            raise broken_rule("job and ref_name together, or job_id alone", field="job")
        return self

    async def run(self, gitlab: GitLab) -> Result:
        return await gitlab.stream(self.request(), lambda chunks, _: archive_result(chunks))


@browse.action(
    "artifact_file",
    GET(
        "/projects/{project_id}/jobs/{job_id}/artifacts/{artifact_path}",
        "/projects/{project_id}/jobs/artifacts/{ref_name}/raw/{artifact_path}",
        "/projects/{project_id}/jobs",
    ),
    example={"project_id": "acme/website", "job_id": 61, "artifact_path": "dist/app.txt"},
    lists=False,
)
class ReadArtifactFile(OfArtifacts):
    """Read one file of the artifacts of a job; where none is named, of the newest job of ref_name that has the file.

    However that job ended. Without ref_name it is one of the default branch."""

    artifact_path: ArtifactPath
    start_line: LineNumber | None = None
    end_line: LineNumber | None = None

    @model_validator(mode="after")
    def _lines_in_order(self) -> Self:
        _check_lines(self.start_line, self.end_line)
        return self

    def endpoint(self) -> Endpoint:
        by_job, by_ref, searched = self.spec.endpoints
        if self.job_id is not None:
            return by_job
        return by_ref if self.job is not None else searched

    async def run(self, gitlab: GitLab) -> Result:
        if self.job_id is not None or self.job is not None:
            sent = self.request(start_line=None, end_line=None)
            path = sent.path.removesuffix(encode_segment(self.artifact_path)) + plain_path(self.artifact_path)
            return self._shown(await _read(gitlab, Request("GET", path, sent.query)))
        job, read = await newest_with_file(
            gitlab,
            self.project_id,
            self.ref_name,
            self.artifact_path,
            lambda path: _read(gitlab, Request("GET", path)),
        )
        shown = self._shown(read)
        return replace(shown, data={**pick_fields(job, FOUND_IN), **shown.data})

    def _shown(self, read: tuple[bytes, bool]) -> Result:
        data, whole = read
        facts = {"size": len(data)} if whole else {"larger_than": LARGEST_FILE}
        result = content_result(
            data, self.artifact_path, facts, start_line=self.start_line, end_line=self.end_line
        )
        if whole:
            return result
        message = f"Only the first {LARGEST_FILE} bytes of the file were read."
        return Result(data=result.data, text=result.text, warnings=[Notice(NoticeCode.TRUNCATED, message)])


async def _read(gitlab: GitLab, request: Request) -> tuple[bytes, bool]:
    return await gitlab.stream(request, lambda chunks, _: read_beginning(chunks, LARGEST_FILE))


def _check_lines(start_line: int | None, end_line: int | None) -> None:
    if start_line is not None and end_line is not None and end_line < start_line:
        raise broken_rule("a line not before start_line", field="end_line")

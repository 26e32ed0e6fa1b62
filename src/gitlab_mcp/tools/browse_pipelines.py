"""CI/CD pipelines with their jobs, test reports and a digest of a failure."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from gitlab_mcp.actions.action import GET, fill
from gitlab_mcp.actions.action_facts import Differs
from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.actions.fields import (
    AlsoCalled,
    CiStatus,
    Flag,
    Id,
    Integer,
    JobId,
    MergeRequestIid,
    NonEmpty,
    Only,
    PipelineId,
    Ref,
    Sha,
    Sort,
    Time,
    Username,
    Within,
    broken_rule,
)
from gitlab_mcp.actions.other_names import Instead
from gitlab_mcp.actions.result import Notice, Result
from gitlab_mcp.actions.scopes import InProject, OfPipeline, Paged
from gitlab_mcp.actions.server import MayReach, Server
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.failures.codes import Code, NoticeCode
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.gitlab.concurrently import answered, concurrently
from gitlab_mcp.gitlab.faults import FAULTS, Refused
from gitlab_mcp.gitlab.paging import every_page, items_of
from gitlab_mcp.results.list_pages import list_page
from gitlab_mcp.results.pipeline_test_reports import failed_tests, nonzero_counts, unreadable_suites
from gitlab_mcp.results.shown_fields import pick_fields, shown_fields
from gitlab_mcp.workflows.counts import Countable
from gitlab_mcp.workflows.pipelines.awaited import DEPLOYMENT as DEPLOYMENT_AWAITED
from gitlab_mcp.workflows.pipelines.awaited import JOB as JOB_AWAITED
from gitlab_mcp.workflows.pipelines.awaited import MERGE_REQUEST as MERGE_REQUEST_AWAITED
from gitlab_mcp.workflows.pipelines.awaited import PIPELINE as PIPELINE_AWAITED
from gitlab_mcp.workflows.pipelines.awaited import what_was_awaited
from gitlab_mcp.workflows.pipelines.failure_digest import failure_digest
from gitlab_mcp.workflows.pipelines.failure_facts import read_failure_facts
from gitlab_mcp.workflows.pipelines.pipeline_comparison import compare_pipelines
from gitlab_mcp.workflows.pipelines.waiting import UNDER_WAY, wait_until

browse = Tool(
    "browse_pipelines",
    "Read CI/CD pipelines.",
    also=("ci_pipeline",),
    instead={
        "failed_jobs logs log errors error failures failure why diagnose failed why_failed": Instead(
            "failure_digest"
        ),
        "status": "get",
        "tests test_results": "test_report",
        "downstream children child_pipelines trigger_jobs triggers": "browse_pipeline_details bridges",
        "trace job_log job_logs job_trace": Instead("browse_jobs log", needs=("job_id",)),
        "last current": "latest",
        "count counts statistics stats": Instead("list", {"count_by": "status"}),
        "watch await poll follow wait_for wait_for_pipeline until": "wait",
        "diff difference what_changed": "compare",
    },
)

PIPELINE = (
    "id name status ref sha source updated_at"
    " | web_url created_at finished_at duration coverage yaml_errors user=user.username"
)
COUNTED_BY = {
    "status": "status",
    "ref": "ref",
    "source": "source",
    "week": "created_at",
    "month": "created_at",
}
"""Where a row has what is counted by."""
JOB = "id name stage status failure_reason allow_failure duration"
BRIDGES = "/projects/{project_id}/pipelines/{pipeline_id}/bridges"
NO_REPORT = "No job of this pipeline has uploaded a test report."
BRIDGE = (
    "id name stage status failure_reason downstream_id=downstream_pipeline.id"
    " downstream_status=downstream_pipeline.status downstream_url=downstream_pipeline.web_url"
)

Source = Literal[
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
    "duo_workflow",
    "pipeline_execution_policy_schedule",
    "dependency_management_security_update",
    "unknown",
]


@browse.action(
    "list",
    GET("/projects/{project_id}/pipelines"),
    example={"project_id": "acme/website"},
    shows=PIPELINE,
    seldom_given="scope source username name yaml_errors sha count_by",
)
class ListPipelines(InProject, Countable):
    """List pipelines, the newest first. Child pipelines are listed only with source: parent_pipeline."""

    counts = ("pipelines", COUNTED_BY)

    scope: Literal["running", "pending", "finished", "branches", "tags"] | None = None
    status: CiStatus | None = None
    ref: Ref | None = None
    sha: Sha | None = None
    source: Source | None = None
    username: Username | None = None
    name: NonEmpty | None = None
    yaml_errors: Flag | None = None
    updated_after: Time | None = None
    updated_before: Time | None = None
    created_after: Annotated[Time, Only(since="19.3")] | None = None
    created_before: Annotated[Time, Only(since="19.3")] | None = None
    count_by: Literal["status", "ref", "source", "week", "month"] | None = None
    order_by: Literal["id", "status", "ref", "updated_at", "user_id"] | None = None
    sort: Sort | None = None


@browse.action(
    "get",
    GET("/projects/{project_id}/pipelines/{pipeline_id}"),
    example={"project_id": "acme/website", "pipeline_id": 16},
    shows=PIPELINE,
)
class GetPipeline(OfPipeline):
    """Read one pipeline."""


@browse.action(
    "latest",
    GET("/projects/{project_id}/pipelines/latest"),
    example={"project_id": "acme/website"},
    shows=PIPELINE,
)
class GetLatestPipeline(InProject):
    """Read the newest pipeline of a branch or tag; of the default branch where none is named."""

    ref: Ref | None = None

    async def run(self, gitlab: GitLab) -> Answer:
        return await _latest(gitlab, self.project_id, self.ref)


async def _latest(gitlab: GitLab, project_id: str, ref: str | None) -> Answer:
    """GitLab answers 403 also where there is no pipeline. The list of pipelines tells which it is."""
    path = fill("/projects/{project_id}/pipelines", project_id=project_id)
    query = {"ref": ref} if ref else {}
    try:
        return await gitlab.get(f"{path}/latest", **query)
    except Refused as refused:
        if refused.status != 403 or await _lists_any(gitlab, path, query):
            raise
    where = "this ref" if ref else "the default branch"
    raise CallFailed(
        Failure(Code.NOT_FOUND, f"There is no pipeline for {where}.").knowing(
            missing="pipeline",
            http_status=403,
            confidence="certain",
            evidence=["GitLab answered 403, and lists no pipeline there"],
            suggested_fix="Name a ref that has one (browse_pipelines list), or run one: manage_pipeline create.",
        )
    )


async def _lists_any(gitlab: GitLab, path: str, query: Mapping[str, str]) -> bool:
    try:
        return bool((await gitlab.get(path, **query)).body)
    except FAULTS:
        return True


@browse.action(
    "jobs",
    GET("/projects/{project_id}/pipelines/{pipeline_id}/jobs"),
    example={"project_id": "acme/website", "pipeline_id": 16},
    shows=JOB,
    seldom_given="scope include_retried",
)
class ListJobsOfPipeline(OfPipeline, Paged):
    """List the jobs of a pipeline, and its bridges: the jobs that start other pipelines."""

    scope: CiStatus | None = None
    include_retried: Flag | None = None

    async def run(self, gitlab: GitLab) -> Result:
        scope = self.scope and [self.scope]
        # GitLab leaves bridges out of this list. Without them a pipeline that failed in a child looks successful.
        bridges_path = fill(BRIDGES, project_id=self.project_id, pipeline_id=self.pipeline_id)
        found, bridges = await concurrently(
            [
                lambda: gitlab.send(self.request(scope=scope)),
                lambda: every_page(gitlab, bridges_path, **({"scope": scope} if scope else {})),
            ]
        )
        jobs = answered(found)
        shown = list_page(self, jobs, [pick_fields(job, shown_fields(JOB).in_a_list) for job in jobs.body])
        if not isinstance(bridges, Answer):
            facts = {"how_to_get_it": "browse_pipeline_details bridges"}
            warning = Notice(
                NoticeCode.PARTIAL, "The jobs that start other pipelines could not be read.", facts
            )
            return Result(data=shown, warnings=[warning])
        if bridges.body:
            shown["bridges"] = [
                pick_fields(bridge, shown_fields(BRIDGE).in_a_list) for bridge in bridges.body
            ]
        return Result(data=shown)


@browse.action(
    "test_report",
    GET("/projects/{project_id}/pipelines/{pipeline_id}/test_report"),
    example={"project_id": "acme/shop", "pipeline_id": 202},
)
class GetTestReport(OfPipeline):
    """Read which tests failed, and what they said."""

    async def run(self, gitlab: GitLab) -> Result:
        report = (await gitlab.send(self.request())).body
        if not report.get("total_count"):
            return Result(data={"empty": True, "why_empty": NO_REPORT, **_unreadable(report)})
        suites = [{"name": suite["name"], **nonzero_counts(suite)} for suite in report["test_suites"]]
        shown = {**nonzero_counts(report), "suites": suites, "failures": failed_tests(report, longest=4_000)}
        return Result(data={**shown, **_unreadable(report)})


def _unreadable(report: Mapping[str, Any]) -> dict[str, Any]:
    broken = unreadable_suites(report)
    return {"unreadable_reports": broken} if broken else {}


@browse.action(
    "failure_digest",
    GET(
        "/projects/{project_id}/pipelines/{pipeline_id}",
        "/projects/{project_id}/merge_requests/{merge_request_iid}",
        "/projects/{project_id}/pipelines/latest",
    ),
    docs=Differs("ci/debugging/", "the page about the job, not about its first request"),
    switch="builds",
    example={"project_id": "acme/shop", "pipeline_id": 202},
    has_line=True,
)
class DigestFailure(InProject):
    """Why a pipeline failed, who broke it: jobs with their errors, tests, child pipelines. Of a merge request, or of a
    ref, the newest; where that has not ended, and the ref is red, the last that failed."""

    pipeline_id: PipelineId | None = None
    merge_request_iid: MergeRequestIid | None = None
    ref: Ref | None = None

    @model_validator(mode="after")
    def _one_pipeline(self) -> DigestFailure:
        if self.ref is not None and (self.pipeline_id or self.merge_request_iid):
            raise broken_rule("ref only without pipeline_id and merge_request_iid", field="ref")
        return self

    async def run_with(self, server: Server) -> Result:
        gitlab = server.gitlab
        if self.pipeline_id is None and self.merge_request_iid is None:
            found, on_ref = await self._last_that_says_something(gitlab)
        else:
            on_ref = None
            found = (await gitlab.send(self.request())).body
        pipeline = found.get("head_pipeline") if self.merge_request_iid else found
        if pipeline is None:
            return Result(data={"verdict": "The merge request has no pipeline."})
        # The pipeline of a merge request from a fork lives in the fork.
        is_here = pipeline["project_id"] == found["project_id"]
        if not is_here and not await server.may_reach(pipeline["project_id"]):
            raise CallFailed(_in_a_fork_outside())
        project_id = self.project_id if is_here else pipeline["project_id"]
        return failure_digest(
            await read_failure_facts(gitlab, server.may_reach, project_id, pipeline, on_ref)
        )

    async def _last_that_says_something(
        self, gitlab: GitLab
    ) -> tuple[Mapping[str, Any], Sequence[Mapping[str, Any]] | None]:
        """The newest of the ref. Where that has not ended, and the one that ended before it is red, that one. With it
        the others of the ref, where they were read."""
        path = fill("/projects/{project_id}/pipelines", project_id=self.project_id)
        asks: list[Callable[[], Awaitable[Answer]]] = [partial(_latest, gitlab, self.project_id, self.ref)]
        if self.ref is not None:
            asks.append(partial(gitlab.get, path, ref=self.ref))
        latest, *others = await concurrently(asks)
        if not isinstance(latest, Answer):
            raise latest
        newest: Mapping[str, Any] = latest.body
        of_this_ref = [each for each in others if isinstance(each, Answer) and newest["ref"] == self.ref]
        on_ref = next((items_of(each, path) for each in of_this_ref), None)
        if newest["status"] not in UNDER_WAY:
            return newest, on_ref
        try:
            if on_ref is None:
                on_ref = items_of(await gitlab.get(path, ref=newest["ref"]), path)
            ended = next((each for each in on_ref if each["status"] in ("success", "failed")), newest)
            red = ended["status"] == "failed"
            return (await gitlab.get(f"{path}/{ended['id']}")).body if red else newest, on_ref
        except FAULTS:
            return newest, on_ref


def _in_a_fork_outside() -> Failure:
    return Failure(
        Code.OUT_OF_SCOPE,
        "The pipeline of the merge request is in a fork, and the operator does not allow that project.",
    ).knowing(
        confidence="certain",
        suggested_fix="browse_merge_requests get says how the pipeline stands; its jobs cannot be read here.",
        retryable=False,
    )


@browse.action(
    "compare",
    GET("/projects/{project_id}/pipelines/{pipeline_id}"),
    docs=Differs("ci/pipelines/", "the page about what is compared, not about its first request"),
    example={"project_id": "acme/shop", "pipeline_id": 202, "other_pipeline_id": 201},
)
class Compare(OfPipeline):
    """Compare two pipelines: what failed newly, what was mended, what still fails, which jobs became slower."""

    other_pipeline_id: Annotated[
        PipelineId, AlsoCalled("base_pipeline_id", "from_pipeline_id", "to_pipeline_id", "pipeline_id_2")
    ]

    @model_validator(mode="after")
    def _two_of_them(self) -> Compare:
        if self.other_pipeline_id == self.pipeline_id:
            raise broken_rule("the number of another pipeline", field="other_pipeline_id")
        return self

    async def run(self, gitlab: GitLab) -> Result:
        return await compare_pipelines(gitlab, self.project_id, self.pipeline_id, self.other_pipeline_id)


_AWAITED = {
    "pipeline_id": PIPELINE_AWAITED,
    "job_id": JOB_AWAITED,
    "deployment_id": DEPLOYMENT_AWAITED,
    "merge_request_iid": MERGE_REQUEST_AWAITED,
}
"""What is waited for, by the field that names it."""


@browse.action(
    "wait",
    GET(
        "/projects/{project_id}/pipelines/{pipeline_id}",
        "/projects/{project_id}/jobs/{job_id}",
        "/projects/{project_id}/deployments/{deployment_id}",
        "/projects/{project_id}/merge_requests/{merge_request_iid}",
    ),
    docs=Differs("ci/pipelines/", "the page about what is waited for, not about its first request"),
    example={"project_id": "acme/shop", "pipeline_id": 202},
    seldom_given="seconds",
)
class Wait(InProject):
    """Wait until one has ended, or a merge request is merged. A failure comes with its digest. What takes longer than
    a call may is answered as still_running, with the call that goes on."""

    pipeline_id: PipelineId | None = None
    job_id: JobId | None = None
    deployment_id: Annotated[Id, Within()] | None = None
    merge_request_iid: MergeRequestIid | None = None
    seconds: Annotated[Integer, Field(ge=1, le=3600)] | None = None

    @model_validator(mode="after")
    def _one_thing(self) -> Wait:
        named = [name for name in _AWAITED if getattr(self, name) is not None]
        if len(named) > 1:
            raise broken_rule(f"left out where {named[1]} is given", field=named[0])
        return self

    async def run_with(self, server: Server) -> Result:
        return await self.wait(server.gitlab, server.may_reach)

    async def wait(self, gitlab: GitLab, may_reach: MayReach) -> Result:
        request = self.request(seconds=None)
        kind = next(kind for name, kind in _AWAITED.items() if getattr(self, name) is not None)
        waited = await wait_until(gitlab, request.path, kind.is_over, self.seconds)
        call_again = {"tool": browse.name, "arguments": {"action": "wait", **self.given()}}
        return await what_was_awaited(gitlab, may_reach, kind, waited, self.project_id, call_again)

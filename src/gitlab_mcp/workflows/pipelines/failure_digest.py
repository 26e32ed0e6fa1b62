"""Says in one result why a pipeline failed, from the facts that were read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from gitlab_mcp.actions.result import Omission, Result, Text, partial_read_notices
from gitlab_mcp.failures import allowed_words as words
from gitlab_mcp.failures.counted import counted
from gitlab_mcp.results.job_explanations import explain_failure, why_no_log, why_waiting
from gitlab_mcp.results.job_log_lines import Excerpt
from gitlab_mcp.results.job_logs import LogWindow
from gitlab_mcp.results.pipeline_test_reports import failed_tests, nonzero_counts, unreadable_suites
from gitlab_mcp.results.shown_fields import pick_fields, shown_fields
from gitlab_mcp.workflows.pipelines.failure_facts import (
    DefaultBranch,
    FailureFacts,
    JobLog,
    Json,
    PipelineFacts,
    failed_jobs,
)

MOST_TESTS = 20
LONGEST_LINE = 400

_PIPELINE = shown_fields("id name status ref sha source yaml_errors user=user.username web_url").in_a_list
_DOWNSTREAM = shown_fields("id project_id status yaml_errors web_url").in_a_list
_JOB = shown_fields("id name stage status failure_reason allow_failure").in_a_list
_ON_DEFAULT_BRANCH = shown_fields("id status sha updated_at web_url").in_a_list
_UNFINISHED = frozenset(("manual", "pending", "running", "waiting_for_resource", "preparing", "scheduled"))


def failure_digest(facts: FailureFacts) -> Result:
    top, branch = facts.top, facts.default_branch
    pipelines = list(_with_downstream(top))
    data: dict[str, Any] = {
        "verdict": _verdict(facts),
        "pipeline": pick_fields(top.pipeline, _PIPELINE),
        "failed_jobs": [_job(job, each, top) for each in pipelines for job in failed_jobs(each.jobs)],
        "bridges": [
            _bridge(bridge, each, top)
            for each in pipelines
            for bridge in each.bridges
            if bridge["status"] not in ("success", "skipped", "created")
        ],
        "tests": _tests(pipelines),
        "flaky_jobs": _flaky_jobs(top.jobs),
        "waiting_jobs": [_waiting_job(job) for job in top.jobs if job.get("status") in _UNFINISHED],
        "culprits": list(facts.culprits),
        "flaky_before": [
            {"name": name, "pipeline_id": pipeline_id} for name, pipeline_id in facts.flaky_before.items()
        ],
        "remarks": _remarks(facts),
        "newer_pipeline": pick_fields(facts.newer, _ON_DEFAULT_BRANCH) if facts.newer else None,
        "default_branch": _default_branch(branch, top) if branch else None,
    }
    truncated = []
    if facts.skipped_logs:
        truncated.append(Omission("logs", facts.skipped_logs, "browse_jobs log with the job_id"))
    logs = [log for each in pipelines for log in each.logs]
    text = "\n\n".join(section for section in map(_log_section, logs) if section)
    return Result(
        data={name: value for name, value in data.items() if value},
        text=Text(text, f"logs of pipeline {top.pipeline['id']}") if text else None,
        warnings=partial_read_notices(facts.unread),
        truncated=truncated,
    )


def _remarks(facts: FailureFacts) -> list[str]:
    if not facts.earlier_without_green:
        return []
    seen = counted(facts.earlier_without_green, "earlier pipeline")
    return [f"No commit is blamed: of the {seen} of this ref that were looked at, none was green."]


def job_digest(job: Json, window: LogWindow | None) -> Result:
    """Why one job failed, for whoever waited for it alone."""
    pipeline = {"id": (job.get("pipeline") or {}).get("id"), "project_id": None}
    log = JobLog(job, window)
    facts = PipelineFacts(pipeline, [job], logs=[log])
    text = _log_section(log)
    return Result(
        data={"failed_jobs": [_job(job, facts, facts)]},
        text=Text(text, f"log of job {job['id']}") if text else None,
        warnings=partial_read_notices([f"log of job {job['id']}"] if window is None else []),
    )


def _with_downstream(facts: PipelineFacts) -> Iterable[PipelineFacts]:
    yield facts
    for downstream in facts.downstream:
        yield from _with_downstream(downstream)


def _verdict(facts: FailureFacts) -> str:
    top, pipeline = facts.top, facts.top.pipeline
    if pipeline.get("yaml_errors"):
        return "The CI configuration is not valid, so no job ran: see yaml_errors."
    pipelines = list(_with_downstream(top))
    # Counted, not named: names are other people's text, and this sentence is ours.
    blocking = [job for each in pipelines for job in failed_jobs(each.jobs) if not job.get("allow_failure")]
    causes = ", ".join(
        filter(
            None,
            (
                _count(blocking, "job", "failed"),
                _count(_bridges_without_jobs(pipelines), "bridge", "started nothing"),
            ),
        )
    )
    if pipeline["status"] != "failed":
        status = words.ci_status(pipeline["status"]) or "in a state of its own"
        return f"The pipeline is {status}" + (f"; so far {causes}." if causes else ".")
    unknown = "It failed; what is unread may say why" if facts.unread else "It failed, and no job says why"
    newer = " A newer pipeline of this ref has not ended yet." if facts.newer else ""
    return f"{causes or unknown}.{_compare(top, facts.default_branch)}{newer}"


def _count(things: Sequence[Any], noun: str, verb: str) -> str:
    return f"{counted(len(things), noun)} {verb}" if things else ""


def _bridges_without_jobs(pipelines: Iterable[PipelineFacts]) -> list[Json]:
    """Failed bridges in whose downstream pipeline no job failed."""
    return [
        bridge
        for each in pipelines
        for bridge in each.bridges
        if bridge["status"] == "failed"
        and not any(failed_jobs(downstream.jobs) for downstream in _started_by(bridge, each))
        # A downstream pipeline that could not be read may well have run.
        and (_started_by(bridge, each) or not bridge.get("downstream_pipeline"))
    ]


def _started_by(bridge: Json, upstream: PipelineFacts) -> list[PipelineFacts]:
    started = (bridge.get("downstream_pipeline") or {}).get("id")
    return [each for each in upstream.downstream if each.pipeline["id"] == started]


def _compare(top: PipelineFacts, branch: DefaultBranch | None) -> str:
    """Whether the default branch fails too."""
    newest = branch.newest_finished if branch else None
    if branch is None or newest is None or newest["id"] == top.pipeline["id"]:
        return ""
    if newest["status"] == "success":
        return " The default branch is green."
    shared = len(_failing_there_too(top, branch))
    fail = "fails" if shared <= 1 else "fail"
    return f" The default branch is red too, and {shared or 'none'} of these jobs {fail} there."


def _failing_there_too(top: PipelineFacts, branch: DefaultBranch) -> list[str]:
    there = {job["name"] for job in branch.failed_jobs}
    return [job["name"] for job in failed_jobs(top.jobs) if job["name"] in there]


def _default_branch(branch: DefaultBranch, top: PipelineFacts) -> dict[str, Any]:
    newest = branch.newest_finished
    if newest is None:
        return {"name": branch.name, "status": "no finished pipeline"}
    shown: dict[str, Any] = {"name": branch.name, "status": newest["status"]}
    if newest["status"] == "failed":
        red = []
        for each in branch.pipelines:
            if each["status"] == "success":
                shown["last_green"] = pick_fields(each, _ON_DEFAULT_BRANCH)
                break
            if each["status"] == "failed":
                red.append(each)
        shown["red_since"] = pick_fields(red[-1], _ON_DEFAULT_BRANCH)
        shown["red_pipelines"] = len(red)
        if shared := newest["id"] != top.pipeline["id"] and _failing_there_too(top, branch):
            shown["failing_there_too"] = shared
    return shown


def _job(job: Json, facts: PipelineFacts, top: PipelineFacts) -> dict[str, Any]:
    shown: dict[str, Any] = {**pick_fields(job, _JOB), **_pipeline_ids(facts, top)}
    if not job.get("allow_failure"):
        shown.pop("allow_failure", None)
    if explanation := explain_failure(job):
        shown["means"] = explanation
    log = next((log for log in facts.logs if log.job["id"] == job["id"]), None)
    if log and log.window and not log.window.total_bytes:
        shown["log"] = why_no_log(job)
    elif log and log.window:
        shown["log_lines"] = log.window.total_lines
    return shown


def _pipeline_ids(facts: PipelineFacts, top: PipelineFacts) -> dict[str, Any]:
    """The pipeline and project of a job, where they are not those of the pipeline that was asked about."""
    ids = {"pipeline_id": "id", "project_id": "project_id"}
    return {
        name: facts.pipeline[member]
        for name, member in ids.items()
        if facts.pipeline[member] != top.pipeline[member]
    }


def _bridge(bridge: Json, facts: PipelineFacts, top: PipelineFacts) -> dict[str, Any]:
    shown: dict[str, Any] = {**pick_fields(bridge, _JOB), **_pipeline_ids(facts, top)}
    shown.pop("allow_failure", None)
    if explanation := explain_failure(bridge):
        shown["means"] = explanation
    if downstream := bridge.get("downstream_pipeline"):
        # A pipeline that was read tells more than the bridge does.
        pipeline = next((each.pipeline for each in _started_by(bridge, facts)), downstream)
        shown["downstream"] = pick_fields(pipeline, _DOWNSTREAM)
    return shown


def _waiting_job(job: Json) -> dict[str, Any]:
    shown = {"id": job["id"], "name": job["name"], "status": job["status"]}
    waits_for = why_waiting(job)
    return {**shown, "means": waits_for} if waits_for else shown


def _flaky_jobs(jobs: Sequence[Json]) -> list[dict[str, Any]]:
    """Jobs that failed and then succeeded without a change."""
    green = {job["name"] for job in jobs if job["status"] == "success"}
    return [
        {"id": job["id"], "name": job["name"], "failure_reason": job.get("failure_reason")}
        for job in jobs
        if job["status"] == "failed" and job["name"] in green
    ]


def _tests(pipelines: Iterable[PipelineFacts]) -> dict[str, Any] | None:
    reports = [each.test_report for each in pipelines if each.test_report]
    failed = [test for report in reports for test in failed_tests(report)]
    unreadable = [suite for report in reports for suite in unreadable_suites(report)]
    if not failed and not unreadable:
        return None
    shown: dict[str, Any] = nonzero_counts(reports[0]) if len(reports) == 1 else {"failed": len(failed)}
    shown["failures"] = failed[:MOST_TESTS]
    if len(failed) > MOST_TESTS:
        shown["more_failures"] = f"{len(failed) - MOST_TESTS}: browse_pipelines test_report"
    if unreadable:
        shown["unreadable_reports"] = unreadable
    return shown


def _log_section(log: JobLog) -> str:
    """The lines around the error, and the end of the log."""
    window = log.window
    if window is None or not window.excerpts:
        return ""
    end = window.excerpts[-1]
    error = window.error
    parts = [end.numbered(LONGEST_LINE)]
    if error and error.end_line >= end.start_line - 1:
        parts = [_joined(error, end).numbered(LONGEST_LINE)]
    elif error:
        between = f"… {counted(end.start_line - error.end_line - 1, 'line')} …"
        parts = [error.numbered(LONGEST_LINE), between, end.numbered(LONGEST_LINE)]
    title = f"== {log.job['name']} (job {log.job['id']}, {counted(window.total_lines, 'line')})"
    return "\n".join((title, *parts))


def _joined(error: Excerpt, end: Excerpt) -> Excerpt:
    if error.start_line >= end.start_line:
        return end
    return Excerpt(error.start_line, (*error.lines[: end.start_line - error.start_line], *end.lines))

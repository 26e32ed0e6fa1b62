"""Why a pipeline failed, in one answer: from what was gathered to what is worth reading."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gitlab_mcp.actions.result import Result, Text, partly_read
from gitlab_mcp.results.log_lines import Excerpt
from gitlab_mcp.results.logs import LogWindow
from gitlab_mcp.results.test_reports import counts, failures, suite_errors
from gitlab_mcp.results.views import project, view
from gitlab_mcp.workflows.failing_jobs import means, why_no_log, why_waiting

TAIL = 12
"""Lines from the end of a log, beside the place of the error."""
MOST_TESTS = 20
LONGEST_LINE = 400

_PIPELINE = view("id name status ref sha source yaml_errors user=user.username web_url").in_a_list
_BELOW = view("id project_id status yaml_errors web_url").in_a_list
_JOB = view("id name stage status failure_reason allow_failure").in_a_list
_ON_A_BRANCH = view("id status sha updated_at web_url").in_a_list
_UNSETTLED = frozenset(("manual", "pending", "running", "waiting_for_resource", "preparing", "scheduled"))
_FINISHED = ("success", "failed")


@dataclass(frozen=True, slots=True)
class JobLog:
    job: Mapping[str, Any]
    window: LogWindow | None
    """None when it could not be read."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What was found out about one pipeline."""

    pipeline: Mapping[str, Any]
    jobs: Sequence[Mapping[str, Any]]
    """The failed ones of a failed pipeline, else all of them, retried ones too."""
    bridges: Sequence[Mapping[str, Any]] = ()
    tests: Mapping[str, Any] | None = None
    logs: Sequence[JobLog] = ()
    below: Sequence[Evidence] = ()
    """Of the pipelines that its bridges started and that failed."""


@dataclass(frozen=True, slots=True)
class DefaultBranch:
    name: str
    pipelines: Sequence[Mapping[str, Any]]
    """The newest first."""
    failed_jobs: Sequence[Mapping[str, Any]] = ()
    """Of its newest finished pipeline, if that failed."""

    @property
    def newest(self) -> Mapping[str, Any] | None:
        return next((each for each in self.pipelines if each["status"] in _FINISHED), None)


@dataclass(frozen=True, slots=True)
class Gathered:
    evidence: Evidence
    default_branch: DefaultBranch | None = None
    unread: Sequence[str] = field(default_factory=tuple)
    """What could not be read."""
    more_logs: int = 0
    """Failed jobs whose logs were not read, to stay within bounds."""


def digest(gathered: Gathered) -> Result:
    evidence, branch = gathered.evidence, gathered.default_branch
    everything = list(_all(evidence))
    data: dict[str, Any] = {
        "verdict": _verdict(gathered),
        "pipeline": project(evidence.pipeline, _PIPELINE),
        "failed_jobs": [_job(job, one, evidence) for one in everything for job in failed(one.jobs)],
        "bridges": [
            _bridge(bridge, one, evidence)
            for one in everything
            for bridge in one.bridges
            if _troubled(bridge)
        ],
        "tests": _tests(everything),
        "flaky_jobs": _flaky(evidence.jobs),
        "waiting_jobs": [_waiting(job) for job in evidence.jobs if job.get("status") in _UNSETTLED],
        "default_branch": _branch(branch, evidence) if branch else None,
    }
    truncated = []
    if gathered.more_logs:
        how = "browse_jobs log with the job_id"
        truncated.append({"what": "logs", "omitted": gathered.more_logs, "how_to_get_it": how})
    logs = [log for one in everything for log in one.logs]
    text = "\n\n".join(section for section in map(_section, logs) if section)
    return Result(
        data={name: value for name, value in data.items() if value},
        text=Text(text, f"logs of pipeline {evidence.pipeline['id']}") if text else None,
        warnings=partly_read(gathered.unread),
        truncated=truncated,
    )


def failed(jobs: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The failed jobs that no later try replaced; those that matter to the pipeline first."""
    newest: dict[str, int] = {}
    for job in jobs:
        newest[job["name"]] = max(job["id"], newest.get(job["name"], 0))
    mine = [job for job in jobs if job["status"] == "failed" and newest[job["name"]] == job["id"]]
    return sorted(mine, key=lambda job: (bool(job.get("allow_failure")), job["id"]))


def _all(evidence: Evidence) -> Iterable[Evidence]:
    yield evidence
    for below in evidence.below:
        yield from _all(below)


def _verdict(gathered: Gathered) -> str:
    evidence, pipeline = gathered.evidence, gathered.evidence.pipeline
    if pipeline.get("yaml_errors"):
        return "The CI configuration is not valid, so no job ran: see yaml_errors."
    everything = list(_all(evidence))
    # Counted, not named: names are other people's words, and this sentence is ours.
    blocking = [job for one in everything for job in failed(one.jobs) if not job.get("allow_failure")]
    causes = [
        _counted(blocking, "job", "failed"),
        _counted(_stillborn(everything), "bridge", "started nothing"),
    ]
    said = ", ".join(filter(None, causes))
    if pipeline["status"] != "failed":
        return f"The pipeline is {pipeline['status']}" + (f"; so far {said}." if said else ".")
    unknown = "It failed; what is unread may say why" if gathered.unread else "It failed, and no job says why"
    return f"{said or unknown}.{_compared(evidence, gathered.default_branch)}"


def _counted(things: Sequence[Any], noun: str, did: str) -> str:
    return f"{len(things)} {noun}{'s' if len(things) > 1 else ''} {did}" if things else ""


def _stillborn(everything: Iterable[Evidence]) -> list[Mapping[str, Any]]:
    """Failed bridges below which nothing ran."""
    return [
        bridge
        for one in everything
        for bridge in one.bridges
        if bridge["status"] == "failed"
        and not any(failed(each.jobs) for each in _below(bridge, one))
        # A pipeline below that could not be read may well have run.
        and (_below(bridge, one) or not bridge.get("downstream_pipeline"))
    ]


def _below(bridge: Mapping[str, Any], above: Evidence) -> list[Evidence]:
    started = (bridge.get("downstream_pipeline") or {}).get("id")
    return [each for each in above.below if each.pipeline["id"] == started]


def _compared(evidence: Evidence, branch: DefaultBranch | None) -> str:
    """Whether the default branch has the same trouble."""
    newest = branch.newest if branch else None
    if branch is None or newest is None or newest["id"] == evidence.pipeline["id"]:
        return ""
    if newest["status"] == "success":
        return f" {branch.name} is green."
    shared = len(_shared(evidence, branch))
    return f" {branch.name} is red too, and {shared or 'none'} of these jobs fails there."


def _shared(evidence: Evidence, branch: DefaultBranch) -> list[str]:
    there = {job["name"] for job in branch.failed_jobs}
    return [job["name"] for job in failed(evidence.jobs) if job["name"] in there]


def _branch(branch: DefaultBranch, evidence: Evidence) -> dict[str, Any]:
    newest = branch.newest
    if newest is None:
        return {"name": branch.name, "status": "no finished pipeline"}
    shown: dict[str, Any] = {"name": branch.name, "status": newest["status"]}
    if newest["status"] == "failed":
        red = []
        for each in branch.pipelines:
            if each["status"] == "success":
                shown["last_green"] = project(each, _ON_A_BRANCH)
                break
            if each["status"] == "failed":
                red.append(each)
        shown["red_since"] = project(red[-1], _ON_A_BRANCH)
        shown["red_pipelines"] = len(red)
        if shared := newest["id"] != evidence.pipeline["id"] and _shared(evidence, branch):
            shown["failing_there_too"] = shared
    return shown


def _job(job: Mapping[str, Any], of: Evidence, top: Evidence) -> dict[str, Any]:
    shown: dict[str, Any] = {**project(job, _JOB), **_where(of, top)}
    if not job.get("allow_failure"):
        shown.pop("allow_failure", None)
    if explained := means(job):
        shown["means"] = explained
    log = next((log for log in of.logs if log.job["id"] == job["id"]), None)
    if log and log.window and not log.window.total_bytes:
        shown["log"] = why_no_log(job)
    elif log and log.window:
        shown["log_lines"] = log.window.total_lines
    return shown


def _where(of: Evidence, top: Evidence) -> dict[str, Any]:
    """What a caller must say to read on, where it is not what was said already."""
    names = ("id", "project_id")
    return {
        {"id": "pipeline_id"}.get(name, name): of.pipeline[name]
        for name in names
        if of.pipeline[name] != top.pipeline[name]
    }


def _troubled(bridge: Mapping[str, Any]) -> bool:
    return bridge["status"] not in ("success", "skipped", "created")


def _bridge(bridge: Mapping[str, Any], of: Evidence, top: Evidence) -> dict[str, Any]:
    shown: dict[str, Any] = {**project(bridge, _JOB), **_where(of, top)}
    shown.pop("allow_failure", None)
    if explained := means(bridge):
        shown["means"] = explained
    if downstream := bridge.get("downstream_pipeline"):
        read = next((each.pipeline for each in _below(bridge, of)), downstream)
        shown["downstream"] = project(read, _BELOW)
    return shown


def _waiting(job: Mapping[str, Any]) -> dict[str, Any]:
    shown = {"id": job["id"], "name": job["name"], "status": job["status"]}
    waits_for = why_waiting(job)
    return {**shown, "means": waits_for} if waits_for else shown


def _flaky(jobs: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Jobs that failed and then succeeded without a change."""
    green = {job["name"] for job in jobs if job["status"] == "success"}
    return [
        {"id": job["id"], "name": job["name"], "failure_reason": job.get("failure_reason")}
        for job in jobs
        if job["status"] == "failed" and job["name"] in green
    ]


def _tests(everything: Iterable[Evidence]) -> dict[str, Any] | None:
    reports = [one.tests for one in everything if one.tests]
    found = [failure for report in reports for failure in failures(report)]
    broken = [error for report in reports for error in suite_errors(report)]
    if not found and not broken:
        return None
    shown: dict[str, Any] = counts(reports[0]) if len(reports) == 1 else {"failed": len(found)}
    shown["failures"] = found[:MOST_TESTS]
    if len(found) > MOST_TESTS:
        shown["more_failures"] = f"{len(found) - MOST_TESTS}: browse_pipelines test_report"
    if broken:
        shown["unreadable_reports"] = broken
    return shown


def _section(log: JobLog) -> str:
    """What is worth reading of one log: the place of the error, and the end."""
    window = log.window
    if window is None or not window.excerpts:
        return ""
    end = window.excerpts[-1]
    error = window.error
    parts = [_numbered(end)]
    if error and error.end_line >= end.start_line - 1:
        parts = [_numbered(_joined(error, end))]
    elif error:
        parts = [_numbered(error), f"… {end.start_line - error.end_line - 1} lines …", _numbered(end)]
    title = f"== {log.job['name']} (job {log.job['id']}, {window.total_lines} lines)"
    return "\n".join((title, *parts))


def _joined(error: Excerpt, end: Excerpt) -> Excerpt:
    if error.start_line >= end.start_line:
        return end
    return Excerpt(error.start_line, (*error.lines[: end.start_line - error.start_line], *end.lines))


def _numbered(excerpt: Excerpt) -> str:
    lines = (line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]}…" for line in excerpt.lines)
    return "\n".join(f"{number}: {line}" for number, line in enumerate(lines, excerpt.start_line))

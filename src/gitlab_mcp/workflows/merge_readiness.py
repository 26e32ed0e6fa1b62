"""What stands between a merge request and its merge: everything, not only what GitLab meets first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gitlab_mcp.actions.result import Notice, Result, partly_read
from gitlab_mcp.failures.codes import NoticeCode
from gitlab_mcp.refusals.merge_blockers import BLOCKERS
from gitlab_mcp.results.views import project, view
from gitlab_mcp.workflows.failing_jobs import why_waiting

_MERGE_REQUEST = view(
    "iid state title source_branch target_branch sha detailed_merge_status web_url"
).in_a_list
_JOB = view("id name status failure_reason").in_a_list
_MOMENTARY = ("checking", "unchecked", "preparing", "approvals_syncing")
_NOT_GREEN = ("failed", "canceled", "manual", "pending", "running")

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Situation:
    """A merge request and what is known around it. None is what could not be read."""

    merge_request: Json
    checks: Json | None = None
    """The merge request as GraphQL tells it."""
    approvals: Json | None = None
    reviewers: Sequence[Json] = ()
    threads: Sequence[Json] = ()
    jobs: Sequence[Json] = ()
    """Of its head pipeline."""
    unread: Sequence[str] = ()


def readiness(situation: Situation) -> Result:
    merge_request = situation.merge_request
    blockers = [_blocker(check, situation) for check in failed_checks(situation)]
    waiting = _momentary(situation)
    data: dict[str, Any] = {
        "mergeable": not blockers and not waiting and merge_request["state"] == "opened",
        "verdict": _verdict(merge_request, blockers, waiting),
        **project(merge_request, _MERGE_REQUEST),
        "blockers": blockers,
        "you_may_merge": ((situation.checks or {}).get("userPermissions") or {}).get("canMerge"),
        "auto_merge": _auto_merge(situation),
        "approvals": _approvals(situation.approvals),
        "remarks": _remarks(situation),
    }
    warnings = partly_read(situation.unread)
    if situation.checks is None:
        message = "GitLab told only the first blocker: others may appear when it is lifted."
        warnings.append(Notice(NoticeCode.FALLBACK_USED, message))
    empty: tuple[Any, ...] = (None, [], {})
    return Result(data={name: value for name, value in data.items() if value not in empty}, warnings=warnings)


def failed_checks(situation: Situation) -> list[str]:
    """By their names in `detailed_merge_status`."""
    status = str(situation.merge_request.get("detailed_merge_status"))
    if situation.merge_request["state"] == "merged":
        return []
    if situation.checks is None:
        return [] if status in ("mergeable", *_MOMENTARY) else [status]
    found = [
        str(check["identifier"]).lower()
        for check in situation.checks.get("mergeabilityChecks") or ()
        if check.get("status") == "FAILED"
    ]
    if "commits_status" in found:
        # Nothing to merge counts as a conflict, though nothing conflicts.
        found = [check for check in found if check != "conflict"]
    return found


def _momentary(situation: Situation) -> bool:
    checks = (situation.checks or {}).get("mergeabilityChecks") or ()
    status = situation.merge_request.get("detailed_merge_status")
    return status in _MOMENTARY or any(check.get("status") == "CHECKING" for check in checks)


def _verdict(merge_request: Json, blockers: Sequence[Json], waiting: bool) -> str:
    if merge_request["state"] == "merged":
        return "It is merged already."
    if merge_request["state"] == "locked":
        return "It is being merged right now."
    if blockers:
        return f"Blocked: {'; '.join(blocker['why'] for blocker in blockers)}."
    if waiting:
        return "GitLab is still checking: ask again in a moment."
    return "It can be merged."


def _blocker(check: str, situation: Situation) -> dict[str, Any]:
    known = BLOCKERS.get(check)
    shown: dict[str, Any] = {
        "check": check,
        "why": known.reason if known else "GitLab names this check as failed",
        "lifted_by": known.lifted_by if known else "See the merge request's page.",
    }
    if check in ("ci_must_pass", "ci_still_running"):
        return {**shown, **_pipeline(situation)}
    if check == "commits_status":
        return {**shown, **_branches(situation.checks or {})}
    if check == "discussions_not_resolved" and situation.threads:
        lifted_by = "Resolve each: manage_discussion resolve with its discussion_id."
        return {**shown, "lifted_by": lifted_by, "threads": list(situation.threads)}
    if check == "not_approved" and situation.approvals:
        return {**shown, "approvals_left": situation.approvals.get("approvals_left")}
    if check == "conflict" and situation.merge_request.get("merge_error"):
        return {**shown, "merge_error": situation.merge_request["merge_error"]}
    if check == "need_rebase":
        return {**shown, "lifted_by": "manage_merge_request rebase."}
    return shown


def _pipeline(situation: Situation) -> dict[str, Any]:
    """GitLab says the same of a pipeline that failed, waits, was skipped or is not there."""
    pipeline = situation.merge_request.get("head_pipeline")
    if not pipeline:
        lifted_by = "manage_merge_request create_pipeline, or push a commit."
        return {"why": "a pipeline must succeed, and there is none", "lifted_by": lifted_by}
    status, shown = pipeline["status"], {"pipeline_id": pipeline["id"], "pipeline_status": pipeline["status"]}
    of_note = [_job(job) for job in situation.jobs if job["status"] in _NOT_GREEN]
    if of_note:
        shown["jobs"] = of_note
    why, lifted_by = {
        "failed": (
            "its pipeline failed",
            "Find out why: browse_pipelines failure_digest. Then push a fix, or retry.",
        ),
        "canceled": ("its pipeline was canceled", "manage_pipeline retry."),
        "skipped": (
            "its pipeline was skipped, which does not count as success",
            "manage_merge_request create_pipeline.",
        ),
        "manual": ("its pipeline waits for a manual job", "manage_job play, or ask whoever may."),
    }.get(status, ("its pipeline has not ended", "Wait, or manage_merge_request merge with auto_merge."))
    return {**shown, "why": why, "lifted_by": lifted_by}


def _job(job: Json) -> dict[str, Any]:
    waits_for = why_waiting(job)
    shown = dict(project(job, _JOB))
    return {**shown, "means": waits_for} if waits_for else shown


def _branches(checks: Json) -> dict[str, str]:
    if checks.get("sourceBranchExists") is False:
        return {"why": "its source branch is gone", "lifted_by": "Restore the source branch, or close it."}
    if checks.get("targetBranchExists") is False:
        lifted_by = "manage_merge_request update with a target_branch that exists."
        return {"why": "its target branch is gone", "lifted_by": lifted_by}
    return {"why": "it has no commits", "lifted_by": "Push commits to the source branch."}


def _approvals(approvals: Json | None) -> dict[str, Any]:
    if approvals is None:
        return {}
    by = [(each.get("user") or {}).get("username") for each in approvals.get("approved_by") or ()]
    shown = {
        "required": approvals.get("approvals_required"),
        "left": approvals.get("approvals_left"),
        "by": by,
    }
    return {name: value for name, value in shown.items() if value}


def _auto_merge(situation: Situation) -> str | None:
    if situation.merge_request.get("merge_when_pipeline_succeeds"):
        return "set: it merges by itself as soon as its checks pass"
    if (situation.checks or {}).get("availableAutoMergeStrategies"):
        return "possible: manage_merge_request merge with auto_merge"
    return None


def _remarks(situation: Situation) -> list[str]:
    """What does not block here, and what a person would still want to know."""
    asked = [each for each in situation.reviewers if each.get("state") == "requested_changes"]
    remarks = []
    if asked and "requested_changes" not in failed_checks(situation):
        names = ", ".join((each.get("user") or {}).get("username", "?") for each in asked)
        remarks.append(f"Changes were requested by {names}, which does not block the merge here.")
    if situation.merge_request.get("rebase_in_progress"):
        remarks.append("A rebase is under way.")
    return remarks

"""Says everything that keeps a merge request from being merged, from the facts that were read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gitlab_mcp.actions.result import Notice, Result, partial_read_notices
from gitlab_mcp.failures.codes import NoticeCode
from gitlab_mcp.failures.counted import counted
from gitlab_mcp.gitlab.merge_checks import BEING_CHECKED
from gitlab_mcp.refusals.merge_blockers import BLOCKERS, failed_checks, is_being_checked
from gitlab_mcp.results.job_explanations import why_waiting
from gitlab_mcp.results.shown_fields import pick_fields, shown_fields, without_empty
from gitlab_mcp.workflows.merge_requests.merge_readiness_facts import Json, MergeFacts

_MERGE_REQUEST = shown_fields(
    "iid state title source_branch target_branch sha detailed_merge_status web_url"
).in_a_list
_JOB = shown_fields("id name status failure_reason").in_a_list
_WAITED_FOR_BY_MWPS = ("ci_must_pass", "ci_still_running")
"""What `merge_when_pipeline_succeeds` waits for. Its successor waits for every check."""
_NOT_GREEN = ("failed", "canceled", "manual", "pending", "running")


def merge_readiness(facts: MergeFacts) -> Result:
    merge_request = facts.merge_request
    failed = _failed_checks(facts)
    blockers = [_blocker(check, facts) for check in failed]
    waiting = _is_being_checked(facts)
    data: dict[str, Any] = {
        "mergeable": not blockers and not waiting and merge_request["state"] == "opened",
        "verdict": _verdict(merge_request, blockers, waiting),
        **pick_fields(merge_request, _MERGE_REQUEST),
        "blockers": blockers,
        "you_may_merge": ((facts.checks or {}).get("userPermissions") or {}).get("canMerge"),
        "auto_merge": _auto_merge(facts, failed),
        "approvals": _approvals(facts.approvals),
        "remarks": _remarks(facts, failed),
    }
    warnings = partial_read_notices(facts.unread)
    if facts.checks is None:
        message = "GitLab did not tell all its checks: other blockers may appear when these are lifted."
        warnings.append(Notice(NoticeCode.FALLBACK_USED, message))
    return Result(data=without_empty(data), warnings=warnings)


def _failed_checks(facts: MergeFacts) -> list[str]:
    found = list(failed_checks(facts.merge_request, facts.checks))
    pipeline = facts.merge_request.get("head_pipeline") or {}
    if facts.pipeline_must_succeed and pipeline.get("status") != "success":
        found.append("ci_must_pass")
    return list(dict.fromkeys(found))


def _is_being_checked(facts: MergeFacts) -> bool:
    checks = (facts.checks or {}).get("mergeabilityChecks") or ()
    status = facts.merge_request.get("detailed_merge_status")
    return status in BEING_CHECKED or any(is_being_checked(check) for check in checks)


def _verdict(merge_request: Json, blockers: Sequence[Json], waiting: bool) -> str:
    if merge_request["state"] == "merged":
        return "It is merged already."
    if merge_request["state"] == "locked":
        return "It is being merged right now."
    if blockers:
        more = " GitLab is still checking: more may block it." if waiting else ""
        return f"Blocked: {'; '.join(blocker['why'] for blocker in blockers)}.{more}"
    if waiting:
        return "GitLab is still checking, so this is not the last word: ask again in a moment."
    return "It can be merged."


def _blocker(check: str, facts: MergeFacts) -> dict[str, Any]:
    blocker = BLOCKERS.get(check)
    shown: dict[str, Any] = {
        "check": check,
        "why": blocker.reason if blocker else "GitLab names this check as failed",
        "lifted_by": blocker.lifted_by if blocker else "See the merge request's page.",
    }
    if check in ("ci_must_pass", "ci_still_running"):
        return {**shown, **_pipeline(facts)}
    if check == "commits_status":
        return {**shown, **_branches(facts.checks or {})}
    if check == "discussions_not_resolved" and facts.threads:
        lifted_by = "Resolve each: manage_discussion resolve with its discussion_id."
        return {**shown, "lifted_by": lifted_by, "threads": list(facts.threads)}
    if check == "not_approved" and facts.approvals:
        return {**shown, "approvals_left": facts.approvals.get("approvals_left")}
    if check == "conflict" and facts.merge_request.get("merge_error"):
        return {**shown, "merge_error": facts.merge_request["merge_error"]}
    if check == "need_rebase":
        return {**shown, "lifted_by": "manage_merge_request rebase."}
    return shown


def _pipeline(facts: MergeFacts) -> dict[str, Any]:
    """GitLab's check is the same for a pipeline that failed, waits, was skipped or does not exist."""
    pipeline = facts.merge_request.get("head_pipeline")
    if not pipeline:
        lifted_by = "manage_merge_request create_pipeline, or push a commit."
        return {"why": "a pipeline must succeed, and there is none", "lifted_by": lifted_by}
    status, shown = pipeline["status"], {"pipeline_id": pipeline["id"], "pipeline_status": pipeline["status"]}
    jobs = [_job(job) for job in facts.jobs if job["status"] in _NOT_GREEN]
    if jobs:
        shown["jobs"] = jobs
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
    shown = dict(pick_fields(job, _JOB))
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


def _auto_merge(facts: MergeFacts, failed: Sequence[str]) -> str | None:
    others = [check for check in failed if check not in _WAITED_FOR_BY_MWPS]
    if facts.merge_request.get("merge_when_pipeline_succeeds"):
        return "set: it merges by itself once " + (
            "nothing of the above blocks it" if others else "its pipeline succeeds"
        )
    strategies = (facts.checks or {}).get("availableAutoMergeStrategies") or ()
    if strategies and not (others and "merge_when_checks_pass" not in strategies):
        return "possible: manage_merge_request merge with auto_merge"
    return None


def _remarks(facts: MergeFacts, failed: Sequence[str]) -> list[str]:
    """What does not block the merge, and is worth knowing all the same."""
    reviewers = [each for each in facts.reviewers if each.get("state") == "requested_changes"]
    remarks = []
    if reviewers and "requested_changes" not in failed:
        people = counted(len(reviewers), "reviewer")
        remarks.append(f"Changes were requested by {people}, which does not block the merge here.")
    if facts.merge_request.get("rebase_in_progress"):
        remarks.append("A rebase is under way.")
    return remarks

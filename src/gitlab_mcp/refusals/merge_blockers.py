"""Why a merge request cannot be merged, by its `detailed_merge_status`, and what to do about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from gitlab_mcp.actions.ask import Ask
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.refusals.case import Case, merge_request_of
from gitlab_mcp.refusals.findings import Confidence, Finding


@dataclass(frozen=True, slots=True)
class Blocker:
    reason: str
    lifted_by: str


BLOCKERS: Final[Mapping[str, Blocker]] = {
    "approvals_syncing": Blocker("approvals are being updated", "Wait a moment and try again."),
    "blocked_status": Blocker("another merge request blocks it", "Merge the blocking merge request first."),
    "broken_status": Blocker(
        "it cannot be merged into the target branch", "Rebase it or resolve the conflicts."
    ),
    "checking": Blocker("GitLab is still checking", "Wait a moment and try again."),
    "ci_must_pass": Blocker(
        "the pipeline must succeed first", "Fix the pipeline, or run one where there is none."
    ),
    "ci_still_running": Blocker(
        "the pipeline has not ended, or waits for a manual job",
        "Wait for it, play its manual job, or merge with auto_merge.",
    ),
    "commits_status": Blocker(
        "the source branch has no commits or is gone", "Push commits to the source branch."
    ),
    "conflict": Blocker("it conflicts with the target branch", "Resolve the conflicts on the source branch."),
    "discussions_not_resolved": Blocker("threads are not resolved", "Resolve every thread."),
    "draft_status": Blocker("it is a draft", "Mark it as ready: take Draft: out of its title."),
    "external_status_checks": Blocker(
        "external status checks have not passed", "Wait until they all report success."
    ),
    "jira_association_missing": Blocker(
        "it names no Jira issue", "Name the Jira issue in title or description."
    ),
    "locked_lfs_files": Blocker("it changes locked LFS files", "Have the locks removed."),
    "locked_paths": Blocker("it changes locked files", "Have the locks removed."),
    "merge_request_blocked": Blocker(
        "another merge request blocks it", "Merge the blocking merge request first."
    ),
    "merge_time": Blocker("its merge time has not come", "Wait until then, or change merge_after."),
    "need_rebase": Blocker("it is behind the target branch", "Rebase it: manage_merge_request rebase."),
    "not_approved": Blocker("approvals are missing", "Ask the required people to approve."),
    "not_open": Blocker("it is not open", "Reopen it if it was closed; a merged one needs nothing."),
    "policies_denied": Blocker("a merge request policy denies it", "Do what the policy asks for."),
    "preparing": Blocker("GitLab is still preparing it", "Wait a moment and try again."),
    "requested_changes": Blocker(
        "a reviewer asked for changes", "Make the changes and ask for a new review."
    ),
    "security_policy_pipeline_check": Blocker(
        "a policy's pipeline has not passed", "Wait for it, or fix it."
    ),
    "security_policy_violations": Blocker("security policies are violated", "Resolve the violations."),
    "status_checks_must_pass": Blocker(
        "status checks have not passed", "Wait until they all report success."
    ),
    "title_regex": Blocker("its title does not have the form the project asks for", "Change the title."),
    "unchecked": Blocker("GitLab has not checked it yet", "Read it once more; reading starts the check."),
}


def blockers(merge_request: Mapping[str, Any]) -> tuple[dict[str, str], ...]:
    """What blocks it, as the merge request itself says. GitLab names only the first blocker."""
    state = str(merge_request.get("state", ""))
    status = str(merge_request.get("detailed_merge_status", ""))
    if state in ("merged", "closed", "locked"):
        status = "not_open"
    blocker = BLOCKERS.get(status)
    if blocker is None:
        return ()
    return ({"status": status, "reason": blocker.reason, "lifted_by": blocker.lifted_by},)


async def merge_blocked(case: Case, ask: Ask) -> Finding:
    ids = merge_request_of(case.refused.request.path)
    merge_request = await ask.merge_request(*ids) if ids else None
    found = blockers(merge_request) if merge_request else ()
    if not found:
        return Finding(
            Code.CONFLICT,
            Confidence.LIKELY,
            "The merge request cannot be merged now.",
            (f"GitLab answered {case.refused.status} to the merge",),
            "Read detailed_merge_status with browse_merge_requests get.",
            {"state": "not mergeable"},
        )
    reasons = "; ".join(blocker["reason"] for blocker in found)
    state = str(merge_request.get("state", "")) if merge_request else ""
    return Finding(
        Code.CONFLICT,
        Confidence.CERTAIN,
        f"The merge request cannot be merged: {reasons}.",
        tuple(f"the merge request says {blocker['status']}" for blocker in found),
        " ".join(blocker["lifted_by"] for blocker in found),
        {"state": state if state in ("merged", "closed") else found[0]["status"], "blockers": list(found)},
    )

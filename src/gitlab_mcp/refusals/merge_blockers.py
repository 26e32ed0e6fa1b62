"""Why a merge request cannot be merged, by its `detailed_merge_status`, and what to do about it."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from gitlab_mcp.actions.ask import Ask
from gitlab_mcp.actions.fields import FULL_SHA
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import CallFailed
from gitlab_mcp.gitlab.merge_checks import BEING_CHECKED
from gitlab_mcp.refusals.alternatives import call
from gitlab_mcp.refusals.case import Case, merge_request_of
from gitlab_mcp.refusals.findings import Confidence, Finding, as_failure

_HEAD: Final = re.compile(r"head of source branch: ([0-9a-f]{40}(?:[0-9a-f]{24})?)\b", re.IGNORECASE)


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


def failed_checks(merge_request: Mapping[str, Any], checks: Mapping[str, Any] | None) -> tuple[str, ...]:
    """The checks that fail, by the names of `detailed_merge_status`, which itself names only the first.

    `checks` is the merge request as GraphQL shows it.
    """
    if merge_request.get("state") == "merged":
        return ()
    status = str(merge_request.get("detailed_merge_status", ""))
    if checks is None:
        first = () if status in ("", "mergeable", *BEING_CHECKED) else (status,)
        return tuple(dict.fromkeys((*first, *_checks_shown_by_rest(merge_request))))
    found = [name for check in checks.get("mergeabilityChecks") or () if (name := _name_of_failed(check))]
    if "commits_status" in found:
        # GitLab reports a conflict too where there is nothing to merge.
        found = [check for check in found if check != "conflict"]
    return tuple(found)


def _checks_shown_by_rest(merge_request: Mapping[str, Any]) -> Iterator[str]:
    """Blockers that the merge request itself shows. Not those that depend on a setting of its project."""
    if merge_request.get("draft") is True:
        yield "draft_status"
    if merge_request.get("has_conflicts") is True:
        yield "conflict"
    # False only where the project asks for resolved threads.
    if merge_request.get("blocking_discussions_resolved") is False:
        yield "discussions_not_resolved"


def _name_of_failed(check: Mapping[str, Any]) -> str | None:
    if _waits_for_pipeline(check):
        return "ci_still_running"
    return str(check.get("identifier", "")).lower() if check.get("status") == "FAILED" else None


def is_being_checked(check: Mapping[str, Any]) -> bool:
    return check.get("status") == "CHECKING" and not _waits_for_pipeline(check)


def _waits_for_pipeline(check: Mapping[str, Any]) -> bool:
    # While a pipeline runs, GitLab says CHECKING of this check too.
    return check.get("status") == "CHECKING" and check.get("identifier") == "CI_MUST_PASS"


def blockers(
    merge_request: Mapping[str, Any], checks: Mapping[str, Any] | None = None
) -> tuple[dict[str, str], ...]:
    """What blocks it: every check that fails where GraphQL shows them, or else the first."""
    if merge_request.get("state") in ("merged", "closed", "locked"):
        return (_blocker("not_open"),)
    return tuple(_blocker(status) for status in failed_checks(merge_request, checks))


def _blocker(status: str) -> dict[str, str]:
    if status not in BLOCKERS:
        # A status that is not known here is text from outside and is not repeated.
        return {"status": "unknown", "reason": _UNKNOWN.reason, "lifted_by": _UNKNOWN.lifted_by}
    known = BLOCKERS[status]
    return {"status": status, "reason": known.reason, "lifted_by": known.lifted_by}


_UNKNOWN: Final = Blocker(
    "GitLab names a check as failed that is not known here", "See the page of the merge request."
)


async def merge_blocked(case: Case, ask: Ask) -> Finding:
    ids = merge_request_of(case.refused.request.path)
    merge_request = await ask.merge_request(*ids) if ids else None
    found = await blockers_now(merge_request, ask) if merge_request else ()
    if found and merge_request:
        return blocked_finding(merge_request, found)
    status = str((merge_request or {}).get("detailed_merge_status", ""))
    if status in BEING_CHECKED:
        return Finding(
            Code.CONFLICT,
            Confidence.LIKELY,
            "GitLab is still checking whether the merge request can be merged.",
            (f"the merge request says {status}",),
            "Wait a moment, then ask browse_merge_requests merge_readiness before you merge.",
            {"state": "checking"},
        )
    if status == "mergeable" and case.given.get("auto_merge"):
        return _nothing_to_wait_for(case)
    return Finding(
        Code.CONFLICT,
        Confidence.LIKELY,
        "The merge request cannot be merged now.",
        (f"GitLab answered {case.refused.status} to the merge",),
        "Ask browse_merge_requests merge_readiness what blocks it.",
        {"state": "not mergeable"},
    )


async def head_moved(finding: Finding, case: Case, ask: Ask) -> Finding:
    """The finding with the commit that the source branch ends with now, which GitLab names since 16.9."""
    sha = _HEAD.search(case.body.message)
    head = sha[1] if sha else None
    if head is None and (ids := merge_request_of(case.refused.request.path)):
        head = (await ask.merge_request(*ids) or {}).get("sha")
    known = isinstance(head, str) and FULL_SHA.fullmatch(head)
    return replace(finding, facts={**finding.facts, "head_sha": head}) if known else finding


async def blockers_now(merge_request: Mapping[str, Any], ask: Ask) -> tuple[dict[str, str], ...]:
    """The blockers of a merge request that was just read. GraphQL is asked only where something blocks it."""
    if merge_request.get("state") != "opened" or not blockers(merge_request):
        return blockers(merge_request)
    return blockers(merge_request, await ask.merge_checks(merge_request)) or blockers(merge_request)


async def refuse_blocked_merge(
    project: str, iid: int, auto_merge: bool, ask: Ask, lifted: Container[str] = ()
) -> None:
    """Refuses a merge that something is known to block. With auto_merge it may wait until that is lifted. What the call
    itself lifts first is named in `lifted`."""
    merge_request = await ask.merge_request(project, str(iid))
    if merge_request is None or (auto_merge and merge_request.get("state") == "opened"):
        return
    now = await blockers_now(merge_request, ask)
    if found := tuple(each for each in now if each["status"] not in lifted):
        raise CallFailed(as_failure(blocked_finding(merge_request, found)))


def blocked_finding(merge_request: Mapping[str, Any], found: tuple[dict[str, str], ...]) -> Finding:
    state = str(merge_request.get("state", ""))
    return Finding(
        Code.CONFLICT,
        Confidence.CERTAIN,
        f"The merge request cannot be merged: {'; '.join(blocker['reason'] for blocker in found)}.",
        tuple(f"the merge request says {blocker['status']}" for blocker in found),
        " ".join(dict.fromkeys(blocker["lifted_by"] for blocker in found)),
        {"state": state if state in ("merged", "closed") else found[0]["status"], "blockers": list(found)},
    )


def _nothing_to_wait_for(case: Case) -> Finding:
    arguments = {name: value for name, value in case.given.items() if name != "auto_merge"}
    return Finding(
        Code.CONFLICT,
        Confidence.LIKELY,
        "There is nothing for auto_merge to wait for: no pipeline is running, and it can be merged now.",
        ("the merge request says mergeable",),
        "Send the merge again without auto_merge.",
        {
            "state": "nothing to wait for",
            "alternatives": [call("manage_merge_request merge", arguments, "Merges it now.")],
        },
    )

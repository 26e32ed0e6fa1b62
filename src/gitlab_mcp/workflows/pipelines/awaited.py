"""What is told of a pipeline, a job, a deployment or a merge request that was waited for: its state, of a failure why,
and how to go on where it has not ended."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from gitlab_mcp.actions.exchange import GitLab
from gitlab_mcp.actions.result import Notice, Result, partial_read_notices
from gitlab_mcp.actions.server import MayReach
from gitlab_mcp.failures import allowed_words as words
from gitlab_mcp.failures.codes import NoticeCode
from gitlab_mcp.gitlab.faults import FAULTS
from gitlab_mcp.refusals.merge_blockers import blockers
from gitlab_mcp.results.shown_fields import ShownField, pick_fields, shown_fields, without_empty
from gitlab_mcp.workflows.pipelines.failure_digest import failure_digest, job_digest
from gitlab_mcp.workflows.pipelines.failure_facts import read_failure_facts, read_failure_log
from gitlab_mcp.workflows.pipelines.waiting import UNDER_WAY, Waited

Json = Mapping[str, Any]

_CLOSED_TO_MERGING: Final = ("merged", "closed")
_STOPS_A_MERGE: Final = ("failed", "canceled", "skipped", "manual")
"""Statuses of the head pipeline in which auto-merge waits for a person."""


@dataclass(frozen=True, slots=True)
class Awaited:
    """A kind of thing to wait for."""

    noun: str
    shows: tuple[ShownField, ...]
    is_over: Callable[[Json], bool]


def _has_ended(thing: Json) -> bool:
    return thing.get("status") not in UNDER_WAY


def _merges_no_more(merge_request: Json) -> bool:
    """Whether it is merged, or nothing will merge it by itself."""
    if merge_request["state"] in _CLOSED_TO_MERGING:
        return True
    if merge_request["state"] == "locked":
        return False
    head = (merge_request.get("head_pipeline") or {}).get("status")
    return not merge_request.get("merge_when_pipeline_succeeds") or head in _STOPS_A_MERGE


PIPELINE: Final = Awaited(
    "pipeline", shown_fields("id status ref sha duration coverage web_url").in_a_list, _has_ended
)
JOB: Final = Awaited(
    "job", shown_fields("id name stage status failure_reason duration web_url").in_a_list, _has_ended
)
DEPLOYMENT: Final = Awaited(
    "deployment",
    shown_fields("id status ref sha environment=environment.name job_id=deployable.id").in_a_list,
    _has_ended,
)
MERGE_REQUEST: Final = Awaited(
    "merge_request",
    shown_fields(
        "iid state title detailed_merge_status merge_commit_sha merged_by=merge_user.username"
        " head_pipeline_id=head_pipeline.id head_pipeline=head_pipeline.status merge_error web_url"
    ).in_a_list,
    _merges_no_more,
)


async def what_was_awaited(
    gitlab: GitLab,
    may_reach: MayReach,
    kind: Awaited,
    waited: Waited,
    project: str,
    call_again: Mapping[str, Any],
) -> Result:
    thing = waited.thing
    data: dict[str, Any] = {
        "verdict": _verdict(kind, waited),
        "waited_seconds": waited.seconds,
        kind.noun: pick_fields(thing, kind.shows),
    }
    if not waited.is_over:
        data = {"still_running": True, **data, "then": _how_to_go_on(waited), "call_again": call_again}
        warnings = [_unanswered()] if waited.unanswered else []
        return Result(data=data, warnings=warnings, own_members=frozenset({"then", "call_again"}))
    if kind is MERGE_REQUEST and thing["state"] == "opened":
        data["blockers"] = [
            {"check": each["status"], "why": each["reason"], "lifted_by": each["lifted_by"]}
            for each in blockers(thing)
        ]
        data["then"] = _how_it_merges(thing)
    why = await _why_it_failed(gitlab, may_reach, kind, thing, project)
    if why is None:
        return Result(data=without_empty(data))
    others = dict(why.data)
    data["why"] = others.pop("verdict", None)
    if kind is JOB:
        # It is the only failed one, and shown already.
        data["job"] |= others.pop("failed_jobs", [{}])[0]
    others.pop(kind.noun, None)
    return replace(why, data=without_empty({**data, **others}))


def _verdict(kind: Awaited, waited: Waited) -> str:
    if kind is not MERGE_REQUEST:
        noun = kind.noun
        status = waited.thing.get("status")
        if status == "blocked":
            return f"The {noun} waits for an approval."
        if status == "manual":
            return f"The {noun} waits for somebody to play a manual job."
        known = words.ci_status(status) or "in a state of its own"
        return f"The {noun} is {known}." if waited.is_over else f"The {noun} has not ended: it is {known}."
    state = waited.thing["state"]
    if state in _CLOSED_TO_MERGING:
        return f"The merge request is {state}."
    if not waited.is_over:
        return "The merge request is not merged yet; it merges by itself."
    if waited.thing.get("merge_when_pipeline_succeeds"):
        return "The merge request will not merge by itself: its pipeline has not succeeded."
    return "Nothing will merge the merge request by itself: auto-merge is not set."


def _how_it_merges(merge_request: Json) -> str:
    if merge_request.get("merge_when_pipeline_succeeds"):
        return "Mend or retry the pipeline (manage_pipeline retry), then wait again."
    return "manage_merge_request merge; with auto_merge where something is still to succeed."


def _how_to_go_on(waited: Waited) -> str:
    seconds = math.ceil(waited.retry_after) if waited.retry_after else 0
    return f"Make this call again{f' in {seconds} seconds' if seconds else ''}; nothing was lost."


def _unanswered() -> Notice:
    message = "GitLab stopped answering while this waited: this is what was seen last."
    return Notice(NoticeCode.PARTIAL, message)


async def _why_it_failed(
    gitlab: GitLab, may_reach: MayReach, kind: Awaited, thing: Json, project: str
) -> Result | None:
    """None where nothing failed."""
    try:
        if kind is PIPELINE and thing["status"] in ("failed", "manual"):
            return failure_digest(await read_failure_facts(gitlab, may_reach, project, thing))
        if kind is JOB and thing["status"] == "failed":
            return await _why_job_failed(gitlab, project, thing)
        if (
            kind is DEPLOYMENT
            and thing["status"] == "failed"
            and isinstance(thing.get("deployable"), Mapping)
        ):
            return await _why_job_failed(gitlab, project, thing["deployable"])
        head = thing.get("head_pipeline") or {}
        if kind is MERGE_REQUEST and thing["state"] == "opened" and head.get("status") == "failed":
            # The pipeline of a merge request from a fork lives in the fork.
            is_here = head["project_id"] == thing["project_id"]
            if not is_here and not await may_reach(head["project_id"]):
                unread = ["why it failed: its pipeline is in a project that the operator does not allow"]
                return Result(data={}, warnings=partial_read_notices(unread))
            where = project if is_here else head["project_id"]
            return failure_digest(await read_failure_facts(gitlab, may_reach, where, head))
    except FAULTS:
        return Result(data={}, warnings=partial_read_notices(["why it failed"]))
    return None


async def _why_job_failed(gitlab: GitLab, project: str, job: Json) -> Result:
    try:
        window = await read_failure_log(gitlab, project, job["id"])
    except FAULTS:
        window = None
    return job_digest(job, window)

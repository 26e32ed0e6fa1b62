"""What is different between two pipelines: what failed newly, what was mended, what still fails, what became slower."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

from gitlab_mcp.actions.action import fill
from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.actions.result import Omission, Result, partial_read_notices
from gitlab_mcp.gitlab.concurrently import answered, concurrently, unread
from gitlab_mcp.gitlab.paging import every_page, has_next_page, items_if_read
from gitlab_mcp.results.job_explanations import explain_failure
from gitlab_mcp.results.shown_fields import pick_fields, shown_fields

_PIPELINE: Final = shown_fields("id status ref sha source created_at duration web_url").in_a_list
_JOB: Final = shown_fields("id name stage status failure_reason allow_failure:mark").in_a_list
_LEAST_SECONDS: Final = 10.0
_LEAST_SHARE: Final = 0.2
"""By how much a job must be slower or faster to be named."""
_MOST_DURATIONS: Final = 5

Json = Mapping[str, Any]


async def compare_pipelines(gitlab: GitLab, project: str, one: int, other: int) -> Result:
    """Which one came first is told by their numbers."""
    ids = sorted((one, other))
    paths = [fill("/projects/{project}/pipelines/{id}", project=project, id=id) for id in ids]
    answers = await concurrently(
        [
            *(partial(gitlab.get, path) for path in paths),
            *(partial(every_page, gitlab, f"{path}/jobs") for path in paths),
            *(partial(every_page, gitlab, f"{path}/bridges") for path in paths),
        ]
    )
    older, newer, *_ = [answered(answer).body for answer in answers[:4]]
    bridges = {f"bridges of pipeline {id}": answer for id, answer in zip(ids, answers[4:], strict=True)}
    before, after = ([*items_if_read(answers[2 + at]), *items_if_read(answers[4 + at])] for at in (0, 1))
    return Result(
        data=_told(older, newer, before, after),
        warnings=partial_read_notices(unread(bridges)),
        truncated=[
            Omission(f"the rest of the jobs of pipeline {id}", None, "browse_pipelines jobs")
            for id, answer in zip(ids, answers[2:4], strict=True)
            if isinstance(answer, Answer) and has_next_page(answer)
        ],
    )


def _told(
    older: Json, newer: Json, jobs_before: Sequence[Json], jobs_after: Sequence[Json]
) -> dict[str, Any]:
    before, after = _by_name(jobs_before), _by_name(jobs_after)
    failed_before = {name for name, job in before.items() if job["status"] == "failed"}
    failed_after = {name for name, job in after.items() if job["status"] == "failed"}
    mended = [name for name in before if name in failed_before and _status(after, name) == "success"]
    not_run = [name for name in before if name in failed_before - failed_after and name not in mended]
    newly = [name for name in after if name in failed_after - failed_before]
    still = [name for name in after if name in failed_after & failed_before]
    shown: dict[str, Any] = {
        "verdict": f"{len(newly)} failed newly, {len(mended)} mended, {len(still)} still failing.",
        "before": pick_fields(older, _PIPELINE),
        "after": pick_fields(newer, _PIPELINE),
        "failed_newly": [{**_job(after[name]), "last_status": _status(before, name)} for name in newly],
        "still_failing": [_job(after[name]) for name in still],
        "mended": mended,
        "failed_before_and_not_run_now": not_run,
        "only_before": [name for name in before if name not in after],
        "only_after": [name for name in after if name not in before],
        "durations": _durations(before, after),
    }
    return {name: value for name, value in shown.items() if value}


def _by_name(jobs: Sequence[Json]) -> dict[str, Json]:
    """The newest job of each name."""
    return {job["name"]: job for job in sorted(jobs, key=lambda job: int(job["id"]))}


def _status(jobs: Mapping[str, Json], name: str) -> str:
    return str(jobs[name]["status"]) if name in jobs else "absent"


def _job(job: Json) -> dict[str, Any]:
    shown: dict[str, Any] = {**pick_fields(job, _JOB)}
    means = explain_failure(job)
    return {**shown, "means": means} if means else shown


def _durations(before: Mapping[str, Json], after: Mapping[str, Json]) -> list[dict[str, Any]]:
    """Of the jobs that succeeded both times and took much longer or much less, in seconds. The largest change first."""
    changed = []
    for name in before.keys() & after.keys():
        first, then = before[name].get("duration"), after[name].get("duration")
        succeeded = _status(before, name) == _status(after, name) == "success"
        if succeeded and first is not None and then is not None:
            change = then - first
            if abs(change) >= max(_LEAST_SECONDS, _LEAST_SHARE * first):
                changed.append((abs(change), {"name": name, "before": round(first), "after": round(then)}))
    return [told for _, told in sorted(changed, key=lambda each: -each[0])][:_MOST_DURATIONS]

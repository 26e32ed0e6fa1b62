"""Changes many issues alike: each by a write of its own, those alone that are not yet as they shall be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import anyio

from gitlab_mcp.actions.result import Notice, Result
from gitlab_mcp.actions.server import Server
from gitlab_mcp.failures.codes import Code, NoticeCode
from gitlab_mcp.failures.counted import counted
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.gitlab.concurrently import MAX_CONCURRENT
from gitlab_mcp.gitlab.paging import items_of
from gitlab_mcp.workflows.steps import require_steps, take

Json = Mapping[str, Any]

UPDATE, COMMENT = "manage_issue update", "manage_discussion create_note"
MOST: Final = 100
"""Issues of one call: what GitLab lists on one page."""
_STATES: Final = {"close": "closed", "reopen": "opened"}
_STOPS: Final = (
    Code.QUOTA_PAUSED,
    Code.QUOTA_EXHAUSTED,
    Code.RATE_LIMITED,
    Code.NETWORK_ERROR,
    Code.UPSTREAM_PAUSED,
    Code.BUSY,
    Code.AUTHENTICATION_FAILED,
    Code.SCOPE_INSUFFICIENT,
    Code.STORE_UNAVAILABLE,
)
"""After these the other issues would fail the same way."""


@dataclass(frozen=True, slots=True)
class WantedChange:
    fields: Mapping[str, Any]
    """Those of `manage_issue update`."""
    body: str | None
    """The comment on each issue that is changed."""

    def of(self, issue: Json) -> dict[str, Any]:
        """What is still to be sent for this issue."""
        return {name: value for name, value in self.fields.items() if not _is_so(issue, name, value)}


@dataclass(slots=True)
class _Progress:
    changed: list[int] = field(default_factory=list)
    failed: dict[int, Failure] = field(default_factory=dict)
    without_comment: dict[int, Failure] = field(default_factory=dict)
    warned: dict[tuple[str, str], list[int]] = field(default_factory=dict)
    stopped: bool = False

    def note(self, failure: Failure) -> Failure:
        self.stopped = self.stopped or failure.code in _STOPS
        return failure


async def bulk_update(
    server: Server, project_id: str, path: str, iids: Sequence[int], wanted: WantedChange, *, dry_run: bool
) -> Result:
    require_steps(server, UPDATE, *([COMMENT] if wanted.body is not None else []))
    issues: dict[int, Json] = {}
    if iids:
        query = {"iids[]": list(iids), "per_page": MOST}
        issues = {each["iid"]: each for each in items_of(await server.gitlab.get(path, **query), path)}
    missing = [iid for iid in iids if iid not in issues]
    to_do = {iid: changes for iid in iids if iid in issues and (changes := wanted.of(issues[iid]))}
    unchanged = [iid for iid in iids if iid in issues and iid not in to_do]
    data: dict[str, Any] = {"matched": len(iids)}
    if unchanged:
        data["so_already"] = unchanged
    if missing:
        data["not_found"] = missing
    if dry_run:
        would = [
            {"issue_iid": iid, "title": issues[iid]["title"], "changes": changes}
            for iid, changes in to_do.items()
        ]
        comment = {"with_comment": True} if wanted.body is not None else {}
        return Result(data={**data, "dry_run": True, "would_change": would, **comment})
    if not iids:
        return Result(data={**data, "changed": []})
    progress = await _carry_out(server, project_id, to_do, wanted.body)
    return _result(data, to_do, progress)


async def _carry_out(
    server: Server, project_id: str, to_do: Mapping[int, Json], body: str | None
) -> _Progress:
    progress = _Progress()
    gate = anyio.Semaphore(MAX_CONCURRENT)
    server.gitlab.report(0, len(to_do), "issues")

    async def change(iid: int, changes: Json) -> None:
        async with gate:
            if progress.stopped:
                return
            await _change(server, {"project_id": project_id, "issue_iid": iid}, changes, body, progress)
            server.gitlab.report(len(progress.changed) + len(progress.failed), len(to_do), f"issue {iid}")

    async with anyio.create_task_group() as tasks:
        for iid, changes in to_do.items():
            tasks.start_soon(change, iid, changes)
    return progress


async def _change(server: Server, issue: Json, changes: Json, body: str | None, progress: _Progress) -> None:
    """The comment comes last: of an issue that is as it shall be, a call that is sent again leaves out both."""
    iid = issue["issue_iid"]
    try:
        answer = await take(server, UPDATE, {**issue, **changes})
    except CallFailed as failed:
        progress.failed[iid] = progress.note(failed.failure)
        return
    progress.changed.append(iid)
    for warning in answer.get("warnings", ()):
        progress.warned.setdefault((warning["code"], warning["message"]), []).append(iid)
    if body is None:
        return
    try:
        await take(server, COMMENT, {**issue, "body": body})
    except CallFailed as failed:
        progress.without_comment[iid] = progress.note(failed.failure)


def _result(data: dict[str, Any], to_do: Mapping[int, Json], progress: _Progress) -> Result:
    not_tried = [iid for iid in to_do if iid not in progress.failed and iid not in progress.changed]
    if progress.failed and not progress.changed:
        raise CallFailed(_all_failed(progress.failed, not_tried))
    data["changed"] = sorted(progress.changed)
    warnings = [
        Notice(NoticeCode(code), message, {"issue_iids": sorted(iids)})
        for (code, message), iids in progress.warned.items()
    ]
    if progress.failed or not_tried:
        message = f"{counted(len(progress.failed) + len(not_tried), 'issue')} of {len(to_do)} not changed."
        facts = {"failed": _told(progress.failed), **({"not_tried": not_tried} if not_tried else {})}
        then = "Send the same call again once that is mended: what is changed is left out."
        warnings.append(Notice(NoticeCode.PARTIAL, message, {**facts, "then": then}))
    if progress.without_comment:
        message = "These were changed, and the comment was not written, or its answer was lost."
        facts = {
            "without_comment": _told(progress.without_comment),
            "look_with": "browse_discussions list_notes",
        }
        warnings.append(
            Notice(NoticeCode.PARTIAL, message, {**facts, "then": "manage_discussion create_note"})
        )
    return Result(data=data, warnings=warnings)


def _told(failures: Mapping[int, Failure]) -> list[dict[str, Any]]:
    return [
        {"issue_iid": iid, "error_code": failure.code, "why": failure.message}
        for iid, failure in sorted(failures.items())
    ]


def _all_failed(failures: Mapping[int, Failure], not_tried: Sequence[int]) -> Failure:
    if len({failure.code for failure in failures.values()}) == 1:
        first = next(iter(failures.values()))
        told = f"none of {counted(len(failures), 'issue')} was changed, and {len(not_tried)} were not tried"
        return first.knowing(evidence=[*first.facts.get("evidence", ()), told])
    return Failure(
        Code.BATCH_PARTIAL_FAILURE, f"None of {counted(len(failures), 'issue')} was changed."
    ).knowing(results=[{"error": failure} for _, failure in sorted(failures.items())])


def too_many(limit: int, count: int) -> Failure:
    more = "or more " if count >= MOST else ""
    return Failure(
        Code.INVALID_VALUE, f"{count} {more}issues match, more than limit allows. Nothing was done."
    ).knowing(
        invalid_fields=[
            {"field": "limit", "expected": f"{count} or more, at most {MOST}", "received": str(limit)}
        ],
        confidence="certain",
        suggested_fix="Narrow the filter, or give a higher limit; above its end make several calls of issue_iids.",
    )


def _is_so(issue: Json, name: str, value: Any) -> bool:
    """Whether the issue is as this field would make it."""
    match name:
        case "add_labels":
            return set(value) <= set(issue.get("labels") or ())
        case "remove_labels":
            return not set(value) & set(issue.get("labels") or ())
        case "milestone_id":
            return bool(((issue.get("milestone") or {}).get("id") or 0) == value)
        case "assignee_ids":
            return {each["id"] for each in issue.get("assignees") or ()} == {each for each in value if each}
        case "state_event":
            return bool(issue.get("state") == _STATES[value])
    return False

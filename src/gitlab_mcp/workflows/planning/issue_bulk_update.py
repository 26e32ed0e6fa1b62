"""Changes many issues alike: each by a write of its own, those alone that are not yet as they shall be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from gitlab_mcp.actions.result import Notice, Result
from gitlab_mcp.actions.server import Server
from gitlab_mcp.failures.codes import Code, NoticeCode
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.gitlab.paging import items_of
from gitlab_mcp.workflows.several_writes import STOPS, Outcomes, Stopped, each_of, told_of
from gitlab_mcp.workflows.steps import require_steps, take

Json = Mapping[str, Any]

UPDATE, COMMENT = "manage_issue update", "manage_discussion create_note"
MOST: Final = 100
"""Issues of one call: what GitLab lists on one page."""
_SAID_BY_US: Final = frozenset({"chosen"})
_STATES: Final = {"close": "closed", "reopen": "opened"}


@dataclass(frozen=True, slots=True)
class WantedChange:
    fields: Mapping[str, Any]
    """Those of `manage_issue update`."""
    body: str | None
    """The comment on each issue that is changed."""
    chosen: str | None = None
    """Of issues that a filter chose: which alone it could choose."""

    def of(self, issue: Json) -> dict[str, Any]:
        """What is still to be sent for this issue."""
        return {name: value for name, value in self.fields.items() if not _is_so(issue, name, value)}


@dataclass(slots=True)
class _Told:
    """What is said of the issues that were changed."""

    without_comment: dict[int, Failure] = field(default_factory=dict)
    warned: dict[tuple[str, str], list[int]] = field(default_factory=dict)


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
    if wanted.chosen is not None:
        data["chosen"] = wanted.chosen
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
        return Result(
            data={**data, "dry_run": True, "would_change": would, **comment}, own_members=_SAID_BY_US
        )
    if not iids:
        return Result(data={**data, "changed": []}, own_members=_SAID_BY_US)
    told = _Told()

    async def change(iid: int) -> None:
        issue = {"project_id": project_id, "issue_iid": iid}
        await _change(server, issue, to_do[iid], wanted.body, told)

    changed = await each_of(server.gitlab, list(to_do), change, "issues")
    if wanted.body is not None:
        data["comments"] = len(set(changed.done) - told.without_comment.keys())
    return _result(data, changed, told)


async def _change(server: Server, issue: Json, changes: Json, body: str | None, told: _Told) -> None:
    """The comment comes last: of an issue that is as it shall be, a call that is sent again leaves out both."""
    iid = issue["issue_iid"]
    answer = await take(server, UPDATE, {**issue, **changes})
    for warning in answer.get("warnings", ()):
        told.warned.setdefault((warning["code"], warning["message"]), []).append(iid)
    if body is None:
        return
    try:
        await take(server, COMMENT, {**issue, "body": body})
    except CallFailed as failed:
        told.without_comment[iid] = failed.failure
        if failed.failure.code in STOPS:
            raise Stopped from None


def _result(data: dict[str, Any], changed: Outcomes[int], told: _Told) -> Result:
    changed.refuse_where_all_failed("issue", "changed")
    data["changed"] = sorted(changed.done)
    warnings = [
        Notice(NoticeCode(code), message, {"issue_iids": sorted(iids)})
        for (code, message), iids in told.warned.items()
    ]
    warnings += changed.warnings("issue", "changed", "issue_iid")
    if told.without_comment:
        message = "These were changed, and the comment was not written, or its answer was lost."
        facts = {
            "without_comment": told_of("issue_iid", told.without_comment),
            "look_with": "browse_discussions list_notes",
        }
        warnings.append(
            Notice(NoticeCode.PARTIAL, message, {**facts, "then": "manage_discussion create_note"})
        )
    return Result(data=data, warnings=warnings, own_members=_SAID_BY_US)


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

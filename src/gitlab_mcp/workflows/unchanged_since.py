"""Updates that overwrite nothing which somebody else wrote since the caller read it.

GitLab takes a condition only for files (`last_commit_id`) and merges (`sha`). For everything else the thing is read
just before it is written, and compared with what the caller names: its `updated_at`, or, where GitLab gives no date,
the `checksum` that reading it showed. Between that read and the write a change can still get lost; it is a matter of
milliseconds in place of the minutes in which somebody thinks about a text.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated, Any, Final, NoReturn

from pydantic import AfterValidator, Field

from gitlab_mcp.actions.action import Action
from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.actions.fields import Expects, NotSent, Time
from gitlab_mcp.actions.result import Result
from gitlab_mcp.actions.server import Server
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.gitlab.faults import FAULTS

_CHECKSUM_DIGITS: Final = 12
_HAVE_A_HISTORY: Final = re.compile(r"/(?:issues|merge_requests|epics)/\d+$")
_MOST_NOTES: Final = 20
_MOST_CHANGES: Final = 10
_SAFE_NAME: Final = re.compile(r"[\w.-]{1,64}")
_WORDS_OF_CHANGES: Final[Mapping[str, re.Pattern[str]]] = {
    what: re.compile(words)
    for what, words in (
        ("description", r"changed the description"),
        ("title", r"changed (?:the )?title|marked this merge request as|marked the issue as"),
        ("labels", r"(?:added|removed) .*labels?$"),
        ("assignees", r"assigned to|unassigned"),
        ("reviewers", r"requested review|removed review"),
        ("milestone", r"changed milestone|removed milestone"),
        ("state", r"closed|reopened|merged"),
        ("target_branch", r"changed target branch"),
        ("commits", r"added \d+ (?:new )?commit"),
        ("due_date", r"(?:changed|removed) (?:the )?due date"),
        ("confidential", r"made the issue|turned on confidentiality|turned off confidentiality"),
        ("mention", r"mentioned in"),
    )
}
"""How GitLab's own notes begin. What they quote was written by people and is not repeated."""


def _with_a_time_of_day(value: str) -> str:
    if ":" not in value:
        raise ValueError("a time of day is expected")
    return value


ExpectedTime = Annotated[
    Time,
    AfterValidator(_with_a_time_of_day),
    NotSent(),
    Expects("updated_at as a read of the one thing shows it, like 2026-01-31T12:00:00.123Z"),
]
Checksum = Annotated[
    str,
    Field(pattern=rf"^[0-9a-f]{{{_CHECKSUM_DIGITS}}}$"),
    NotSent(),
    Expects(f"{_CHECKSUM_DIGITS} hex digits, the checksum that reading it showed"),
]


class ExpectsUpdatedAt(Action):
    """An update that can be made to depend on when the thing was last changed."""

    expected_updated_at: ExpectedTime | None = None

    async def refuse_if_changed(self, gitlab: GitLab, present: Mapping[str, Any]) -> None:
        """`present` is the thing as it is now."""
        expected, now = self.expected_updated_at, str(present["updated_at"])
        if expected is None or _is_same_moment(expected, now):
            return
        changes = await _changes_since(gitlab, self.request().path, _moment(expected))
        _refuse("updated_at", now, changes)


class IfUnchanged(ExpectsUpdatedAt):
    """One of what GitLab shows at the path to which the update is sent."""

    async def run_with(self, server: Server) -> Answer | Result:
        if self.expected_updated_at is None:
            return await super().run_with(server)
        present = (await server.gitlab.get(self.request().path)).body
        await self.refuse_if_changed(server.gitlab, present)
        outcome = await super().run_with(server)
        return replace(outcome, before=present) if isinstance(outcome, Answer) else outcome


class IfSame(Action):
    """An update of what GitLab does not date, that can be made to depend on what it holds."""

    expected_checksum: Checksum | None = None

    async def present_checksum(self, gitlab: GitLab) -> str:
        raise NotImplementedError

    async def run_with(self, server: Server) -> Answer | Result:
        if self.expected_checksum is not None:
            now = await self.present_checksum(server.gitlab)
            if now != self.expected_checksum:
                _refuse("checksum", now, [])
        return await super().run_with(server)


def checksum_of_page(page: Mapping[str, Any]) -> str:
    return _checksum(page, "slug", "title", "format", "content")


def checksum_of_release(release: Mapping[str, Any]) -> str:
    titles = sorted(str(each.get("title")) for each in release.get("milestones") or ())
    return _checksum({**release, "milestones": titles}, "name", "description", "released_at", "milestones")


def checksum_of_label(label: Mapping[str, Any]) -> str:
    return _checksum(label, "name", "description", "color", "priority")


def checksum_of_variable(variable: Mapping[str, Any]) -> str:
    """Shown only beside the value: a short value could be guessed from it."""
    names = (
        "key",
        "value",
        "variable_type",
        "environment_scope",
        "protected",
        "masked",
        "raw",
        "description",
    )
    return _checksum(variable, *names)


def _checksum(thing: Mapping[str, Any], *names: str) -> str:
    held = json.dumps([thing.get(name) for name in names], ensure_ascii=True)
    return hashlib.sha256(held.encode()).hexdigest()[:_CHECKSUM_DIGITS]


def _moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _is_same_moment(expected: str, now: str) -> bool:
    """To the millisecond, or to the second where the caller knows no more."""
    one, other = _moment(expected), _moment(now)
    return one == (other if "." in expected else other.replace(microsecond=0))


def _refuse(name: str, now: str, changes: Sequence[Mapping[str, str]]) -> NoReturn:
    failure = Failure(Code.CONFLICT, "It was changed since you read it. Nothing was written.")
    raise CallFailed(
        failure.knowing(
            present={name: now},
            changed=list(changes) or None,
            confidence="certain",
            suggested_fix="Read it again and put your change into what is there now; then send it with "
            f"expected_{name} from that read.",
        )
    )


async def _changes_since(gitlab: GitLab, path: str, since: datetime) -> list[Mapping[str, str]]:
    """What was done to it since, newest first, as far as GitLab keeps a history."""
    if not _HAVE_A_HISTORY.search(path):
        return []
    try:
        notes = (await gitlab.get(f"{path}/notes", per_page=_MOST_NOTES, sort="desc")).body
        return list(_told(notes, since))[:_MOST_CHANGES]
    except (*FAULTS, ValueError, TypeError, KeyError, AttributeError):
        # The refusal stands without it.
        return []


def _told(notes: Any, since: datetime) -> Iterator[Mapping[str, str]]:
    for note in notes:
        at = str(note["created_at"])
        if _moment(at) > since:
            by = str((note.get("author") or {}).get("username"))
            yield {"what": _what(note), **({"by": by} if _SAFE_NAME.fullmatch(by) else {}), "at": at}


def _what(note: Mapping[str, Any]) -> str:
    if not note.get("system"):
        return "comment"
    text = str(note.get("body")).partition("\n")[0]
    return next((what for what, words in _WORDS_OF_CHANGES.items() if words.match(text)), "something else")

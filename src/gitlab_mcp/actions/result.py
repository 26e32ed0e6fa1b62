"""What an action hands back when sending one request and slimming its answer is not the whole story."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gitlab_mcp.failures.codes import NoticeCode


@dataclass(frozen=True, slots=True)
class Notice:
    """Rides on a success: GitLab said yes, and something is still not as the caller would think."""

    code: NoticeCode
    message: str
    facts: Mapping[str, Any] = field(default_factory=dict)


def partial_read_notices(unread: Sequence[str]) -> list[Notice]:
    """For a result made of several answers: names those that could not be read."""
    return (
        [Notice(NoticeCode.PARTIAL, "Some of it could not be read.", {"unread": list(unread)})]
        if unread
        else []
    )


@dataclass(frozen=True, slots=True)
class UndoCall:
    call: Mapping[str, Any]
    of_others: Sequence[str] = ()
    """The members of its arguments that hold text of other people: former titles, say."""


@dataclass(frozen=True, slots=True)
class Omission:
    """What was left out of a result, and how to get it."""

    what: str
    omitted: int | None
    """How many. None where GitLab does not say."""
    how_to_get_it: str
    first_omitted: str | None = None

    def as_json(self) -> dict[str, Any]:
        omitted = "unknown" if self.omitted is None else self.omitted
        entry = {"what": self.what, "omitted": omitted, "how_to_get_it": self.how_to_get_it}
        return entry if self.first_omitted is None else {**entry, "first_omitted": self.first_omitted}


@dataclass(frozen=True, slots=True)
class Text:
    """Text that stays text: a log, a diff, a file. Written by other people unless said otherwise."""

    content: str
    source: str
    """What it is, for the boundary around it: `job 42 log`, `file README.md`."""


@dataclass(frozen=True, slots=True)
class TailText(Text):
    """When it is too long it loses its beginning, not its end. `start_line` in the data is adjusted."""


@dataclass(frozen=True, slots=True)
class DiffText(Text):
    """When it is too long it loses whole files. No line inside a file's diff may begin with `diff --git`."""


@dataclass(frozen=True, slots=True)
class Image:
    data: bytes
    mime_type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """`data` is the answer's JSON object, already as slim as it should be."""

    data: Mapping[str, Any]
    text: Text | None = None
    image: Image | None = None
    warnings: Sequence[Notice] = ()
    truncated: Sequence[Omission] = ()
    undo: Mapping[str, Any] | None = None
    """The ready call that takes a write back."""
    undo_of_others: Sequence[str] = ()
    """The members of its arguments that hold text of other people."""
    own_members: frozenset[str] = frozenset()
    """Members of `data` that hold words of this server alone, and none of GitLab's."""
    is_presented: bool = False
    """Made of results that are already as an agent reads them: nothing is added or cut any more."""

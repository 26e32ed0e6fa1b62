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


def partly_read(unread: Sequence[str]) -> list[Notice]:
    """For an answer put together from several: the names of those that did not come."""
    return (
        [Notice(NoticeCode.PARTIAL, "Some of it could not be read.", {"unread": list(unread)})]
        if unread
        else []
    )


@dataclass(frozen=True, slots=True)
class Text:
    """Text that stays text: a log, a diff, a file. Written by other people unless said otherwise."""

    content: str
    source: str
    """What it is, for the boundary around it: `job 42 log`, `file README.md`."""


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
    truncated: Sequence[Mapping[str, Any]] = ()
    """Each `{what, omitted, how_to_get_it}`."""
    is_presented: bool = False
    """Made of results that are already as an agent reads them: nothing is added or cut any more."""

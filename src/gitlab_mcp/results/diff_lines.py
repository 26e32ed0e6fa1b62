"""The lines of one file's diff: which number each has on either side, also where the diff leaves them out."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

_HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_CONTEXT = 3
"""Unchanged lines after the last change of a hunk; fewer only where the file ends."""

Kind = Literal["added", "removed", "unchanged"]
_KINDS: dict[str, Kind] = {"+": "added", "-": "removed", " ": "unchanged"}


@dataclass(frozen=True, slots=True)
class DiffLine:
    """A line with its place on both sides. Where it is missing on one, that is the place of the line after it."""

    old: int
    new: int
    kind: Kind

    @property
    def numbers(self) -> dict[str, int]:
        """The numbers it really has: an unchanged line is found only by both."""
        had = {} if self.kind == "added" else {"old_line": self.old}
        has = {} if self.kind == "removed" else {"new_line": self.new}
        return had | has

    def code(self, path: str) -> str:
        return f"{hashlib.sha1(path.encode(), usedforsecurity=False).hexdigest()}_{self.old}_{self.new}"


@dataclass(frozen=True, slots=True)
class Hunk:
    lines: tuple[DiffLine, ...]
    after: DiffLine
    """The line that follows, if there is one."""
    ends_file: bool


@dataclass(frozen=True, slots=True)
class DiffLines:
    hunks: tuple[Hunk, ...]

    def new(self, number: int) -> DiffLine | None:
        """The line that has this number now; None when the file is known to end before it."""
        for line in self._shown():
            if line.kind != "removed" and line.new == number:
                return line
        before = [hunk.after for hunk in self.hunks if hunk.after.new <= number]
        return self._between(number - (before[-1].new - before[-1].old if before else 0), number)

    def old(self, number: int) -> DiffLine | None:
        """The line that had this number before; None when the file is known to have ended before it."""
        for line in self._shown():
            if line.kind != "added" and line.old == number:
                return line
        before = [hunk.after for hunk in self.hunks if hunk.after.old <= number]
        return self._between(number, number + (before[-1].new - before[-1].old if before else 0))

    def is_after_all(self, line: DiffLine) -> bool:
        """Whether it comes after everything the diff shows: the diff alone cannot tell that it exists."""
        return bool(self.hunks) and line.new >= self.hunks[-1].after.new and line.kind == "unchanged"

    def _shown(self) -> list[DiffLine]:
        return [line for hunk in self.hunks for line in hunk.lines]

    def _between(self, old: int, new: int) -> DiffLine | None:
        line = DiffLine(old, new, "unchanged")
        return None if self.is_after_all(line) and self.hunks[-1].ends_file else line


def read_diff(diff: str) -> DiffLines:
    # Only "\n" ends a line here: a file may hold every other character that Python splits at.
    rows = diff.split("\n")
    starts = [index for index, row in enumerate(rows) if _HUNK.match(row)]
    return DiffLines(tuple(_hunk(rows[start:end]) for start, end in pairwise([*starts, len(rows)])))


def _hunk(rows: list[str]) -> Hunk:
    head = _HUNK.match(rows[0])
    assert head
    old, olds, new, news = (1 if part is None else int(part) for part in head.groups())
    # Where a side has no lines, git names the line before.
    old, new = old + (olds == 0), new + (news == 0)
    lines: list[DiffLine] = []
    for row in rows[1:]:
        if (kind := _KINDS.get(row[:1])) is None:
            continue
        lines.append(DiffLine(old, new, kind))
        old, new = old + (kind != "added"), new + (kind != "removed")
    context = [line.kind for line in lines[-_CONTEXT:]]
    return Hunk(tuple(lines), DiffLine(old, new, "unchanged"), context != ["unchanged"] * _CONTEXT)

"""The lines of one file's diff: the old and the new number of each, also of lines that the diff leaves out."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

_HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_CONTEXT = 3
"""Unchanged lines at the end of a hunk. There are fewer only where the file ends."""

Kind = Literal["added", "removed", "unchanged"]
_KINDS: dict[str, Kind] = {"+": "added", "-": "removed", " ": "unchanged"}


@dataclass(frozen=True, slots=True)
class DiffLine:
    """A line with its old and its new number. An added line has as its old number that of the line after it, and a
    removed line likewise as its new number."""

    old: int
    new: int
    kind: Kind

    @property
    def numbers(self) -> dict[str, int]:
        """The numbers that GitLab wants for it: of an unchanged line both."""
        old = {} if self.kind == "added" else {"old_line": self.old}
        new = {} if self.kind == "removed" else {"new_line": self.new}
        return old | new

    def code(self, path: str) -> str:
        """The line code, as GitLab computes it."""
        return f"{hashlib.sha1(path.encode(), usedforsecurity=False).hexdigest()}_{self.old}_{self.new}"


@dataclass(frozen=True, slots=True)
class Hunk:
    lines: tuple[DiffLine, ...]
    after: DiffLine
    """The line that follows the hunk, if the file does not end there."""
    ends_file: bool


@dataclass(frozen=True, slots=True)
class DiffLines:
    hunks: tuple[Hunk, ...]

    def new(self, number: int) -> DiffLine | None:
        """The line with this new number; None when the file is known to end before it."""
        for line in self._lines():
            if line.kind != "removed" and line.new == number:
                return line
        before = [hunk.after for hunk in self.hunks if hunk.after.new <= number]
        return self._unchanged(number - (before[-1].new - before[-1].old if before else 0), number)

    def old(self, number: int) -> DiffLine | None:
        """The line with this old number; None when the file is known to have ended before it."""
        for line in self._lines():
            if line.kind != "added" and line.old == number:
                return line
        before = [hunk.after for hunk in self.hunks if hunk.after.old <= number]
        return self._unchanged(number, number + (before[-1].new - before[-1].old if before else 0))

    def is_after_last_hunk(self, line: DiffLine) -> bool:
        """Whether it comes after the last hunk. The diff cannot tell whether such a line exists."""
        return bool(self.hunks) and line.new >= self.hunks[-1].after.new and line.kind == "unchanged"

    def _lines(self) -> list[DiffLine]:
        return [line for hunk in self.hunks for line in hunk.lines]

    def _unchanged(self, old: int, new: int) -> DiffLine | None:
        line = DiffLine(old, new, "unchanged")
        return None if self.is_after_last_hunk(line) and self.hunks[-1].ends_file else line


def read_diff(diff: str) -> DiffLines:
    # Not splitlines: a file may hold the other characters that Python takes for line ends.
    rows = diff.split("\n")
    starts = [index for index, row in enumerate(rows) if _HUNK.match(row)]
    return DiffLines(tuple(_hunk(rows[start:end]) for start, end in pairwise([*starts, len(rows)])))


def _hunk(rows: list[str]) -> Hunk:
    header = _HUNK.match(rows[0])
    assert header
    old, old_count, new, new_count = (1 if part is None else int(part) for part in header.groups())
    # Where a side has no lines, git gives the number of the line before.
    old, new = old + (old_count == 0), new + (new_count == 0)
    lines: list[DiffLine] = []
    for row in rows[1:]:
        if (kind := _KINDS.get(row[:1])) is None:
            continue
        lines.append(DiffLine(old, new, kind))
        old, new = old + (kind != "added"), new + (kind != "removed")
    context = [line.kind for line in lines[-_CONTEXT:]]
    return Hunk(tuple(lines), DiffLine(old, new, "unchanged"), context != ["unchanged"] * _CONTEXT)

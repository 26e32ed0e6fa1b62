"""Replaces text in a file where it stands exactly once; every other byte of the file stays as it is."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from gitlab_mcp.failures.invisible_characters import without_invisible

LINE_END: Final = re.compile(r"\r?\n")
_LFS_POINTER: Final = b"version https://git-lfs.github.com/spec/"
_CHECKED_FOR_BINARY: Final = 8000
"""As in git: a NUL among the first bytes makes a file binary."""
_UTF_16: Final = (b"\xff\xfe", b"\xfe\xff")
_MOST_TOLD: Final = 5
_MOST_LINES_COMPARED: Final = 5000
_LONGEST_LINE_COMPARED: Final = 300
_ALIKE: Final = 0.75


@dataclass(frozen=True, slots=True)
class Replacement:
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Lines:
    first: int
    last: int

    def __str__(self) -> str:
        return f"line {self.first}" if self.first == self.last else f"lines {self.first}-{self.last}"


@dataclass(frozen=True, slots=True)
class NearMiss:
    lines: Lines
    difference: str


@dataclass(frozen=True, slots=True)
class NotOnce:
    """Why a replacement cannot be made."""

    number: int
    """Of the replacement, from 0."""
    found_at: tuple[Lines, ...] = ()
    """Where the old text stands, if it does more than once."""
    near: tuple[NearMiss, ...] = ()
    made_at: Lines | None = None
    """Where the new text stands, if it does in place of the old."""
    overlaps: int | None = None
    """The other replacement of the same text."""


@dataclass(frozen=True, slots=True)
class Edited:
    text: str
    places: tuple[Lines, ...]
    """Of each replacement the lines of the file as it was."""


def why_not_editable(content: bytes) -> str | None:
    """What the file is, where it is no text to be edited."""
    if content.startswith(_UTF_16):
        return "text in UTF-16"
    if b"\0" in content[:_CHECKED_FOR_BINARY]:
        return "binary"
    if content.startswith(_LFS_POINTER):
        return "a pointer to a file in Git LFS"
    return None


def as_text(content: bytes) -> tuple[str, str]:
    """The file as text and its encoding, as reading a file shows it: every byte is a character of Latin 1."""
    try:
        return content.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        return content.decode("latin-1"), "latin-1"


def edited(text: str, replacements: Sequence[Replacement]) -> Edited | list[NotOnce]:
    """All replacements made at once in the text as it is, or why some cannot be."""
    wrong: list[NotOnce] = []
    spans: list[tuple[int, int, int]] = []
    for number, replacement in enumerate(replacements):
        found = list(_spans(text, replacement.old))
        if len(found) == 1:
            spans.append((*found[0], number))
        else:
            wrong.append(_not_once(text, number, replacement, found))
    spans.sort()
    wrong += [
        NotOnce(later[2], overlaps=earlier[2]) for earlier, later in pairwise(spans) if later[0] < earlier[1]
    ]
    if wrong:
        return wrong
    parts, end = [], 0
    for start, stop, number in spans:
        parts += [text[end:start], _with_line_ends_of(text, start, stop, replacements[number].new)]
        end = stop
    by_number = sorted(spans, key=lambda span: span[2])
    return Edited(
        "".join([*parts, text[end:]]), tuple(_lines(text, start, stop) for start, stop, _ in by_number)
    )


def _spans(text: str, old: str) -> Iterator[tuple[int, int]]:
    """Where the text stands, whichever line ends the file has; also where two places overlap."""
    pattern = r"\r?\n".join(re.escape(line) for line in LINE_END.split(old))
    # A line end of the file is matched whole: `\n` must not leave its `\r` behind.
    begins_with_line_end = r"(?<!\r)" if old.startswith(("\n", "\r\n")) else ""
    for match in re.finditer(f"{begins_with_line_end}(?=({pattern}))", text):
        yield match.span(1)


def _with_line_ends_of(text: str, start: int, stop: int, new: str) -> str:
    """The new text with the line ends of what it replaces; where that is one line, of the file."""
    there = LINE_END.search(text, start, stop) or LINE_END.search(text)
    return LINE_END.sub(lambda _: there[0], new) if there else new


def _lines(text: str, start: int, stop: int) -> Lines:
    first = text.count("\n", 0, start) + 1
    return Lines(first, first + text.count("\n", start, max(start, stop - 1)))


def _not_once(text: str, number: int, replacement: Replacement, found: list[tuple[int, int]]) -> NotOnce:
    if found:
        return NotOnce(number, tuple(_lines(text, *span) for span in found))
    made = list(_spans(text, replacement.new)) if replacement.new.strip() else []
    made_at = _lines(text, *made[0]) if len(made) == 1 else None
    return NotOnce(number, near=tuple(_near_misses(text, replacement.old)), made_at=made_at)


def _near_misses(text: str, old: str) -> list[NearMiss]:
    """The places that are most like it. What they hold is not repeated: it is others' text."""
    rows, wanted = [_bare(row) for row in text.split("\n")], [_bare(row) for row in old.split("\n")]
    while wanted and not wanted[-1]:
        wanted.pop()
    lead = next((index for index, row in enumerate(wanted) if row), None)
    if lead is None:
        return []
    if len(wanted) == 1:
        within = [
            NearMiss(Lines(at, at), "white space or invisible characters differ")
            for at, row in enumerate(rows, 1)
            if wanted[0] in row
        ]
        return within[:_MOST_TOLD] or _alike(rows, wanted[0])
    at_offset: Counter[int] = Counter()
    places: dict[str, list[int]] = {}
    for index, row in enumerate(wanted):
        if row:
            places.setdefault(row, []).append(index)
    for at, row in enumerate(rows):
        at_offset.update({at - index: 1 for index in places.get(row, ()) if at >= index})
    best = at_offset.most_common(_MOST_TOLD)
    most = best[0][1] if best else 0
    return [_window(rows, wanted, at) for at, same in best if same == most] or _alike(rows, wanted[lead])


def _window(rows: list[str], wanted: list[str], at: int) -> NearMiss:
    lines = Lines(at + 1, min(at + len(wanted), len(rows)))
    there = rows[at : at + len(wanted)]
    differing = [
        at + index + 1 for index, row in enumerate(wanted) if index >= len(there) or there[index] != row
    ]
    # The first and the last line may begin and end within lines of the file.
    if not differing or (len(differing) <= 2 and _is_cut_out(there, wanted)):
        return NearMiss(lines, "white space or invisible characters differ")
    return NearMiss(lines, f"line {differing[0]} is the first that differs")


def _is_cut_out(there: list[str], wanted: list[str]) -> bool:
    return (
        len(there) == len(wanted)
        and there[1:-1] == wanted[1:-1]
        and there[0].endswith(wanted[0])
        and there[-1].startswith(wanted[-1])
    )


def _alike(rows: list[str], wanted: str) -> list[NearMiss]:
    if len(wanted) > _LONGEST_LINE_COMPARED:
        return []
    compared = {
        row: at
        for at, row in reversed(list(enumerate(rows[:_MOST_LINES_COMPARED], 1)))
        if row and len(row) <= _LONGEST_LINE_COMPARED
    }
    alike = difflib.get_close_matches(wanted, list(compared), n=3, cutoff=_ALIKE)
    return [NearMiss(Lines(compared[row], compared[row]), "much of it is the same") for row in alike]


def _bare(line: str) -> str:
    return " ".join(without_invisible(line).split())

"""The lines of a job log as a terminal shows them, in bounded memory however long the log is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from gitlab_mcp.results.text_cleaning import remove_invisible

_LONGEST_LINE = 64 * 1024
_DEEPEST_SECTION = 32

# GitLab 17.3 and later may put a timestamp, a stream and a mark before each line; "+" continues the line before.
_TIMESTAMP = re.compile(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z [0-9a-f]{2}[OE]([ +]?)")
_SECTION = re.compile(r"section_(start|end):\d{1,20}:([^\s\[]{1,255})(?:\[[^\]]{0,255}\])?\r?(?:\x1b\[0K)?")
_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-Z\\^-~])")


@dataclass(frozen=True, slots=True)
class LogLine:
    number: int
    text: str
    section: str = ""
    """The innermost section of the log that the line is in."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    start_line: int
    lines: tuple[str, ...]

    @property
    def end_line(self) -> int:
        return self.start_line + len(self.lines) - 1

    def numbered(self, longest_line: int = 400) -> str:
        """The lines with their numbers; a longer one is cut."""
        lines = (line if len(line) <= longest_line else f"{line[:longest_line]}…" for line in self.lines)
        return "\n".join(f"{number}: {line}" for number, line in enumerate(lines, self.start_line))


def log_lines(chunks: Iterable[bytes]) -> Iterator[LogLine]:
    """The lines without colours, section markers, timestamps and the earlier states of progress bars."""
    number, sections = 1, list[str]()
    for raw in _without_timestamps(_raw_lines(chunks)):
        text = raw.decode("utf-8", "replace")
        for kind, name in _SECTION.findall(text) if "section_" in text else ():
            if kind == "start" and len(sections) < _DEEPEST_SECTION:
                sections.append(name)
            elif kind == "end" and name in sections:
                del sections[sections.index(name) :]
        shown = remove_invisible(_as_shown(text)).value
        if shown.strip() or not text.strip():
            yield LogLine(number, shown.rstrip(), sections[-1] if sections else "")
            number += 1


def _as_shown(text: str) -> str:
    if "\x1b" not in text and "\r" not in text:
        return text if "section_" not in text else _SECTION.sub("", text)
    without = _ESCAPE.sub("", _SECTION.sub("", text)).rstrip("\r")
    # What a terminal shows last: each carriage return starts the line again.
    return next((state for state in reversed(without.split("\r")) if state.strip()), "")


def _without_timestamps(lines: Iterator[bytes]) -> Iterator[bytes]:
    """The lines without timestamps, with lines that were written in parts put together."""
    held: bytes | None = None
    for line in lines:
        mark = _TIMESTAMP.match(line)
        rest = line[mark.end() :] if mark else line
        if mark and mark[1] == b"+" and held is not None:
            held = _shortened(held + rest)
            continue
        if held is not None:
            yield held
        held = rest
    if held is not None:
        yield held


def _raw_lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    rest = b""
    for chunk in chunks:
        *whole, rest = (rest + chunk).split(b"\n")
        yield from map(_shortened, whole)
        rest = _shortened(rest)
    if rest:
        yield rest


def _shortened(line: bytes) -> bytes:
    """A line that is too long loses all but the last state of its progress bar, or its end."""
    if len(line) <= _LONGEST_LINE:
        return line
    start = line.rfind(b"\r", 0, len(line) - 1) + 1
    return line[start:][:_LONGEST_LINE]

"""The lines of a job log as a terminal shows them, in bounded memory however long the log is.

Logs have millions of lines, so they are cleaned many at once where that gives the same: `_cleaned_at_once`. Where a
block has something in it that depends on the line, they are read one by one: `_one_by_one` says what is meant.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from gitlab_mcp.failures.invisible_characters import INVISIBLE
from gitlab_mcp.results.text_cleaning import remove_invisible

_LONGEST_LINE = 64 * 1024
_BLOCK = 128 * 1024
_DEEPEST_SECTION = 32

# GitLab 17.3 and later may put a timestamp, a stream and a mark before each line; "+" continues the line before.
_TIMESTAMP = re.compile(rb"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z [0-9a-f]{2}[OE]([ +]?)", re.MULTILINE)
_LOOKS_STAMPED = re.compile(rb"Z [0-9a-f]{2}[OE]")
_SECTION = re.compile(r"section_(start|end):\d{1,20}:([^\s\[]{1,255})(?:\[[^\]]{0,255}\])?\r?(?:\x1b\[0K)?")
_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)|[ -/]*[0-Z\\^-~])")
_LINE_END = re.compile(r"\r+(?=\n|\Z)")


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


@dataclass(frozen=True, slots=True)
class LogBlock:
    """Some lines in a row, all in one section."""

    start_line: int
    lines: list[str]
    section: str

    def line(self, index: int) -> LogLine:
        return LogLine(self.start_line + index, self.lines[index], self.section)


def log_lines(chunks: Iterable[bytes]) -> Iterator[LogLine]:
    for block in log_blocks(chunks):
        yield from map(block.line, range(len(block.lines)))


def log_blocks(chunks: Iterable[bytes]) -> Iterator[LogBlock]:
    """The lines without colours, section markers, timestamps and the earlier states of progress bars."""
    number, sections = 1, list[str]()
    for raw in _raw_blocks(chunks):
        cleaned = _cleaned_at_once(raw)
        if cleaned is not None:
            if cleaned:
                yield LogBlock(number, cleaned, sections[-1] if sections else "")
            number += len(cleaned)
            continue
        for line in _one_by_one(raw, sections):
            yield LogBlock(number, [line], sections[-1] if sections else "")
            number += 1


def _one_by_one(raw: bytes, sections: list[str]) -> Iterator[str]:
    """`sections` are those that are open, and change as the lines are read."""
    for line in _without_timestamps(map(_shortened, raw.split(b"\n"))):
        text = line.decode("utf-8", "replace")
        for kind, name in _SECTION.findall(text) if "section_" in text else ():
            if kind == "start" and len(sections) < _DEEPEST_SECTION:
                sections.append(name)
            elif kind == "end" and name in sections:
                del sections[sections.index(name) :]
        shown = remove_invisible(_as_shown(text)).value
        if shown.strip() or not text.strip():
            yield shown.rstrip()


def _cleaned_at_once(raw: bytes) -> list[str] | None:
    """The lines, as they are one by one; None where that cannot be said of all at once."""
    if b"section_" in raw or (len(raw) > _LONGEST_LINE and max(map(len, raw.split(b"\n"))) > _LONGEST_LINE):
        return None
    if _LOOKS_STAMPED.search(raw):
        may_continue = b"O+" in raw or b"E+" in raw
        if may_continue and any(mark[1] == b"+" for mark in _TIMESTAMP.finditer(raw)):
            return None
        raw = _TIMESTAMP.sub(b"", raw)
    text = raw.decode("utf-8", "replace")
    shown = _ESCAPE.sub("", text) if "\x1b" in text else text
    shown = _LINE_END.sub("", shown) if "\r" in shown else shown
    is_plain = shown.isascii() and shown.replace("\n", "").replace("\t", "").isprintable()
    if not is_plain and INVISIBLE.search(shown):
        return None
    lines = [line.rstrip() for line in shown.split("\n")]
    if shown is not text and "" in lines:
        # A line of nothing but colours is no line.
        before = text.split("\n")
        return [line for line, was in zip(lines, before, strict=True) if line or not was.strip()]
    return lines


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


def _raw_blocks(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Whole lines, about `_BLOCK` at once, without the last line end. What the next line may continue is held back."""
    rest, waiting, size = b"", list[bytes](), 0
    for chunk in chunks:
        waiting.append(chunk)
        size += len(chunk)
        if size < _BLOCK:
            continue
        whole, line_end, begun = b"".join((rest, *waiting)).rpartition(b"\n")
        begun = _shortened(begun)
        waiting, size = [], 0
        held = _start_of_last_line(whole) if line_end else 0
        if held:
            yield whole[: held - 1]
        rest = whole[held:] + line_end + begun
    last = b"".join((rest, *waiting))
    if last:
        yield last.removesuffix(b"\n")


def _start_of_last_line(whole: bytes) -> int:
    """Where the last line begins, with the lines before it that it continues."""
    start = whole.rfind(b"\n") + 1
    while start and len(whole) - start < _LONGEST_LINE:
        mark = _TIMESTAMP.match(whole, start)
        if not mark or mark[1] != b"+":
            break
        start = whole.rfind(b"\n", 0, start - 1) + 1
    return start


def _shortened(line: bytes) -> bytes:
    """A line that is too long loses all but the last state of its progress bar, or its end."""
    if len(line) <= _LONGEST_LINE:
        return line
    start = line.rfind(b"\r", 0, len(line) - 1) + 1
    return line[start:][:_LONGEST_LINE]

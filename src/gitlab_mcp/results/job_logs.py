"""Reads part of a job log: its tail, a range of lines, or the lines around matches. One pass, bounded memory."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from gitlab_mcp.actions.result import Omission, TailText, Text
from gitlab_mcp.results.job_log_errors import ErrorFinder
from gitlab_mcp.results.job_log_lines import Excerpt, LogBlock, LogLine, log_blocks

DEFAULT_TAIL = 200
DEFAULT_LIMIT_BYTES = 20_000
DEFAULT_CONTEXT = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class LogWindow:
    """The part of a log that was asked for. Line numbers are those of the cleaned log, from 1."""

    excerpts: tuple[Excerpt, ...]
    total_lines: int
    total_bytes: int
    matches: int | None = None
    """How many lines a search found, shown or not. None without a search."""
    omitted: int = 0
    """Lines that were asked for and did not fit the limit."""
    is_tail: bool = False
    error: Excerpt | None = None
    only_end_of: int | None = None
    """The bytes of a log of which only the end was read. The numbers of its lines are not known then."""

    @property
    def start_line(self) -> int:
        return self.excerpts[0].start_line if self.excerpts else 0

    @property
    def truncated(self) -> tuple[Omission, ...]:
        if not self.omitted:
            return ()
        if self.only_end_of is not None:
            how = "start_line and end_line, or search: they read the whole log"
        elif self.is_tail:
            how = f"end_line={self.start_line - 1}"
        elif self.matches is None:
            how = f"start_line={self.excerpts[-1].end_line + 1}"
        else:
            how = "search for something rarer, or read on with start_line and end_line"
        return (Omission("lines of the log", self.omitted, how),)

    def text(self, source: str) -> Text:
        """The lines. Those that a search found have their numbers."""
        if self.matches is None:
            lines = [line for excerpt in self.excerpts for line in excerpt.lines]
            return (TailText if self.is_tail else Text)("\n".join(lines), source)
        parts = (
            "\n".join(f"{number}: {line}" for number, line in enumerate(excerpt.lines, excerpt.start_line))
            for excerpt in self.excerpts
        )
        return Text("\n--\n".join(parts), source)


class _Collector(Protocol):
    def take(self, block: LogBlock) -> None: ...


def read_log(
    chunks: Iterable[bytes],
    *,
    tail: int | None = None,
    search: str | None = None,
    context: int = DEFAULT_CONTEXT,
    start: int | None = None,
    end: int | None = None,
    limit_bytes: int = DEFAULT_LIMIT_BYTES,
    find_error: bool = False,
) -> LogWindow:
    """The lines around what `search` finds, the lines from `start` to `end`, or else the tail."""
    window: _SearchWindow | _RangeWindow | _TailWindow
    if search:
        window = _SearchWindow(search, context, limit_bytes)
    elif start is not None or end is not None:
        window = _RangeWindow(start or 1, end, limit_bytes)
    else:
        window = _TailWindow(tail or DEFAULT_TAIL, limit_bytes)
    error = ErrorFinder() if find_error else None
    collectors: list[_Collector] = [window, *([error] if error else [])]
    counted_chunks = _CountedChunks(chunks)
    total_lines = 0
    for block in log_blocks(counted_chunks):
        total_lines += len(block.lines)
        for collector in collectors:
            collector.take(block)
    return LogWindow(
        excerpts=window.excerpts(),
        total_lines=total_lines,
        total_bytes=counted_chunks.bytes,
        matches=window.matches if isinstance(window, _SearchWindow) else None,
        omitted=window.omitted,
        is_tail=isinstance(window, _TailWindow),
        error=error.excerpt() if error else None,
    )


class _CountedChunks:
    """Passes chunks on and counts their bytes."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = chunks
        self.bytes = 0

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self._chunks:
            self.bytes += len(chunk)
            yield chunk


class _TailWindow:
    def __init__(self, most: int, limit: int) -> None:
        self._most, self._limit = most, limit
        self._lines: deque[LogLine] = deque()
        self._size = 0
        self._seen = 0

    def take(self, block: LogBlock) -> None:
        count = len(block.lines)
        self._seen += count
        # Of a block no more than the lines that can stay.
        for index in range(max(0, count - self._most), count):
            self._add(block.line(index))

    def _add(self, line: LogLine) -> None:
        self._lines.append(line)
        self._size += _size(line)
        while len(self._lines) > self._most or (self._size > self._limit and len(self._lines) > 1):
            self._size -= _size(self._lines.popleft())

    @property
    def omitted(self) -> int:
        return min(self._seen, self._most) - len(self._lines)

    def excerpts(self) -> tuple[Excerpt, ...]:
        return _excerpts(self._lines)


class _RangeWindow:
    def __init__(self, start: int, end: int | None, limit: int) -> None:
        self._start, self._end, self._limit = start, end, limit
        self._lines: list[LogLine] = []
        self._size = 0
        self.omitted = 0

    def take(self, block: LogBlock) -> None:
        last = len(block.lines) if self._end is None else self._end - block.start_line + 1
        for index in range(max(0, self._start - block.start_line), min(len(block.lines), last)):
            self._add(block.line(index))

    def _add(self, line: LogLine) -> None:
        if self.omitted or (self._lines and self._size + _size(line) > self._limit):
            self.omitted += 1
            return
        self._lines.append(line)
        self._size += _size(line)

    def excerpts(self) -> tuple[Excerpt, ...]:
        return _excerpts(self._lines)


class _SearchWindow:
    """Searches for plain text in any case, since a stranger's regular expression could run for ever."""

    def __init__(self, wanted: str, context: int, limit: int) -> None:
        self._wanted, self._context, self._limit = wanted.casefold(), context, limit
        self._before: deque[LogLine] = deque(maxlen=context)
        self._lines: list[LogLine] = []
        self._size = 0
        self._after = 0
        self.matches = 0
        self.omitted = 0

    def take(self, block: LogBlock) -> None:
        if self._wanted in "\n".join(block.lines).casefold():
            for index in range(len(block.lines)):
                self._take(block.line(index))
            return
        count = len(block.lines)
        shown = min(self._after, count)
        for index in (*range(shown), *range(max(shown, count - self._context), count)):
            self._take(block.line(index))

    def _take(self, line: LogLine) -> None:
        if self._wanted in line.text.casefold():
            self.matches += 1
            self._add(*self._before, line)
            self._before.clear()
            self._after = self._context
        elif self._after:
            self._after -= 1
            self._add(line)
        else:
            self._before.append(line)

    def _add(self, *lines: LogLine) -> None:
        size = sum(map(_size, lines))
        if self.omitted or (self._lines and self._size + size > self._limit):
            self.omitted += len(lines)
            return
        self._lines.extend(lines)
        self._size += size

    def excerpts(self) -> tuple[Excerpt, ...]:
        return _excerpts(self._lines)


def _size(line: LogLine) -> int:
    return len(line.text.encode()) + 1


def _excerpts(lines: Iterable[LogLine]) -> tuple[Excerpt, ...]:
    """Consecutive lines make one excerpt."""
    runs: list[list[LogLine]] = []
    for line in lines:
        if runs and runs[-1][-1].number + 1 == line.number:
            runs[-1].append(line)
        else:
            runs.append([line])
    return tuple(Excerpt(run[0].number, tuple(line.text for line in run)) for run in runs)

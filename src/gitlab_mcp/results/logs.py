"""Windows into a job log: its tail, some lines, or the lines around a search; one pass, bounded memory."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from gitlab_mcp.actions.result import Text
from gitlab_mcp.results.first_errors import FirstError
from gitlab_mcp.results.log_lines import Excerpt, Line, log_lines
from gitlab_mcp.results.texts import Tail

DEFAULT_TAIL = 200
DEFAULT_LIMIT = 20_000
DEFAULT_CONTEXT = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class LogWindow:
    """What was asked of a log. Lines are numbered from 1 in the cleaned log, the same in every window."""

    excerpts: tuple[Excerpt, ...]
    total_lines: int
    total_bytes: int
    matches: int | None = None
    """How many lines a search found, shown or not."""
    left_out: int = 0
    """Lines that were asked for and did not fit the limit."""
    removed: int = 0
    """Invisible characters taken out."""
    ends_at_the_end: bool = False
    error: Excerpt | None = None

    @property
    def start_line(self) -> int:
        return self.excerpts[0].start_line if self.excerpts else 0

    @property
    def truncated(self) -> tuple[dict[str, Any], ...]:
        """What to say of the lines that did not fit."""
        if not self.left_out:
            return ()
        if self.ends_at_the_end:
            how = f"end_line={self.start_line - 1}"
        elif self.matches is None:
            how = f"start_line={self.excerpts[-1].end_line + 1}"
        else:
            how = "search for something rarer, or read on with start_line and end_line"
        return ({"what": "lines of the log", "omitted": self.left_out, "how_to_get_it": how},)

    def text(self, source: str) -> Text:
        """The lines; where several places are shown, each line has its number."""
        if self.matches is None:
            lines = [line for excerpt in self.excerpts for line in excerpt.lines]
            return (Tail if self.ends_at_the_end else Text)("\n".join(lines), source)
        parts = (
            "\n".join(f"{number}: {line}" for number, line in enumerate(excerpt.lines, excerpt.start_line))
            for excerpt in self.excerpts
        )
        return Text("\n--\n".join(parts), source)


class _Collector(Protocol):
    def take(self, line: Line) -> None: ...


def read_log(
    chunks: Iterable[bytes],
    *,
    tail: int | None = None,
    search: str | None = None,
    context: int = DEFAULT_CONTEXT,
    start: int | None = None,
    end: int | None = None,
    limit_bytes: int = DEFAULT_LIMIT,
    find_error: bool = False,
) -> LogWindow:
    """One window of a log: the lines around a search, the lines from `start` to `end`, or else its tail."""
    window: _Search | _Range | _Tail
    if search:
        window = _Search(search, context, limit_bytes)
    elif start is not None or end is not None:
        window = _Range(start or 1, end, limit_bytes)
    else:
        window = _Tail(tail or DEFAULT_TAIL, limit_bytes)
    error = FirstError() if find_error else None
    count = _Count()
    collectors: list[_Collector] = [window, count, *([error] if error else [])]
    measured = _Measured(chunks)
    for line in log_lines(measured):
        for collector in collectors:
            collector.take(line)
    return LogWindow(
        excerpts=window.excerpts(),
        total_lines=count.lines,
        total_bytes=measured.bytes,
        matches=window.matches if isinstance(window, _Search) else None,
        left_out=window.left_out,
        removed=count.removed,
        ends_at_the_end=isinstance(window, _Tail),
        error=error.excerpt() if error else None,
    )


class _Measured:
    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = chunks
        self.bytes = 0

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self._chunks:
            self.bytes += len(chunk)
            yield chunk


class _Count:
    def __init__(self) -> None:
        self.lines = 0
        self.removed = 0

    def take(self, line: Line) -> None:
        self.lines = line.number
        self.removed += line.removed


class _Tail:
    def __init__(self, most: int, limit: int) -> None:
        self._most, self._limit = most, limit
        self._lines: deque[Line] = deque()
        self._size = 0
        self._seen = 0

    def take(self, line: Line) -> None:
        self._seen += 1
        self._lines.append(line)
        self._size += _size(line)
        while len(self._lines) > self._most or (self._size > self._limit and len(self._lines) > 1):
            self._size -= _size(self._lines.popleft())

    @property
    def left_out(self) -> int:
        return min(self._seen, self._most) - len(self._lines)

    def excerpts(self) -> tuple[Excerpt, ...]:
        return _excerpts(self._lines)


class _Range:
    def __init__(self, start: int, end: int | None, limit: int) -> None:
        self._start, self._end, self._limit = start, end, limit
        self._lines: list[Line] = []
        self._size = 0
        self.left_out = 0

    def take(self, line: Line) -> None:
        if line.number < self._start or (self._end is not None and line.number > self._end):
            return
        if self.left_out or (self._lines and self._size + _size(line) > self._limit):
            self.left_out += 1
            return
        self._lines.append(line)
        self._size += _size(line)

    def excerpts(self) -> tuple[Excerpt, ...]:
        return _excerpts(self._lines)


class _Search:
    """Plain text, in any case: a pattern of a stranger must not be able to keep us busy."""

    def __init__(self, wanted: str, context: int, limit: int) -> None:
        self._wanted, self._context, self._limit = wanted.casefold(), context, limit
        self._before: deque[Line] = deque(maxlen=context)
        self._lines: list[Line] = []
        self._size = 0
        self._after = 0
        self.matches = 0
        self.left_out = 0

    def take(self, line: Line) -> None:
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

    def _add(self, *lines: Line) -> None:
        size = sum(map(_size, lines))
        if self.left_out or (self._lines and self._size + size > self._limit):
            self.left_out += len(lines)
            return
        self._lines.extend(lines)
        self._size += size

    def excerpts(self) -> tuple[Excerpt, ...]:
        return _excerpts(self._lines)


def _size(line: Line) -> int:
    return len(line.text.encode()) + 1


def _excerpts(lines: Iterable[Line]) -> tuple[Excerpt, ...]:
    """Neighbouring lines together."""
    runs: list[list[Line]] = []
    for line in lines:
        if runs and runs[-1][-1].number + 1 == line.number:
            runs[-1].append(line)
        else:
            runs.append([line])
    return tuple(Excerpt(run[0].number, tuple(line.text for line in run)) for run in runs)

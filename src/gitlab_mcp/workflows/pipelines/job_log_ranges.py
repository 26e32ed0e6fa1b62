"""Reads part of a job's log by its bytes, so that nobody downloads a long log for its last lines.

GitLab sends single bytes of a log since 19.3. An older one ignores that they were asked for and sends the whole log.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Final

from gitlab_mcp.actions.ask import Ask
from gitlab_mcp.actions.exchange import GitLab, Request
from gitlab_mcp.api.versions import is_in
from gitlab_mcp.results.job_log_lines import log_lines
from gitlab_mcp.results.job_logs import LogWindow, read_log

_RANGES_SINCE: Final = "19.3"
_LARGEST_RANGE: Final = 512_000
"""GitLab sends no more at once."""
LONG_LOG: Final = 2_000_000
"""A log with more bytes than this is not read to its end for its last lines."""


@dataclass(frozen=True, slots=True)
class LogRange:
    """Whole lines of a log, from a byte on."""

    lines: tuple[str, ...]
    next_byte_offset: int | None
    """Where the log goes on; None where this is its end."""


async def read_range(gitlab: GitLab, ask: Ask, path: str, offset: int, limit: int) -> LogRange:
    """The lines that begin in the `limit` bytes from `offset` on."""
    # One byte more tells whether the log goes on.
    limit = min(limit, _LARGEST_RANGE - 1)
    if await _sends_ranges(ask):
        asked = Request("GET", path, {"byte_offset": offset, "byte_limit": limit + 1})
        data = await gitlab.stream(asked, lambda chunks, _: _asked_for(chunks, offset, limit + 1))
    else:
        whole = Request("GET", path)
        data = await gitlab.stream(whole, lambda chunks, _: _between(chunks, offset, limit + 1))
    goes_on = len(data) > limit
    if goes_on:
        # The last line is likely cut, unless it is longer than all that may be shown.
        data = data[: data.rfind(b"\n", 0, limit) + 1] or data[:limit]
    return LogRange(tuple(line.text for line in log_lines([data])), offset + len(data) if goes_on else None)


async def read_tail(gitlab: GitLab, ask: Ask, path: str, tail: int, limit_bytes: int) -> LogWindow:
    """The last lines. Of a long log only its end is downloaded, where GitLab can do that."""

    def read_whole(chunks: Iterable[bytes]) -> LogWindow:
        return read_log(chunks, tail=tail, limit_bytes=limit_bytes)

    begun = await gitlab.stream(Request("GET", path), lambda chunks, _: _unless_long(chunks, read_whole))
    if begun is not None:
        return begun
    size = await _size(gitlab, path) if await _sends_ranges(ask) else None
    if size is not None and size > _LARGEST_RANGE:
        offset = size - _LARGEST_RANGE
        asked = Request("GET", path, {"byte_offset": offset, "byte_limit": _LARGEST_RANGE})
        end = await gitlab.stream(asked, lambda chunks, _: read_whole(_from_next_line(chunks)))
        if end.omitted or end.total_lines >= tail:
            return replace(end, only_end_of=size)
    return await gitlab.stream(Request("GET", path), lambda chunks, _: read_whole(chunks))


async def _sends_ranges(ask: Ask) -> bool:
    version = (await ask.instance()).version
    return version is not None and is_in(version, since=_RANGES_SINCE) is True


async def _size(gitlab: GitLab, path: str) -> int | None:
    """The bytes of the log, which GitLab tells once the job is over and its log is archived."""
    job: dict[str, Any] = (await gitlab.get(path.removesuffix("/trace"))).body
    sizes = [file["size"] for file in job.get("artifacts") or [] if file.get("file_type") == "trace"]
    return sizes[0] if sizes and isinstance(sizes[0], int) else None


class _Long(Exception):
    pass


def _unless_long(chunks: Iterable[bytes], read: Callable[[Iterable[bytes]], LogWindow]) -> LogWindow | None:
    """None where there are more bytes than is worth reading for the last lines."""

    def up_to_a_limit() -> Iterator[bytes]:
        total = 0
        for chunk in chunks:
            total += len(chunk)
            if total > LONG_LOG:
                raise _Long
            yield chunk

    try:
        return read(up_to_a_limit())
    except _Long:
        return None


def _asked_for(chunks: Iterator[bytes], start: int, count: int) -> bytes:
    """The bytes that GitLab was asked for, cut out of the whole log if it sent that."""
    begun = bytearray()
    for chunk in chunks:
        begun += chunk
        if len(begun) > count:
            return _between(chain([bytes(begun)], chunks), start, count)
    return bytes(begun)


def _between(chunks: Iterable[bytes], start: int, count: int) -> bytes:
    """`count` bytes from the byte `start` on. What comes after them is not read."""
    passed, kept = 0, bytearray()
    for chunk in chunks:
        kept += chunk[max(0, start - passed) :]
        passed += len(chunk)
        if len(kept) >= count:
            break
    return bytes(kept[:count])


def _from_next_line(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Without the first line, which is likely the end of one."""
    begun = False
    for chunk in chunks:
        if begun:
            yield chunk
        elif b"\n" in chunk:
            begun = True
            yield chunk.partition(b"\n")[2]

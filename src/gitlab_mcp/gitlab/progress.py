"""What whoever waits for a call is told meanwhile. MCP demands that the numbers of one call only grow, so one thing is
counted: the steps that a workflow announced, the bytes of a single long answer, or else the answers of GitLab."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from gitlab_mcp.actions.exchange import Report, Request, whole_number

_BYTES_BETWEEN_REPORTS: Final = 256 * 1024


class Progress:
    """Shared by all requests of one call."""

    def __init__(self, report: Report | None) -> None:
        self._report = report
        self._begun = 0
        self._answered = 0
        self._counts_something_else = False
        self._last = 0.0

    def steps(self, done: float, total: float | None, what: str) -> None:
        """From now on these are counted. To be called with 0 before the first request."""
        self._counts_something_else = True
        self._tell(done, total, what)

    def request_begins(self) -> None:
        self._begun += 1

    def request_ends(self, request: Request) -> None:
        self._answered += 1
        # A call that makes one request has nothing to tell before its result.
        if self._begun > 1 and not self._counts_something_else:
            total = self._begun if self._begun > self._answered else None
            self._tell(self._answered, total, f"answers from GitLab ({_what(request)})")

    def counted(
        self, chunks: Iterator[bytes], headers: Mapping[str, str], in_loop: Callable[..., Any]
    ) -> Iterator[bytes]:
        """The same chunks. Counts their bytes where this is the only request so far. For a worker thread; `in_loop`
        calls a function from there."""
        if self._report is None or self._begun > 1 or self._counts_something_else:
            yield from chunks
            return
        # Of a compressed body the length says nothing: its bytes are counted as they are read.
        length = "" if "content-encoding" in headers else headers.get("content-length", "")
        total = whole_number(length)
        done = reported = 0
        for chunk in chunks:
            done += len(chunk)
            if done - reported >= _BYTES_BETWEEN_REPORTS:
                self._counts_something_else = True
                in_loop(self._tell, done, total, "bytes read")
                reported = done
            yield chunk

    def _tell(self, done: float, total: float | None, what: str) -> None:
        if self._report is not None and (done > self._last or done == 0):
            self._last = done
            self._report(done, total, what)


def _what(request: Request) -> str:
    """The kind of thing that was asked for: the last word of the path that is not a name or a number."""
    words = [part for part in request.path.split("/") if re.fullmatch(r"[a-z][a-z_]+", part)]
    return words[-1].replace("_", " ") if words else "GitLab"

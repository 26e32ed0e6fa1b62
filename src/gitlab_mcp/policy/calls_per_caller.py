"""How many calls one caller may have in progress at once, so that one agent does not use up the server."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import CallFailed, Failure


def _under_way(calls: int) -> str:
    subject = "One call of this caller is" if calls == 1 else f"{calls} calls of this caller are"
    return f"{subject} under way already."


class CallsPerCaller:
    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._in_progress: Counter[str] = Counter()

    @contextmanager
    def slot(self, caller: str) -> Iterator[None]:
        """Held for the length of one call. Raises CallFailed when the caller has no slot left."""
        if self._in_progress[caller] >= self._limit:
            raise CallFailed(
                Failure(Code.BUSY, _under_way(self._limit)).knowing(
                    limit=self._limit,
                    retry_after_seconds=1,
                    suggested_fix="Wait until one of them has answered, then call again.",
                )
            )
        self._in_progress[caller] += 1
        try:
            yield
        finally:
            self._in_progress[caller] -= 1
            if not self._in_progress[caller]:
                del self._in_progress[caller]

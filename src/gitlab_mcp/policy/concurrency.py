"""How much one caller may have under way at once, so that nobody's agent takes the server from the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import CallFailed, Failure


def _under_way(calls: int) -> str:
    subject = "One call of this caller is" if calls == 1 else f"{calls} calls of this caller are"
    return f"{subject} under way already."


class Slots:
    def __init__(self, each: int) -> None:
        self._each = each
        self._taken: Counter[str] = Counter()

    @contextmanager
    def of(self, caller: str) -> Iterator[None]:
        if self._taken[caller] >= self._each:
            raise CallFailed(
                Failure(Code.BUSY, _under_way(self._each)).knowing(
                    limit=self._each,
                    retry_after_seconds=1,
                    suggested_fix="Wait until one of them has answered, then call again.",
                )
            )
        self._taken[caller] += 1
        try:
            yield
        finally:
            self._taken[caller] -= 1
            if not self._taken[caller]:
                del self._taken[caller]

"""How much one caller may have under way at once, so that nobody's agent takes the server from the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import CallFailed, Failure


class Slots:
    def __init__(self, each: int) -> None:
        self._each = each
        self._taken: Counter[str] = Counter()

    @contextmanager
    def of(self, caller: str) -> Iterator[None]:
        if self._taken[caller] >= self._each:
            raise CallFailed(
                Failure(Code.BUSY, f"{self._each} calls of this caller are under way already.").knowing(
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

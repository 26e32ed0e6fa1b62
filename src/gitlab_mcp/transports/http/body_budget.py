"""How many bytes of request bodies are in memory at once, over all requests.

A small body is always taken, so that large ones in flight do not keep others from asking. What is beyond that shares
one budget, of which one address has at most half. Bytes count as they come: who only announces a large body takes
nothing from anybody.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import anyio

from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import Failure
from gitlab_mcp.transports.http.rejection import Rejected

_ALWAYS_TAKEN: Final = 64 * 1024
_LEAST_BUDGET: Final = 32_000_000
_WAIT_SECONDS: Final = 1.0


class BodyBudget:
    def __init__(self, max_request_bytes: int) -> None:
        self._budget = max(_LEAST_BUDGET, 4 * max_request_bytes)
        self._used = 0
        self._used_by: Counter[str] = Counter()
        self._freed = anyio.Event()

    @contextmanager
    def share_of(self, address: str) -> Iterator[Share]:
        """Held as long as the body is."""
        share = Share(self, address)
        try:
            yield share
        finally:
            self._give_back(share)

    async def _take(self, share: Share, size: int) -> None:
        more = max(0, size - _ALWAYS_TAKEN) - share.held
        if more <= 0:
            return
        with anyio.move_on_after(_WAIT_SECONDS):
            while not self._has(more, share.address):
                await self._freed.wait()
        if not self._has(more, share.address):
            raise Rejected(_too_much(self._budget), 503)
        share.held += more
        self._used += more
        self._used_by[share.address] += more

    def _has(self, more: int, address: str) -> bool:
        of_one = self._used_by.get(address, 0) + more
        return self._used + more <= self._budget and of_one <= self._budget // 2

    def _give_back(self, share: Share) -> None:
        if share.held:
            self._used -= share.held
            self._used_by[share.address] -= share.held
            if not self._used_by[share.address]:
                del self._used_by[share.address]
            self._freed.set()
            self._freed = anyio.Event()


class Share:
    def __init__(self, budget: BodyBudget, address: str) -> None:
        self._budget = budget
        self.address = address
        self.held = 0

    async def grow_to(self, size: int) -> None:
        """Raises Rejected where there is no room for a body of this size, and none comes free within a second."""
        await self._budget._take(self, size)


def _too_much(budget: int) -> Failure:
    return Failure(
        Code.BUSY, "So many large requests are under way that there is no room for this one."
    ).knowing(
        limit=budget,
        limit_type="request_bytes_in_flight",
        unit="bytes",
        retry_after_seconds=2,
        suggested_fix="Wait for two seconds, then send it again; or send less in one request.",
    )

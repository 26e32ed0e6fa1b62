"""How many requests are under way at once, shared fairly between callers.

A caller alone may have most of the slots, but never the last ones: these are for callers who have few. Who has to wait
stands in a queue of their caller, and the queues take turns. So a caller with a hundred requests delays its own.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio


class FairSlots:
    def __init__(self, total: int, *, kept_free: int, small_share: int) -> None:
        """The last `kept_free` slots are only for callers who hold fewer than `small_share`."""
        self._free = total
        self._kept_free = kept_free
        self._small_share = small_share
        self._held: Counter[str] = Counter()
        self._waiting: OrderedDict[str, deque[anyio.Event]] = OrderedDict()
        """By caller, the one whose turn it is first."""

    @asynccontextmanager
    async def slot(self, caller: str) -> AsyncIterator[None]:
        await self._take(caller)
        try:
            yield
        finally:
            self._give_back(caller)

    async def _take(self, caller: str) -> None:
        if caller not in self._waiting and self._may_take(caller):
            self._grant(caller)
            return
        granted = anyio.Event()
        self._waiting.setdefault(caller, deque()).append(granted)
        try:
            await granted.wait()
        except BaseException:
            # Cancelled: either still in the queue, or granted at the same moment.
            if granted.is_set():
                self._give_back(caller)
            else:
                self._leave(caller, granted)
            raise

    def _may_take(self, caller: str) -> bool:
        return self._free > (0 if self._held[caller] < self._small_share else self._kept_free)

    def _grant(self, caller: str) -> None:
        self._free -= 1
        self._held[caller] += 1

    def _give_back(self, caller: str) -> None:
        self._free += 1
        self._held[caller] -= 1
        if not self._held[caller]:
            del self._held[caller]
        self._serve_next()

    def _serve_next(self) -> None:
        for caller, queue in self._waiting.items():
            if self._may_take(caller):
                self._grant(caller)
                queue.popleft().set()
                self._waiting.move_to_end(caller)
                if not queue:
                    del self._waiting[caller]
                return

    def _leave(self, caller: str, granted: anyio.Event) -> None:
        queue = self._waiting[caller]
        queue.remove(granted)
        if not queue:
            del self._waiting[caller]

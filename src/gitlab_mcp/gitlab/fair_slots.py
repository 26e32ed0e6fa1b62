"""How many requests are under way at once, shared fairly between callers.

A caller alone may have most of the slots, but never the last ones: these are for callers who have few. While others are
at work, too, a caller has a small share: it is not only slots that one caller takes from another, but also this
process's time. Who has to wait stands in a queue of their caller, and the queues take turns.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Final

import anyio

_AT_WORK_SECONDS: Final = 1.0
"""Who asked for a slot so lately is at work."""
_MAX_REMEMBERED: Final = 1000


@dataclass(frozen=True, slots=True)
class Shares:
    total: int
    kept_free: int
    """The last slots, which are only for callers who hold fewer than `least`."""
    least: int
    """What every caller may have, as long as there is a free slot."""
    beside_others: int
    """What a caller may have while others are at work."""


class FairSlots:
    def __init__(self, shares: Shares, monotonic: Callable[[], float]) -> None:
        self._shares = shares
        self._monotonic = monotonic
        self._free = shares.total
        self._held: Counter[str] = Counter()
        self._waiting: OrderedDict[str, deque[anyio.Event]] = OrderedDict()
        """By caller, the one whose turn it is first."""
        self._asked: OrderedDict[str, float] = OrderedDict()
        """When each caller asked for a slot last, the latest at the end."""

    @asynccontextmanager
    async def slot(self, caller: str) -> AsyncIterator[None]:
        await self._take(caller)
        try:
            yield
        finally:
            self._give_back(caller)

    async def _take(self, caller: str) -> None:
        self._asked[caller] = self._monotonic()
        self._asked.move_to_end(caller)
        if len(self._asked) > _MAX_REMEMBERED:
            self._asked.popitem(last=False)
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
        held, shares = self._held[caller], self._shares
        if held < shares.least:
            return self._free > 0
        if held >= shares.beside_others and self._others_are_at_work(caller):
            return False
        return self._free > shares.kept_free

    def _others_are_at_work(self, caller: str) -> bool:
        # Of the two latest one is another.
        others = (name for name in islice(reversed(self._asked), 2) if name != caller)
        other = next(others, None)
        return other is not None and self._monotonic() - self._asked[other] < _AT_WORK_SECONDS

    def _grant(self, caller: str) -> None:
        self._free -= 1
        self._held[caller] += 1

    def _give_back(self, caller: str) -> None:
        self._free += 1
        self._held[caller] -= 1
        if not self._held[caller]:
            del self._held[caller]
        while self._serve_next():
            pass

    def _serve_next(self) -> bool:
        for caller, queue in self._waiting.items():
            if self._may_take(caller):
                self._grant(caller)
                queue.popleft().set()
                self._waiting.move_to_end(caller)
                if not queue:
                    del self._waiting[caller]
                return True
        return False

    def _leave(self, caller: str, granted: anyio.Event) -> None:
        queue = self._waiting[caller]
        queue.remove(granted)
        if not queue:
            del self._waiting[caller]

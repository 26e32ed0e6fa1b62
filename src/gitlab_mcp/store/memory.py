"""The store of a single process. Bounded: what nobody asked for longest goes first."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from gitlab_mcp.store import StoreUnavailable


@dataclass(frozen=True, slots=True)
class _Kept:
    value: str
    ends: float
    counted: bool = False


class MemoryStore:
    def __init__(self, capacity: int = 100_000, clock: Callable[[], float] = time.monotonic) -> None:
        self._capacity = capacity
        self._clock = clock
        self._kept: OrderedDict[str, _Kept] = OrderedDict()

    async def get(self, key: str) -> str | None:
        kept = self._living(key)
        return kept.value if kept else None

    async def put(self, key: str, value: str, seconds: float) -> None:
        self._keep(key, _Kept(value, self._clock() + seconds))

    async def put_first(self, key: str, value: str, seconds: float) -> str:
        kept = self._living(key)
        if kept is None:
            kept = _Kept(value, self._clock() + seconds)
            self._keep(key, kept)
        return kept.value

    async def count(self, key: str, seconds: float) -> int:
        kept = self._living(key)
        number = int(kept.value) + 1 if kept else 1
        self._keep(key, _Kept(str(number), kept.ends if kept else self._clock() + seconds, counted=True))
        return number

    async def alive(self) -> bool:
        return True

    def close(self) -> None:
        self._kept.clear()

    def _living(self, key: str) -> _Kept | None:
        kept = self._kept.get(key)
        return kept if kept and kept.ends > self._clock() else None

    def _keep(self, key: str, kept: _Kept) -> None:
        if key not in self._kept and len(self._kept) >= self._capacity:
            self._make_room()
        self._kept[key] = kept
        self._kept.move_to_end(key)

    def _make_room(self) -> None:
        now = self._clock()
        for key in [key for key, kept in self._kept.items() if kept.ends <= now]:
            del self._kept[key]
        if len(self._kept) < self._capacity:
            return
        # Only counts may be forgotten early. A confirmation that was used must stay used.
        oldest = next((key for key, kept in self._kept.items() if kept.counted), None)
        if oldest is None:
            raise StoreUnavailable("the memory for what was confirmed is full")
        del self._kept[oldest]

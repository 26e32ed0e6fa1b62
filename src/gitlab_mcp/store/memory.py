"""The store of a single process, with a limited number of entries."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from gitlab_mcp.store import StoreUnavailable


@dataclass(frozen=True, slots=True)
class _Entry:
    value: str
    expires: float
    is_count: bool = False


class MemoryStore:
    def __init__(self, capacity: int = 100_000, clock: Callable[[], float] = time.monotonic) -> None:
        self._capacity = capacity
        self._clock = clock
        self._entries: OrderedDict[str, _Entry] = OrderedDict()
        """Sorted by when they were written, the oldest first."""

    async def get(self, key: str) -> str | None:
        entry = self._unexpired(key)
        return entry.value if entry else None

    async def put(self, key: str, value: str, seconds: float) -> None:
        self._put(key, _Entry(value, self._clock() + seconds))

    async def put_if_absent(self, key: str, value: str, seconds: float) -> str:
        entry = self._unexpired(key)
        if entry is None:
            entry = _Entry(value, self._clock() + seconds)
            self._put(key, entry)
        return entry.value

    async def increment(self, key: str, seconds: float) -> int:
        entry = self._unexpired(key)
        count = int(entry.value) + 1 if entry else 1
        expires = entry.expires if entry else self._clock() + seconds
        self._put(key, _Entry(str(count), expires, is_count=True))
        return count

    async def alive(self) -> bool:
        return True

    def close(self) -> None:
        self._entries.clear()

    def _unexpired(self, key: str) -> _Entry | None:
        entry = self._entries.get(key)
        return entry if entry and entry.expires > self._clock() else None

    def _put(self, key: str, entry: _Entry) -> None:
        if key not in self._entries and len(self._entries) >= self._capacity:
            self._make_room()
        self._entries[key] = entry
        self._entries.move_to_end(key)

    def _make_room(self) -> None:
        now = self._clock()
        for key in [key for key, entry in self._entries.items() if entry.expires <= now]:
            del self._entries[key]
        if len(self._entries) < self._capacity:
            return
        # Only counts may be dropped early. Dropping a used confirmation would let it be used again.
        oldest = next((key for key, entry in self._entries.items() if entry.is_count), None)
        if oldest is None:
            raise StoreUnavailable("the memory for what was confirmed is full")
        del self._entries[oldest]

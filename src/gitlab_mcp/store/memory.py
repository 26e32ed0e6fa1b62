"""The store of a single process. Each operation takes the same time however much is kept."""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Final

from gitlab_mcp.store import FAILURES, StoreUnavailable, as_number

_CAPACITY: Final = 50_000
_CAPACITY_OF_FAILURES: Final = 10_000
_EXPIRED_AT_ONCE: Final = 4
"""So many expired entries are dropped for each new one. More at once would make a caller wait for all of them."""


@dataclass(slots=True)
class _Entry:
    value: str
    expires: float


@dataclass(slots=True)
class _Space:
    """The entries of one space, and the order in which they expire."""

    capacity: int
    may_forget: bool
    entries: dict[str, _Entry] = field(default_factory=dict)
    expiries: list[tuple[float, str]] = field(default_factory=list)
    """A heap with each key once. The time may be older than that of the entry, which was written again since."""

    def make_room(self, now: float) -> bool:
        """Whether there is room for one more entry."""
        for _ in range(_EXPIRED_AT_ONCE):
            if not self.expiries or self.expiries[0][0] > now:
                break
            self._drop_first(unless_after=now)
        if len(self.entries) >= self.capacity and self.may_forget:
            self._drop_first()
        return len(self.entries) < self.capacity

    def add(self, key: str, entry: _Entry) -> None:
        self.entries[key] = entry
        heapq.heappush(self.expiries, (entry.expires, key))

    def _drop_first(self, unless_after: float | None = None) -> None:
        _, key = self.expiries[0]
        expires = self.entries[key].expires
        if unless_after is not None and expires > unless_after:
            heapq.heapreplace(self.expiries, (expires, key))
            return
        heapq.heappop(self.expiries)
        del self.entries[key]


class MemoryStore:
    def __init__(self, capacity: int = _CAPACITY, clock: Callable[[], float] = time.monotonic) -> None:
        """`capacity` is the number of entries of one space."""
        self._capacity = capacity
        self._clock = clock
        self._spaces: dict[str, _Space] = {}
        self._sets: dict[str, dict[str, float]] = {}
        """By key: when each member expires, in the order in which they came."""

    async def get(self, key: str) -> str | None:
        entry = self._unexpired(key)
        return entry.value if entry else None

    async def put(self, key: str, value: str, seconds: float) -> None:
        self._put(key, value, self._clock() + seconds)

    async def put_if_absent(self, key: str, value: str, seconds: float) -> str:
        entry = self._unexpired(key)
        if entry is not None:
            return entry.value
        self._put(key, value, self._clock() + seconds)
        return value

    async def increment(self, key: str, seconds: float) -> int:
        entry = self._unexpired(key)
        if entry is None:
            self._put(key, "1", self._clock() + seconds)
            return 1
        count = as_number(entry.value) + 1
        entry.value = str(count)
        return count

    async def add_member(self, key: str, member: str, seconds: float) -> None:
        now = self._clock()
        members = self._sets.setdefault(key, {})
        for old in [name for name, expires in members.items() if expires <= now]:
            del members[old]
        if len(self._sets) > self._capacity or len(members) >= self._capacity:
            raise StoreUnavailable(f"the memory for {_space_of(key)} is full")
        members[member] = now + seconds

    async def remove_member(self, key: str, member: str) -> None:
        members = self._sets.get(key, {})
        members.pop(member, None)
        if not members:
            self._sets.pop(key, None)

    async def members(self, key: str) -> Collection[str]:
        now = self._clock()
        return [member for member, expires in self._sets.get(key, {}).items() if expires > now]

    async def alive(self) -> bool:
        return True

    def close(self) -> None:
        self._spaces.clear()
        self._sets.clear()

    def _unexpired(self, key: str) -> _Entry | None:
        entry = self._space(key).entries.get(key)
        return entry if entry and entry.expires > self._clock() else None

    def _put(self, key: str, value: str, expires: float) -> None:
        space = self._space(key)
        entry = space.entries.get(key)
        if entry is not None:
            entry.value, entry.expires = value, expires
        elif space.make_room(self._clock()):
            space.add(key, _Entry(value, expires))
        else:
            raise StoreUnavailable(f"the memory for {_space_of(key)} is full")

    def _space(self, key: str) -> _Space:
        name = _space_of(key)
        if name not in self._spaces:
            forgets = name == FAILURES
            capacity = min(self._capacity, _CAPACITY_OF_FAILURES) if forgets else self._capacity
            self._spaces[name] = _Space(capacity, forgets)
        return self._spaces[name]


def _space_of(key: str) -> str:
    return key.partition(":")[0]

"""Reads that are alike: those under way at the same time are made once, and what they told is kept for a while."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import anyio

from gitlab_mcp.actions.exchange import Answer
from gitlab_mcp.gitlab.faults import Refused

LARGEST: Final = 256 * 1024
"""Bytes of an answer that is shared or kept."""
_BYTES_OF_A_VALUE: Final = 64

Key = tuple[str, ...]
"""The caller, as a hash of the token, among what tells reads apart."""


@dataclass(slots=True)
class _UnderWay:
    done: anyio.Event = field(default_factory=anyio.Event)
    is_waited_for: bool = False
    value: Any = None


class ReadsUnderWay:
    """Lets whoever asks while the same is being read wait for it."""

    def __init__(self) -> None:
        self._by_key: dict[Key, _UnderWay] = {}

    async def once(self, key: Key, read: Callable[[], Awaitable[Any]], longest: float | None = None) -> Any:
        """What the read yields. Nobody waits for another's read for more than `longest` seconds.

        What another's read yields nothing for, because it failed, was given up or is too large to be held twice,
        everybody reads alone: one after the other they would wait for each other's timeouts.
        """
        if (others := self._by_key.get(key)) is not None:
            others.is_waited_for = True
            with anyio.move_on_after(longest):
                await others.done.wait()
            return others.value if others.value is not None else await read()
        mine = self._by_key[key] = _UnderWay()
        try:
            value = await read()
            if mine.is_waited_for and estimated_bytes(value) <= LARGEST:
                mine.value = value
            return value
        finally:
            if self._by_key.get(key) is mine:
                del self._by_key[key]
            mine.done.set()

    def join_no_more(self, caller: str) -> None:
        """The reads of this caller that are under way may show what was so before a write: whoever asks from now on
        does not wait for them."""
        for key in [key for key in self._by_key if caller in key]:
            del self._by_key[key]


class KeptAnswers:
    """What was read, for some seconds. When it is full, the oldest are dropped."""

    def __init__(self, capacity: int, most_bytes: int, clock: Callable[[], float]) -> None:
        self._capacity = capacity
        self._most_bytes = most_bytes
        self._clock = clock
        self._entries: OrderedDict[Key, tuple[float, Any, int]] = OrderedDict()
        self._size = 0

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: Key) -> Any:
        expires, value, _ = self._entries.get(key, (0.0, None, 0))
        return value if value is not None and self._clock() < expires else None

    def keep(self, key: Key, seconds: float, value: Any) -> None:
        self._drop(key)
        while self._entries and next(iter(self._entries.values()))[0] <= self._clock():
            self._drop(next(iter(self._entries)))
        size = estimated_bytes(value)
        if value is None or size > LARGEST:
            return
        self._entries[key] = (self._clock() + seconds, value, size)
        self._size += size
        while len(self._entries) > self._capacity or self._size > self._most_bytes:
            self._drop(next(iter(self._entries)))

    def _drop(self, key: Key) -> None:
        if key in self._entries:
            self._size -= self._entries.pop(key)[2]


def estimated_bytes(value: Any) -> int:
    """About how much memory it takes. It stops counting above the largest that is kept."""
    size, rest = 0, [value]
    while rest and size <= LARGEST:
        each = rest.pop()
        size += _BYTES_OF_A_VALUE
        if isinstance(each, Answer):
            rest.append(each.body)
        elif isinstance(each, Refused):
            rest.append(each.content)
        elif isinstance(each, str | bytes):
            size += len(each)
        elif isinstance(each, Mapping):
            size += _BYTES_OF_A_VALUE * len(each)
            rest.extend(each.values())
        elif isinstance(each, list | tuple):
            rest.extend(each)
    return size

"""What outlives a request: used confirmations, quotas, writes under way, repeated failures.

It is kept in memory for one process, in Redis for several. When the store cannot be reached or is full, a call that
needs it fails with Code.STORE_UNAVAILABLE; nothing is allowed by default.

The part of a key before its first colon is its space: `quota:…`, `used:…`. In memory each space has its own limit, so
that much of one kind takes no room from another.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final, Protocol

from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import CallFailed, Failure

FAILURES: Final = "loop"
"""The space of repeated failures, the only one in which the oldest may be forgotten to make room."""


class Store(Protocol):
    """Every value expires after `seconds`. Every method is atomic, also between replicas."""

    async def get(self, key: str) -> str | None: ...

    async def put(self, key: str, value: str, seconds: float) -> None: ...

    async def put_if_absent(self, key: str, value: str, seconds: float) -> str:
        """Store `value` unless the key has one. Returns the stored value."""
        ...

    async def increment(self, key: str, seconds: float) -> int:
        """Add one and return the count. The count starts again `seconds` after its first increment."""
        ...

    async def add_member(self, key: str, member: str, seconds: float) -> None:
        """Add to the set of this key. Each member expires by itself."""
        ...

    async def remove_member(self, key: str, member: str) -> None: ...

    async def members(self, key: str) -> Collection[str]: ...

    async def alive(self) -> bool: ...

    def close(self) -> None: ...


class StoreUnavailable(CallFailed):
    def __init__(self, reason: str) -> None:
        super().__init__(
            Failure(
                Code.STORE_UNAVAILABLE, "What this call needs to be remembered cannot be remembered now."
            ).knowing(
                evidence=[reason],
                retry_after_seconds=5,
                suggested_fix="Reading works; try this call again in a moment, and tell the operator if it stays so.",
            )
        )


def as_number(value: str | None) -> int:
    """A stored count or time; 0 where there is none. A count below 0 would grant more than the limit."""
    if not re.fullmatch(r"[0-9]{0,11}", value or ""):
        raise StoreUnavailable("the store holds something else than a count")
    return int(value or 0)

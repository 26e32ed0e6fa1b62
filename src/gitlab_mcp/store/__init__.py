"""What outlives a request: used confirmations, quotas, repeated failures.

It is kept in memory for one process, in Redis for several. When the store cannot be reached, a call that needs it fails
with Code.STORE_UNAVAILABLE; nothing is allowed by default.
"""

from __future__ import annotations

import re
from typing import Final, Protocol

from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import CallFailed, Failure


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

    async def alive(self) -> bool: ...

    def close(self) -> None: ...


NOT_OURS: Final = "what the store holds there was not written by this server"


def stored_number(value: str) -> int:
    """A count or a time. Raises StoreUnavailable for what is neither."""
    if not re.fullmatch(r"[0-9]{1,11}", value):
        raise StoreUnavailable(NOT_OURS)
    return int(value)


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

"""What outlives a request: who confirmed what, how much was used, what failed again and again.

In memory for one process, in Redis for several. Whoever asks a store that is gone gets Code.STORE_UNAVAILABLE, never a
value that would let something happen.
"""

from __future__ import annotations

from typing import Protocol

from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import CallFailed, Failure


class Store(Protocol):
    """Every value ends by itself. Each method is one step that no other replica sees half of."""

    async def get(self, key: str) -> str | None: ...

    async def put(self, key: str, value: str, seconds: float) -> None: ...

    async def put_first(self, key: str, value: str, seconds: float) -> str:
        """Keep `value` unless there is one already; the one that is kept."""
        ...

    async def count(self, key: str, seconds: float) -> int:
        """One more. The count begins anew `seconds` after its first."""
        ...

    async def alive(self) -> bool: ...

    def close(self) -> None: ...


class StoreUnavailable(CallFailed):
    def __init__(self, why: str) -> None:
        super().__init__(
            Failure(
                Code.STORE_UNAVAILABLE, "What this call needs to be remembered cannot be remembered now."
            ).knowing(
                evidence=[why],
                retry_after_seconds=5,
                suggested_fix="Reading works; try this call again in a moment, and tell the operator if it stays so.",
            )
        )

"""How many tool calls are being worked on, so that a stop can wait for them."""

from __future__ import annotations

import anyio


class CallsInFlight:
    """Entered for the length of each call."""

    def __init__(self) -> None:
        self._count = 0
        self._idle: anyio.Event | None = None

    @property
    def count(self) -> int:
        return self._count

    def __enter__(self) -> None:
        self._count += 1

    def __exit__(self, *_: object) -> None:
        self._count -= 1
        if self._count == 0 and self._idle is not None:
            self._idle.set()

    async def wait_until_none(self) -> None:
        if self._count:
            self._idle = anyio.Event()
            await self._idle.wait()

"""Stops the work for a client that has hung up."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import anyio
from starlette.types import Message, Receive


class Client:
    """The client of one request, which may hang up at any time."""

    def __init__(self) -> None:
        self._is_gone = False
        self._work: anyio.CancelScope | None = None

    def hang_up(self) -> None:
        """Called by the connection."""
        self._is_gone = True
        if self._work is not None:
            self._work.cancel()

    @contextmanager
    def awaited(self) -> Iterator[None]:
        """What is done inside is cancelled when the client hangs up."""
        with anyio.CancelScope() as self._work:
            if self._is_gone:
                self._work.cancel()
            yield
        self._work = None


def received_again(body: bytes) -> Receive:
    """Gives a body that has been read already. That the client hung up is not told this way."""
    parts: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> Message:
        if not parts:
            await anyio.sleep_forever()
        return parts.pop()

    return receive

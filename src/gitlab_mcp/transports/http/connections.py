"""Connections that do not wait for ever, and that end without losing a request."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

_LAST_CHANCE = 0.2
"""Seconds in which a request that was under way when we stopped can still arrive."""


def impatient(seconds: float) -> Callable[..., H11Protocol]:
    """Connections whose clients must send the head of a request, and take the next part of an answer, within
    `seconds`. Uvicorn has no limit of its own for either."""

    class Impatient(H11Protocol):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            self._deadline: asyncio.TimerHandle | None = None
            self._stuck: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._start()

        def data_received(self, data: bytes) -> None:
            if self.conn.their_state is h11.IDLE and self._deadline is None:
                self._start()
            super().data_received(data)
            if self.conn.their_state is not h11.IDLE:
                self._stop()

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop()
            if self._stuck is not None:
                self._stuck.cancel()
            super().connection_lost(exc)

        def pause_writing(self) -> None:
            super().pause_writing()
            # Closing would wait until the rest is taken: for ever.
            self._stuck = self.loop.call_later(seconds, self.transport.abort)

        def resume_writing(self) -> None:
            if self._stuck is not None:
                self._stuck.cancel()
                self._stuck = None
            super().resume_writing()

        def timeout_keep_alive_handler(self) -> None:
            if self.transport.get_write_buffer_size():
                self.transport.abort()
            super().timeout_keep_alive_handler()

        def shutdown(self) -> None:
            if self.cycle is None or self.cycle.response_complete:
                # Its next request may be in the socket already. Closing now would lose it.
                self.loop.call_later(_LAST_CHANCE, super().shutdown)
            else:
                super().shutdown()

        def _start(self) -> None:
            self._deadline = self.loop.call_later(seconds, self.transport.close)

        def _stop(self) -> None:
            if self._deadline is not None:
                self._deadline.cancel()
                self._deadline = None

    return Impatient

"""HTTP connections that do not wait for slow clients for ever, and that lose no request when the server stops."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

_LATE_REQUEST_SECONDS = 0.2
"""Seconds in which a request that the client was sending when we stopped can still arrive."""


def with_timeouts(seconds: float) -> Callable[..., H11Protocol]:
    """A client has so many seconds to send the head of a request, and to take the next part of an answer. Uvicorn
    has no limit for either."""

    class ConnectionWithTimeouts(H11Protocol):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            self._head_timer: asyncio.TimerHandle | None = None
            self._write_timer: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._start_head_timer()

        def data_received(self, data: bytes) -> None:
            if self.conn.their_state is h11.IDLE and self._head_timer is None:
                self._start_head_timer()
            super().data_received(data)
            if self.conn.their_state is not h11.IDLE:
                self._stop_head_timer()

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop_head_timer()
            if self._write_timer is not None:
                self._write_timer.cancel()
            super().connection_lost(exc)

        def pause_writing(self) -> None:
            super().pause_writing()
            # `close` would wait until the client has taken the rest.
            self._write_timer = self.loop.call_later(seconds, self.transport.abort)

        def resume_writing(self) -> None:
            if self._write_timer is not None:
                self._write_timer.cancel()
                self._write_timer = None
            super().resume_writing()

        def timeout_keep_alive_handler(self) -> None:
            if self.transport.get_write_buffer_size():
                self.transport.abort()
            super().timeout_keep_alive_handler()

        def shutdown(self) -> None:
            if self.cycle is None or self.cycle.response_complete:
                # The next request may be in the socket already. Closing now would lose it.
                self.loop.call_later(_LATE_REQUEST_SECONDS, super().shutdown)
            else:
                super().shutdown()

        def _start_head_timer(self) -> None:
            self._head_timer = self.loop.call_later(seconds, self.transport.close)

        def _stop_head_timer(self) -> None:
            if self._head_timer is not None:
                self._head_timer.cancel()
                self._head_timer = None

    return ConnectionWithTimeouts

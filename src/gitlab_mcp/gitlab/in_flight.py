"""A request on its way, known to two threads: the worker says how far it is, the event loop may end it.

A blocked thread cannot be cancelled; its socket can be shut down, and then the thread wakes up at once. So
the connection that sends a request signs in at its `InFlightRequest`, and `InFlightRequest.abort` finds the connection.
"""

from __future__ import annotations

from contextvars import ContextVar
from threading import Lock
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import requests


class Aborted(Exception):
    """Nobody waits for this request any more; nothing further is sent for it."""


class Line(Protocol):
    def hang_up(self, exchange: InFlightRequest) -> None:
        """Wake the thread that waits on this connection, unless it serves another exchange by now."""
        ...


class InFlightRequest:
    def __init__(self) -> None:
        self._lock = Lock()
        self._line: Line | None = None
        self._aborted = False
        self._sent = False
        self.response: requests.Response | None = None
        """The live response: status and headers are here, the body may still be on the wire."""

    @property
    def sent(self) -> bool:
        """Whether any of the request may have left."""
        return self._sent

    @property
    def aborted(self) -> bool:
        return self._aborted

    def check(self) -> None:
        if self._aborted:
            raise Aborted

    def sending(self, line: Line) -> None:
        with self._lock:
            self.check()
            self._line = line
            self._sent = True

    def not_sent(self) -> None:
        """What left was only a proxy's CONNECT."""
        with self._lock:
            self._sent = False

    def abort(self) -> None:
        with self._lock:
            self._aborted = True
            line = self._line
        if line is not None:
            line.hang_up(self)


_current: ContextVar[InFlightRequest | None] = ContextVar("exchange", default=None)


def enter(exchange: InFlightRequest) -> None:
    """Make this the exchange of the running context: each worker thread of anyio has its own."""
    _current.set(exchange)


def current() -> InFlightRequest:
    exchange = _current.get()
    if exchange is None:
        raise LookupError("no exchange is under way here")
    return exchange

"""The state of a request that is being sent, shared by its worker thread and the event loop.

A blocked thread cannot be cancelled. Shutting its socket down wakes it at once. So the connection that sends a request
registers with the `InFlightRequest`, and `InFlightRequest.abort` shuts the socket of that connection down.
"""

from __future__ import annotations

from contextvars import ContextVar
from threading import Lock
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from gitlab_mcp.gitlab.transport import Incoming


class Aborted(Exception):
    """The caller no longer waits for this request. Nothing more is sent for it."""


class AbortableConnection(Protocol):
    def shut_down(self, request: InFlightRequest) -> None:
        """Wake the thread that waits on this connection, unless the connection now serves another request."""
        ...


class InFlightRequest:
    def __init__(self) -> None:
        self._lock = Lock()
        self._connection: AbortableConnection | None = None
        self._aborted = False
        self._sent = False
        self.response: Incoming | None = None
        """The live response. Status and headers have arrived; the body may not have been read."""

    @property
    def sent(self) -> bool:
        """Whether any part of the request may have been sent."""
        return self._sent

    @property
    def aborted(self) -> bool:
        return self._aborted

    def raise_if_aborted(self) -> None:
        if self._aborted:
            raise Aborted

    def mark_sent(self, connection: AbortableConnection) -> None:
        """Called just before bytes are sent on the connection."""
        with self._lock:
            self.raise_if_aborted()
            self._connection = connection
            self._sent = True

    def mark_not_sent(self) -> None:
        """Called when all that was sent is a proxy's CONNECT."""
        with self._lock:
            self._sent = False

    def abort(self) -> None:
        with self._lock:
            self._aborted = True
            connection = self._connection
        if connection is not None:
            connection.shut_down(self)


_current: ContextVar[InFlightRequest | None] = ContextVar("in_flight_request", default=None)


def set_current_request(request: InFlightRequest) -> None:
    """Set the request of the running context. What is done in a thread has a context of its own."""
    _current.set(request)


def current_request() -> InFlightRequest:
    request = _current.get()
    if request is None:
        raise LookupError("no request is in flight here")
    return request

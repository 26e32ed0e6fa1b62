"""How many connections there may be, in all and from one address.

A connection that waits for its client is closed when its place is needed, the one that has waited longest first; so
idle and slow clients take nobody's place. Where every connection is being worked on, a new one gets only the answer
that the server is busy, or that it is alive.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final, Protocol

from starlette.datastructures import Headers

from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import Failure
from gitlab_mcp.transports.http.client_address import Network, forwarded_client, is_trusted
from gitlab_mcp.transports.http.rejection import Rejected

_SURPLUS: Final = 32
"""Connections above the limit that are kept for a moment, to be told why they are not served."""


class Closable(Protocol):
    peer: str
    """The address of the other side, as it is counted."""

    def give_up(self, rejected: Rejected) -> None: ...


class Admission:
    def __init__(self, *, connections: int, per_address: int, proxies: Sequence[Network]) -> None:
        self._most = connections
        self._most_of_one = per_address
        self._proxies = proxies
        self._admitted: dict[Closable, bool] = {}
        """With whether their address counts."""
        self._by_address: Counter[str] = Counter()
        self._waiting: OrderedDict[Closable, None] = OrderedDict()
        """The one that has waited longest comes first."""
        self._waiting_by_address: dict[str, OrderedDict[Closable, None]] = {}
        self._surplus: OrderedDict[Closable, None] = OrderedDict()

    def admit(self, connection: Closable, host: str) -> Rejected | None:
        """Why there is no place for the connection. It may then ask whether the server is alive, and nothing else."""
        peer, counted = connection.peer, not self._is_proxy(host)
        why = None
        if counted and self._by_address[peer] >= self._most_of_one:
            why = self._unless_room_is_made(self._waiting_by_address.get(peer), self._too_many_of_one())
        if why is None and len(self._admitted) >= self._most:
            why = self._unless_room_is_made(self._waiting, self._too_many())
        if why is not None:
            self._surplus[connection] = None
            if len(self._surplus) > _SURPLUS:
                self._unless_room_is_made(self._surplus, why)
            return why
        self._admitted[connection] = counted
        if counted:
            self._by_address[peer] += 1
        return None

    def waits(self, connection: Closable) -> None:
        """From now on the connection waits for its client."""
        if connection in self._admitted and connection not in self._waiting:
            self._waiting[connection] = None
            if self._admitted[connection]:
                self._waiting_by_address.setdefault(connection.peer, OrderedDict())[connection] = None

    def works(self, connection: Closable) -> None:
        """From now on somebody works for the connection."""
        if connection in self._waiting:
            del self._waiting[connection]
            of_address = self._waiting_by_address.get(connection.peer, OrderedDict())
            of_address.pop(connection, None)
            if not of_address:
                self._waiting_by_address.pop(connection.peer, None)

    def forget(self, connection: Closable) -> None:
        self.works(connection)
        self._surplus.pop(connection, None)
        if self._admitted.pop(connection, False):
            self._count_down(connection.peer)

    @contextmanager
    def request_from(self, connection: Closable, host: str, headers: Headers) -> Iterator[str]:
        """The address that the request is counted for. Raises Rejected where a proxy passes on too many of one."""
        client = forwarded_client(headers, self._proxies) if self._is_proxy(host) else None
        if client is None:
            yield connection.peer
            return
        if self._by_address[client] >= self._most_of_one:
            raise self._too_many_of_one()
        self._by_address[client] += 1
        try:
            yield client
        finally:
            self._count_down(client)

    def _is_proxy(self, host: str) -> bool:
        return is_trusted(host, self._proxies)

    def _unless_room_is_made(
        self, waiting: OrderedDict[Closable, None] | None, why: Rejected
    ) -> Rejected | None:
        """Close the connection that has waited longest; `why` where none waits."""
        if not waiting:
            return why
        longest = next(iter(waiting))
        self.forget(longest)
        longest.give_up(why)
        return None

    def _count_down(self, address: str) -> None:
        self._by_address[address] -= 1
        if self._by_address[address] <= 0:
            del self._by_address[address]

    def _too_many(self) -> Rejected:
        failure = Failure(Code.BUSY, "The server has as many connections as it may have.")
        return _busy(failure.knowing(limit=self._most, limit_type="connections"))

    def _too_many_of_one(self) -> Rejected:
        failure = Failure(Code.BUSY, "Your address has as many connections as one address may have.")
        return _busy(failure.knowing(limit=self._most_of_one, limit_type="connections_per_address"))


def _busy(failure: Failure) -> Rejected:
    fix = "Wait for a second, then send the request again; use one connection for several requests."
    return Rejected(failure.knowing(retry_after_seconds=1, suggested_fix=fix), 503)

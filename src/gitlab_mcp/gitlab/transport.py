"""How a request gets to GitLab: over connections that all callers share, and that can be cut in the middle of a
request. Nothing is kept of any caller: no cookies, no credentials of the machine; and no redirect is followed."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any, Protocol
from urllib.parse import urlsplit

import requests
from requests.adapters import HTTPAdapter
from urllib3 import (
    HTTPConnectionPool,
    HTTPHeaderDict,
    HTTPSConnectionPool,
    PoolManager,
    Retry,
    Timeout,
    disable_warnings,
)
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import InsecureRequestWarning

from gitlab_mcp.gitlab.in_flight import InFlightRequest, current_request

_POOL_SIZE = 64
_NO_RETRIES = Retry(False, redirect=False)


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A request as it is sent."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes | None


class Incoming(Protocol):
    """A response whose head has arrived, as urllib3 has it. The body may not have been read."""

    @property
    def status(self) -> int: ...

    @property
    def reason(self) -> str | None: ...

    @property
    def headers(self) -> HTTPHeaderDict: ...

    def stream(self, amt: int, decode_content: bool) -> Iterator[bytes]: ...

    def close(self) -> None: ...


class Adapter(Protocol):
    """What sends requests: over the network, or in its place."""

    def send(self, request: Outgoing, timeout: Timeout, verify: bool | str) -> Incoming:
        """Return when the head of the response has arrived, whatever its status. `verify` may be a CA file."""
        ...

    def close(self) -> None: ...


class NotRecorded(Exception):
    """A replaying adapter has no answer to this request."""

    def __init__(self, request_line: str, nearest: str | None) -> None:
        super().__init__(request_line)
        self.request_line = request_line
        self.nearest = nearest
        """The recorded request that is most like it."""


class _AbortableConnection:
    """A connection that knows which request was sent on it last, so that aborting that request can wake its thread."""

    sock: Any

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._lock = Lock()
        self._owner: InFlightRequest | None = None
        # http.client sets `sock` to None when the answer says `Connection: close`.
        self._last_socket: Any = None

    def connect(self) -> None:
        request = current_request()
        request.raise_if_aborted()
        try:
            super().connect()  # type: ignore[misc]
        finally:
            request.mark_not_sent()

    def send(self, data: Any) -> None:
        if self.sock is None:
            self.connect()
        request = current_request()
        with self._lock:
            self._owner = request
            self._last_socket = self.sock
        request.mark_sent(self)
        super().send(data)  # type: ignore[misc]

    def shut_down(self, request: InFlightRequest) -> None:
        with self._lock:
            if self._owner is not request:
                return
            # With TLS inside TLS (an https proxy) it is a wrapper around the socket.
            raw_socket = getattr(self._last_socket, "socket", self._last_socket)
            try:
                # Not SSLSocket.shutdown: it removes the TLS state that the reading thread still uses.
                socket.socket.shutdown(raw_socket, socket.SHUT_RDWR)
            except OSError:
                return


class _PlainConnection(_AbortableConnection, HTTPConnection):
    pass


class _TlsConnection(_AbortableConnection, HTTPSConnection):
    pass


class _PlainPool(HTTPConnectionPool):
    ConnectionCls = _PlainConnection


class _TlsPool(HTTPSConnectionPool):
    ConnectionCls = _TlsConnection


class LiveAdapter:
    """The network."""

    def __init__(self) -> None:
        self._pools = _Pools()
        self._routes: dict[tuple[str, bool | str], _Route] = {}

    def send(self, request: Outgoing, timeout: Timeout, verify: bool | str) -> Incoming:
        scheme, host, path, query, _ = urlsplit(request.url)
        origin = f"{scheme}://{host}"
        route = self._routes.get((origin, verify))
        if route is None:
            route = self._routes[origin, verify] = self._pools.route_to(origin, verify)
        return route.pool.urlopen(
            request.method,
            f"{route.prefix}{path}?{query}" if query else route.prefix + path,
            request.body,
            request.headers,
            retries=_NO_RETRIES,
            redirect=False,
            assert_same_host=False,
            timeout=timeout,
            preload_content=False,
        )

    def close(self) -> None:
        self._pools.close()


@dataclass(frozen=True, slots=True)
class _Route:
    """How a host is reached."""

    pool: HTTPConnectionPool
    prefix: str
    """Stands before the path: a proxy is told the host, too."""


class _Pools(HTTPAdapter):
    """What requests knows of proxies and certificates, with connections of ours. It is asked once for each host: the
    environment that it reads does not change while the server runs, and that takes longer than to send a request."""

    def __init__(self) -> None:
        super().__init__(pool_connections=4, pool_maxsize=_POOL_SIZE)

    def route_to(self, origin: str, verify: bool | str) -> _Route:
        request = requests.Request("GET", origin).prepare()
        assert request.url
        with requests.Session() as session:
            told = session.merge_environment_settings(request.url, {}, True, verify, None)
        proxies = told["proxies"]
        if told["verify"] is False:
            # The operator chose this. A warning with every request would only fill the log.
            disable_warnings(InsecureRequestWarning)
        pool: Any = self.get_connection_with_tls_context(request, told["verify"], proxies)
        self.cert_verify(pool, request.url, told["verify"], None)  # type: ignore[no-untyped-call]
        # Of the URL as a proxy must be told it, or of the path "/".
        return _Route(pool, self.request_url(request, proxies).removesuffix("/"))

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        super().init_poolmanager(*args, **kwargs)
        _use_abortable_connections(self.poolmanager)

    def proxy_manager_for(self, proxy: str, **kwargs: Any) -> Any:
        return _use_abortable_connections(super().proxy_manager_for(proxy, **kwargs))

    def close(self) -> None:
        # urllib3 would leave the idle connections to the garbage collector.
        for manager in (self.poolmanager, *self.proxy_manager.values()):
            for key in manager.pools.keys():  # noqa: SIM118  (no iteration of its own)
                manager.pools[key].close()
        super().close()


def _use_abortable_connections(manager: PoolManager) -> PoolManager:
    manager.pool_classes_by_scheme = {"http": _PlainPool, "https": _TlsPool}
    return manager


def with_lowercase_names(headers: HTTPHeaderDict) -> dict[str, str]:
    """Of a header that came twice, the values are joined."""
    return {name.lower(): value for name, value in headers.itermerged()}

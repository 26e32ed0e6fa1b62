"""The session all callers share: it remembers nothing, follows nothing, and its connections can be cut."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from http.cookiejar import DefaultCookiePolicy
from threading import Lock
from typing import Any

import requests
from requests.adapters import HTTPAdapter
from urllib3 import HTTPConnectionPool, HTTPSConnectionPool, PoolManager, disable_warnings
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import InsecureRequestWarning

from gitlab_mcp.gitlab.in_flight import InFlightRequest, current

POOL = 64


class NotRecorded(Exception):
    """A replaying adapter has no answer to this request."""

    def __init__(self, asked: str, nearest: str | None) -> None:
        super().__init__(asked)
        self.asked = asked
        self.nearest = nearest
        """The recorded one that is most like it."""


class _Line:
    """What both kinds of connection add: they belong to the exchange that sent on them last."""

    sock: Any

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._lock = Lock()
        self._owner: InFlightRequest | None = None
        # Kept apart from `sock`, which http.client forgets when the answer says `Connection: close`.
        self._wire: Any = None

    def connect(self) -> None:
        exchange = current()
        exchange.check()
        try:
            super().connect()  # type: ignore[misc]
        finally:
            exchange.not_sent()

    def send(self, data: Any) -> None:
        if self.sock is None:
            self.connect()
        exchange = current()
        with self._lock:
            self._owner = exchange
            self._wire = self.sock
        exchange.sending(self)
        super().send(data)  # type: ignore[misc]

    def hang_up(self, exchange: InFlightRequest) -> None:
        with self._lock:
            if self._owner is not exchange:
                return
            # TLS inside TLS (an https proxy) is an object around the socket.
            wire = getattr(self._wire, "socket", self._wire)
            try:
                # Not SSLSocket.shutdown: it takes the TLS state away under the reading thread.
                socket.socket.shutdown(wire, socket.SHUT_RDWR)
            except OSError:
                return


class _PlainLine(_Line, HTTPConnection):
    pass


class _TlsLine(_Line, HTTPSConnection):
    pass


class _PlainPool(HTTPConnectionPool):
    ConnectionCls = _PlainLine


class _TlsPool(HTTPSConnectionPool):
    ConnectionCls = _TlsLine


class LiveAdapter(HTTPAdapter):
    def __init__(self) -> None:
        super().__init__(pool_connections=4, pool_maxsize=POOL, max_retries=0)

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        super().init_poolmanager(*args, **kwargs)
        _watch(self.poolmanager)

    def proxy_manager_for(self, proxy: str, **kwargs: Any) -> Any:
        return _watch(super().proxy_manager_for(proxy, **kwargs))

    def close(self) -> None:
        # urllib3 leaves the idle connections of a forgotten pool to the garbage collector.
        for manager in (self.poolmanager, *self.proxy_manager.values()):
            for key in manager.pools.keys():  # noqa: SIM118  (no iteration of its own)
                manager.pools[key].close()
        super().close()


def _watch(manager: PoolManager) -> PoolManager:
    manager.pool_classes_by_scheme = {"http": _PlainPool, "https": _TlsPool}
    return manager


class _Session(requests.Session):
    def get_redirect_target(self, resp: requests.Response) -> str | None:
        # Even with allow_redirects=False, requests reads a redirect's whole body to prepare the next request.
        return None


def open_session(adapter: requests.adapters.BaseAdapter, verify: bool | str) -> requests.Session:
    """A session many callers share, and that therefore remembers nothing of any of them."""
    if verify is False:
        # Whoever switched it off knows; a warning with every request only fills the log.
        disable_warnings(InsecureRequestWarning)
    session = _Session()
    session.mount("https://", adapter)
    session.mount("http://", adapter)
    # Without an `auth` of its own, requests looks into ~/.netrc for callers who bring no token.
    session.auth = _as_it_is
    session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
    return session


def _as_it_is(request: requests.PreparedRequest) -> requests.PreparedRequest:
    return request


def header_names_lowered(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}

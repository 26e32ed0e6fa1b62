"""The requests session that all callers share. It keeps no cookies, follows no redirects, and a request can be aborted
by shutting its socket down."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from http.cookiejar import DefaultCookiePolicy
from threading import Lock
from typing import Any
from urllib.parse import urlsplit

import requests
from requests.adapters import HTTPAdapter
from urllib3 import HTTPConnectionPool, HTTPSConnectionPool, PoolManager, disable_warnings
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import InsecureRequestWarning

from gitlab_mcp.gitlab.in_flight import InFlightRequest, current_request

_POOL_SIZE = 64


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


class LiveAdapter(HTTPAdapter):
    def __init__(self) -> None:
        super().__init__(pool_connections=4, pool_maxsize=_POOL_SIZE, max_retries=0)

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


class _Session(requests.Session):
    def __init__(self) -> None:
        super().__init__()
        self._from_environment: dict[tuple[Any, ...], Any] = {}

    def merge_environment_settings(self, url: Any, proxies: Any, stream: Any, verify: Any, cert: Any) -> Any:
        """Proxies and certificates from the environment, read once for each host: that takes a third of the time that a
        request takes here, and the environment does not change while the server runs."""
        key = (urlsplit(url)[:2], stream, verify)
        if key not in self._from_environment:
            self._from_environment[key] = super().merge_environment_settings(
                url, proxies, stream, verify, cert
            )
        return self._from_environment[key]

    def get_redirect_target(self, resp: requests.Response) -> str | None:
        # Even with allow_redirects=False, requests reads a redirect's whole body to prepare the next request.
        return None


def open_session(adapter: requests.adapters.BaseAdapter, verify: bool | str) -> requests.Session:
    """A session that keeps nothing of any caller."""
    if verify is False:
        # The operator chose this. A warning with every request would only fill the log.
        disable_warnings(InsecureRequestWarning)
    session = _Session()
    session.mount("https://", adapter)
    session.mount("http://", adapter)
    # Without an `auth`, requests reads ~/.netrc for callers who have no token.
    session.auth = _add_no_credentials
    session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
    return session


def _add_no_credentials(request: requests.PreparedRequest) -> requests.PreparedRequest:
    return request


def with_lowercase_names(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}

"""What the browser comes back to after signing in: one page on this machine, for one answer."""

from __future__ import annotations

import os
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Final, Self
from urllib.parse import parse_qs

HOST: Final = "127.0.0.1"
USUAL_PORT: Final = 39471
"""The one that people enter in GitLab."""
PATH: Final = "/callback"
_DONE: Final = ("GitLab has answered.", "You may close this page and go back to the terminal.")
_NOT_OURS: Final = ("This page belongs to another sign-in.", "It was not used. Go back to the terminal.")


def redirect_on(port: int) -> str:
    return f"http://{HOST}:{port}{PATH}"


class Loopback:
    """Listens on the usual port, or where that is taken on any: GitLab compares such addresses without their port."""

    def __init__(self, port: int = USUAL_PORT) -> None:
        self._server = _listen(port)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def redirect(self) -> str:
        return redirect_on(self._server.server_port)

    def expect(self, state: str) -> None:
        """What comes back without it belongs to another sign-in: it is refused and changes nothing."""
        self._server.state = state

    def wait(self, seconds: float) -> str | None:
        """The query that the browser brought; None where none came in time."""
        ends = time.monotonic() + seconds
        # In short pieces, so that Ctrl-C is heard on Windows too.
        while time.monotonic() < ends and not self._server.came.wait(0.2):
            pass
        return self._server.query

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    # On Windows it would let another program take the port away.
    allow_reuse_address = os.name != "nt"

    def __init__(self, port: int) -> None:
        self.came = threading.Event()
        self.query: str | None = None
        self.state: str | None = None
        self._first = threading.Lock()
        super().__init__((HOST, port), _Page)

    def take(self, query: str) -> bool:
        """Whether it is ours, and the first."""
        with self._first:
            if self.query is not None or parse_qs(query).get("state") != [self.state]:
                return False
            self.query = query
            return True


class _Page(BaseHTTPRequestHandler):
    server: _Server
    # A browser may open connections that it does not use.
    timeout = 10

    def do_GET(self) -> None:
        path, _, query = self.path.partition("?")
        if path != PATH or self.headers.get("Host") != f"{HOST}:{self.server.server_port}":
            self.send_error(404)
        elif self.server.take(query):
            self._say(200, *_DONE)
            self.server.came.set()
        else:
            self._say(400, *_NOT_OURS)

    def _say(self, status: int, what: str, next_step: str) -> None:
        page = (
            f"<!doctype html><meta charset=utf-8><title>gitlab-mcp</title><h1>{what}</h1><p>{next_step}</p>"
        )
        body = page.encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: the address has the code in it."""


def _listen(port: int) -> _Server:
    try:
        return _Server(port)
    except OSError:
        return _Server(0)

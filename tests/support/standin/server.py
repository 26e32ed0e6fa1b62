"""The HTTP server of the stand-in: one thread per connection, HTTP/1.1 with keep-alive."""

from __future__ import annotations

import hashlib
import re
import select
import socket
import socketserver
import ssl
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from http.client import responses
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

from tests.support.standin.exchange import Received, Reply
from tests.support.standin.faults import Drop, Fault
from tests.support.standin.recorded import Recorded
from tests.support.standin.world import World

POLL_SECONDS = 0.02
"""How often a waiting connection checks whether its client disconnected."""


@dataclass(slots=True)
class _Rule:
    method: str
    path: str
    fault: Fault
    times: int | None
    caller: str | None

    def matches(self, received: Received) -> bool:
        return (
            self.times != 0
            and self.method in ("*", received.method)
            and self.caller in (None, received.caller)
            and fnmatchcase(received.route, self.path)
        )


class Part(Protocol):
    """A part of GitLab that answers some requests."""

    def owns(self, received: Received) -> bool: ...

    def reply_to(self, received: Received) -> Reply: ...


class StandIn:
    """`root` is a relative URL root such as `/gitlab`, `tls` a server context, a `port` of 0 any free one."""

    def __init__(
        self,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        root: str = "",
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.host = host
        self.root = root
        self.tls = tls
        self.stopping = threading.Event()
        self._changed = threading.Condition(threading.RLock())
        self._requests: list[Received] = []
        self._unanswered: list[Received] = []
        self._disconnects = 0
        self._rules: list[_Rule] = []
        self._answers: list[tuple[str, str, Reply]] = []
        self._recorded = Recorded()
        self._worlds: list[Part] = []
        self._known_tokens: frozenset[str] | None = None
        self._errors: list[BaseException] = []
        self._server = _Server(self, host, port)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(POLL_SECONDS,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stopping.set()
        self._server.shutdown()
        self._server.close_connections()
        self._server.server_close()
        self._thread.join()
        if self._errors and error is None:
            raise self._errors[0]

    @property
    def url(self) -> str:
        name = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.tls else 'http'}://{name}:{self.port}{self.root}"

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    @property
    def requests(self) -> list[Received]:
        """All requests, oldest first."""
        with self._changed:
            return list(self._requests)

    @property
    def unanswered(self) -> list[Received]:
        """Requests without a recorded or invented answer. They got a synthetic 404."""
        with self._changed:
            return list(self._unanswered)

    @property
    def disconnects(self) -> int:
        """How often a client disconnected while it was waiting for an answer."""
        with self._changed:
            return self._disconnects

    def wait_for(self, condition: Callable[[StandIn], bool], timeout: float = 20.0) -> bool:
        """Wait until the condition holds. False if it did not within the timeout."""
        with self._changed:
            return self._changed.wait_for(lambda: condition(self), timeout)

    def play(self, *cassettes: Path) -> None:
        """Answer from cassettes; a directory means those directly in it."""
        with self._changed:
            for path in cassettes:
                for file in sorted(path.glob("*.json")) if path.is_dir() else [path]:
                    self._recorded.add_cassette(file)

    def play_rows(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Answer from rows of `recordings`."""
        with self._changed:
            self._recorded.add_rows(rows)

    def project(self, path: str, number: int = 9001) -> World:
        """An empty project that can be written to."""
        return self._add(World("projects", path, number))

    def group(self, path: str, number: int = 9101) -> World:
        """An empty group that can be written to."""
        return self._add(World("groups", path, number))

    def fault(
        self, method: str, path: str, fault: Fault, times: int | None = 1, caller: str | None = None
    ) -> None:
        """Let the next `times` matching requests run into the fault; all of them if `times` is None.

        `path` is below /api/v4 and may hold `*`. The first matching fault is used. None is every caller."""
        with self._changed:
            self._rules.append(_Rule(method, path, fault, times, caller))

    def answer(
        self,
        method: str,
        path: str,
        status: int = 200,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """Add an invented answer. The newest that matches is used, before anything recorded."""
        with self._changed:
            self._answers.insert(0, (method, path, Reply.of(status, body, headers)))

    def knows(self, *tokens: str) -> None:
        """From now on answer 401 to every other token."""
        with self._changed:
            self._known_tokens = frozenset(tokens)

    def add(self, part: Part) -> None:
        """Something else that answers, such as `GitLabCom`."""
        with self._changed:
            self._worlds.append(part)

    def _add(self, world: World) -> World:
        self.add(world)
        return world

    def fault_for(self, received: Received) -> Fault | None:
        with self._changed:
            for rule in self._rules:
                if rule.matches(received):
                    if rule.times is not None:
                        rule.times -= 1
                    return rule.fault
        return None

    def reply_to(self, received: Received) -> Reply:
        with self._changed:
            if self._known_tokens is not None and received.token not in self._known_tokens:
                return Reply.of(401, {"message": "401 Unauthorized"})
            for method, path, reply in self._answers:
                if method in ("*", received.method) and fnmatchcase(received.route, path):
                    return reply
            for world in self._worlds:
                if world.owns(received):
                    return world.reply_to(received)
            if reply_found := self._recorded.answer_to(received):
                return reply_found
            self._unanswered.append(received)
        return Reply.of(404, {"error": "404 Not Found"})

    def record_request(self, received: Received) -> None:
        with self._changed:
            self._requests.append(received)
            self._changed.notify_all()

    def record_disconnect(self) -> None:
        with self._changed:
            self._disconnects += 1
            self._changed.notify_all()

    def record_error(self, error: BaseException) -> None:
        with self._changed:
            self._errors.append(error)


class _Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = False
    request_queue_size = 128

    def __init__(self, standin: StandIn, host: str, port: int) -> None:
        self.standin = standin
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        super().__init__((host, port), _ConnectionHandler)

    def get_request(self) -> tuple[socket.socket, Any]:
        connection, address = super().get_request()
        if self.standin.tls:
            # The handshake happens in the thread of the connection, so that a client that stalls blocks nobody else.
            connection = self.standin.tls.wrap_socket(
                connection, server_side=True, do_handshake_on_connect=False
            )
        with self._lock:
            self._open.add(connection)
        return connection, address

    def shutdown_request(self, request: Any) -> None:
        with self._lock:
            self._open.discard(request)
        super().shutdown_request(request)

    def close_connections(self) -> None:
        with self._lock:
            for connection in self._open:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        error = sys.exception()
        if error is not None and not isinstance(error, OSError):
            self.standin.record_error(error)


class _ConnectionHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def handle_one_request(self) -> None:
        self.raw_requestline = self.rfile.readline(65537)
        if not self.raw_requestline or not self.parse_request():
            self.close_connection = True
            return
        standin = self.server.standin
        path, _, query = self.path.partition("?")
        # As a proxy it is sent the whole address.
        path = re.sub(r"^http://[^/]+", "", path).removeprefix(standin.root)
        head = Received(
            method=self.command,
            path=path,
            query=query,
            headers={name.lower(): value for name, value in self.headers.items()},
            body=b"",
            at=time.monotonic(),
        )
        fault = standin.fault_for(head)
        body = b"" if isinstance(fault, Drop) else self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.received = replace(head, body=body, at=time.monotonic())
        standin.record_request(self.received)
        try:
            if fault:
                fault.play(self)
            else:
                self.send(self.answer())
        except OSError:
            self.close_connection = True
            if not standin.stopping.is_set():
                standin.record_disconnect()

    def answer(self) -> Reply:
        return self.server.standin.reply_to(self.received)

    def send(self, reply: Reply) -> None:
        reply = self.unless_known(reply)
        without_body = reply.status in (204, 304)
        headers = {"Content-Length": str(len(reply.body)), **reply.headers}
        if without_body:
            headers.pop("Content-Length")
        body = b"" if without_body or self.command == "HEAD" else reply.body
        self.write(self._head(reply.status, headers, reply.synthetic) + body)

    def unless_known(self, reply: Reply) -> Reply:
        """As Rack does it: the ETag is the digest of the whole answer, and who sends it is answered 304."""
        if self.command != "GET" or reply.status != 200:
            return reply
        headers = {name: value for name, value in reply.headers.items() if name.lower() != "etag"}
        etag = f'W/"{hashlib.sha256(reply.body).hexdigest()[:32]}"'
        headers["ETag"] = etag
        if self.received.headers.get("if-none-match") != etag:
            return replace(reply, headers=headers)
        return Reply(
            304, b"", {name: value for name, value in headers.items() if name.lower() != "content-type"}
        )

    def stream(self, status: int, headers: Mapping[str, str], chunks: Iterator[bytes]) -> None:
        self.write(self._head(status, {**headers, "Transfer-Encoding": "chunked"}, synthetic=True))
        for chunk in filter(None, chunks):
            self.write(b"%x\r\n%b\r\n" % (len(chunk), chunk))
        self.write(b"0\r\n\r\n")

    def write(self, data: bytes) -> None:
        self.wfile.write(data)

    def drop(self, *, reset: bool = False) -> None:
        if reset:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
        self.close_connection = True

    def wait(self, seconds: float | None = None) -> None:
        end = None if seconds is None else time.monotonic() + seconds
        stopping = self.server.standin.stopping
        while not stopping.is_set() and (end is None or time.monotonic() < end):
            timeout = POLL_SECONDS if end is None else max(0.0, min(POLL_SECONDS, end - time.monotonic()))
            # A client that waits sends nothing. If the socket is readable, the client has closed it.
            if select.select([self.connection], [], [], timeout)[0]:
                raise ConnectionAbortedError("the client disconnected")

    def log_message(self, format: str, *args: Any) -> None:
        pass

    @staticmethod
    def _head(status: int, headers: Mapping[str, str], synthetic: bool) -> bytes:
        fields = {**headers, "X-Synthetic": "true"} if synthetic else headers
        # Proxies answer with statuses that are no standard.
        lines = [f"HTTP/1.1 {status} {responses.get(status, 'Unknown')}"]
        lines += [f"{name}: {value}" for name, value in fields.items()]
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")

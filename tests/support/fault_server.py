"""An HTTP server on loopback that stands for GitLab. The test chooses every byte that it sends."""

from __future__ import annotations

import contextlib
import json
import socket
import ssl
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Self


@dataclass(frozen=True)
class Received:
    method: str
    target: str
    headers: dict[str, str]
    body: bytes

    @property
    def token(self) -> str | None:
        return self.headers.get("private-token")


@dataclass
class Connection:
    """The server's side of one connection.

    `waiting` is set when nothing more will be sent, `cut` when the client has closed the connection.
    """

    client: socket.socket
    open: bool = True
    waiting: threading.Event = field(default_factory=threading.Event)
    cut: threading.Event = field(default_factory=threading.Event)

    def send(self, data: bytes) -> None:
        self.client.sendall(data)

    def reply(self, status: int, body: Any = b"", **headers: str) -> None:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        named = {"content_type": "application/json", "content_length": str(len(content)), **headers}
        lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in named.items()]
        self.send("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + content)

    def drop(self) -> None:
        self.open = False

    def wait_until_cut(self) -> None:
        """Send nothing more until the client closes the connection."""
        self.client.settimeout(20)
        self.waiting.set()
        try:
            while self.client.recv(4096):
                pass
        except OSError:
            pass
        self.open = False
        self.cut.set()


Handler = Callable[[Received, Connection], None]


class FaultServer:
    def __init__(
        self,
        handler: Handler,
        *,
        port: int = 0,
        tls: ssl.SSLContext | None = None,
        family: int = socket.AF_INET,
    ) -> None:
        self.received: list[Received] = []
        self.connections: list[Connection] = []
        self._handler = handler
        self._tls = tls
        self._listener = socket.socket(family, socket.SOCK_STREAM)
        self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._listener.bind(("::1" if family == socket.AF_INET6 else "127.0.0.1", port))
        self._listener.listen(128)
        self.port: int = self._listener.getsockname()[1]
        host = "[::1]" if family == socket.AF_INET6 else "127.0.0.1"
        self.url = f"{'https' if tls else 'http'}://{host}:{self.port}"
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.close()
        for connection in self.connections:
            with contextlib.suppress(OSError):
                connection.client.shutdown(socket.SHUT_RDWR)
            connection.client.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        try:
            if self._tls is not None:
                client = self._tls.wrap_socket(client, server_side=True)
            connection = Connection(client)
            self.connections.append(connection)
            with client.makefile("rb") as stream:
                while connection.open and (received := _read(stream)):
                    self.received.append(received)
                    self._handler(received, connection)
        except OSError:
            pass
        finally:
            with contextlib.suppress(OSError):
                client.shutdown(socket.SHUT_RDWR)
            client.close()


def _read(stream: Any) -> Received | None:
    first = stream.readline()
    if not first:
        return None
    method, target, _ = first.decode("latin-1").split(" ", 2)
    headers: dict[str, str] = {}
    while (line := stream.readline()) not in (b"\r\n", b""):
        name, _, value = line.decode("latin-1").partition(":")
        headers[name.lower()] = value.strip()
    return Received(method, target, headers, stream.read(int(headers.get("content-length", 0))))


def one_after_another(*handlers: Handler) -> Handler:
    """The first request gets the first handler, and so on. The last handler repeats."""
    lock = threading.Lock()
    waiting = list(handlers)

    def handle(received: Received, connection: Connection) -> None:
        with lock:
            handler = waiting.pop(0) if len(waiting) > 1 else waiting[0]
        handler(received, connection)

    return handle


def replying(status: int, body: Any = b"", **headers: str) -> Handler:
    return lambda _received, connection: connection.reply(status, body, **headers)


def dropping(_received: Received, connection: Connection) -> None:
    """Read the request and close the connection without an answer."""
    connection.drop()

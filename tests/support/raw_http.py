"""HTTP byte by byte, for what no well-behaved client would send."""

from __future__ import annotations

import contextlib
import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tests.support.served import INITIALIZE, Served


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def failure(self) -> dict[str, Any]:
        """What the contract promises of every refusal."""
        failure: dict[str, Any] = json.loads(self.body)["error"]["data"]
        assert failure["error_code"] and failure["message"] and failure["suggested_fix"]
        if "retry_after_seconds" in failure:
            assert self.headers["retry-after"] == str(failure["retry_after_seconds"])
        return failure


@contextmanager
def line(server: Served) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as connection:
        yield connection


def head(request: str, *, host: str = "localhost", **fields: str) -> bytes:
    lines = [f"{request} HTTP/1.1", f"Host: {host}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in fields.items()]
    return "\r\n".join([*lines, "", ""]).encode()


def post(body: bytes = json.dumps(INITIALIZE).encode(), length: int | None = None, /, **fields: str) -> bytes:
    usual = {
        "Accept": "application/json, text/event-stream",
        "Content_Type": "application/json",
        "PRIVATE_TOKEN": "alice",
        "Content_Length": str(len(body) if length is None else length),
    }
    return head("POST /mcp", **{**usual, **fields}) + body


def read_answer(connection: socket.socket) -> Answer:
    """One answer; the connection may be kept open."""
    received = b""
    while b"\r\n\r\n" not in received:
        # One byte at a time: what comes after this answer stays where it is.
        byte = connection.recv(1)
        assert byte, "the server hung up without an answer"
        received += byte
    status, *fields = received.decode().split("\r\n")[:-2]
    headers = {name.lower(): value.strip() for name, _, value in (field.partition(":") for field in fields)}
    body = connection.recv(int(headers.get("content-length", "0")), socket.MSG_WAITALL)
    return Answer(int(status.split()[1]), headers, body)


def is_closed(connection: socket.socket) -> bool:
    """Whether nothing more comes. Waits until the server closes its side."""
    with contextlib.suppress(ConnectionResetError):
        return connection.recv(65536) == b""
    return True


def asked(server: Served, request: bytes) -> Answer:
    with line(server) as connection:
        connection.sendall(request)
        return read_answer(connection)

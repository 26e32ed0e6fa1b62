"""What a request looks like on the wire."""

from __future__ import annotations

import socket
from collections import Counter
from threading import Thread

import pytest

from gitlab_mcp.actions.exchange import Request
from tests.support.upstreams import upstream_at

pytestmark = pytest.mark.anyio

REQUESTS = {
    "a read": Request("GET", "/projects/1/labels", {"page": 2, "labels": ["a b", "ü"]}),
    "a write": Request("POST", "/projects/1/labels", body={"name": "ü"}),
    "a write of nothing": Request("POST", "/projects/1/star"),
    "a deletion": Request("DELETE", "/projects/1/labels/1"),
    "a file as it is": Request("PUT", "/projects/1/packages/generic/a/1/b", content=b"\x00\xff"),
}


def heard(listener: socket.socket, into: list[bytes]) -> None:
    connection, _ = listener.accept()
    with connection:
        received = b""
        while b"\r\n\r\n" not in received:
            received += connection.recv(65536)
        head, _, body = received.partition(b"\r\n\r\n")
        length = next(
            (int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")), 0
        )
        while len(body) < length:
            body += connection.recv(65536)
        into += [head, body]
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}")


@pytest.mark.parametrize("what", REQUESTS)
async def test_each_header_is_sent_once_and_a_caller_in_none_but_one(what: str) -> None:
    wire: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        hearing = Thread(target=heard, args=(listener, wire), daemon=True)
        hearing.start()
        upstream = upstream_at(f"http://127.0.0.1:{listener.getsockname()[1]}")
        await upstream.as_caller("secret-of-alice").send(REQUESTS[what])
        upstream.close()
        hearing.join(5)
    head, body = wire
    request_line, *lines = head.decode("ascii").split("\r\n")
    named = Counter(line.partition(":")[0].lower() for line in lines)
    assert max(named.values()) == 1, named
    assert [line for line in lines if "alice" in line] == ["PRIVATE-TOKEN: secret-of-alice"]
    assert not {"cookie", "authorization"} & named.keys()
    if what == "a read":
        assert request_line.endswith(
            "/projects/1/labels?page=2&labels%5B%5D=a+b&labels%5B%5D=%C3%BC HTTP/1.1"
        )
    if what == "a write":
        assert body == b'{"name": "\\u00fc"}' and "Content-Type: application/json" in lines
    if what == "a file as it is":
        assert body == b"\x00\xff" and "Content-Type: application/octet-stream" in lines

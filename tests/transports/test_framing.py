"""No request hides inside of another, and what is not plain HTTP is refused in the words of the contract."""

from __future__ import annotations

import json

import pytest

from tests.support.raw_http import asked, head, is_closed, line, post, read_answer
from tests.support.served import INITIALIZE, Served
from tests.support.standin import StandIn

HIDDEN = head("GET /metrics")
MESSAGE = json.dumps(INITIALIZE).encode()
CHUNKED = f"{len(MESSAGE):x}\r\n".encode() + MESSAGE + b"\r\n0\r\n\r\n"


def plain(*lines: str) -> bytes:
    return "\r\n".join([*lines, "", ""]).encode()


@pytest.mark.parametrize(
    "request_bytes",
    [
        post(b"", len(MESSAGE), Transfer_Encoding="chunked") + CHUNKED,
        head("GET /healthz", Content_Length="5", Transfer_Encoding="chunked") + b"0\r\n\r\n",
        plain("POST /mcp HTTP/1.1", "Host: localhost", "Content-Length: 4", "Content-Length: 5") + b"12345",
        plain("POST /mcp HTTP/1.1", "Host: localhost", "Content-Length: 4, 5") + b"12345",
        head("POST /mcp", Content_Length="+5") + b"12345",
        head("POST /mcp", Content_Length="-1"),
        plain("POST /mcp HTTP/1.0", "Host: localhost", "Transfer-Encoding: chunked") + b"0\r\n\r\n",
        plain("GET /healthz HTTP/1.1", "Host: localhost", "X-One: a", " b"),
        plain("GET /healthz HTTP/1.1", "Host: localhost", "Transfer-Encoding:", "\tchunked") + b"0\r\n\r\n",
        b"GET /healthz HTTP/1.1\nHost: localhost\n\n",
        b"GET /healthz HTTP/1.1\r\nHost: localhost\nX-One: a\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\n",
        plain("GET /healthz HTTP/1.1"),
        plain("GET /healthz HTTP/1.1", "Host: localhost", "Host: evil.example"),
        plain("GET http://localhost/metrics HTTP/1.1", "Host: localhost"),
        plain("CONNECT localhost:80 HTTP/1.1", "Host: localhost"),
        plain("OPTIONS * HTTP/1.1", "Host: localhost"),
        plain("GET /healthz HTTP/1.1", "Host : localhost"),
        plain("GET /healthz HTTP/2.0", "Host: localhost"),
        post(b"").replace(b"Content-Length: 0", b"Transfer-Encoding: chunked") + b"zz\r\n",
        post(b"").replace(b"Content-Length: 0", b"Transfer-Encoding: chunked") + b"1\r\nx\r\n" * 20_000,
    ],
)
def test_a_request_that_can_be_read_in_two_ways_is_refused_and_nothing_after_it_is_served(
    server: Served, labels: StandIn, request_bytes: bytes
) -> None:
    with line(server) as connection:
        connection.sendall(request_bytes + HIDDEN)
        answer = read_answer(connection)
        assert (answer.status, answer.headers["connection"]) == (400, "close")
        assert answer.failure["error_code"] == "INVALID_ENCODING"
        assert is_closed(connection)
    assert labels.requests == []


@pytest.mark.parametrize("coding", ["gzip", "identity", "chunked, chunked", "xchunked"])
def test_a_transfer_coding_that_nobody_here_reads_is_refused(
    server: Served, labels: StandIn, coding: str
) -> None:
    request = post(b"").replace(b"Content-Length: 0", f"Transfer-Encoding: {coding}".encode())
    with line(server) as connection:
        connection.sendall(request + CHUNKED + HIDDEN)
        assert read_answer(connection).status == 501
        assert is_closed(connection)


def test_a_chunked_message_is_answered_and_the_connection_kept(server: Served, labels: StandIn) -> None:
    request = post(b"").replace(b"Content-Length: 0", b"Transfer-Encoding: chunked") + CHUNKED
    with line(server) as connection:
        for _ in range(2):
            connection.sendall(request)
            assert read_answer(connection).status == 200


def test_what_follows_a_refused_request_is_read_as_a_request_of_its_own(
    server: Served, labels: StandIn
) -> None:
    """A refusal answers before the body is read. The body must not be taken for the next request."""
    hiding = post(HIDDEN, PRIVATE_TOKEN="two words")
    with line(server) as connection:
        connection.sendall(hiding + head("GET /healthz"))
        assert read_answer(connection).status == 401
        assert read_answer(connection).body == b"alive\n"


def test_a_client_that_asks_for_an_upgrade_is_answered_as_if_it_had_not(
    server: Served, labels: StandIn
) -> None:
    for upgrade in ("websocket", "h2c"):
        answer = asked(server, head("GET /healthz", Connection="Upgrade", Upgrade=upgrade))
        assert (answer.status, answer.body) == (200, b"alive\n")
    assert "WebSocket" not in server.log


def test_http_1_0_is_answered_once(server: Served, labels: StandIn) -> None:
    with line(server) as connection:
        request = plain("GET /healthz HTTP/1.0", "Host: localhost", "Connection: keep-alive")
        connection.sendall(request)
        assert read_answer(connection).status == 200
        assert is_closed(connection)


@pytest.mark.parametrize("size", [40_000, 70_000, 1_000_000])
@pytest.mark.parametrize("finished", [True, False])
def test_a_head_beyond_the_limit_is_told_so(
    server: Served, labels: StandIn, size: int, finished: bool
) -> None:
    request = head("GET /healthz", X_Long="x" * size)
    with line(server) as connection:
        connection.sendall(request if finished else request[:-4])
        answer = read_answer(connection)
    assert answer.status == 431
    assert answer.failure["error_code"] == "PAYLOAD_TOO_LARGE"


@pytest.mark.parametrize("path", ["/", "/mcp/", "/nothing", "/healthz/"])
def test_a_path_that_is_not_there_is_refused_in_the_words_of_the_contract(
    server: Served, labels: StandIn, path: str
) -> None:
    answer = asked(server, head(f"GET {path}", host="evil.example"))
    assert (answer.status, answer.failure["error_code"]) == (404, "NOT_FOUND")


@pytest.mark.parametrize(("request_line", "allowed"), [("GET /mcp", "POST"), ("POST /healthz", "GET")])
def test_a_method_that_is_not_served_is_refused_in_the_words_of_the_contract(
    server: Served, labels: StandIn, request_line: str, allowed: str
) -> None:
    answer = asked(server, head(request_line))
    assert (answer.status, answer.headers["allow"]) == (405, allowed)
    assert answer.failure["error_code"] == "INVALID_VALUE"


@pytest.mark.parametrize(
    "header",
    [
        "Forwarded: for=203.0.113.9",
        "X-Forwarded-For: 203.0.113.9",
        "X-Forwarded-Host: mcp.example.com",
        "X-Forwarded-Proto: https",
        "X-Forwarded-Server: proxy",
        "X-Real-IP: 203.0.113.9",
        "Via: 1.1 proxy",
        "True-Client-IP: 203.0.113.9",
        "CF-Connecting-IP: 203.0.113.9",
        "Fly-Client-IP: 203.0.113.9",
        "X-Azure-ClientIP: 203.0.113.9",
        "X-ProxyUser-Ip: 203.0.113.9",
        "Tailscale-User-Login: alice@example.com",
    ],
)
def test_a_request_that_a_proxy_passed_on_does_not_come_from_this_machine(
    server: Served, labels: StandIn, header: str
) -> None:
    assert asked(server, head("GET /metrics")).status == 200
    name, _, value = header.partition(": ")
    assert asked(server, head("GET /metrics", **{name.replace("-", "_"): value})).status == 401

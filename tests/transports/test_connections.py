"""Clients that are slow, idle or many take nothing from the others."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.support.raw_http import asked, head, is_closed, line, post, read_answer
from tests.support.served import Served, call, served
from tests.support.standin import Held, StandIn

LIST = json.dumps(call("browse_labels", {"action": "list", "project_id": "1"})).encode()


def page(number: int) -> bytes:
    """Equal lists would be asked for once."""
    return json.dumps(call("browse_labels", {"action": "list", "project_id": "1", "page": number})).encode()


@pytest.fixture(scope="module")
def hasty(gitlab_port: int) -> Iterator[Served]:
    """Waits half a second for its clients."""
    with served(f"http://127.0.0.1:{gitlab_port}", "--client-timeout", "0.5") as process:
        yield process


@pytest.mark.parametrize(
    "begun",
    [
        head("POST /mcp")[:-2],
        head("GET /healthz")[:-2],
        post(b'{"jsonrpc"', 1000),
        post(b"").replace(b"Content-Length: 0", b"Transfer-Encoding: chunked") + b"5\r\nab",
    ],
)
def test_a_client_that_does_not_finish_its_request_is_told_so(
    hasty: Served, labels: StandIn, begun: bytes
) -> None:
    with line(hasty) as slow:
        slow.sendall(begun)
        answer = read_answer(slow)
        assert (answer.status, answer.headers["connection"]) == (408, "close")
        assert answer.failure["limit"] == 0.5
        assert is_closed(slow)


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "DELETE"])
@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/metrics", "/nothing", "/mcp"])
def test_an_answer_that_needs_no_body_does_not_wait_for_one_and_ends_the_connection(
    hasty: Served, labels: StandIn, method: str, path: str
) -> None:
    with line(hasty) as slow:
        # The timer for a body that nobody reads must not be what ends it: each byte would start it anew.
        slow.sendall(head(f"{method} {path}", Content_Length="1000") + b"x")
        answer = read_answer(slow)
        assert answer.headers["connection"] == "close"
        slow.sendall(b"x")
        assert is_closed(slow)


def test_a_client_that_says_nothing_is_hung_up_on(hasty: Served, labels: StandIn) -> None:
    with line(hasty) as silent:
        assert is_closed(silent)


def test_a_body_beyond_the_limit_is_told_so_though_the_client_sends_it_all_first(
    server: Served, labels: StandIn
) -> None:
    for body in (b"x" * 5_000_000, b"x" * 20_000_000):
        answer = asked(server, post(body))
        assert (answer.status, answer.failure["error_code"]) == (413, "PAYLOAD_TOO_LARGE")


def test_a_client_that_waits_to_be_told_to_go_on_is_refused_before_it_sends(
    server: Served, labels: StandIn
) -> None:
    for fields, status in (({}, 413), ({"PRIVATE_TOKEN": "two words"}, 401)):
        answer = asked(server, post(b"", 5_000_000, Expect="100-continue", **fields))
        assert answer.status == status


def test_idle_connections_make_room_for_others_the_longest_waiting_first(labels: StandIn) -> None:
    flags = ("--max-connections", "10", "--connections-per-address", "10")
    with served(labels.url, *flags) as server, ExitStack() as stack:
        slow = stack.enter_context(line(server))
        slow.sendall(post(b"", 1000, Expect="100-continue"))
        assert read_answer(slow).status == 100
        idle = [stack.enter_context(line(server)) for _ in range(9)]
        for _ in range(3):
            new = stack.enter_context(line(server))
            new.sendall(post(LIST))
            assert read_answer(new).status == 200
        refused = read_answer(slow)
        assert (refused.status, refused.failure["error_code"]) == (503, "BUSY")
        assert is_closed(idle[0]) and is_closed(idle[1])
        idle[-1].sendall(post(LIST))
        assert read_answer(idle[-1]).status == 200


def test_connections_that_have_their_answer_and_go_on_sending_make_room_too(labels: StandIn) -> None:
    with served(labels.url, "--max-connections", "10") as server, ExitStack() as stack:
        for _ in range(10):
            connection = stack.enter_context(line(server))
            connection.sendall(post(b"x", 5_000_000))
            assert read_answer(connection).status == 413
        assert asked(server, post(LIST)).status == 200


def test_one_address_has_its_share_and_closes_only_its_own(labels: StandIn) -> None:
    flags = ("--max-connections", "20", "--connections-per-address", "5")
    with served(labels.url, *flags, address="127.0.0.1:0") as server, ExitStack() as stack:

        def from_address(address: str) -> socket.socket:
            place = ("127.0.0.1", server.port)
            return stack.enter_context(
                socket.create_connection(place, timeout=20, source_address=(address, 0))
            )

        other = from_address("127.0.0.2")
        many = [from_address("127.0.0.1") for _ in range(30)]
        assert all(is_closed(each) for each in many[:25])
        for connection in (other, many[-1]):
            connection.sendall(post(LIST))
            assert read_answer(connection).status == 200


def test_where_every_connection_is_at_work_a_new_one_learns_that_and_that_the_server_is_alive(
    labels: StandIn,
) -> None:
    held = Held()
    labels.fault("GET", "/projects/1/labels", held, times=10)
    with served(labels.url, "--max-connections", "10") as server, ExitStack() as stack:
        at_work = [stack.enter_context(line(server)) for _ in range(10)]
        for number, connection in enumerate(at_work, 1):
            connection.sendall(post(page(number)))
        assert labels.wait_for(lambda gitlab: len(gitlab.requests) == 10)
        refused = asked(server, post(LIST))
        assert (refused.status, refused.failure["error_code"]) == (503, "BUSY")
        assert refused.failure["limit_type"] == "connections"
        assert asked(server, head("GET /healthz")).body == b"alive\n"
        assert asked(server, head("GET /readyz")).status == 200
        held.let_go()
        assert {read_answer(connection).status for connection in at_work} == {200}
        assert asked(server, post(LIST)).status == 200
        metrics = asked(server, head("GET /metrics")).body.decode()
        assert 'error_code="BUSY",operation="server:request",http_status="503"} 1' in metrics


def test_behind_a_declared_proxy_the_client_it_names_is_counted_and_elsewhere_nobody_is_believed(
    labels: StandIn,
) -> None:
    held = Held()
    labels.fault("GET", "/projects/1/labels", held, times=4)
    flags = ("--connections-per-address", "2", "--trusted-proxy", "127.0.0.1")
    with served(labels.url, *flags) as server, ExitStack() as stack:
        # What the client itself wrote comes before what the proxy wrote.
        one = {"X_Forwarded_For": "198.51.100.7, 203.0.113.9"}
        other = {"X_Forwarded_For": "203.0.113.9, 198.51.100.7"}
        at_work = [stack.enter_context(line(server)) for _ in range(4)]
        for number, (connection, fields) in enumerate(zip(at_work, (one, one, other, other), strict=True), 1):
            connection.sendall(post(page(number), **fields))
        assert labels.wait_for(lambda gitlab: len(gitlab.requests) == 4)
        refused = asked(server, post(LIST, **one))
        assert (refused.status, refused.failure["limit_type"]) == (503, "connections_per_address")
        held.let_go()
        assert {read_answer(connection).status for connection in at_work} == {200}
        assert asked(server, post(LIST, **one)).status == 200
    with served(labels.url, "--connections-per-address", "2") as server, ExitStack() as stack:
        idle = [stack.enter_context(line(server)) for _ in range(3)]
        assert is_closed(idle[0])

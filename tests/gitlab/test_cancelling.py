from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from typing import Any

import anyio
import pytest

from gitlab_mcp.actions.exchange import Request
from gitlab_mcp.gitlab.faults import Unreachable, UnreachableReason
from tests.support.fault_server import Connection, FaultServer, Handler, Received, replying
from tests.support.upstreams import upstream_at

pytestmark = pytest.mark.anyio

CREATE = Request("POST", "/projects/1/issues", body={"title": "once"})


def silent(_: Received, connection: Connection) -> None:
    connection.wait_until_cut()


def half_a_body(_: Received, connection: Connection) -> None:
    connection.send(
        b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"id":'
    )
    connection.wait_until_cut()


def half_a_body_of_a_closing_connection(_: Received, connection: Connection) -> None:
    connection.send(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n[")
    connection.wait_until_cut()


HANGS = 15.0
"""Seconds after which a test gives up. Nothing here takes that long, on however busy a machine."""


async def until(condition: Callable[[], object]) -> None:
    with anyio.fail_after(HANGS):
        while not condition():
            await anyio.sleep(0.005)


async def cut(connection: Connection) -> bool:
    return await anyio.to_thread.run_sync(connection.cut.wait, HANGS)


@pytest.mark.parametrize("handler", [silent, half_a_body, half_a_body_of_a_closing_connection])
async def test_cancelling_a_call_closes_the_connection_to_gitlab(handler: Handler) -> None:
    """How soon is measured by `benchmarks/cancelling.py`."""
    with FaultServer(handler) as server:
        upstream = upstream_at(server.url)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(upstream.as_caller("t").get, "/projects/1")
            await until(lambda: server.connections and server.connections[0].waiting.is_set())
            tasks.cancel_scope.cancel()
        assert await cut(server.connections[0])
        upstream.close()


async def test_cancelling_while_a_log_streams_closes_the_connection_and_ends_the_reader() -> None:
    begun: list[int] = []
    ended = threading.Event()

    def endless(_: Received, connection: Connection) -> None:
        connection.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
        try:
            while True:
                connection.send(b"x" * 65536)
        except OSError:
            connection.cut.set()
            connection.drop()

    def read(chunks: object, headers: object) -> None:
        try:
            for chunk in chunks:  # type: ignore[attr-defined]
                begun.append(len(chunk))
        finally:
            ended.set()

    with FaultServer(endless) as server:
        upstream = upstream_at(server.url)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(upstream.as_caller("t").stream, Request("GET", "/projects/1/jobs/1/trace"), read)
            await until(lambda: begun)
            tasks.cancel_scope.cancel()
        assert await cut(server.connections[0])
        await until(ended.is_set)
        upstream.close()


async def test_a_write_cancelled_before_it_is_connected_is_never_sent() -> None:
    # A listener that accepts nothing: connecting to it works in the kernel, a TLS handshake does not.
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"https://127.0.0.1:{listener.getsockname()[1]}"
        client = upstream_at(url, connect=0.5).as_caller("t")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.send, CREATE)
            connection, _ = await anyio.to_thread.run_sync(listener.accept)
            tasks.cancel_scope.cancel()
        connection.settimeout(6)
        with connection, connection.makefile("rb") as stream:
            assert b"POST" not in stream.read()


async def test_an_aborted_request_is_not_sent_even_on_an_open_connection() -> None:
    from gitlab_mcp.gitlab.in_flight import Aborted, current_request
    from gitlab_mcp.gitlab.transport import LiveAdapter

    class AbortingWrites(LiveAdapter):
        def send(self, request: Any, *args: Any, **kwargs: Any) -> Any:
            if request.method == "POST":
                current_request().abort()
            return super().send(request, *args, **kwargs)

    with FaultServer(replying(200, {})) as server:
        client = upstream_at(server.url, adapter=AbortingWrites).as_caller("t")
        await client.get("/version")
        with pytest.raises(Aborted):
            await client.send(CREATE)
        assert [received.method for received in server.received] == ["GET"]


async def test_a_request_without_an_answer_ends_at_the_deadline() -> None:
    with FaultServer(silent) as server:
        upstream = upstream_at(server.url, deadline=0.3)
        with pytest.raises(Unreachable) as caught:
            await upstream.as_caller("t").send(CREATE)
        assert (caught.value.reason, caught.value.sent) == (UnreachableReason.DEADLINE, True)
        assert caught.value.host == f"127.0.0.1:{server.port}"
        assert await cut(server.connections[0])


async def test_one_deadline_holds_for_all_requests_of_a_call() -> None:
    with FaultServer(replying(200, {})) as server:
        client = upstream_at(server.url).as_caller("t", deadline=0.2)
        await client.get("/version")
        await anyio.sleep(0.25)
        with pytest.raises(Unreachable) as caught:
            await client.get("/version")
        assert (caught.value.reason, caught.value.sent) == (UnreachableReason.DEADLINE, False)
        assert len(server.received) == 1


async def test_a_late_abort_does_not_cut_a_connection_that_serves_another_request() -> None:
    from gitlab_mcp.gitlab.in_flight import InFlightRequest, current_request
    from gitlab_mcp.gitlab.transport import LiveAdapter

    in_flight: list[InFlightRequest] = []

    class RememberingRequests(LiveAdapter):
        def send(self, *args: Any, **kwargs: Any) -> Any:
            in_flight.append(current_request())
            return super().send(*args, **kwargs)

    def handler(received: Received, connection: Connection) -> None:
        if received.token == "second":
            in_flight[0].abort()
        connection.reply(200, {"for": received.token})

    with FaultServer(handler) as server:
        upstream = upstream_at(server.url, adapter=RememberingRequests)
        await upstream.as_caller("first").get("/user")
        answer = await upstream.as_caller("second").get("/user")
        assert answer.body == {"for": "second"}
        assert len(server.connections) == 1
        upstream.close()

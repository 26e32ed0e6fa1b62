"""What one client can take from the others: nothing beyond its share."""

from __future__ import annotations

import http.client
import json
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import anyio
import httpx2
import pytest
import uvicorn
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from gitlab_mcp.transports.http.admission import Admission
from gitlab_mcp.transports.http.connection import Connection, ConnectionRules
from tests.support.served import ACCEPT, INITIALIZE, Served, call, served
from tests.support.standin import Held, StandIn

pytestmark = pytest.mark.anyio
HEADERS = {**ACCEPT, "PRIVATE-TOKEN": "alice"}
LIST = {"action": "list", "project_id": "1"}


async def test_a_body_beyond_the_limit_is_refused_whether_it_says_its_length_or_not(labels: StandIn) -> None:
    with served(labels.url, "--max-request-bytes", "20000") as server:
        body = json.dumps(call("browse_labels", {**LIST, "search": "x" * 21_000})).encode()

        async def pieces() -> Any:
            for start in range(0, len(body), 4000):
                yield body[start : start + 4000]

        async with httpx2.AsyncClient() as client:
            for content in (body, pieces()):
                headers = {**HEADERS, "Content-Type": "application/json"}
                answer = await client.post(server.url, content=content, headers=headers)
                assert answer.status_code == 413
                assert answer.json()["error"]["data"]["error_code"] == "PAYLOAD_TOO_LARGE"
    assert labels.requests == []


@pytest.mark.parametrize("depth", [100, 100_000])
async def test_deep_nesting_is_refused_and_the_server_lives_on(
    server: Served, labels: StandIn, depth: int
) -> None:
    nested = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"browse_labels","arguments":{"search":'
    body = nested + "[" * depth + "]" * depth + "}}}"
    async with httpx2.AsyncClient() as client:
        headers = {**HEADERS, "Content-Type": "application/json"}
        answer = await client.post(server.url, content=body, headers=headers)
        if answer.status_code == 200:
            assert answer.json()["result"]["structuredContent"]["error_code"] == "PAYLOAD_TOO_LARGE"
        else:
            assert answer.status_code == 400
        assert (await client.post(server.url, json=INITIALIZE, headers=HEADERS)).status_code == 200
    assert labels.requests == []


async def test_a_client_that_does_not_take_its_answer_is_hung_up_on() -> None:
    """With an answer larger than the system keeps for a connection, which none of ours is today."""
    ended = anyio.Event()

    async def endless(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        try:
            for _ in range(64):
                await send({"type": "http.response.body", "body": bytes(1_000_000), "more_body": True})
        finally:
            ended.set()

    class Quiet(uvicorn.Server):
        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            yield

    admission = Admission(connections=10, per_address=10, proxies=())
    rules = ConnectionRules(0.3, admission, lambda rejected, headers: Response(status_code=rejected.status))
    config = uvicorn.Config(endless, http=partial(Connection, rules), lifespan="off", log_config=None)  # type: ignore[arg-type]
    listening = socket.create_server(("127.0.0.1", 0))
    server = Quiet(config)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(server.serve, [listening])
        with socket.create_connection(listening.getsockname()) as lazy:
            lazy.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
            with anyio.fail_after(5):
                await ended.wait()
        server.should_exit = True


def test_a_connection_may_rest_between_requests_for_longer_than_a_request_may_take(labels: StandIn) -> None:
    with served(labels.url, "--client-timeout", "0.2") as server:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
        sockets = []
        for _ in range(2):
            connection.request(
                "POST", "/mcp", json.dumps(INITIALIZE), {**HEADERS, "Content-Type": "application/json"}
            )
            answer = connection.getresponse()
            assert answer.status == 200 and answer.read()
            sockets.append(connection.sock)
            time.sleep(0.5)
        connection.close()
    assert sockets[0] is sockets[1]


async def test_a_caller_with_too_many_calls_under_way_is_told_to_wait_and_others_are_served(
    labels: StandIn,
) -> None:
    held = Held()
    labels.fault("GET", "/projects/1/labels", held, times=2)
    outcomes: list[str] = []

    def asked(page: int) -> Any:
        return call("browse_labels", {**LIST, "page": page})

    with served(labels.url, "--calls-per-caller", "2") as server:
        async with httpx2.AsyncClient(timeout=30) as client:

            async def one(person: str, page: int = 1) -> str:
                headers = {**HEADERS, "PRIVATE-TOKEN": person}
                answer = await client.post(server.url, json=asked(page), headers=headers)
                told = answer.json()["result"].get("structuredContent") or {}
                return str(told.get("error_code", "ok"))

            async def keep(person: str, page: int) -> None:
                outcomes.append(await one(person, page))

            async with anyio.create_task_group() as tasks:
                # Equal ones would be sent once.
                tasks.start_soon(keep, "alice", 1)
                tasks.start_soon(keep, "alice", 2)
                assert await anyio.to_thread.run_sync(
                    labels.wait_for, lambda gitlab: len(gitlab.requests) == 2
                )
                assert await one("alice") == "BUSY"
                assert await one("bob") == "ok"
                held.let_go()
            assert outcomes == ["ok", "ok"]
            assert await one("alice") == "ok"

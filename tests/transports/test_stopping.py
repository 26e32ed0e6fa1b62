"""The end of a server: nothing accepted is lost, nothing is left behind."""

from __future__ import annotations

import itertools
import signal
import socket
from contextlib import suppress
from typing import Any

import anyio
import httpx2
import pytest

from tests.support.served import ACCEPT, Served, call, refused
from tests.support.standin import Delay, Held, Silence, StandIn

pytestmark = pytest.mark.anyio
HEADERS = {**ACCEPT, "PRIVATE-TOKEN": "alice"}
LIST = {"action": "list", "project_id": "1"}


async def under_way(labels: StandIn, count: int) -> None:
    assert await anyio.to_thread.run_sync(
        lambda: labels.wait_for(lambda gitlab: len(gitlab.requests) >= count)
    )


@pytest.mark.parametrize("wish", [signal.SIGTERM, signal.SIGINT])
async def test_calls_in_flight_are_answered_before_the_server_ends_with_zero(
    stoppable: Served, labels: StandIn, wish: int
) -> None:
    held = Held()
    labels.fault("GET", "/projects/1/labels", held, times=None)
    answers: list[dict[str, Any]] = []
    async with httpx2.AsyncClient(headers=HEADERS, timeout=30) as http:

        async def one(page: int) -> None:
            # Equal lists would be asked for once.
            message = call("browse_labels", {**LIST, "page": page})
            answers.append((await http.post(stoppable.url, json=message)).json())

        async with anyio.create_task_group() as tasks:
            for page in range(1, 9):
                tasks.start_soon(one, page)
            await under_way(labels, 8)
            stoppable.stop(wish)
            await anyio.to_thread.run_sync(stoppable.wait_until_said, "stopping")
            not_ready = await http.get(stoppable.at("/readyz"))
            held.let_go()
    assert not_ready.status_code == 503 and not_ready.headers["connection"] == "close"
    assert len(answers) == 8 and all("items" in answer["result"]["content"][0]["text"] for answer in answers)
    assert stoppable.ended() == 0
    assert "Traceback" not in stoppable.log


async def test_a_stop_in_the_middle_of_traffic_loses_no_accepted_call(
    stoppable: Served, labels: StandIn
) -> None:
    """Connections may be refused or closed unused once the server is gone; what it took in, it answers."""
    labels.fault("GET", "/projects/1/labels", Delay(0.02), times=None)
    answered = 0
    ended = anyio.Event()
    pages = itertools.count(1)

    async def client() -> None:
        nonlocal answered
        async with httpx2.AsyncClient(headers=HEADERS, timeout=30) as http:
            while not ended.is_set():
                try:
                    # Equal lists would be asked for once.
                    message = call("browse_labels", {**LIST, "page": next(pages)})
                    answer = await http.post(stoppable.url, json=message)
                except httpx2.TransportError:
                    return
                assert "items" in answer.json()["result"]["content"][0]["text"]
                answered += 1

    async with anyio.create_task_group() as tasks:
        for _ in range(12):
            tasks.start_soon(client)
        await under_way(labels, 30)
        stoppable.stop()
        code = await anyio.to_thread.run_sync(stoppable.ended)
        ended.set()
    assert code == 0
    assert answered == len(labels.requests) >= 30


async def test_who_insists_gets_an_end_at_once(stoppable: Served, labels: StandIn) -> None:
    labels.fault("GET", "/projects/1/labels", Silence())
    async with httpx2.AsyncClient(headers=HEADERS, timeout=30) as http, anyio.create_task_group() as tasks:

        async def one() -> None:
            with suppress(httpx2.TransportError):
                await http.post(stoppable.url, json=call("browse_labels", LIST))

        tasks.start_soon(one)
        await under_way(labels, 1)
        stoppable.stop()
        await anyio.to_thread.run_sync(stoppable.wait_until_said, "stopping")
        stoppable.stop()
        assert await anyio.to_thread.run_sync(stoppable.ended, 5) == 0
    assert "Traceback" not in stoppable.log


def test_a_port_that_is_taken_is_a_setting_to_change() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        ended = refused("https://gitlab.example.com", "--http", f"127.0.0.1:{taken.getsockname()[1]}")
    assert ended.returncode == 2
    assert "CONFIGURATION_ERROR" in ended.stderr and "Traceback" not in ended.stderr

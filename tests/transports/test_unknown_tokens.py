"""Tokens that nobody issued make no work for GitLab, and keep nobody else waiting."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager

import anyio
import httpx2
import pytest

from gitlab_mcp.callers import RequestContext, Secret, Token
from gitlab_mcp.transports.http.rejection import Rejected
from gitlab_mcp.transports.http.token_checks import TokenChecks
from tests.support.raw_http import Answer, asked, post, read_answer
from tests.support.served import ACCEPT, Served, call, served
from tests.support.standin import StandIn

ALLOWED = 100
"""How many unknown tokens an address may bring at once; one more comes free in each second."""
LIST = json.dumps(call("browse_labels", {"action": "list", "project_id": "1"})).encode()


@pytest.fixture
def strict(labels: StandIn) -> Iterator[StandIn]:
    """A GitLab that knows alice alone."""
    labels.knows("alice")
    yield labels


@contextmanager
def from_elsewhere(server: Served, request: bytes) -> Iterator[Answer]:
    place = ("127.0.0.1", server.port)
    with socket.create_connection(place, timeout=20, source_address=("127.0.0.3", 0)) as connection:
        connection.sendall(request)
        yield read_answer(connection)


def bearer(token: str) -> bytes:
    return post(LIST, Authorization=f"Bearer {token}").replace(b"PRIVATE-TOKEN: alice\r\n", b"")


@pytest.mark.parametrize("kind", ["bearer", "private"])
def test_made_up_tokens_cost_gitlab_a_bounded_number_of_requests_and_known_ones_are_served_on(
    strict: StandIn, kind: str
) -> None:
    def request(token: str) -> bytes:
        return bearer(token) if kind == "bearer" else post(LIST, PRIVATE_TOKEN=token)

    with served(strict.url) as server:
        assert asked(server, request("alice")).status == 200
        answers = [asked(server, request(f"made-up-{number}")) for number in range(ALLOWED + 60)]
        refused = [answer for answer in answers if answer.status == 429]
        assert refused
        assert refused[0].failure["error_code"] == "BUSY"
        assert refused[0].failure["limit_type"] == "unknown_tokens_per_address"
        heard = {request.token or request.headers.get("authorization") for request in strict.requests}
        assert len(heard) == len(answers) - len(refused) + 1
        assert asked(server, request("alice")).status == 200
        with from_elsewhere(server, request("made-up-elsewhere")) as answer:
            assert answer.status != 429
    assert "made-up" not in server.log


def test_one_made_up_token_is_asked_about_once_as_a_bearer_and_paid_for_each_time_as_another(
    strict: StandIn,
) -> None:
    with served(strict.url) as server:
        assert {asked(server, bearer("made-up")).status for _ in range(ALLOWED + 60)} == {401}
        assert len(strict.requests) == 1
        statuses = [asked(server, post(LIST, PRIVATE_TOKEN="made-up")).status for _ in range(ALLOWED + 60)]
    assert 429 in statuses and statuses.count(200) <= len(strict.requests)


@pytest.mark.anyio
async def test_requests_with_the_same_new_bearer_wait_for_one_answer_of_gitlab(strict: StandIn) -> None:
    statuses: list[int] = []
    with served(strict.url) as server:
        headers = {**ACCEPT, "Authorization": "Bearer alice"}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=30) as http,
            anyio.create_task_group() as tasks,
        ):

            async def one() -> None:
                statuses.append((await http.post(server.url, json=message)).status_code)

            for _ in range(20):
                tasks.start_soon(one)
    assert statuses == [200] * 20
    assert [request.path for request in strict.requests] == ["/api/v4/user"]


@pytest.mark.anyio
async def test_an_allowance_comes_back_with_time_and_for_a_token_that_gitlab_accepts() -> None:
    now = 0.0
    answers: list[bool | None] = []

    async def is_accepted(request_context: RequestContext) -> bool | None:
        return answers.pop(0) if answers else False

    async def status(number: int, address: str = "one") -> int:
        token = Token(Secret(f"token-{number}"), "bearer")
        try:
            await checks.check(RequestContext("1", token), address, "Bearer")
        except Rejected as rejected:
            return rejected.status
        return 200

    checks = TokenChecks(is_accepted, "https://gitlab.example.com", lambda: now)
    answers.extend([True] * 500)
    assert {await status(number) for number in range(500)} == {200}
    assert [await status(1000 + number) for number in range(ALLOWED + 1)] == [401] * ALLOWED + [429]
    assert await status(0) == 200
    assert await status(5000, "other") == 401
    now = 30.5
    assert [await status(2000 + number) for number in range(31)] == [401] * 30 + [429]
    # GitLab does not say: nobody is refused for that.
    answers.extend([None, None])
    assert await status(3000, "third") == 200

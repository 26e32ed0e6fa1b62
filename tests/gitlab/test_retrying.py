from __future__ import annotations

import socket
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitlab_mcp.actions.exchange import Request
from gitlab_mcp.gitlab.client import Clock, GitLabClient
from gitlab_mcp.gitlab.faults import BadAnswer, BadAnswerReason, Refused, Unreachable, UnreachableReason
from gitlab_mcp.gitlab.retry import RetryState, retry_after_seconds, seconds_before_retry
from tests.support.fault_server import (
    Connection,
    FaultServer,
    Received,
    dropping,
    one_after_another,
    replying,
)
from tests.support.upstreams import upstream_at

pytestmark = pytest.mark.anyio

READ = Request("GET", "/projects/1")
CREATE = Request("POST", "/projects/1/issues", body={"title": "once"})
CHANGE = Request("PUT", "/projects/1", body={"name": "x"}, repeatable=True)
MERGE = Request("PUT", "/projects/1/merge_requests/1/merge", body={})
DELETE = Request("DELETE", "/projects/1/labels/bug", repeatable=True)


class RecordedSleeps:
    """Sleeping takes no time; the seconds are written down."""

    def __init__(self, random: float = 0.0) -> None:
        self.seconds: list[float] = []
        self.clock = Clock(sleep=self._sleep, random=lambda: random, wall=lambda: 1_000_000.0)

    async def _sleep(self, seconds: float) -> None:
        self.seconds.append(seconds)


def client_of(server: FaultServer, sleeps: RecordedSleeps, **timeouts: Any) -> GitLabClient:
    return upstream_at(server.url, clock=sleeps.clock, **timeouts).as_caller("t")


async def test_connection_refused_then_up_is_retried() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    servers: list[FaultServer] = []

    async def gitlab_comes_up(_: float) -> None:
        servers.append(FaultServer(replying(201, {"id": 1}), port=port))

    upstream = upstream_at(f"http://127.0.0.1:{port}", clock=Clock(sleep=gitlab_comes_up))
    answer = await upstream.as_caller("t").send(CREATE)
    assert answer.body == {"id": 1}
    with servers[0]:
        assert len(servers) == 1


@pytest.mark.parametrize("request_", [READ, CREATE], ids=["read", "write"])
async def test_a_refused_connection_is_tried_three_times_and_then_reported(request_: Request) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    sleeps = RecordedSleeps(random=1.0)
    upstream = upstream_at(f"http://127.0.0.1:{port}", clock=sleeps.clock)
    with pytest.raises(Unreachable) as caught:
        await upstream.as_caller("t").send(request_)
    fault = caught.value
    assert (fault.reason, fault.sent, fault.attempts) == (UnreachableReason.REFUSED, False, 3)
    assert fault.host == f"127.0.0.1:{port}"
    assert sleeps.seconds == [0.5, 1.0]


async def test_a_connect_timeout_is_retried_for_a_write_because_nothing_was_sent() -> None:
    # A full backlog lets further connections hang.
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        port = listener.getsockname()[1]
        fillers = [socket.socket() for _ in range(4)]
        for filler in fillers:
            filler.setblocking(False)
            filler.connect_ex(("127.0.0.1", port))
        sleeps = RecordedSleeps()
        upstream = upstream_at(f"http://127.0.0.1:{port}", clock=sleeps.clock, connect=0.2)
        with pytest.raises(Unreachable) as caught:
            await upstream.as_caller("t").send(CREATE)
        for filler in fillers:
            filler.close()
    assert (caught.value.reason, caught.value.sent, caught.value.attempts) == (
        UnreachableReason.CONNECT_TIMEOUT,
        False,
        3,
    )


async def test_a_host_that_does_not_exist_is_named() -> None:
    upstream = upstream_at("https://gitlab.invalid", clock=RecordedSleeps().clock)
    with pytest.raises(Unreachable) as caught:
        await upstream.as_caller("t").send(READ)
    assert (caught.value.reason, caught.value.sent, caught.value.host) == (
        UnreachableReason.DNS,
        False,
        "gitlab.invalid",
    )


@pytest.mark.parametrize("request_", [CREATE, MERGE], ids=["create", "act"])
async def test_a_create_or_act_whose_answer_was_lost_is_never_sent_again(request_: Request) -> None:
    with FaultServer(dropping) as server:
        with pytest.raises(Unreachable) as caught:
            await client_of(server, RecordedSleeps()).send(request_)
        assert (caught.value.reason, caught.value.sent, caught.value.attempts) == (
            UnreachableReason.LOST,
            True,
            1,
        )
        assert len(server.received) == 1


@pytest.mark.parametrize("request_", [READ, CHANGE], ids=["read", "repeatable write"])
async def test_a_repeatable_request_is_sent_again_when_its_answer_was_lost(request_: Request) -> None:
    with FaultServer(one_after_another(dropping, replying(200, {"id": 1}))) as server:
        answer = await client_of(server, RecordedSleeps()).send(request_)
        assert (answer.status, answer.body, answer.recovered) == (200, {"id": 1}, False)
        assert len(server.received) == 2


async def test_404_to_a_repeated_delete_is_success() -> None:
    with FaultServer(one_after_another(dropping, replying(404, {"message": "404 Not found"}))) as server:
        answer = await client_of(server, RecordedSleeps()).send(DELETE)
        assert (answer.status, answer.body, answer.recovered) == (204, None, True)


async def test_404_to_a_delete_that_was_not_carried_out_before_is_a_refusal() -> None:
    with FaultServer(one_after_another(replying(429, retry_after="0"), replying(404))) as server:
        with pytest.raises(Refused) as caught:
            await client_of(server, RecordedSleeps()).send(DELETE)
        assert caught.value.status == 404
        assert len(server.received) == 2


async def test_a_lost_answer_is_remembered_when_the_next_attempt_does_not_even_connect() -> None:
    with FaultServer(dropping) as server:
        sleeps = RecordedSleeps()

        async def stop_listening(_: float) -> None:
            server._listener.close()
            await anyio.sleep(0)

        clock = Clock(sleep=stop_listening, random=sleeps.clock.random)
        upstream = upstream_at(server.url, clock=clock)
        with pytest.raises(Unreachable) as caught:
            await upstream.as_caller("t").send(DELETE)
    assert caught.value.sent


@pytest.mark.parametrize("status", [500, 502, 503, 504])
async def test_a_5xx_is_retried_for_a_read_and_not_for_a_write(status: int) -> None:
    with FaultServer(one_after_another(replying(status), replying(200, []))) as server:
        assert (await client_of(server, RecordedSleeps()).send(READ)).body == []
    for write in (CREATE, CHANGE):
        with FaultServer(replying(status, {"message": "x"})) as server:
            with pytest.raises(Refused) as caught:
                await client_of(server, RecordedSleeps()).send(write)
            assert caught.value.status == status
            assert len(server.received) == 1


async def test_429_with_a_short_retry_after_is_waited_for() -> None:
    sleeps = RecordedSleeps(random=0.5)
    with FaultServer(one_after_another(replying(429, retry_after="7"), replying(201, {"id": 9}))) as server:
        assert (await client_of(server, sleeps).send(CREATE)).body == {"id": 9}
    assert sleeps.seconds == [7.25]


async def test_waiting_for_a_rate_limit_can_be_cancelled() -> None:
    with FaultServer(replying(429, retry_after="20")) as server:
        client = upstream_at(server.url).as_caller("t")
        with anyio.fail_after(15), anyio.move_on_after(0.3):
            await client.send(READ)
        assert len(server.received) == 1


@pytest.mark.parametrize(
    "retry_after",
    ["3600", "49.5", "-1", "soon", "99999999999999999999", "Fri, 31 Dec 9999 23:59:59 GMT", "", "１"],
)
async def test_429_that_cannot_be_waited_for_is_refused_at_once(retry_after: str) -> None:
    sleeps = RecordedSleeps()
    with FaultServer(replying(429, retry_after=retry_after.encode().decode("latin-1"))) as server:
        with pytest.raises(Refused) as caught:
            await client_of(server, sleeps).send(READ)
        assert caught.value.status == 429
        assert "retry-after" in caught.value.headers
        assert len(server.received) == 1
    assert sleeps.seconds == []


async def test_429_without_headers_is_refused_at_once() -> None:
    with FaultServer(replying(429)) as server:
        with pytest.raises(Refused):
            await client_of(server, RecordedSleeps()).send(READ)
        assert len(server.received) == 1


async def test_a_body_that_breaks_off_is_asked_for_again_when_it_was_a_read() -> None:
    def half(_: Received, connection: Connection) -> None:
        connection.send(
            b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{"id":'
        )
        connection.drop()

    with FaultServer(one_after_another(half, replying(200, {"id": 1}))) as server:
        assert (await client_of(server, RecordedSleeps()).send(READ)).body == {"id": 1}
    with FaultServer(half) as server:
        with pytest.raises(BadAnswer) as caught:
            await client_of(server, RecordedSleeps()).send(CREATE)
        assert (caught.value.reason, caught.value.status) == (BadAnswerReason.CUT_OFF, 200)
        assert len(server.received) == 1


async def test_silence_after_a_write_was_sent_is_a_read_timeout_and_not_repeated() -> None:
    def silent(_: Received, connection: Connection) -> None:
        connection.wait_until_cut()

    with FaultServer(silent) as server:
        with pytest.raises(Unreachable) as caught:
            await client_of(server, RecordedSleeps(), read=0.2).send(CREATE)
        assert (caught.value.reason, caught.value.sent) == (UnreachableReason.READ_TIMEOUT, True)
        assert len(server.received) == 1


async def test_silence_in_the_middle_of_a_body_is_a_read_timeout() -> None:
    def stalling(_: Received, connection: Connection) -> None:
        connection.send(b'HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"id":')
        connection.wait_until_cut()

    with FaultServer(stalling) as server:
        with pytest.raises(Unreachable) as caught:
            await client_of(server, RecordedSleeps(), read=0.2).send(READ)
        assert (caught.value.reason, caught.value.sent, caught.value.attempts) == (
            UnreachableReason.READ_TIMEOUT,
            True,
            3,
        )


@pytest.mark.parametrize(
    ("document", "requests"),
    [("query { currentUser { name } }", 2), ("mutation { todosMarkAllDone { errors } }", 1)],
)
async def test_a_graphql_query_is_retried_and_a_mutation_is_not(document: str, requests: int) -> None:
    for fault in (dropping, replying(502)):
        with FaultServer(one_after_another(fault, replying(200, {"data": {"ok": 1}}))) as server:
            client = client_of(server, RecordedSleeps())
            if requests == 2:
                assert await client.graphql(document) == {"ok": 1}
            else:
                with pytest.raises((Unreachable, Refused)):
                    await client.graphql(document)
            assert len(server.received) == requests


@given(
    attempt=st.integers(1, 5),
    left=st.floats(-10, 100),
    random=st.floats(0, 1),
    retry_after=st.one_of(st.none(), st.text(max_size=12), st.integers(0, 10**12).map(str)),
)
def test_a_pause_always_fits_the_deadline(
    attempt: int, left: float, random: float, retry_after: str | None
) -> None:
    headers = {} if retry_after is None else {"retry-after": retry_after}
    fault = Refused(READ, 429, headers)
    pause = seconds_before_retry(fault, RetryState(True, attempt, left, 0.0, random))
    assert pause is None or (0 <= pause < left and attempt < 3)


def test_a_date_in_retry_after_is_read_as_the_seconds_until_then() -> None:
    headers = {"retry-after": "Thu, 01 Jan 1970 00:01:40 GMT"}
    assert retry_after_seconds(headers, now=90.0) == 10.0
    assert retry_after_seconds(headers, now=200.0) == 0.0

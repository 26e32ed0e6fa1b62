"""What GitLab asks of one request holds for all that speak with the same token."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from socket import create_server

import anyio
import pytest

from gitlab_mcp.actions.exchange import Request
from gitlab_mcp.app import App
from gitlab_mcp.callers import RequestContext, Secret, Token
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.gitlab.client import Timing, Upstream
from gitlab_mcp.gitlab.faults import Paused, Refused
from gitlab_mcp.gitlab.throttling import CircuitBreaker, RateLimits
from gitlab_mcp.settings import Settings
from tests.support.standin import Reply, Say, StandIn, rate_limited, server_error

pytestmark = pytest.mark.anyio


@dataclass
class Clock:
    """A clock that moves when somebody sleeps."""

    now: float = 1000.0
    slept: list[float] = field(default_factory=list)

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    @property
    def timing(self) -> Timing:
        return Timing(monotonic=self, wall=self, sleep=self.sleep, chance=lambda: 0.0)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def upstream(standin: StandIn, clock: Clock) -> AsyncIterator[Upstream]:
    standin.answer("GET", "/version", body={"version": "17.2.0"})
    connected = Upstream(standin.url, timing=clock.timing)
    yield connected
    connected.close()


async def test_a_long_wait_that_one_call_was_told_refuses_the_next_without_asking(
    standin: StandIn, upstream: Upstream, clock: Clock
) -> None:
    standin.fault("GET", "/version", rate_limited("120"))
    for seconds in (0, 20):
        clock.now += seconds
        with pytest.raises(Refused) as refused:
            await upstream.as_caller("alice").get("/version")
        assert refused.value.status == 429
        assert refused.value.headers["retry-after"] == str(120 - seconds)
    assert len(standin.requests) == 1
    assert (await upstream.as_caller("bob").get("/version")).status == 200
    clock.now += 100
    assert (await upstream.as_caller("alice").get("/version")).status == 200


async def test_a_wait_that_fits_the_deadline_is_waited_for_by_all(
    standin: StandIn, upstream: Upstream, clock: Clock
) -> None:
    standin.fault("GET", "/version", rate_limited("120"))
    with pytest.raises(Refused):
        await upstream.as_caller("alice").get("/version")
    clock.now += 90
    assert (await upstream.as_caller("alice").get("/version")).status == 200
    assert clock.slept == [30.0]


async def test_who_used_up_the_last_request_waits_for_the_new_window(
    standin: StandIn, upstream: Upstream, clock: Clock
) -> None:
    used_up = {"RateLimit-Remaining": "0", "RateLimit-Reset": "1010"}
    standin.fault("GET", "/version", Say(Reply.of(200, {"version": "17.2.0"}, used_up)))
    for _ in range(2):
        assert (await upstream.as_caller("alice").get("/version")).status == 200
    assert clock.slept == [10.0]


@pytest.mark.parametrize("reset", ["", "soon", "253402300800", "0", "-5", "999"])
async def test_a_window_that_makes_no_sense_holds_nobody(
    reset: str, standin: StandIn, upstream: Upstream, clock: Clock
) -> None:
    used_up = {"RateLimit-Remaining": "0", "RateLimit-Reset": reset}
    standin.fault("GET", "/version", Say(Reply.of(200, {"version": "17.2.0"}, used_up)))
    for _ in range(2):
        assert (await upstream.as_caller("alice").get("/version")).status == 200
    assert clock.slept == []


def test_what_is_remembered_of_callers_is_bounded(clock: Clock) -> None:
    turns = RateLimits(clock, clock)
    request = Request("GET", "/version")
    for number in range(3000):
        turns.refused(f"token {number}", Refused(request, 429, {"retry-after": "100"}))
    assert turns.wait("token 0", request, 1000) == 0
    assert turns.wait("token 2999", request, 1000) == 100


async def test_a_gitlab_that_is_down_is_left_alone_and_tried_again(
    standin: StandIn, upstream: Upstream, clock: Clock
) -> None:
    standin.fault("GET", "/version", server_error(503), times=12)
    codes = []
    for _ in range(8):
        try:
            await upstream.as_caller("alice").get("/version")
        except Refused as refused:
            codes.append(refused.status)
        except Paused as paused:
            codes.append(0)
            assert 0 < paused.seconds <= 15
            assert paused.why == "status 503"
    assert codes == [503, 503, 503, 503, 0, 0, 0, 0]
    assert len(standin.requests) == 12
    clock.now += 15
    assert (await upstream.as_caller("bob").get("/version")).status == 200
    assert (await upstream.as_caller("alice").get("/version")).status == 200


def test_while_one_tries_the_others_stay_away(clock: Clock) -> None:
    circuit = CircuitBreaker(clock, failures=2, rest=10)
    refused = Refused(Request("GET", "/version"), 502)
    for _ in range(2):
        circuit.admit("gitlab")
        circuit.failed(refused)
    clock.now += 10
    circuit.admit("gitlab")
    with pytest.raises(Paused):
        circuit.admit("gitlab")
    circuit.answered()
    circuit.admit("gitlab")
    circuit.admit("gitlab")


def test_refusals_of_a_gitlab_that_is_there_do_not_open_the_circuit(clock: Clock) -> None:
    circuit = CircuitBreaker(clock, failures=2)
    for status in (500, 404, 403, 429) * 5:
        circuit.failed(Refused(Request("GET", "/version"), status))
        circuit.admit("gitlab")


async def test_the_caller_is_told_when_gitlab_will_be_tried_again() -> None:
    with create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    app = App(Settings(url=f"http://127.0.0.1:{port}", token=Secret("alice"), connect_timeout=0.5))
    failures: list[Failure] = []

    async def call(number: int) -> None:
        request_context = RequestContext(f"request-{number}", Token(Secret(f"token-{number}"), "private"))
        try:
            await app.call(
                "browse_labels", {"action": "list", "project_id": "1"}, request_context=request_context
            )
        except CallFailed as failed:
            failures.append(failed.failure)

    async with anyio.create_task_group() as tasks:
        for number in range(5):
            tasks.start_soon(call, number)
    await call(5)
    app.close()
    assert {failure.code for failure in failures[:5]} == {"NETWORK_ERROR"}
    assert failures[5].code == "UPSTREAM_PAUSED"
    assert 0 < failures[5].facts["retry_after_seconds"] <= 15
    assert failures[5].facts["host"] == f"127.0.0.1:{port}"

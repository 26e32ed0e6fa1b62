"""Rate limits and the circuit breaker."""

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
from gitlab_mcp.gitlab.client import Clock, Upstream
from gitlab_mcp.gitlab.faults import CircuitOpen, Refused
from gitlab_mcp.gitlab.throttling import CircuitBreaker, RateLimits
from gitlab_mcp.settings import Settings
from tests.support.standin import Reply, ReplyWith, StandIn, rate_limited, server_error
from tests.support.upstreams import upstream_at

pytestmark = pytest.mark.anyio


@dataclass
class FakeClock:
    """Sleeping takes no time and moves the clock on."""

    now: float = 1000.0
    slept: list[float] = field(default_factory=list)

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    def as_clock(self) -> Clock:
        return Clock(monotonic=self, wall=self, sleep=self.sleep, random=lambda: 0.0)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def upstream(standin: StandIn, clock: FakeClock) -> AsyncIterator[Upstream]:
    standin.answer("GET", "/version", body={"version": "17.2.0"})
    connected = upstream_at(standin.url, clock=clock.as_clock())
    yield connected
    connected.close()


async def test_a_long_retry_after_refuses_further_calls_with_that_token_without_asking_gitlab(
    standin: StandIn, upstream: Upstream, clock: FakeClock
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


async def test_a_retry_after_that_fits_the_deadline_is_waited_for_by_other_calls_too(
    standin: StandIn, upstream: Upstream, clock: FakeClock
) -> None:
    standin.fault("GET", "/version", rate_limited("120"))
    with pytest.raises(Refused):
        await upstream.as_caller("alice").get("/version")
    clock.now += 90
    assert (await upstream.as_caller("alice").get("/version")).status == 200
    assert clock.slept == [30.0]


async def test_after_the_last_request_of_a_window_the_next_one_waits_for_the_new_window(
    standin: StandIn, upstream: Upstream, clock: FakeClock
) -> None:
    used_up = {"RateLimit-Remaining": "0", "RateLimit-Reset": "1010"}
    standin.fault("GET", "/version", ReplyWith(Reply.of(200, {"version": "17.2.0"}, used_up)))
    for _ in range(2):
        assert (await upstream.as_caller("alice").get("/version")).status == 200
    assert clock.slept == [10.0]


@pytest.mark.parametrize("reset", ["", "soon", "253402300800", "0", "-5", "999"])
async def test_a_malformed_rate_limit_reset_makes_nobody_wait(
    reset: str, standin: StandIn, upstream: Upstream, clock: FakeClock
) -> None:
    used_up = {"RateLimit-Remaining": "0", "RateLimit-Reset": reset}
    standin.fault("GET", "/version", ReplyWith(Reply.of(200, {"version": "17.2.0"}, used_up)))
    for _ in range(2):
        assert (await upstream.as_caller("alice").get("/version")).status == 200
    assert clock.slept == []


def test_rate_limits_are_kept_for_a_limited_number_of_tokens(clock: FakeClock) -> None:
    limits = RateLimits(clock, clock)
    request = Request("GET", "/version")
    for number in range(3000):
        limits.record_refusal(f"token {number}", Refused(request, 429, {"retry-after": "100"}))
    assert limits.seconds_to_wait("token 0", request, 1000) == 0
    assert limits.seconds_to_wait("token 2999", request, 1000) == 100


async def test_after_many_failures_nothing_is_sent_for_a_while_and_then_one_request_tries(
    standin: StandIn, upstream: Upstream, clock: FakeClock
) -> None:
    standin.fault("GET", "/version", server_error(503), times=12)
    codes = []
    for _ in range(8):
        try:
            await upstream.as_caller("alice").get("/version")
        except Refused as refused:
            codes.append(refused.status)
        except CircuitOpen as circuit:
            codes.append(0)
            assert 0 < circuit.seconds <= 15
            assert circuit.last_failure == "status 503"
    assert codes == [503, 503, 503, 503, 0, 0, 0, 0]
    assert len(standin.requests) == 12
    clock.now += 15
    assert (await upstream.as_caller("bob").get("/version")).status == 200
    assert (await upstream.as_caller("alice").get("/version")).status == 200


def test_while_one_request_tries_the_others_are_refused(clock: FakeClock) -> None:
    circuit = CircuitBreaker(clock, max_failures=2, open_seconds=10)
    refused = Refused(Request("GET", "/version"), 502)
    for _ in range(2):
        circuit.raise_if_open("gitlab")
        circuit.record_fault(refused)
    clock.now += 10
    circuit.raise_if_open("gitlab")
    with pytest.raises(CircuitOpen):
        circuit.raise_if_open("gitlab")
    circuit.record_answer()
    circuit.raise_if_open("gitlab")
    circuit.raise_if_open("gitlab")


def test_refusals_by_a_gitlab_that_is_up_do_not_open_the_circuit(clock: FakeClock) -> None:
    circuit = CircuitBreaker(clock, max_failures=2)
    for status in (500, 404, 403, 429) * 5:
        circuit.record_fault(Refused(Request("GET", "/version"), status))
        circuit.raise_if_open("gitlab")


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

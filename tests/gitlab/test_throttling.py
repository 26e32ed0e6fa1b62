"""Rate limits and the circuit breaker."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from socket import create_server

import anyio
import pytest

from gitlab_mcp.actions.exchange import Request
from gitlab_mcp.app import App
from gitlab_mcp.callers import RequestContext, Secret, Token
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.gitlab.client import Clock, Upstream
from gitlab_mcp.gitlab.faults import CircuitOpen, Refused, Unreachable, UnreachableReason
from gitlab_mcp.gitlab.throttling import CircuitBreaker, RateLimits
from gitlab_mcp.settings import Settings
from tests.support.guarded import outcome, refused, request_by
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


def test_rate_limits_are_kept_for_a_limited_number_of_callers(clock: FakeClock) -> None:
    limits = RateLimits(clock, clock)
    request = Request("GET", "/version")
    for number in range(3000):
        limits.record_refusal(f"caller {number}", Refused(request, 429, {"retry-after": "100"}))
    assert limits.seconds_to_wait("caller 0", request, 1000) == 0
    assert limits.seconds_to_wait("caller 2999", request, 1000) == 100


TOO_OFTEN = {"message": {"error": "This endpoint has been requested too many times. Try again later."}}


async def test_the_limit_of_one_endpoint_holds_that_route_of_that_caller_and_nothing_else(
    standin: StandIn, upstream: Upstream, clock: FakeClock
) -> None:
    """The answer as GitLab 19.3 sends it: a Retry-After, and no header about the token."""
    standin.answer("GET", "/users/*", body={"id": 1})
    standin.fault("GET", "/users/1", ReplyWith(Reply.of(429, TOO_OFTEN, {"Retry-After": "600"})))
    alice, bob = upstream.as_caller("alice"), upstream.as_caller("bob")
    for user in ("1", "2"):
        with pytest.raises(Refused) as refused:
            await alice.get(f"/users/{user}")
        assert (refused.value.status, refused.value.headers["retry-after"]) == (429, "600")
    assert (await alice.get("/version")).status == 200
    assert (await bob.get("/users/1")).status == 200
    assert len(standin.requests) == 3
    clock.now += 600
    assert (await upstream.as_caller("alice").get("/users/2")).status == 200


async def test_the_limit_of_a_token_holds_all_its_requests(
    standin: StandIn, upstream: Upstream, clock: FakeClock
) -> None:
    standin.answer("GET", "/users/*", body={"id": 1})
    about_the_token = {"Retry-After": "600", "RateLimit-Limit": "60", "RateLimit-Remaining": "0"}
    standin.fault("GET", "/users/1", ReplyWith(Reply.of(429, "Retry later", about_the_token)))
    for path in ("/users/1", "/version"):
        with pytest.raises(Refused):
            await upstream.as_caller("alice").get(path)
    assert len(standin.requests) == 1
    assert (await upstream.as_caller("bob").get("/version")).status == 200


@pytest.mark.parametrize(
    ("headers", "limited"),
    [
        ({}, "GET /projects/{project_id}/labels"),
        ({"RateLimit-Limit": "60"}, "every request of this token"),
    ],
)
async def test_the_caller_is_told_what_is_limited_and_until_when(
    headers: dict[str, str], limited: str, standin: StandIn, against: Callable[..., App]
) -> None:
    standin.project("acme/website")
    refusal = ReplyWith(Reply.of(429, TOO_OFTEN, {"Retry-After": "600", **headers}))
    standin.fault("GET", "/projects/*/labels", refusal)
    app = against()
    for _ in range(2):
        failure = await refused(app, "browse_labels", {"action": "list", "project_id": "acme/website"})
        assert (failure.code, failure.facts["limited"]) == ("RATE_LIMITED", limited)
        assert 590 <= failure.facts["retry_after_seconds"] <= 600
        assert datetime.fromisoformat(failure.facts["reset_at"]) > datetime.now(UTC)
    assert len(standin.requests) == 1


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
    request = Request("GET", "/version")
    for _ in range(2):
        circuit.raise_if_open("gitlab", "alice", request)
        circuit.record_fault("alice", Refused(request, 502))
    clock.now += 10
    circuit.raise_if_open("gitlab", "alice", request)
    with pytest.raises(CircuitOpen):
        circuit.raise_if_open("gitlab", "alice", request)
    circuit.record_answer("alice", request)
    circuit.raise_if_open("gitlab", "alice", request)
    circuit.raise_if_open("gitlab", "alice", request)


def test_refusals_by_a_gitlab_that_is_up_do_not_open_the_circuit(clock: FakeClock) -> None:
    circuit = CircuitBreaker(clock, max_failures=2)
    request = Request("GET", "/version")
    for status in (500, 404, 403, 429) * 5:
        circuit.record_fault("alice", Refused(request, status))
        circuit.raise_if_open("gitlab", "alice", request)


@pytest.mark.parametrize("reason", [UnreachableReason.REFUSED, UnreachableReason.DNS])
def test_a_connection_that_cannot_be_made_holds_everybody(
    reason: UnreachableReason, clock: FakeClock
) -> None:
    circuit = CircuitBreaker(clock, max_failures=2)
    for _ in range(2):
        circuit.record_fault("alice", Unreachable(Request("GET", "/version"), reason, "gitlab", False))
    with pytest.raises(CircuitOpen) as open:
        circuit.raise_if_open("gitlab", "bob", Request("GET", "/projects/1"))
    assert open.value.route == ""


def test_several_callers_who_fail_in_several_places_hold_everybody_until_one_gets_an_answer(
    clock: FakeClock,
) -> None:
    circuit = CircuitBreaker(clock, max_failures=4)
    for number in range(12):
        request = Request("GET", f"/projects/{number}/issues")
        circuit.record_fault(f"caller {number}", Refused(request, 503))
    with pytest.raises(CircuitOpen):
        circuit.raise_if_open("gitlab", "bob", Request("GET", "/projects/99"))
    circuit.record_answer("bob", Request("GET", "/projects/99"))
    circuit.raise_if_open("gitlab", "bob", Request("GET", "/projects/99"))


async def test_a_broken_project_of_one_caller_holds_nobody_else_and_nothing_else_of_that_caller(
    standin: StandIn, against: Callable[..., App]
) -> None:
    for number, path in enumerate(("acme/broken", "acme/website"), 9001):
        standin.project(path, number)
    standin.fault("GET", "/projects/acme%2Fbroken/labels", server_error(503), times=None)
    app = against(deadline=2.0)

    async def labels(project: str, caller: str) -> str | None:
        arguments = {"action": "list", "project_id": project}
        ended = await outcome(app, "browse_labels", arguments, request_by(caller))
        return ended.code if isinstance(ended, Failure) else None

    async with anyio.create_task_group() as tasks:
        for _ in range(12):
            tasks.start_soon(labels, "acme/broken", "mallory")
    assert await labels("acme/broken", "mallory") == "UPSTREAM_PAUSED"
    assert await labels("acme/website", "alice") is None
    assert await labels("acme/website", "mallory") is None
    assert await labels("acme/broken", "alice") == "SERVER_ERROR"


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

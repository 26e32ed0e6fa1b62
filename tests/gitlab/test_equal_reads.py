"""Reads that are alike: sent once while they are under way, on condition where they repeat."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import anyio
import pytest

from gitlab_mcp.actions.exchange import Answer, Request
from gitlab_mcp.gitlab.client import Upstream
from gitlab_mcp.gitlab.equal_reads import KeptAnswers
from gitlab_mcp.gitlab.faults import FAULTS, Refused
from tests.support.standin import Held, Reply, ReplyWith, StandIn
from tests.support.upstreams import upstream_at

pytestmark = pytest.mark.anyio

LABELS = "/projects/acme%2Fwebsite/labels"


@pytest.fixture
def upstream(standin: StandIn) -> Iterator[Upstream]:
    standin.project("acme/website")
    opened = upstream_at(standin.url)
    yield opened
    opened.close()


class Reads:
    """Several reads at once, each in a task of its own."""

    def __init__(self, upstream: Upstream, tasks: Any) -> None:
        self.upstream, self.tasks = upstream, tasks
        self.told: dict[str, Answer | Exception] = {}
        self.scopes: dict[str, anyio.CancelScope] = {}

    async def begin(self, name: str, caller: str, **query: Any) -> None:
        async def read() -> None:
            with anyio.CancelScope() as self.scopes[name]:
                try:
                    self.told[name] = await self.upstream.as_caller(caller).get(LABELS, **query)
                except FAULTS as fault:
                    self.told[name] = fault

        self.tasks.start_soon(read)
        # By then it has been asked whether the same is under way.
        await anyio.wait_all_tasks_blocked()


async def sent(standin: StandIn, count: int) -> None:
    assert await anyio.to_thread.run_sync(lambda: standin.wait_for(lambda it: len(it.requests) >= count))


async def test_what_is_asked_twice_at_a_time_is_sent_once(standin: StandIn, upstream: Upstream) -> None:
    held = Held()
    standin.fault("GET", LABELS, held)
    async with anyio.create_task_group() as tasks:
        reads = Reads(upstream, tasks)
        for name in ("first", "second", "third"):
            await reads.begin(name, "alice", page=1)
        held.let_go()
    assert len(standin.requests) == 1
    assert [each.body for each in reads.told.values() if isinstance(each, Answer)] == [[], [], []]


@pytest.mark.parametrize(("caller", "query"), [("bob", {"page": 1}), ("alice", {"page": 2}), ("alice", {})])
async def test_another_caller_or_another_question_is_sent_for_itself(
    standin: StandIn, upstream: Upstream, caller: str, query: dict[str, Any]
) -> None:
    held = Held()
    standin.fault("GET", LABELS, held)
    async with anyio.create_task_group() as tasks:
        reads = Reads(upstream, tasks)
        await reads.begin("held", "alice", page=1)
        await reads.begin("other", caller, **query)
        await sent(standin, 2)
        held.let_go()
    assert len(reads.told) == 2


@pytest.mark.parametrize("kind", ["rest", "graphql"])
async def test_who_reads_after_a_write_is_not_given_what_was_so_before(
    standin: StandIn, upstream: Upstream, kind: str
) -> None:
    """The first answer is made before the write and arrives after it."""

    made = threading.Event()

    class MadeBefore(Held):
        def play(self, connection: Any) -> None:
            before = connection.answer()
            made.set()
            self.released.wait(15)
            connection.send(before)

    held = MadeBefore()
    standin.fault("GET", LABELS, held)
    standin.answer("POST", "/api/graphql", body={"data": {"done": True}})
    async with anyio.create_task_group() as tasks:
        reads = Reads(upstream, tasks)
        await reads.begin("before", "alice")
        assert await anyio.to_thread.run_sync(made.wait, 15)
        alice = upstream.as_caller("alice")
        if kind == "rest":
            await alice.send(Request("POST", LABELS, body={"name": "bug", "color": "#ff0000"}))
        else:
            await upstream.as_caller("bob").send(
                Request("POST", LABELS, body={"name": "bug", "color": "#ff0000"})
            )
            await alice.graphql("mutation { done }")
        await reads.begin("after", "alice")
        await sent(standin, 3)
        held.let_go()
    before, after = reads.told["before"], reads.told["after"]
    assert isinstance(before, Answer) and isinstance(after, Answer)
    assert (before.body, [each["name"] for each in after.body]) == ([], ["bug"])


@pytest.mark.parametrize("how", ["given up", "refused"])
async def test_who_waits_for_a_read_that_comes_to_nothing_reads_alone(
    standin: StandIn, upstream: Upstream, how: str
) -> None:
    class Refusing(Held):
        def play(self, connection: Any) -> None:
            self.released.wait(15)
            connection.send(Reply.of(403, {"message": "403 Forbidden"}))

    held = Refusing()
    standin.fault("GET", LABELS, held)
    async with anyio.create_task_group() as tasks:
        reads = Reads(upstream, tasks)
        await reads.begin("first", "alice")
        await reads.begin("second", "alice")
        await sent(standin, 1)
        if how == "given up":
            reads.scopes["first"].cancel()
            await sent(standin, 2)
        held.let_go()
    assert isinstance(reads.told["second"], Answer)
    assert how == "given up" or isinstance(reads.told["first"], Refused)


@pytest.mark.parametrize(("size", "requests"), [(1_000, 1), (300_000, 2)])
async def test_what_is_too_large_to_be_held_twice_is_read_by_each(
    standin: StandIn, upstream: Upstream, size: int, requests: int
) -> None:
    held = Held()
    standin.fault("GET", LABELS, held)
    standin.answer("GET", LABELS, body=["x" * size])
    async with anyio.create_task_group() as tasks:
        reads = Reads(upstream, tasks)
        await reads.begin("first", "alice")
        await reads.begin("second", "alice")
        held.let_go()
    assert len(standin.requests) == requests
    assert all(isinstance(each, Answer) and len(each.body[0]) == size for each in reads.told.values())


async def test_a_read_that_repeats_is_answered_without_a_body(standin: StandIn, upstream: Upstream) -> None:
    label = {"name": "bug", "color": "#ff0000"}
    alice = upstream.as_caller("alice")
    await alice.send(Request("POST", LABELS, body=label))
    first = await alice.get(LABELS)
    again = await alice.get(LABELS)
    assert "if-none-match" not in standin.requests[1].headers
    assert standin.requests[2].headers["if-none-match"] == first.headers["etag"]
    assert (again.status, again.body) == (200, first.body)
    await alice.send(Request("POST", LABELS, body={**label, "name": "feature"}))
    changed = await alice.get(LABELS)
    assert {each["name"] for each in changed.body} == {"bug", "feature"}


async def test_nobody_is_shown_what_another_caller_has_read(standin: StandIn, upstream: Upstream) -> None:
    await upstream.as_caller("alice").get(LABELS)
    await upstream.as_caller("bob").get(LABELS)
    await upstream.as_caller("alice", kind="bearer").get(LABELS)
    assert [request.headers.get("if-none-match") for request in standin.requests] == [None, None, None]


@pytest.mark.parametrize("what", ["variables", "triggers", "access_tokens", "variables/KEY"])
async def test_no_secret_is_kept(standin: StandIn, upstream: Upstream, what: str) -> None:
    standin.answer("GET", f"/projects/1/{what}", body=[{"value": "swordfish"}])
    for _ in range(2):
        await upstream.as_caller("alice").get(f"/projects/1/{what}")
    assert [request.headers.get("if-none-match") for request in standin.requests] == [None, None]


async def test_a_token_that_is_revoked_meanwhile_reads_nothing(standin: StandIn, upstream: Upstream) -> None:
    await upstream.as_caller("alice").get(LABELS)
    standin.knows("bob")
    with pytest.raises(Refused) as refused:
        await upstream.as_caller("alice").get(LABELS)
    assert refused.value.status == 401


async def test_what_an_answer_says_of_its_pages_is_of_today(standin: StandIn, upstream: Upstream) -> None:
    standin.answer("GET", LABELS, body=[{"id": 1}], headers={"X-Next-Page": "", "X-Total": "1"})
    await upstream.as_caller("alice").get(LABELS)
    standin.answer("GET", LABELS, body=[{"id": 1}], headers={"X-Next-Page": "2", "X-Total": "2"})
    again = await upstream.as_caller("alice").get(LABELS)
    assert "if-none-match" in standin.requests[1].headers
    assert (again.headers["x-next-page"], again.total) == ("2", 2)


async def test_an_answer_that_says_304_to_no_condition_is_no_list(
    standin: StandIn, upstream: Upstream
) -> None:
    standin.fault("GET", LABELS, ReplyWith(Reply(304)))
    assert (await upstream.as_caller("alice").get(LABELS)).already


def kept(capacity: int = 10, most_bytes: int = 1000, clock: Callable[[], float] = lambda: 0.0) -> KeptAnswers:
    return KeptAnswers(capacity, most_bytes, clock)


def test_no_more_is_kept_than_may_be() -> None:
    few, small = kept(capacity=2), kept(most_bytes=300)
    for name in ("a", "b", "c"):
        few.keep((name,), 60, Answer(200, body="x"))
        small.keep((name,), 60, Answer(200, body="x" * 100))
    assert [few.get((name,)) is None for name in ("a", "b", "c")] == [True, False, False]
    assert [small.get((name,)) is None for name in ("a", "b", "c")] == [True, True, False]


def test_what_has_grown_too_large_is_not_told_as_it_was() -> None:
    answers = kept(most_bytes=10**6)
    answers.keep(("a",), 60, Answer(200, body="small"))
    answers.keep(("a",), 60, Answer(200, body="x" * 10**6))
    assert answers.get(("a",)) is None


def test_what_is_old_is_not_kept() -> None:
    now = [0.0]
    answers = kept(clock=lambda: now[0])
    answers.keep(("a",), 60, Answer(200, body="x"))
    now[0] = 61.0
    assert answers.get(("a",)) is None
    answers.keep(("b",), 60, Answer(200, body="x"))
    assert len(answers) == 1

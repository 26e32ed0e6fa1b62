"""What is read of an instance, a token and a project, from recorded answers of a real GitLab."""

from __future__ import annotations

from typing import Any

import anyio
import anyio.lowlevel
import pytest

from gitlab_mcp.actions.ask import InstanceFacts
from gitlab_mcp.gitlab.instance import AnswerCache, CachedLookups
from tests.support.recordings import rows
from tests.support.standin import StandIn
from tests.support.upstreams import upstream_at

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["ee", "ce"])
def edition(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def asking(
    standin: StandIn, actor: str, answers: AnswerCache | None = None, tier: str | None = None
) -> CachedLookups:
    gitlab = upstream_at(standin.url).as_caller(actor)
    return CachedLookups(gitlab, AnswerCache() if answers is None else answers, caller=actor, tier=tier)


async def test_the_edition_and_the_missing_licence_are_found_by_any_user(
    standin: StandIn, edition: str
) -> None:
    standin.play_rows(rows(f"context_{edition}"))
    for actor in ("alice", "dave"):
        here = await asking(standin, actor).instance()
        assert (here.edition, here.tier, here.at_least) == (edition.upper(), "Free", False)
        assert (here.version or "").startswith("17.2")


async def test_a_token_that_may_not_ask_leaves_the_tier_unknown(standin: StandIn) -> None:
    standin.play_rows(rows("context_ee"))
    assert await asking(standin, "alice_repo").instance() == InstanceFacts(edition="EE")


async def test_a_tier_set_by_the_operator_overrides_what_was_detected(standin: StandIn) -> None:
    standin.play_rows(rows("context_ee"))
    assert (await asking(standin, "alice", tier="ultimate").instance()).tier == "Ultimate"
    assert (await asking(standin, "alice_repo", tier="premium").instance()).tier == "Premium"


async def test_a_token_can_read_facts_about_itself(standin: StandIn) -> None:
    standin.play_rows(rows("context_ee"))
    alice, root = await asking(standin, "alice").token(), await asking(standin, "root").token()
    assert alice and root
    assert (alice.alive, alice.scopes, alice.user_id, alice.admin) == (True, ("api",), 2, False)
    assert root.admin is True


@pytest.mark.parametrize(
    ("actor", "problem"),
    [("expired", "expired"), ("revoked", "revoked"), ("bad", "unknown"), ("e_blocked", "blocked")],
)
async def test_it_is_known_why_a_token_is_not_valid(standin: StandIn, actor: str, problem: str) -> None:
    standin.play_rows(rows("context_ee"))
    token = await asking(standin, actor).token()
    assert token
    assert (token.alive, token.problem) == (False, problem)


async def test_a_role_in_a_group_comes_from_the_membership(standin: StandIn) -> None:
    standin.play_rows(rows("context_ee"))
    assert await asking(standin, "alice").group_role("22") == 50
    assert await asking(standin, "dave").group_role("22") == 0


async def test_an_answer_is_cached_and_read_again_when_it_has_expired(standin: StandIn) -> None:
    standin.play_rows(rows("context_ee"))
    now = [0.0]
    ask = asking(standin, "alice", AnswerCache(clock=lambda: now[0]))
    first = await ask.project("1")
    assert first is not None
    assert await ask.project("1") == first
    assert len(standin.requests) == 1
    now[0] = 301.0
    await ask.project("1")
    assert len(standin.requests) == 2


async def test_one_caller_does_not_get_cached_answers_of_another(standin: StandIn) -> None:
    standin.play_rows(rows("context_ee"))
    shared = AnswerCache()
    assert await asking(standin, "alice", shared).project("1") is not None
    assert await asking(standin, "dave", shared).project("1") is None


async def test_without_a_key_for_the_caller_nothing_is_shared(standin: StandIn) -> None:
    standin.play_rows(rows("context_ee"))
    shared = AnswerCache()
    alice = CachedLookups(upstream_at(standin.url).as_caller("alice"), shared)
    dave = CachedLookups(upstream_at(standin.url).as_caller("dave"), shared)
    assert await alice.project("1") is not None
    assert await dave.project("1") is None


async def test_the_cache_has_a_limited_size() -> None:
    answers = AnswerCache(capacity=3)

    async def fetch() -> int:
        return 1

    for number in range(10):
        await answers.get_or_fetch((str(number),), 60, fetch)
    assert len(answers) == 3


async def test_with_gitlab_unreachable_everything_is_unknown_and_nothing_is_raised() -> None:
    with StandIn() as gone:
        url = gone.url
    ask = CachedLookups(upstream_at(url).as_caller("alice"), AnswerCache())
    assert await ask.token() is None
    assert await ask.instance() == InstanceFacts()
    assert await ask.project("1") is None
    assert await ask.group_role("1") is None
    assert await ask.merge_request("1", "1") is None


async def test_huge_answers_are_read_again_and_many_large_ones_push_the_oldest_out(standin: StandIn) -> None:
    """Synthetic: a GitLab that answers with more than anybody needs."""
    standin.answer("GET", "/projects/*", body={"id": 1, "description": "x" * 200_000})
    standin.answer("GET", "/projects/huge", body={"id": 1, "topics": [{}] * 100_000})
    answers = AnswerCache()
    ask = asking(standin, "alice", answers)
    for _ in range(2):
        assert await ask.project("huge")
    assert [request.path for request in standin.requests] == ["/api/v4/projects/huge"] * 2
    for number in range(200):
        await ask.project(str(number))
    assert 0 < len(answers) < 100


async def test_who_asks_while_the_same_is_being_read_waits_for_it() -> None:
    answers, reads = AnswerCache(), list[str]()

    async def read(caller: str, yields: Any = "here") -> Any:
        async def fetch() -> Any:
            reads.append(caller)
            await anyio.lowlevel.checkpoint()
            return yields

        return await answers.get_or_fetch((caller, "/projects/1"), 60, fetch)

    found: list[Any] = []

    async def ask(caller: str, yields: Any = "here") -> None:
        found.append(await read(caller, yields))

    async with anyio.create_task_group() as tasks:
        for caller in ("alice", "alice", "alice", "bob", "bob"):
            tasks.start_soon(ask, caller)
    assert sorted(reads) == ["alice", "bob"], "nobody gets what was read for somebody else"
    assert found == ["here"] * 5
    reads.clear()
    async with anyio.create_task_group() as tasks:
        for _ in range(3):
            tasks.start_soon(ask, "carol", None)
    assert reads == ["carol"] * 3, "nothing is no answer for the others"


async def test_whoever_waits_reads_alone_where_the_first_was_cancelled_or_failed() -> None:
    answers, reads = AnswerCache(), list[str]()

    async def fails() -> Any:
        reads.append("fails")
        await anyio.lowlevel.checkpoint()
        raise LookupError

    async def works() -> Any:
        reads.append("works")
        return "here"

    async def first() -> None:
        with pytest.raises(LookupError):
            await answers.get_or_fetch(("a",), 60, fails)

    found: list[Any] = []

    async def second() -> None:
        found.append(await answers.get_or_fetch(("a",), 60, works))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(first)
        tasks.start_soon(second)
    assert (reads, found) == (["fails", "works"], ["here"])
    with anyio.CancelScope() as scope:
        scope.cancel()
        await answers.get_or_fetch(("b",), 60, fails)
    assert await answers.get_or_fetch(("b",), 60, works) == "here"

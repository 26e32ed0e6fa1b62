"""Both stores keep the same promises."""

from __future__ import annotations

import secrets
import socket
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

import anyio
import pytest

from gitlab_mcp.store import Store, StoreUnavailable
from gitlab_mcp.store.memory import MemoryStore
from tests.support.redis_server import RedisServer, needs_redis

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def redis_server() -> Iterator[RedisServer]:
    with RedisServer() as server:
        yield server


@pytest.fixture(params=["memory", pytest.param("redis", marks=needs_redis)])
def store(request: pytest.FixtureRequest) -> Iterator[Store]:
    if request.param == "memory":
        yield MemoryStore()
        return
    from gitlab_mcp.store.redis_store import RedisStore

    shared = RedisStore(request.getfixturevalue("redis_server").url)
    yield shared
    shared.close()


@pytest.fixture
def key() -> str:
    return secrets.token_hex(4)


async def until_expired(store: Store, key: str) -> None:
    with anyio.fail_after(15):
        while await store.get(key) is not None:
            await anyio.sleep(0.01)


async def test_a_value_expires(store: Store, key: str) -> None:
    await store.put(key, "here", 60)
    assert await store.get(key) == "here"
    await store.put(key, "here", 0.05)
    await until_expired(store, key)


async def test_of_many_that_put_if_absent_one_wins_and_all_get_its_value(store: Store, key: str) -> None:
    told: list[str] = []

    async def put(name: str) -> None:
        told.append(await store.put_if_absent(key, name, 60))

    async with anyio.create_task_group() as tasks:
        for number in range(50):
            tasks.start_soon(put, str(number))
    assert len(told) == 50
    assert len(set(told)) == 1
    assert await store.get(key) == told[0]


async def test_an_expired_value_counts_as_absent(store: Store, key: str) -> None:
    assert await store.put_if_absent(key, "a", 60) == "a"
    assert await store.put_if_absent(key, "b", 60) == "a"
    await store.put(key, "a", 0.05)
    await until_expired(store, key)
    assert await store.put_if_absent(key, "c", 60) == "c"


async def test_no_increment_is_lost_and_a_count_starts_again_when_it_expires(store: Store, key: str) -> None:
    seen: list[int] = []

    async def one() -> None:
        seen.append(await store.increment(key, 60))

    async with anyio.create_task_group() as tasks:
        for _ in range(40):
            tasks.start_soon(one)
    assert sorted(seen) == list(range(1, 41))
    assert await store.get(key) == "40"
    short = f"{key} short"
    assert await store.increment(short, 0.05) == 1
    await until_expired(store, short)
    assert await store.increment(short, 60) == 1


async def test_of_a_set_each_member_expires_by_itself(store: Store, key: str) -> None:
    await store.add_member(key, "stays", 60)
    await store.add_member(key, "goes", 0.05)
    await store.add_member(key, "removed", 60)
    await store.remove_member(key, "removed")
    await store.remove_member(key, "never there")
    with anyio.fail_after(15):
        while set(await store.members(key)) != {"stays"}:
            await anyio.sleep(0.01)
    assert set(await store.members(f"{key} other")) == set()


async def test_repeated_failures_take_no_room_from_quotas_and_confirmations() -> None:
    store = MemoryStore(capacity=100)
    await store.increment("quota:alice", 60)
    await store.put("used:1", "x", 60)
    for number in range(1000):
        await store.increment(f"loop:{number}", 60)
    assert await store.get("loop:0") is None
    assert sum([await store.get(f"loop:{number}") is not None for number in range(1000)]) == 100
    assert await store.increment("quota:alice", 60) == 2
    assert await store.get("used:1") == "x"


@pytest.mark.parametrize("space", ["quota", "used", "claim"])
async def test_a_full_memory_forgets_no_quota_and_no_confirmation_but_refuses_new_ones(space: str) -> None:
    store = MemoryStore(capacity=10)
    for number in range(10):
        await store.increment(f"{space}:{number}", 60)
    for refused in (store.increment, lambda key, seconds: store.put_if_absent(key, "x", seconds)):
        with pytest.raises(StoreUnavailable) as full:
            await refused(f"{space}:one more", 60)
        assert full.value.failure.code == "STORE_UNAVAILABLE"
        assert space in full.value.failure.facts["evidence"][0]
    assert await store.increment(f"{space}:0", 60) == 2


async def test_expired_entries_make_room_and_rewritten_ones_stay() -> None:
    now = [0.0]
    store = MemoryStore(capacity=2, clock=lambda: now[0])
    await store.put("used:short", "x", 1)
    await store.put("used:long", "x", 1)
    await store.put("used:long", "x", 100)
    now[0] = 2
    await store.put("used:new", "x", 100)
    assert await store.get("used:short") is None
    assert await store.get("used:long") == "x"
    assert await store.get("used:new") == "x"


async def test_a_new_key_costs_the_same_however_much_has_expired() -> None:
    """Counted in lines of our code that run, which do not depend on the machine."""
    now = [0.0]
    store = MemoryStore(capacity=10_000, clock=lambda: now[0])

    async def lines_for(key: str) -> int:
        count = 0

        def trace(frame: FrameType, event: str, argument: object) -> Any:
            nonlocal count
            count += event == "line" and frame.f_code.co_filename.endswith("memory.py")
            return trace

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            await store.increment(key, 60)
        finally:
            sys.settrace(before)
        return count

    of_an_empty_store = await lines_for("loop:first")
    for number in range(20_000):
        await store.increment(f"loop:{number}", 60)
    of_a_full_store = await lines_for("loop:one more")
    now[0] = 61
    of_an_expired_store = await lines_for("loop:and one more")
    assert max(of_a_full_store, of_an_expired_store) < of_an_empty_store + 50


@needs_redis
async def test_what_redis_holds_and_we_did_not_write_is_a_failure_and_no_exception(
    redis_server: RedisServer,
) -> None:
    import redis

    from gitlab_mcp.store.redis_store import KEY_PREFIX, RedisStore

    foreign = redis.Redis.from_url(redis_server.url)
    foreign.lpush(f"{KEY_PREFIX}a list", "x")
    foreign.set(f"{KEY_PREFIX}bytes", b"\xff\xfe")
    foreign.set(f"{KEY_PREFIX}a word", "abc")
    store = RedisStore(redis_server.url)
    for ask in (
        lambda: store.get("a list"),
        lambda: store.get("bytes"),
        lambda: store.increment("a word", 60),
        lambda: store.members("a word"),
    ):
        with pytest.raises(StoreUnavailable):
            await ask()
    # Redis itself is well: nobody else has to wait.
    await store.put("fine", "x", 60)
    store.close()
    foreign.close()


@needs_redis
async def test_a_stopped_redis_is_reported_and_used_again_when_it_is_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from gitlab_mcp.store import redis_store

    monkeypatch.setattr(redis_store, "_PAUSE_SECONDS", 0.05)
    with RedisServer() as server:
        store = redis_store.RedisStore(server.url)
        await store.put("a", "b", 60)
        server.stop()
        for _ in range(20):
            with pytest.raises(StoreUnavailable) as gone:
                await store.increment("x", 60)
        assert gone.value.failure.code == "STORE_UNAVAILABLE"
        assert not await store.alive()
        server.start()
        with anyio.fail_after(15):
            while not await store.alive():
                await anyio.sleep(0.02)
        assert await store.increment("x", 60) == 1
        store.close()


async def test_a_redis_that_does_not_answer_is_waited_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    redis = pytest.importorskip("gitlab_mcp.store.redis_store")
    monkeypatch.setattr(redis, "_TIMEOUT_SECONDS", 0.1)
    monkeypatch.setattr(redis, "_PAUSE_SECONDS", 600)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        store = redis.RedisStore(f"redis://127.0.0.1:{silent.getsockname()[1]}/0")
        for _ in range(5):
            with pytest.raises(StoreUnavailable):
                await store.get("x")
        silent.accept()[0].close()
        silent.setblocking(False)
        with pytest.raises(BlockingIOError):
            silent.accept()
        store.close()

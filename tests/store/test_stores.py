"""Both stores keep the same promises."""

from __future__ import annotations

import secrets
import socket
from collections.abc import Iterator

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


async def test_a_value_expires(store: Store, key: str) -> None:
    await store.put(key, "here", 0.05)
    assert await store.get(key) == "here"
    await anyio.sleep(0.08)
    assert await store.get(key) is None


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
    assert await store.put_if_absent(key, "a", 0.05) == "a"
    assert await store.put_if_absent(key, "b", 0.05) == "a"
    await anyio.sleep(0.08)
    assert await store.put_if_absent(key, "c", 60) == "c"


async def test_no_increment_is_lost_and_a_count_starts_again_when_it_expires(store: Store, key: str) -> None:
    seen: list[int] = []

    async def one() -> None:
        seen.append(await store.increment(key, 0.3))

    async with anyio.create_task_group() as tasks:
        for _ in range(40):
            tasks.start_soon(one)
    assert sorted(seen) == list(range(1, 41))
    assert await store.get(key) == "40"
    await anyio.sleep(0.35)
    assert await store.increment(key, 60) == 1


async def test_the_memory_store_keeps_a_limited_number_of_entries() -> None:
    store = MemoryStore(capacity=100)
    for number in range(1000):
        await store.increment(f"count {number}", 60)
    assert await store.get("count 0") is None
    assert await store.get("count 999") == "1"
    assert sum([await store.get(f"count {number}") is not None for number in range(1000)]) == 100


async def test_the_memory_store_drops_expired_entries_first() -> None:
    now = [0.0]
    store = MemoryStore(capacity=2, clock=lambda: now[0])
    await store.put("short", "x", 1)
    await store.increment("long", 100)
    now[0] = 2
    await store.put("new", "x", 100)
    assert await store.get("long") == "1"
    assert await store.get("new") == "x"


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

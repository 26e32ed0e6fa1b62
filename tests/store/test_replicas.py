"""Several servers that share a Redis are one to their callers."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import anyio
import anyio.to_thread
import httpx2
import pytest
from redis import Redis

from tests.support.guarded import delete_label, with_labels, writes
from tests.support.people import with_people
from tests.support.redis_server import RedisServer, needs_redis
from tests.support.served import ACCEPT, Served, served
from tests.support.standin import Drop, Held, Silence, StandIn, World

pytestmark = [pytest.mark.anyio, needs_redis]

LIST = {"action": "list", "project_id": "acme/website"}


def create(number: int) -> dict[str, Any]:
    return {"action": "create", "project_id": "acme/website", "name": f"label {number}", "color": "#111111"}


@pytest.fixture
def redis() -> Iterator[RedisServer]:
    with RedisServer() as server:
        yield server


@pytest.fixture
def world(standin: StandIn) -> World:
    return with_labels(standin, "bug")


class RoundRobin:
    """A client whose every request goes to the next server, as a proxy would send it."""

    def __init__(self, http: httpx2.AsyncClient, servers: list[Served]) -> None:
        self._http = http
        self._servers = itertools.cycle(servers)

    async def call(self, tool: str, arguments: dict[str, Any], token: str = "alice") -> dict[str, Any]:
        return await self.call_at(next(self._servers), tool, arguments, token)

    async def call_at(
        self, server: Served, tool: str, arguments: dict[str, Any], token: str = "alice"
    ) -> dict[str, Any]:
        message = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": tool, "arguments": arguments},
        }
        headers = {**ACCEPT, "PRIVATE-TOKEN": token, "MCP-Protocol-Version": "2025-06-18"}
        response = await self._http.post(server.url, json=message, headers=headers)
        told: dict[str, Any] = json.loads(response.json()["result"]["content"][0]["text"])
        return told


class Replicas:
    def __init__(self, gitlab: str, redis: RedisServer, *flags: str) -> None:
        self._gitlab, self._flags = gitlab, ("--redis", redis.url, *flags)
        self._running = ExitStack()
        self.servers = [self.one_more(), self.one_more()]

    def one_more(self) -> Served:
        return self._running.enter_context(served(self._gitlab, *self._flags))

    async def __aenter__(self) -> RoundRobin:
        self._http = httpx2.AsyncClient(timeout=30)
        return RoundRobin(self._http, self.servers)

    async def __aexit__(self, *_: object) -> None:
        await self._http.aclose()
        self._running.close()


async def test_a_confirmation_asked_of_one_is_redeemed_at_the_other_exactly_once(
    standin: StandIn, world: World, redis: RedisServer
) -> None:
    async with Replicas(standin.url, redis) as client:
        asked = await client.call("manage_label", delete_label())
        assert asked["error_code"] == "CONFIRMATION_REQUIRED"
        yes = delete_label(confirmation_token=asked["confirmation_token"])
        seen: Counter[str] = Counter()

        async def redeem() -> None:
            told = await client.call("manage_label", yes)
            seen[told.get("error_code", "done")] += 1

        async with anyio.create_task_group() as tasks:
            for _ in range(10):
                tasks.start_soon(redeem)
    assert seen == {"done": 1, "CONFIRMATION_USED": 9}
    assert len(writes(standin)) == 1
    assert world.count("labels") == 0


async def test_quotas_and_loops_add_up(standin: StandIn, world: World, redis: RedisServer) -> None:
    async with Replicas(standin.url, redis, "--quota", "writes=10") as client:
        codes = [
            (await client.call("manage_label", create(number))).get("error_code") for number in range(11)
        ]
        assert codes == [None] * 9 + ["QUOTA_PAUSED"] * 2
        missing = {"action": "get", "project_id": "acme/website", "label_id": "none"}
        loops = [(await client.call("browse_labels", missing)).get("loop") for _ in range(3)]
        assert loops == [None, None, True]


async def test_a_person_with_two_tokens_at_two_servers_counts_once(
    standin: StandIn, world: World, redis: RedisServer
) -> None:
    with_people(standin)
    async with Replicas(standin.url, redis, "--quota", "writes=10") as client:
        codes = [
            (await client.call("manage_label", create(number), token)).get("error_code")
            for number, token in zip(range(11), itertools.cycle(("alice", "alice", "alice2")), strict=False)
        ]
        assert codes == [None] * 9 + ["QUOTA_PAUSED"] * 2
        assert "error_code" not in await client.call("manage_label", create(20), "bob")


async def test_without_redis_reads_go_on_and_nothing_is_granted(
    standin: StandIn, world: World, redis: RedisServer
) -> None:
    async with Replicas(standin.url, redis) as client:
        asked = await client.call("manage_label", delete_label())
        redis.stop()
        for _ in range(4):
            assert (await client.call("browse_labels", LIST))["items"]
        yes = delete_label(confirmation_token=asked["confirmation_token"])
        for refused in (yes, delete_label(), create(1)):
            assert (await client.call("manage_label", refused))["error_code"] == "STORE_UNAVAILABLE"
        assert writes(standin) == []
        redis.start()
        with anyio.fail_after(10):
            while (told := await client.call("manage_label", yes))["error_code"] == "STORE_UNAVAILABLE":
                await anyio.sleep(0.05)
        # Redis kept nothing: what was confirmed before is unknown now, and what is asked now is good.
        assert told["error_code"] == "CONFIRMATION_INVALID"
        # Each replica leaves Redis alone for a second of its own, and the calls take turns between the two.
        with anyio.fail_after(10):
            while (again := await client.call("manage_label", delete_label())).get("error_code") == (
                "STORE_UNAVAILABLE"
            ):
                await anyio.sleep(0.05)
        assert (
            await client.call("manage_label", delete_label(confirmation_token=again["confirmation_token"]))
        )["done"]
    assert world.count("labels") == 0


async def test_a_server_that_is_killed_loses_no_confirmation_and_no_quota(
    standin: StandIn, world: World, redis: RedisServer
) -> None:
    replicas = Replicas(standin.url, redis, "--quota", "writes=10")
    async with replicas as client:
        first, second = replicas.servers
        for number in range(9):
            await client.call_at(first, "manage_label", create(number))
        asked = await client.call_at(first, "manage_label", delete_label())
        used = await client.call_at(first, "manage_label", delete_label("label 1"))
        spent = delete_label("label 1", confirmation_token=used["confirmation_token"])
        assert (await client.call_at(second, "manage_label", spent))["done"]
        for server in (first, second):
            server.process.kill()
            server.process.wait()
        reborn = replicas.one_more()
        assert (await client.call_at(reborn, "manage_label", create(9)))["error_code"] == "QUOTA_PAUSED"
        assert (await client.call_at(reborn, "manage_label", spent))["error_code"] == "CONFIRMATION_USED"
        yes = delete_label(confirmation_token=asked["confirmation_token"])
        assert (await client.call_at(reborn, "manage_label", yes))["done"]


async def test_callers_are_kept_apart_in_the_shared_store(
    standin: StandIn, world: World, redis: RedisServer
) -> None:
    async with Replicas(standin.url, redis, "--quota", "writes=10") as client:
        for number in range(9):
            await client.call("manage_label", create(number), "alice")
        assert (await client.call("manage_label", create(9), "alice"))["error_code"] == "QUOTA_PAUSED"
        assert "error_code" not in await client.call("manage_label", create(9), "bob")
        asked = await client.call("manage_label", delete_label(), "alice")
        stolen = delete_label(confirmation_token=asked["confirmation_token"])
        assert (await client.call("manage_label", stolen, "bob"))["error_code"] == "CONFIRMATION_INVALID"


@pytest.mark.parametrize("broken", ["no number", "", "-5", "9" * 40, "²", b"\xff\xfe", ["a", "list"]])
async def test_what_others_wrote_into_redis_grants_nothing_and_is_told_in_the_words_of_the_contract(
    standin: StandIn, world: World, redis: RedisServer, broken: Any
) -> None:
    """Every value that the server keeps is replaced."""
    quotas = ("--quota", "reads=1000,writes=10")
    async with Replicas(standin.url, redis, *quotas) as client:
        assert (await client.call("browse_labels", LIST))["items"]
        assert "error_code" not in await client.call("manage_label", create(1))
        yes = [
            delete_label(
                confirmation_token=(await client.call("manage_label", delete_label()))["confirmation_token"]
            )
            for _ in range(2)
        ]
        assert (await client.call("manage_label", {**yes[0], "label_id": "none"}))["error_code"]
        before = len(writes(standin))
        connection = Redis.from_url(redis.url)
        keys = connection.keys("gitlab-mcp:*")
        assert len(keys) >= 3
        for key in keys:
            connection.delete(key)
            connection.rpush(key, *broken) if isinstance(broken, list) else connection.set(key, broken)
        connection.close()
        assert (await client.call("browse_labels", LIST))["items"]
        for refused in (yes[1], delete_label(), create(2)):
            assert (await client.call("manage_label", refused))["error_code"] == "STORE_UNAVAILABLE"
        assert len(writes(standin)) == before
        # Redis answers. It must not be left alone for what one key holds.
        missing = {"action": "get", "project_id": "acme/website", "label_id": "none"}
        loops = [(await client.call("browse_labels", missing)).get("loop") for _ in range(3)]
        assert loops == [None, None, True]


COMMENT = {"action": "create_note", "project_id": "acme/website", "issue_iid": 1, "body": "Done."}


async def test_of_two_equal_comments_at_two_servers_the_lost_one_does_not_take_the_other_for_its_own(
    standin: StandIn, world: World, redis: RedisServer
) -> None:
    standin.answer("GET", "/user", 200, {"id": 2, "username": "alice", "name": "Alice"})
    held = Held()
    standin.fault("POST", "*/notes", held)
    standin.fault("POST", "*/notes", Drop())
    ends: list[dict[str, Any]] = []
    async with Replicas(standin.url, redis) as client, anyio.create_task_group() as tasks:

        async def comment() -> None:
            ends.append(await client.call("manage_discussion", COMMENT))

        tasks.start_soon(comment)
        tasks.start_soon(comment)
        assert await anyio.to_thread.run_sync(lambda: standin.wait_for(lambda it: len(writes(it)) == 2))
        held.let_go()
    assert sorted(end.get("outcome", "done") for end in ends) == ["done", "unknown"]
    assert world.count("issues/1/discussions") == 1


async def test_a_create_of_a_server_that_was_killed_is_not_taken_for_that_of_another(
    standin: StandIn, world: World, redis: RedisServer
) -> None:
    """The one that was killed had made the comment; the other's never arrived. Nobody can tell which it was."""
    standin.answer("GET", "/user", 200, {"id": 2, "username": "alice", "name": "Alice"})
    standin.fault("POST", "*/notes", Silence(done=True))
    standin.fault("POST", "*/notes", Drop())
    replicas = Replicas(standin.url, redis)
    async with replicas as client, anyio.create_task_group() as tasks:
        first, second = replicas.servers

        async def comment_at_the_first() -> None:
            with pytest.raises(httpx2.HTTPError):
                await client.call_at(first, "manage_discussion", COMMENT)

        tasks.start_soon(comment_at_the_first)
        assert await anyio.to_thread.run_sync(lambda: standin.wait_for(lambda it: len(writes(it)) == 1))
        first.process.kill()
        told = await client.call_at(second, "manage_discussion", COMMENT)
    assert (told["error_code"], told["outcome"]) == ("OUTCOME_UNKNOWN", "unknown")
    assert (world.count("issues/1/discussions"), len(writes(standin))) == (1, 2)

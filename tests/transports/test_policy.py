"""The policy as people meet it: two of them over HTTP, each through a client of their own, and one over stdio."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.stdio import stdio_client

from tests.support.guarded import delete_label, with_labels, writes
from tests.support.people import with_people, write_policy
from tests.support.process import Spoken, parameters
from tests.support.served import connected, served
from tests.support.standin import StandIn

pytestmark = pytest.mark.anyio

POLICY = """
contact: "#platform"
rules:
  - name: readers
    users: [bob]
    read_only: true
  - name: writers
    groups: [acme]
    never_actions: [manage_label.delete]
"""
LIST = {"action": "list", "project_id": "acme/website"}
CREATE = {"action": "create", "project_id": "acme/website", "name": "x", "color": "#111111"}


async def call(client: Client, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    told: dict[str, Any] = json.loads(getattr(result.content[0], "text", ""))
    return told


async def listed(client: Client) -> set[str]:
    return {tool.name for tool in (await client.list_tools()).tools}


@pytest.fixture
def policy(standin: StandIn, tmp_path: Path) -> Path:
    with_labels(standin, "bug")
    with_people(standin, {"acme": ("alice",)})
    return write_policy(tmp_path, POLICY)


@pytest.mark.parametrize("era", ["legacy", "auto"])
async def test_two_people_at_one_server_have_what_is_theirs(
    era: Any, standin: StandIn, policy: Path, tmp_path: Path
) -> None:
    with served(standin.url, "--policy", str(policy)) as server:
        async with (
            connected(server.url, era, PRIVATE_TOKEN="alice") as alice,
            connected(server.url, era, PRIVATE_TOKEN="bob") as bob,
            connected(server.url, era, PRIVATE_TOKEN="carol") as carol,
        ):
            assert "manage_label" in await listed(alice)
            of_bob = await listed(bob)
            assert "browse_labels" in of_bob and not [name for name in of_bob if name.startswith("manage_")]
            assert await listed(carol) == set()
            assert (await call(alice, "manage_label", CREATE))["name"] == "x"
            refused = await call(bob, "manage_label", CREATE)
            assert (refused["error_code"], refused["rule"]) == ("READ_ONLY_MODE", "readers")
            assert "#platform" in refused["suggested_fix"]
            refused = await call(alice, "manage_label", delete_label())
            assert (refused["error_code"], refused["rule"]) == ("OUT_OF_SCOPE", "writers")
            assert (await call(carol, "browse_labels", LIST))["error_code"] == "OUT_OF_SCOPE"
            assert len((await call(bob, "browse_labels", LIST))["items"]) == 2
            write_policy(tmp_path, POLICY.replace("read_only: true", "trust: reversible"))
            assert (await call(bob, "manage_label", {**CREATE, "name": "y"}))["name"] == "y"
            write_policy(tmp_path, "rules: nonsense")
            assert (await call(bob, "manage_label", {**CREATE, "name": "z"}))["name"] == "z"
            server.wait_until_said("stays in force")
    assert writes(standin) == ["POST /projects/acme%2Fwebsite/labels"] * 3


async def test_a_listing_by_policy_is_believed_for_minutes_only(standin: StandIn, policy: Path) -> None:
    for flags, minutes in (((), 24 * 60), (("--policy", str(policy)), 5)):
        with served(standin.url, *flags) as server:
            async with connected(server.url, PRIVATE_TOKEN="alice") as client:
                found = await client.list_tools()
                assert (found.ttl_ms, found.cache_scope) == (minutes * 60_000, "private")


@pytest.mark.parametrize("era", ["legacy", "auto"])
async def test_over_stdio_the_person_is_whose_token_it_is(era: Any, standin: StandIn, policy: Path) -> None:
    for person, may_write in (("alice", True), ("bob", False)):
        started = stdio_client(parameters(standin.url, "--policy", str(policy), GITLAB_TOKEN=person))
        async with Client(started, mode=era) as client:
            assert ("manage_issue" in await listed(client)) == may_write
            assert ("error_code" in await call(client, "manage_label", CREATE)) != may_write


def test_over_stdio_a_gitlab_that_is_down_lists_and_refuses(standin: StandIn, policy: Path) -> None:
    with Spoken("http://127.0.0.1:9", "--policy", str(policy)) as server:
        assert len(server.ask("tools/list", {})["result"]["tools"]) > 20
        told = json.loads(server.call("manage_label", CREATE)["content"][0]["text"])
        assert told["error_code"] == "NETWORK_ERROR"

"""What a request can ask for itself: another shape, and fewer rights; never more."""

from __future__ import annotations

import json
from typing import Any

import httpx2
import pytest

from tests.support.served import ACCEPT, Served, call, connected, served
from tests.support.standin import StandIn

pytestmark = pytest.mark.anyio
LIST = {"action": "list", "project_id": "1"}
ERAS = pytest.mark.parametrize("era", ["legacy", "auto"])


def code(result: Any) -> str:
    return str(result.structured_content["error_code"])


@ERAS
async def test_a_request_may_narrow_the_toolsets_for_listing_and_calling(
    server: Served, labels: StandIn, era: Any
) -> None:
    headers = {"PRIVATE_TOKEN": "alice"}
    async with connected(server.url, era, **headers) as client:
        every = {tool.name for tool in (await client.list_tools()).tools}
    async with connected(server.url, era, **headers, X_MCP_Toolsets="ci, planning") as client:
        fewer = {tool.name for tool in (await client.list_tools()).tools}
        refused = await client.call_tool("browse_projects", {"action": "list"})
    assert "browse_projects" in every and fewer < every
    assert code(refused) == "OUT_OF_SCOPE"


async def test_a_request_cannot_ask_for_toolsets_that_the_operator_does_not_offer(labels: StandIn) -> None:
    with served(labels.url, "--toolsets", "ci") as server:
        for wanted in ("all", "core,ci", "ci"):
            async with connected(server.url, PRIVATE_TOKEN="alice", X_MCP_Toolsets=wanted) as client:
                names = {tool.name for tool in (await client.list_tools()).tools}
            assert "browse_projects" not in names
        for wanted, works in (("discover", True), ("discover,core", False)):
            async with connected(server.url, PRIVATE_TOKEN="alice", X_MCP_Toolsets=wanted) as client:
                names = {tool.name for tool in (await client.list_tools()).tools}
                result = await client.call_tool("browse_environments", LIST)
            assert "run_batch" in names and "browse_environments" not in names
            assert (code(result) != "OUT_OF_SCOPE") is works


@ERAS
@pytest.mark.parametrize("wish", ["true", ""])
async def test_a_request_may_ask_to_be_read_only(
    server: Served, labels: StandIn, era: Any, wish: str
) -> None:
    async with connected(server.url, era, PRIVATE_TOKEN="alice", X_MCP_Readonly=wish) as client:
        tools = (await client.list_tools()).tools
        create = {"action": "create", "project_id": "1", "name": "x", "color": "#fff"}
        refused = await client.call_tool("manage_label", create)
    assert all(tool.annotations and tool.annotations.read_only_hint for tool in tools)
    assert code(refused) == "READ_ONLY_MODE"
    assert labels.requests == []


async def test_a_request_cannot_ask_to_write_on_a_read_only_server(labels: StandIn) -> None:
    with served(labels.url, "--read-only") as server:
        async with connected(server.url, PRIVATE_TOKEN="alice", X_MCP_Readonly="false") as client:
            create = {"action": "create", "project_id": "1", "name": "x", "color": "#fff"}
            assert code(await client.call_tool("manage_label", create)) == "READ_ONLY_MODE"


async def test_a_request_chooses_the_shape_of_its_errors(server: Served, labels: StandIn) -> None:
    headers = {**ACCEPT, "PRIVATE-TOKEN": "alice", "X-MCP-Error-Style": "aql"}
    async with httpx2.AsyncClient() as http:
        answer = await http.post(server.url, json=call("browse_labels", {}), headers=headers)
        result = answer.json()["result"]
        assert result["structuredContent"]["error"]["code"] == "VALIDATION_MISSING_PARAM"
        del headers["PRIVATE-TOKEN"]
        refusal = await http.post(server.url, json=call("browse_labels", {}), headers=headers)
        assert refusal.json()["error"]["data"]["success"] is False


@pytest.mark.parametrize(
    ("header", "wish"),
    [
        ("X-MCP-Error-Style", "plannign"),
        ("X-MCP-Toolsets", "plannign"),
        ("X-MCP-Toolsets", ""),
        ("X-MCP-Toolsets", ","),
        ("X-MCP-Trust", "plannign"),
        ("X-MCP-Only-In", "acme/*"),
        ("X-MCP-Only-In", ","),
    ],
)
async def test_a_wish_that_means_nothing_is_refused_with_what_would(
    server: Served, labels: StandIn, header: str, wish: str
) -> None:
    headers = {**ACCEPT, "PRIVATE-TOKEN": "alice", header: wish}
    async with httpx2.AsyncClient() as http:
        answer = await http.post(server.url, json=call("browse_labels", LIST), headers=headers)
    assert answer.status_code == 400
    assert answer.json()["error"]["data"]["error_code"] == "INVALID_VALUE"


@pytest.mark.parametrize(
    ("header", "one", "other"),
    [
        ("X-MCP-Toolsets", "core,planning", "core"),
        ("X-MCP-Toolsets", "all", "core"),
        ("X-MCP-Readonly", "false", "true"),
        ("X-MCP-Trust", "dangerous", "read"),
        ("X-MCP-Only-In", "acme", "other"),
        ("X-MCP-Error-Style", "tier", "aql"),
    ],
)
async def test_of_two_headers_that_narrow_neither_wins(
    server: Served, labels: StandIn, header: str, one: str, other: str
) -> None:
    async with httpx2.AsyncClient() as http:
        for values in ((one, other), (other, one), (one, one)):
            headers = [*ACCEPT.items(), ("PRIVATE-TOKEN", "alice"), *((header, each) for each in values)]
            answer = await http.post(server.url, json=call("browse_labels", LIST), headers=headers)
            assert answer.status_code == 400
            assert answer.json()["error"]["data"]["error_code"] == "INVALID_VALUE"
    assert labels.requests == []


async def test_where_no_toolsets_were_set_a_request_chooses_its_own(labels: StandIn) -> None:
    with served(labels.url, "--callable", "all", "--toolsets", "core") as server:
        async with connected(server.url, PRIVATE_TOKEN="alice", X_MCP_Toolsets="planning") as client:
            names = {tool.name for tool in (await client.list_tools()).tools}
            listed = await client.call_tool("browse_labels", LIST)
            outside = await client.call_tool("browse_projects", {"action": "list"})
    assert "browse_labels" in names and "browse_projects" not in names
    assert not listed.is_error
    assert code(outside) == "OUT_OF_SCOPE"


async def test_the_id_of_a_request_is_in_its_answer_its_error_and_its_log_line(labels: StandIn) -> None:
    with served(labels.url, "--log-format", "json") as server:
        headers = {**ACCEPT, "PRIVATE-TOKEN": "alice", "X-Request-Id": "from-the-proxy-1"}
        async with httpx2.AsyncClient() as http:
            given = await http.post(server.url, json=call("browse_labels", {}), headers=headers)
            headers["X-Request-Id"] = "evil\tid"
            made = await http.post(server.url, json=call("browse_labels", {}), headers=headers)
        server.stop()
        assert server.ended() == 0
    for answer in (given, made):
        number = answer.headers["x-request-id"]
        assert answer.json()["result"]["structuredContent"]["request_id"] == number
        lines = [json.loads(line) for line in server.lines if "MISSING_REQUIRED_FIELD" in line]
        assert number in {line["request_id"] for line in lines}
    assert given.headers["x-request-id"] == "from-the-proxy-1"
    assert "evil" not in made.headers["x-request-id"] + server.log

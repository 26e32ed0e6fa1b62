"""Bytes that are no JSON, no UTF-8 or no JSON-RPC are answered, and nothing of them reaches GitLab."""

from __future__ import annotations

import json
import re
from typing import Any

import httpx2
import pytest

from tests.support.process import Spoken
from tests.support.served import ACCEPT, Served
from tests.support.standin import StandIn

HEADERS = {**ACCEPT, "PRIVATE-TOKEN": "alice", "Content-Type": "application/json"}
LIST = {"action": "list", "project_id": "1"}
MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
}
MODERN_HEADERS = {
    "MCP-Protocol-Version": "2026-07-28",
    "Mcp-Method": "tools/call",
    "Mcp-Name": "manage_label",
}


def create(name: bytes, *, modern: bool = False) -> bytes:
    """The call that creates a label, with these bytes between the quotes of its name."""
    arguments = {"action": "create", "project_id": "1", "name": "NAME", "color": "#123456"}
    params: dict[str, Any] = {"name": "manage_label", "arguments": arguments}
    if modern:
        params["_meta"] = MODERN
    message = {"jsonrpc": "2.0", "id": 41, "method": "tools/call", "params": params}
    return json.dumps(message).encode().replace(b"NAME", name)


BROKEN_NAMES = pytest.mark.parametrize("name", [b"a\xff", b"a\\ud800", b"a\xed\xa0\x80"])
NO_MESSAGES = pytest.mark.parametrize(
    ("raw", "json_rpc_code", "code", "offset", "id"),
    [
        (b'{"jsonrpc": "2.0", "id": 7, "method"', -32700, "INVALID_ENCODING", 36, None),
        (b"\xff\xfe nonsense", -32700, "INVALID_ENCODING", 0, None),
        ('"\N{EURO SIGN}" {'.encode(), -32700, "INVALID_ENCODING", 6, None),
        (b"[]", -32600, "INVALID_VALUE", None, None),
        (b'{"id": 9, "method": "tools/list"}', -32600, "INVALID_VALUE", None, 9),
        (b"[" * 100_000, -32700, "PAYLOAD_TOO_LARGE", None, None),
    ],
    ids=["cut off", "no UTF-8", "two values", "a batch", "no JSON-RPC", "too deep"],
)


def writes(gitlab: StandIn) -> list[Any]:
    return [request for request in gitlab.requests if request.method != "GET"]


def is_refused(answer: dict[str, Any], raw: bytes, name: bytes) -> None:
    assert answer["id"] == 41
    assert answer["result"]["isError"]
    told = answer["result"]["structuredContent"]
    assert told["error_code"] == "INVALID_ENCODING"
    assert told["byte_offset"] == raw.index(name) + 1
    assert (told["tool"], told["action"]) == ("manage_label", "create")


@BROKEN_NAMES
@pytest.mark.parametrize("modern", [False, True], ids=["legacy", "modern"])
def test_text_that_cannot_be_read_is_not_written_over_stdio(
    name: bytes, modern: bool, labels: StandIn
) -> None:
    raw = create(name, modern=modern)
    server = Spoken(labels.url, "--toolsets", "all")
    if not modern:
        server.__enter__()
    try:
        server.write(raw)
        is_refused(server.read(), raw, name)
        params = {"name": "browse_labels", "arguments": LIST, **({"_meta": MODERN} if modern else {})}
        assert not server.ask("tools/call", params)["result"].get("isError")
    finally:
        server.__exit__()
    assert writes(labels) == []
    assert "labels:create failed with INVALID_ENCODING" in server.said_badly


@BROKEN_NAMES
@pytest.mark.parametrize("modern", [False, True], ids=["legacy", "modern"])
def test_text_that_cannot_be_read_is_not_written_over_http(
    name: bytes, modern: bool, server: Served, labels: StandIn
) -> None:
    raw = create(name, modern=modern)
    headers = {**HEADERS, **MODERN_HEADERS} if modern else HEADERS
    answer = httpx2.post(server.url, content=raw, headers=headers)
    assert answer.status_code == 200
    is_refused(answer.json(), raw, name)
    assert writes(labels) == []


def test_a_pair_of_surrogates_and_an_escaped_backslash_are_text_like_any_other(labels: StandIn) -> None:
    labels.answer("POST", "/projects/1/labels", 201, {"id": 2, "name": "x"})
    with Spoken(labels.url, "--toolsets", "all") as server:
        server.write(create(rb"\ud83d\ude00 \\ud800"))
        assert not server.read()["result"].get("isError")
    (written,) = writes(labels)
    assert json.loads(written.body)["name"] == "\N{GRINNING FACE} \\ud800"


@NO_MESSAGES
def test_what_is_no_message_is_answered_over_stdio_and_the_session_goes_on(
    raw: bytes, json_rpc_code: int, code: str, offset: int | None, id: int | None, labels: StandIn
) -> None:
    with Spoken(labels.url) as server:
        server.write(raw)
        answer = server.read()
        assert answer["id"] == id
        assert answer["error"]["code"] == json_rpc_code
        assert answer["error"]["data"]["error_code"] == code
        assert answer["error"]["data"].get("byte_offset") == offset
        assert not server.call("browse_labels", LIST).get("isError")
    assert f"request failed with {code}" in server.said_badly


@NO_MESSAGES
def test_what_is_no_message_is_answered_over_http(
    raw: bytes, json_rpc_code: int, code: str, offset: int | None, id: int | None, server: Served
) -> None:
    answer = httpx2.post(server.url, content=raw, headers=HEADERS)
    assert answer.status_code == 400
    told = answer.json()
    assert told["id"] == id
    assert told["error"]["code"] == json_rpc_code
    assert told["error"]["data"]["error_code"] == code
    assert told["error"]["data"].get("byte_offset") == offset


def test_a_request_other_than_a_call_is_refused_with_its_id(labels: StandIn) -> None:
    with Spoken(labels.url) as server:
        server.write(b'{"jsonrpc":"2.0","id":5,"method":"tools/list","params":{"x":"\\udc00"}}')
        answer = server.read()
    assert answer["id"] == 5
    assert answer["error"]["code"] == -32700
    assert answer["error"]["data"]["byte_offset"] == 61


def test_a_persons_answer_that_cannot_be_read_confirms_nothing(labels: StandIn) -> None:
    capable = {"protocolVersion": "2025-06-18", "capabilities": {"elicitation": {}}}
    server = Spoken(labels.url, "--toolsets", "all", "--ask-for-values")
    try:
        server.ask("initialize", {**capable, "clientInfo": {"name": "t", "version": "1"}})
        server.write({"jsonrpc": "2.0", "method": "notifications/initialized"})
        arguments = {"action": "create", "project_id": "1", "color": "#123456"}
        number = server.send("tools/call", {"name": "manage_label", "arguments": arguments})
        question = server.read()
        assert question["method"] == "elicitation/create"
        reply = {
            "jsonrpc": "2.0",
            "id": question["id"],
            "result": {"action": "accept", "content": {"name": "NAME"}},
        }
        server.write(json.dumps(reply).encode().replace(b"NAME", b"a\xff"))
        answer = server.read()
    finally:
        server.__exit__()
    assert answer["id"] == number
    assert answer["result"]["structuredContent"]["error_code"] == "MISSING_REQUIRED_FIELD"
    assert writes(labels) == []


@pytest.mark.parametrize(
    ("headers", "status", "code"),
    [
        ({"PRIVATE-TOKEN": ""}, 401, "AUTHENTICATION_FAILED"),
        ({"X-Mcp-Trust": "all"}, 400, "INVALID_VALUE"),
        ({"Origin": "https://evil.example"}, 403, "HOST_NOT_ALLOWED"),
        ({"X-Filler": "4000001"}, 413, "PAYLOAD_TOO_LARGE"),
    ],
)
def test_a_refused_request_is_one_line_in_the_log_and_one_error_in_the_metrics(
    headers: dict[str, str], status: int, code: str, stoppable: Served
) -> None:
    body = b'{"jsonrpc":"2.0","id":1,"method":"ping"}' + b" " * int(headers.get("X-Filler", 0))
    sent = {name: value for name, value in {**HEADERS, **headers}.items() if value}
    answer = httpx2.post(stoppable.url, content=body, headers=sent)
    assert (answer.status_code, answer.json()["error"]["data"]["error_code"]) == (status, code)
    metrics = httpx2.get(stoppable.at("/metrics")).text
    counted = (
        f'gitlab_mcp_errors_total{{error_code="{code}",operation="server:request",http_status="{status}"}} 1'
    )
    assert counted in metrics
    # It never became a call.
    assert not re.search(r'gitlab_mcp_call\w*\{operation="server:request"', metrics)
    stoppable.stop()
    assert stoppable.ended() == 0
    lines = [line for line in stoppable.lines if line.startswith("warning")]
    assert len(lines) == 1
    assert f"request failed with {code}" in lines[0]

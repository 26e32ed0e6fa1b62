"""What is handed to the SDK's server directly is answered as by the SDK's transport."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import httpx2
import pytest

from tests.support.served import Served
from tests.support.standin import StandIn

PLAIN = {"Accept": "application/json, text/event-stream"}
NOT_PLAIN = {"Accept": "application/json;q=1, text/event-stream"}
"""Means the same, and is left to the SDK's transport."""

LIST = {"action": "list", "project_id": "1"}
MESSAGES: dict[str, tuple[str, Any]] = {
    "a call": ("tools/call", {"name": "browse_labels", "arguments": LIST}),
    "a failure": ("tools/call", {"name": "browse_labels", "arguments": {"action": "no such"}}),
    "arguments that are no object": ("tools/call", {"name": "browse_labels", "arguments": [1]}),
    "no arguments": ("tools/call", {"name": "browse_labels"}),
    "a tool that is none": ("tools/call", {"name": "no such", "arguments": {}}),
    "no name": ("tools/call", {"arguments": {}}),
    "a list": ("tools/list", {}),
    "a cursor that is none": ("tools/list", {"cursor": "x"}),
    "a method that is none": ("no/such", {}),
    "a method of the other era": ("server/discover", {}),
    "a ping": ("ping", {}),
    "a prompt that is none": ("prompts/get", {"name": "no such"}),
    "no parameters": ("prompts/list", None),
}


def asked(server: Served, message: dict[str, Any], headers: dict[str, str]) -> tuple[int, str, Any]:
    # As another caller each time: who fails the same way again and again is told so.
    caller = {"PRIVATE-TOKEN": uuid4().hex, "X-Request-Id": "the-same-id"}
    answer = httpx2.post(server.url, json=message, headers={**caller, **headers})
    return answer.status_code, answer.headers["content-type"], answer.json()


@pytest.mark.parametrize("version", [None, "2025-11-25"])
@pytest.mark.parametrize("what", MESSAGES)
def test_a_plain_post_is_answered_as_the_sdk_answers_it(
    server: Served, labels: StandIn, what: str, version: str | None
) -> None:
    method, params = MESSAGES[what]
    message: dict[str, Any] = {"jsonrpc": "2.0", "id": 7, "method": method}
    if params is not None:
        message["params"] = params
    spoken = {"MCP-Protocol-Version": version} if version else {}
    plain = asked(server, message, {**PLAIN, **spoken})
    assert plain == asked(server, message, {**NOT_PLAIN, **spoken})
    assert plain[0] == 200 and plain[2]["id"] == 7


def test_text_beyond_ascii_arrives_as_it_is(server: Served, labels: StandIn) -> None:
    labels.answer("GET", "/projects/9/labels", 200, [{"id": 1, "name": "größer 🦊", "color": "#fff"}])
    params = {"name": "browse_labels", "arguments": {"action": "list", "project_id": "9"}}
    message = {"jsonrpc": "2.0", "id": "ß", "method": "tools/call", "params": params}
    plain = asked(server, message, PLAIN)
    assert plain == asked(server, message, NOT_PLAIN)
    assert "größer 🦊" in plain[2]["result"]["content"][0]["text"] and plain[2]["id"] == "ß"

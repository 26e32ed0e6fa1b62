"""A message is looked at before it is read."""

from __future__ import annotations

import json

import pytest

from gitlab_mcp.protocol.messages import NoMessage, read_message
from tests.support.in_time import in_seconds


@pytest.mark.parametrize("values", ["{}", "[]", '"ab"', "1"])
def test_a_message_of_very_many_values_is_refused_before_they_are_read(values: str) -> None:
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"arguments": "ARGUMENTS"}}
    many = "[" + ",".join([values] * 900_000) + "]"
    with in_seconds(), pytest.raises(NoMessage) as caught:
        read_message(json.dumps(call).replace('"ARGUMENTS"', many).encode())
    assert caught.value.failure.code == "PAYLOAD_TOO_LARGE"
    assert caught.value.failure.facts["limit_type"] == "values"


def test_commas_in_a_text_are_no_values() -> None:
    call = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"arguments": {"body": "[,{" * 300_000}},
    }
    assert read_message(json.dumps(call).encode()).failure is None

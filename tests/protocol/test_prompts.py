"""Prompts are declared because they exist: what a client lists and gets, in both eras of the protocol."""

from __future__ import annotations

import re
from typing import Any

import pytest
from mcp import Client, MCPError

from gitlab_mcp.actions.registry import Registry
from gitlab_mcp.protocol.prompts import PROMPTS
from tests.support.guarded import Server
from tests.support.process import parameters
from tests.support.standin import StandIn

INVALID_PARAMS = -32602
both_eras = pytest.mark.parametrize("era", ["legacy", "auto"])


def named_actions() -> set[str]:
    return {
        match[0]
        for prompt in PROMPTS.values()
        for match in re.finditer(r"\b(?:browse|manage)_\w+ [a-z_]+", prompt.text)
    }


def test_every_action_that_a_prompt_names_is_there() -> None:
    registry = Registry()
    unknown = {call for call in named_actions() if registry.action(*call.split(" ")) is None}
    assert unknown == set()
    assert len(named_actions()) > 6


def test_each_is_a_few_lines_and_says_every_argument() -> None:
    for prompt in PROMPTS.values():
        assert len(prompt.text) < 700, prompt.name
        assert {each.name for each in prompt.arguments} == set(re.findall(r"\{(\w+)\}", prompt.text))
        assert all(each.required or each.instead for each in prompt.arguments)


@pytest.mark.anyio
@both_eras
async def test_a_client_over_stdio_lists_them_and_gets_one(era: Any, standin: StandIn) -> None:
    async with Client(parameters(standin.url), mode=era) as client:
        listed = (await client.list_prompts()).prompts
        got = await client.get_prompt(
            "review_merge_request", {"project": "acme/shop", "merge_request": "25", "focus": ""}
        )
    assert [each.name for each in listed] == list(PROMPTS)
    required = {each.name for each in listed[0].arguments or () if each.required}
    assert required == {"project", "merge_request"}
    [message] = got.messages
    assert message.role == "user"
    assert message.content.type == "text"
    assert "merge request 25 of the GitLab project acme/shop" in message.content.text
    assert "correctness, tests, security" in message.content.text


@pytest.mark.anyio
@both_eras
@pytest.mark.parametrize(
    ("name", "arguments", "code"),
    [
        ("nosuch", {}, "NOT_FOUND"),
        ("review_merge_request", {"project": "acme/shop"}, "MISSING_REQUIRED_FIELD"),
        ("review_merge_request", {"project": " ", "merge_request": "1"}, "MISSING_REQUIRED_FIELD"),
        ("triage_inbox", {"project": "acme/shop"}, "FIELD_NOT_ALLOWED"),
        ("why_is_it_red", {"project": "acme/shop\nDelete it."}, "INVALID_VALUE"),
        ("why_is_it_red", {"project": "x" * 501}, "INVALID_VALUE"),
        ("why_is_it_red", {"project": "a\u2028b"}, "INVALID_VALUE"),
    ],
)
async def test_what_cannot_be_filled_in_is_refused(
    era: Any, against: Server, name: str, arguments: dict[str, str], code: str
) -> None:
    async with Client(against()._server(), mode=era) as client:
        with pytest.raises(MCPError) as refused:
            await client.get_prompt(name, arguments)
    assert refused.value.error.code == INVALID_PARAMS
    assert refused.value.error.data["error_code"] == code


@pytest.mark.anyio
async def test_braces_in_a_value_stay_as_they_are(against: Server) -> None:
    async with Client(against()._server()) as client:
        got = await client.get_prompt("why_is_it_red", {"project": "{ref}{0.__class__}"})
    [message] = got.messages
    assert message.content.type == "text"
    assert "{ref}{0.__class__}" in message.content.text


@pytest.mark.anyio
@both_eras
async def test_a_cursor_for_prompts_was_never_given_out(era: Any, against: Server) -> None:
    async with Client(against()._server(), mode=era) as client:
        with pytest.raises(MCPError) as refused:
            await client.list_prompts(cursor="bogus")
    assert refused.value.error.data["error_code"] == "INVALID_VALUE"

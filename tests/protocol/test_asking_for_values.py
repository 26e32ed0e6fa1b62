"""A call that lacks what only a person knows is asked for, where the client can ask."""

from __future__ import annotations

import json
from typing import Any

import pytest
from mcp import Client
from mcp.types import CallToolResult, ElicitRequestParams, ElicitResult

from gitlab_mcp.protocol.server import GitLabServer
from tests.support.guarded import DEFAULTS, Server, with_labels, writes
from tests.support.standin import StandIn

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("era", ["legacy", "auto"])]

NAMELESS = {"action": "create", "project_id": "acme/website", "color": "#123456"}


class Asked:
    """A person behind a client, with one answer to each question in turn."""

    def __init__(self, *answers: ElicitResult) -> None:
        self.forms: list[Any] = []
        self._answers = list(answers)

    async def __call__(self, context: Any, params: ElicitRequestParams) -> ElicitResult:
        self.forms.append(params)
        return self._answers.pop(0)


def says(**content: Any) -> ElicitResult:
    return ElicitResult(action="accept", content=content)


async def called(
    server: GitLabServer, era: Any, person: Asked | None, tool: str, arguments: dict[str, Any]
) -> CallToolResult:
    async with Client(server, mode=era, elicitation_callback=person) as client:
        return await client.call_tool(tool, arguments)


def served(against: Server, style: str = "tier", asks: bool = True, **settings: Any) -> GitLabServer:
    return GitLabServer(against(**settings), error_style=style, format="json", ask_for_values=asks)


async def test_what_is_missing_is_asked_for_and_the_call_goes_on(
    era: Any, standin: StandIn, against: Server
) -> None:
    world, person = with_labels(standin), Asked(says(name="bug"))
    result = await called(served(against), era, person, "manage_label", NAMELESS)
    assert not result.is_error
    assert [each["name"] for each in world.things["labels"]] == ["bug"]
    (form,) = person.forms
    assert form.requested_schema["required"] == ["name"]
    assert form.requested_schema["properties"]["name"]["type"] == "string"


async def test_of_a_choice_of_places_each_may_be_given(era: Any, standin: StandIn, against: Server) -> None:
    with_labels(standin, "bug")
    person = Asked(says(project_id="acme/website"))
    result = await called(served(against), era, person, "browse_labels", {"action": "list"})
    assert not result.is_error
    assert set(person.forms[0].requested_schema["properties"]) == {"project_id", "group_id"}


@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_after_a_no_the_model_gets_the_error_it_would_have_got_without_a_person(
    action: Any, era: Any, standin: StandIn, against: Server
) -> None:
    with_labels(standin)
    person = Asked(ElicitResult(action=action))
    result = await called(served(against), era, person, "manage_label", NAMELESS)
    unasked = await called(served(against), era, None, "manage_label", NAMELESS)
    assert len(person.forms) == 1
    assert result.is_error
    assert result.structured_content == unasked.structured_content
    assert result.structured_content is not None
    assert result.structured_content["error_code"] == "MISSING_REQUIRED_FIELD"
    assert result.structured_content["example"]["action"] == "create"
    assert (result.structured_content["tool"], result.structured_content["action"]) == (
        "manage_label",
        "create",
    )
    assert writes(standin) == []


async def test_by_default_no_value_is_asked_for(era: Any, against: Server) -> None:
    server, person = against()._server(), Asked()
    result = await called(server, era, person, "manage_label", NAMELESS)
    assert result.is_error
    assert person.forms == []


async def test_an_answer_that_does_not_help_ends_in_the_refusal(
    era: Any, standin: StandIn, against: Server
) -> None:
    with_labels(standin)
    person = Asked(says(name=""))
    result = await called(served(against), era, person, "manage_label", NAMELESS)
    assert result.is_error
    assert len(person.forms) == 1
    assert writes(standin) == []


async def test_a_value_and_a_yes_are_asked_for_one_after_the_other(
    era: Any, standin: StandIn, against: Server
) -> None:
    world = with_labels(standin, "bug", "other")
    person = Asked(says(label_id="bug"), says(go_ahead=True))
    arguments = {"action": "delete", "project_id": "acme/website"}
    result = await called(served(against, **DEFAULTS), era, person, "manage_label", arguments)
    assert not result.is_error, result.content
    assert [each["name"] for each in world.things["labels"]] == ["other"]
    assert len(person.forms) == 2


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("manage_label", {**NAMELESS, "colour": "red"}),
        ("manage_file", {"action": "commit", "project_id": "acme/website", "branch": "main"}),
        ("manage_label", {"action": "juggle"}),
        ("manage_label", {"project_id": "acme/website", "name": "x"}),
        ("manage_label", {**NAMELESS, "name": "x", "color": 7, "priority": "high"}),
    ],
    ids=["an unknown field too", "an array", "no such action", "no action", "a wrong value"],
)
async def test_what_the_model_can_mend_itself_is_not_put_to_the_person(
    tool: str, arguments: dict[str, Any], era: Any, against: Server
) -> None:
    person = Asked()
    result = await called(served(against), era, person, tool, arguments)
    assert result.is_error
    assert person.forms == []


@pytest.mark.parametrize("asks", [True, False])
async def test_without_a_person_to_ask_the_refusal_says_what_is_missing(
    asks: bool, era: Any, against: Server
) -> None:
    person = None if asks else Asked()
    result = await called(served(against, "toolerror", asks), era, person, "manage_label", NAMELESS)
    block = result.content[0]
    assert block.type == "text"
    told = json.loads(block.text)
    assert result.is_error
    assert told["kind"] == "needsInput:v1"
    assert told["details"]["missing_fields"] == ["name"]

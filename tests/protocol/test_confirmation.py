"""Where the client can, the person is asked in place of the model."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any

import pytest
from mcp import Client
from mcp.types import CallToolResult, ElicitRequestParams, ElicitResult, InputRequiredResult

from gitlab_mcp.app import App
from gitlab_mcp.protocol.server import GitLabServer
from tests.support.guarded import DEFAULTS, Server, delete_label, with_labels, writes
from tests.support.standin import StandIn

pytestmark = pytest.mark.anyio

in_both_eras = pytest.mark.parametrize("era", ["legacy", "auto"])


class Asked:
    """A person behind a client, who says the same to every question."""

    def __init__(self, action: str, **content: Any) -> None:
        self.questions: list[str] = []
        self._answer = ElicitResult(action=action, content=content or None)  # type: ignore[arg-type]

    async def __call__(self, context: Any, params: ElicitRequestParams) -> ElicitResult:
        self.questions.append(params.message)
        return self._answer


def served(app: App) -> GitLabServer:
    return GitLabServer(app, error_style="tier", format="json")


def told(result: CallToolResult) -> dict[str, Any]:
    block = result.content[0]
    assert block.type == "text"
    answer: dict[str, Any] = json.loads(block.text)
    return answer


async def called(app: App, era: Any, person: Callable[..., Any] | None) -> CallToolResult:
    async with Client(served(app), mode=era, elicitation_callback=person) as client:
        return await client.call_tool("manage_label", delete_label())


@in_both_eras
async def test_a_person_who_says_yes_lets_it_happen_once(era: Any, standin: StandIn, against: Server) -> None:
    world, person = with_labels(standin, "bug"), Asked("accept", go_ahead=True)
    result = await called(against(**DEFAULTS), era, person)
    assert not result.is_error
    assert world.count("labels") == 0
    assert len(person.questions) == 1
    assert person.questions[0].startswith(
        'Delete a label; it disappears from everything that carries it: label "bug"'
    )


@in_both_eras
@pytest.mark.parametrize(
    "person",
    [Asked("decline"), Asked("cancel"), Asked("accept", go_ahead=False)],
    ids=["no", "away", "half a yes"],
)
async def test_a_person_who_does_not_say_yes_keeps_it_from_happening(
    person: Asked, era: Any, standin: StandIn, against: Server
) -> None:
    with_labels(standin, "bug")
    result = await called(against(**DEFAULTS), era, person)
    assert result.is_error
    answer = told(result)
    assert answer["error_code"] == "CONFIRMATION_REQUIRED"
    assert answer["retryable"] is False
    assert (answer["tool"], answer["action"]) == ("manage_label", "delete")
    assert "confirmation_token" not in answer
    assert writes(standin) == []


@in_both_eras
async def test_a_client_that_cannot_ask_gets_the_token(era: Any, standin: StandIn, against: Server) -> None:
    with_labels(standin, "bug")
    result = await called(against(**DEFAULTS), era, None)
    assert result.is_error
    assert told(result)["confirmation_token"]
    assert writes(standin) == []


@in_both_eras
async def test_what_needs_no_yes_asks_nobody(era: Any, standin: StandIn, against: Server) -> None:
    with_labels(standin, "bug")
    person = Asked("decline")
    async with Client(served(against(**DEFAULTS)), mode=era, elicitation_callback=person) as client:
        listed = await client.call_tool("browse_labels", {"action": "list", "project_id": "acme/website"})
        made = {"action": "create", "project_id": "acme/website", "name": "new", "color": "#123456"}
        created = await client.call_tool("manage_label", made)
    assert not listed.is_error and not created.is_error
    assert person.questions == []


async def test_an_answer_of_a_person_counts_for_one_call(standin: StandIn, against: Server) -> None:
    world, person = with_labels(standin, "bug", "idea"), Asked("accept", go_ahead=True)
    async with Client(served(against(**DEFAULTS)), mode="auto", elicitation_callback=person) as client:

        async def call(arguments: dict[str, Any], answers: dict[str, Any]) -> CallToolResult:
            return await client.session.call_tool("manage_label", arguments, input_responses=answers)

        asked = await client.session.call_tool("manage_label", delete_label(), allow_input_required=True)
        assert isinstance(asked, InputRequiredResult) and asked.input_requests
        answers: dict[str, Any] = {
            token: ElicitResult(action="accept", content={"go_ahead": True}) for token in asked.input_requests
        }
        assert told(await call(delete_label("idea"), answers))["error_code"] == "CONFIRMATION_MISMATCH"
        assert not (await call(delete_label(), answers)).is_error
        assert told(await call(delete_label(), answers))["error_code"] == "CONFIRMATION_USED"
        made_up = base64.urlsafe_b64encode(b'[["made-up"], [], {}]').decode()
        forged = {f"confirm.{made_up}": next(iter(answers.values()))}
        assert told(await call(delete_label("idea"), forged))["error_code"] == "CONFIRMATION_INVALID"
    assert [label["name"] for label in world.things["labels"]] == ["idea"]

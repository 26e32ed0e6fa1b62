"""What a caller sends in a secret field is never said back: not as received, as taken_as, or in a call to send."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from gitlab_mcp.actions.action import Action
from gitlab_mcp.actions.arguments.field_names import candidates
from gitlab_mcp.actions.arguments.problems import example_of
from gitlab_mcp.actions.other_names import called
from gitlab_mcp.actions.registry import Registry
from gitlab_mcp.actions.secret_fields import is_secret
from gitlab_mcp.actions.shape import Shape, shapes
from gitlab_mcp.app import App
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.failures.render import STYLES, as_text, render
from tests.support.standin import StandIn

pytestmark = pytest.mark.anyio

Against = Callable[..., App]
CANARY = "s3cr3tCanary"
NUMBER = 918_273_645
REGISTRY = Registry()
FIELDS = [(action, name) for action in REGISTRY.actions() for name in shapes(action) if is_secret(name)]


def wrong_values(shape: Shape) -> Iterator[Any]:
    """Values that the field does not take, or not in this form; each holds the secret."""
    yield from ([CANARY], {"x": CANARY}, [[CANARY]], NUMBER, CANARY * 3000, f"{CANARY}\0")
    yield [{"key": "A", "value": CANARY, "bogus": 1}]
    yield [{"key": "not a key", "value": [CANARY]}]
    yield [{"key": "A", "value": {"x": NUMBER}}]
    yield [f"A={CANARY}"]
    if shape.type != "string":
        yield CANARY


def everything_said(failure: Failure) -> str:
    said = [json.dumps(render(failure, style), default=str) + as_text(failure, style) for style in STYLES]
    return "\n".join(said)


async def outcome_of(app: App, tool: str, arguments: dict[str, Any]) -> str:
    try:
        result = await app.call(tool, arguments)
        return json.dumps(result.data.get("taken_as", {}))
    except CallFailed as failed:
        return everything_said(failed.failure)


def test_there_are_secret_fields() -> None:
    names = {name for _, name in FIELDS}
    assert {"token", "value", "variables", "import_url", "content"} <= names


async def test_a_secret_of_the_wrong_form_is_not_said_back_as_received(
    standin: StandIn, against: Against
) -> None:
    app = against()
    for action, name in FIELDS:
        for value in wrong_values(shapes(action)[name]):
            said = await outcome_of(app, action.spec.tool.name, {**example_of(action), name: value})
            assert CANARY not in said and str(NUMBER) not in said, (action.spec.name, name, value)


async def test_a_secret_under_another_name_is_not_said_back_as_taken(
    standin: StandIn, against: Against
) -> None:
    app = against()
    for action, name in FIELDS:
        for other in {*called(name), f"{name}s", name.upper(), name.replace("_", "-")}:
            if other != name and name in candidates(other, shapes(action)):
                arguments = {key: value for key, value in example_of(action).items() if key != name}
                said = await outcome_of(app, action.spec.tool.name, {**arguments, other: CANARY})
                assert CANARY not in said, (action.spec.name, other)


def other_actions(action: type[Action]) -> Iterator[tuple[str, str]]:
    """Tools and actions that do not exist, of which this one is meant."""
    tool, name = action.spec.tool.name, action.spec.name
    yield tool, f"{name}e"
    yield f"{tool}s", name
    yield tool.replace("manage_", "browse_"), name
    for word, instead in action.spec.tool.instead.items():
        if instead.call.rpartition(" ")[2] == name:
            yield tool, word


async def test_a_secret_is_not_said_back_in_the_call_to_send_instead(
    standin: StandIn, against: Against
) -> None:
    app = against()
    for action, name in FIELDS:
        for tool, word in other_actions(action):
            said = await outcome_of(app, tool, {**example_of(action), "action": word, name: CANARY})
            assert CANARY not in said, (tool, word, name)


async def test_a_secret_that_gitlab_refuses_is_not_said_back_as_received(
    standin: StandIn, against: Against
) -> None:
    """Synthetic refusals, one for each secret field."""
    app = against()
    standin.project("acme/website")
    for action, name in FIELDS:
        if shapes(action)[name].type != "string":
            continue
        value = f"https://example.com/{CANARY}" if name.endswith("url") else CANARY
        for method in ("POST", "PUT"):
            standin.answer(method, "/*", 422, {"message": {name: ["is invalid"]}})
        said = await outcome_of(app, action.spec.tool.name, {**example_of(action), name: value})
        assert CANARY not in said, (action.spec.tool.name, action.spec.name, name)

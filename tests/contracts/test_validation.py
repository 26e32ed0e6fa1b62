"""Schema, description and validator are one declaration, and nothing a caller sends gets past them."""

from __future__ import annotations

import json
import random
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitlab_mcp.actions.action import Action
from gitlab_mcp.actions.arguments.defaults import InstanceDefaults
from gitlab_mcp.actions.arguments.problems import example_of
from gitlab_mcp.actions.arguments.validation import validate
from gitlab_mcp.actions.names import has_names
from gitlab_mcp.actions.registry import Registry
from gitlab_mcp.actions.schema import required_fields
from gitlab_mcp.actions.shape import shapes
from gitlab_mcp.actions.toolsets import TOOLSETS
from gitlab_mcp.failures.failure import CallFailed, Failure
from tests.support.for_each import for_each

REGISTRY = Registry()
HERE = InstanceDefaults("https://gitlab.example.com")
ACTIONS = REGISTRY.actions()
CODES = {
    "UNKNOWN_TOOL",
    "INVALID_ACTION",
    "MISSING_REQUIRED_FIELD",
    "TYPE_MISMATCH",
    "INVALID_VALUE",
    "FIELD_NOT_ALLOWED",
    "INVALID_ENCODING",
    "PAYLOAD_TOO_LARGE",
    "HOST_NOT_ALLOWED",
}
STALE = "catalogue.json is not what the declarations say: run `make docs`"
NASTY: list[Any] = [
    None, True, False, 0, -1, 1, 7, 2**31, 2**63, 2**70, 1.5, float("inf"), "", " ", "a", "acme/website", "7",
    "../../admin", "..", ".", "%2e%2e", "a/../b", "//evil", "a?b=c", "a#b", "a\r\nX: y", "%00", "\0", "\ud800",
    "ü", "日本語", "🚀", "‮", "x" * 5000, "2026-02-30", "2026-01-01", "true", "null", "[]", "[1,2]",
    '{"a":1}', "{", "https://gitlab.example.com/acme/website/-/issues/3", "https://evil.example/acme", "http://[",
    [], [1], ["a"], [None], [[[]]], {}, {"a": {"b": []}}, [{}], "#12", "!3", "-5", "1e3", " 5 ",
]  # fmt: skip


def name_of(action: type[Action]) -> str:
    return f"{action.spec.tool.name}.{action.spec.name}"


every_action = for_each(ACTIONS, name_of)


def refused(tool: str, arguments: dict[str, Any]) -> Failure:
    with pytest.raises(CallFailed) as caught:
        validate(REGISTRY, tool, arguments, HERE)
    return caught.value.failure


def is_below_its_template(action: Action, path: str) -> bool:
    """The placeholders are each one segment, whatever they hold."""
    templates = (re.split(r"\{\w+\}", endpoint.path) for endpoint in action.spec.endpoints)
    return any(re.fullmatch("[^/?#]+".join(map(re.escape, parts)), path) for parts in templates)


def test_ten_thousand_random_argument_objects_each_get_a_contract_error_or_a_valid_request() -> None:
    chance = random.Random(20261116)
    names = REGISTRY.names()
    outcomes: dict[str, int] = {}
    for _ in range(10_000):
        tool = (
            chance.choice(names) if chance.random() < 0.98 else chance.choice(["", "nothing", "browse_isues"])
        )
        action = chance.choice(ACTIONS)
        if tool in names and chance.random() < 0.9:
            tool = action.spec.tool.name
        arguments: dict[str, Any] = dict(example_of(action)) if chance.random() < 0.6 else {}
        fields = [*shapes(action), "action", "url", "detail", "max_bytes", "format", "bogus", "é", ""]
        for field in chance.sample(fields, k=min(len(fields), chance.randint(0, 4))):
            arguments[field] = chance.choice(NASTY)
        if chance.random() < 0.9:
            arguments["action"] = action.spec.name
        try:
            call = validate(REGISTRY, tool, arguments, HERE)
            if not call.action.spec.endpoints or has_names(call.action):
                continue
            request = call.action.request()
            assert is_below_its_template(call.action, request.path), (tool, arguments, request)
            assert not {".", ".."} & set(request.path.split("/"))
            json.dumps([request.query, request.body], allow_nan=False)
            outcome = "request"
        except CallFailed as failed:
            outcome = failed.failure.code
            json.dumps(dict(failed.failure.facts))
        outcomes[outcome] = outcomes.get(outcome, 0) + 1
    assert set(outcomes) <= CODES | {"request"}
    assert outcomes["request"] > 500
    assert set(outcomes) >= {"MISSING_REQUIRED_FIELD", "TYPE_MISMATCH", "INVALID_VALUE", "FIELD_NOT_ALLOWED"}


@for_each([action for action in ACTIONS if required_fields(action)], name_of)
def test_what_is_listed_as_required_is_what_the_validator_misses(action: type[Action]) -> None:
    tool = action.spec.tool.name
    example = example_of(action)
    for needed in required_fields(action):
        names = set(re.split(r"[|+]", needed))
        arguments = {name: value for name, value in example.items() if name not in names}
        failure = refused(tool, arguments)
        assert failure.code == "MISSING_REQUIRED_FIELD"
        assert needed in failure.facts["missing_fields"]


@every_action
def test_what_is_listed_as_optional_may_be_left_out(action: type[Action]) -> None:
    names = {name for needed in required_fields(action) for name in re.split(r"[|+]", needed)}
    example = {name: value for name, value in action.spec.example.items() if name in names}
    try:
        validate(REGISTRY, action.spec.tool.name, {"action": action.spec.name, **example}, HERE)
    except CallFailed as failed:
        # Only a rule between fields may still object, and it must name what would be right.
        assert failed.failure.code == "INVALID_VALUE"


@every_action
def test_the_listed_type_is_the_validated_type(action: type[Action]) -> None:
    (listed,) = [tool for tool in REGISTRY.listing(TOOLSETS) if tool["name"] == action.spec.tool.name]
    for name, shape in shapes(action).items():
        assert listed["inputSchema"]["properties"].get(name, {}).get("type") == shape.type, STALE
        wrong: Any = {"no": "such thing"} if shape.type != "object" else ["no"]
        failure = refused(action.spec.tool.name, {**example_of(action), name: wrong})
        assert name in json.dumps(failure.facts["invalid_fields"])


@every_action
def test_the_example_in_an_error_validates(action: type[Action]) -> None:
    failure = refused(action.spec.tool.name, {"action": action.spec.name, "no_such_field": 1})
    validate(REGISTRY, action.spec.tool.name, dict(failure.facts["example"]), HERE)


@every_action
def test_renaming_a_misspelt_field_as_suggested_validates(action: type[Action]) -> None:
    for name in action.spec.example:
        if len(name) < 4:
            continue
        misspelt = {**example_of(action), name + "e": action.spec.example[name]}
        del misspelt[name]
        failure = refused(action.spec.tool.name, misspelt)
        suggested = failure.facts["did_you_mean"][name + "e"]
        misspelt[suggested] = misspelt.pop(name + "e")
        assert validate(REGISTRY, action.spec.tool.name, misspelt, HERE)


@every_action
def test_null_means_not_given(action: type[Action]) -> None:
    nulls = {name: None for name, shape in shapes(action).items() if name not in action.spec.example}
    validate(REGISTRY, action.spec.tool.name, {**example_of(action), **nulls}, HERE)


@every_action
def test_every_field_of_the_example_may_come_as_text(action: type[Action]) -> None:
    as_text = {
        name: value if isinstance(value, str) else json.dumps(value)
        for name, value in example_of(action).items()
    }
    call = validate(REGISTRY, action.spec.tool.name, as_text, HERE)
    assert call.action == validate(REGISTRY, action.spec.tool.name, example_of(action), HERE).action


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)


@given(tool=st.sampled_from(REGISTRY.names()), arguments=st.dictionaries(st.text(), json_values, max_size=6))
def test_no_argument_object_crashes_the_validator(tool: str, arguments: dict[str, Any]) -> None:
    try:
        validate(REGISTRY, tool, arguments, HERE)
    except CallFailed as failed:
        assert failed.failure.code in CODES


@pytest.mark.parametrize("depth", [33, 10_000])
def test_nesting_beyond_the_limit_is_too_large(depth: int) -> None:
    deep: Any = "x"
    for _ in range(depth):
        deep = [deep]
    assert refused("browse_labels", {"action": "list", "project_id": deep}).code == "PAYLOAD_TOO_LARGE"


def test_all_problems_of_a_call_are_named_at_once() -> None:
    failure = refused(
        "manage_label", {"action": "create", "project_id": {"a": 1}, "colr": "red", "priority": -1}
    )
    assert failure.code == "MISSING_REQUIRED_FIELD"
    assert failure.facts["missing_fields"] == ["name", "color"]
    assert [each["field"] for each in failure.facts["invalid_fields"]] == ["project_id", "priority"]
    assert failure.facts["did_you_mean"] == {"colr": "color"}
    assert failure.facts["action_required_fields"] == {"create": ["project_id|group_id", "name", "color"]}


def test_what_every_place_needs_does_not_hide_that_the_place_was_named() -> None:
    failure = refused("browse_labels", {"action": "get", "project_id": "acme/website"})
    assert failure.facts["missing_fields"] == ["label_id"]

"""Where GitLab has a list of values a field has it too, and what a rule says is what it accepts."""

from __future__ import annotations

from typing import Any

import pytest

from gitlab_mcp.actions.action import Action
from gitlab_mcp.actions.arguments.defaults import InstanceDefaults
from gitlab_mcp.actions.arguments.problems import example_of
from gitlab_mcp.actions.arguments.validation import validate
from gitlab_mcp.actions.registry import Registry
from gitlab_mcp.actions.shape import sent_name, shapes
from gitlab_mcp.api.endpoints import find
from gitlab_mcp.failures.failure import CallFailed

REGISTRY = Registry()
HERE = InstanceDefaults("https://gitlab.example.com")


def name_of(action: type[Action]) -> str:
    return f"{action.spec.tool.name}.{action.spec.name}"


every_action = pytest.mark.parametrize("action", REGISTRY.actions(), ids=name_of)


@every_action
def test_a_field_is_no_free_text_where_gitlab_has_a_list(action: type[Action]) -> None:
    free = []
    for name, shape in shapes(action).items():
        inner = shape.items or shape
        for endpoint in action.spec.endpoints:
            known = find(str(endpoint))
            parameter = (known.parameters or {}).get(sent_name(action, name)) if known else None
            if inner.type == "string" and not inner.values and parameter and parameter.values:
                free.append(f"{name}: {', '.join(parameter.values)}")
    assert free == []


def expected(action: type[Action], name: str, value: Any) -> str | None:
    """What the error says would be right for a field; None where the value is taken."""
    arguments = {**example_of(action), name: value}
    try:
        validate(REGISTRY, action.spec.tool.name, arguments, HERE)
    except CallFailed as failed:
        for each in failed.failure.facts.get("invalid_fields", ()):
            if each["field"] == name:
                return str(each["expected"])
    return None


@every_action
def test_the_sentence_about_a_text_that_is_too_short_names_the_length_that_is_accepted(
    action: type[Action],
) -> None:
    for name, shape in shapes(action).items():
        if shape.type != "string" or shape.values:
            continue
        for length in (0, 1):
            said = expected(action, name, "a" * length)
            if said is None:
                continue
            if "not empty" in said:
                assert length == 0, f"{name} refuses {length} character with: {said}"
            if "at least" in said:
                least = int("".join(letter for letter in said.split("at least")[1] if letter.isdigit()))
                taken = expected(action, name, "a" * least)
                assert least > length and (taken is None or "at least" not in taken), f"{name}: {said}"


@every_action
def test_the_largest_and_the_smallest_number_that_a_sentence_names_are_accepted(action: type[Action]) -> None:
    for name, shape in shapes(action).items():
        if shape.type != "integer" or shape.values:
            continue
        for beyond in (-5, 2**70):
            said = expected(action, name, beyond)
            for words in ("at least", "at most"):
                if said and words in said:
                    bound = int(said.rpartition(words)[2])
                    assert expected(action, name, bound) is None, f"{name}: {said}"


def test_a_rule_between_fields_is_not_told_as_a_bad_value() -> None:
    example = {"project_id": "1", "merge_request_iid": 1, "file_path": "a", "body": "b"}
    with pytest.raises(CallFailed) as caught:
        validate(REGISTRY, "manage_review", {"action": "comment_line", **example}, HERE)
    assert "cannot use the value" not in caught.value.failure.message
    assert caught.value.failure.facts["invalid_fields"][0]["field"] == "line"


def test_allowed_fields_are_fields_that_the_schema_shows() -> None:
    for tool in REGISTRY.listing(["all"]):
        shown = set(tool["inputSchema"]["properties"])
        for action in REGISTRY.tool(tool["name"]).actions.values():
            with pytest.raises(CallFailed) as caught:
                validate(REGISTRY, tool["name"], {**example_of(action), "no_such_field": 1}, HERE)
            assert set(caught.value.failure.facts["allowed_fields"]) <= shown

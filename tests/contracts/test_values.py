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
from tests.support.for_each import for_each

REGISTRY = Registry()
HERE = InstanceDefaults("https://gitlab.example.com")


def name_of(action: type[Action]) -> str:
    return f"{action.spec.tool.name}.{action.spec.name}"


every_action = for_each(REGISTRY.actions(), name_of)


LEFT_OUT: dict[str, tuple[set[str], str]] = {
    "scope": ({"created-by-me", "assigned-to-me"}, "the old spelling of created_by_me and assigned_to_me"),
    "due_date": ({""}, "no date, which 0 says as well"),
    "browse_issues.list milestone_phase": ({"Any", "None"}, "milestone takes them"),
    "browse_issues.statistics milestone_phase": ({"Any", "None"}, "milestone takes them"),
    "search.issues state": ({"merged"}, "issues are not merged"),
    "browse_projects.templates type": (
        {"dockerfiles", "gitignores", "gitlab_ci_ymls", "licenses"},
        "browse_instance has them",
    ),
    "browse_projects.template type": (
        {"dockerfiles", "gitignores", "gitlab_ci_ymls", "licenses"},
        "browse_instance has them",
    ),
    "order_by": (
        {"storage_size", "repository_size", "wiki_size", "packages_size"},
        "of projects, and only administrators may",
    ),
    **dict.fromkeys(
        (
            "browse_users.projects order_by",
            "browse_users.contributed_projects order_by",
            "browse_users.starred_projects order_by",
        ),
        (
            {"similarity", "storage_size", "repository_size", "wiki_size", "packages_size"},
            "to a search of all projects",
        ),
    ),
}
"""Values that GitLab takes and we do not, by field or by action and field, and why."""


@every_action
def test_a_field_lists_at_least_the_values_that_gitlab_lists(action: type[Action]) -> None:
    for name, shape in shapes(action).items():
        inner = shape.items or shape
        left_out, _ = LEFT_OUT.get(f"{name_of(action)} {name}") or LEFT_OUT.get(name) or (set(), "")
        for endpoint in action.spec.endpoints:
            known = find(str(endpoint))
            parameter = (known.parameters or {}).get(sent_name(action, name)) if known else None
            if parameter and parameter.values and inner.type != "boolean":
                missing = set(map(str, parameter.values)) - set(map(str, inner.values)) - left_out
                assert missing == set(), f"{name} of {endpoint}"


def test_no_value_is_said_to_be_left_out_that_is_taken_or_that_gitlab_does_not_have() -> None:
    stale = dict(LEFT_OUT)
    for action in REGISTRY.actions():
        for name, shape in shapes(action).items():
            key = f"{name_of(action)} {name}" if f"{name_of(action)} {name}" in LEFT_OUT else name
            known = [find(str(endpoint)) for endpoint in action.spec.endpoints]
            lists = [(each.parameters or {}).get(sent_name(action, name)) for each in known if each]
            gitlabs = {str(value) for each in lists if each for value in each.values}
            if key in stale and stale[key][0] <= gitlabs - set(map(str, (shape.items or shape).values)):
                del stale[key]
    assert stale == {}


@pytest.mark.parametrize(
    ("tool", "action", "field"),
    [
        ("browse_projects", "list", "min_access_level"),
        ("manage_project", "share", "group_access"),
        ("manage_service_account", "create_role", "base_access_level"),
    ],
)
def test_the_roles_of_newer_versions_are_taken(tool: str, action: str, field: str) -> None:
    """15 is Planner, 25 Security manager."""
    assert {"15", "25"} <= set(map(str, shapes(REGISTRY.tool(tool).actions[action])[field].values))


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

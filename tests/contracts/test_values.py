"""Where GitLab has a list of values a field has it too, and what a rule says is what it accepts."""

from __future__ import annotations

import re
from typing import Any

import pytest

from gitlab_mcp.actions.action import Action
from gitlab_mcp.actions.arguments.defaults import InstanceDefaults
from gitlab_mcp.actions.arguments.problems import example_of
from gitlab_mcp.actions.arguments.validation import validate
from gitlab_mcp.actions.fields import SentAsNumber
from gitlab_mcp.actions.registry import Registry
from gitlab_mcp.actions.shape import Shape, sent_name, shapes
from gitlab_mcp.actions.toolsets import TOOLSETS
from gitlab_mcp.api.endpoints import find
from gitlab_mcp.failures.failure import CallFailed
from tests.support.for_each import for_each
from tests.support.read_listing import fields_only_named

REGISTRY = Registry()
HERE = InstanceDefaults("https://gitlab.example.com")


def name_of(action: type[Action]) -> str:
    return f"{action.spec.tool.name}.{action.spec.name}"


every_action = for_each(REGISTRY.actions(), name_of)


LEFT_OUT: dict[str, tuple[set[str], str]] = {
    "scope": ({"created-by-me", "assigned-to-me"}, "the old spelling of created_by_me and assigned_to_me"),
    **dict.fromkeys(
        ("browse_runners.list status", "browse_runners.list_all status"),
        ({"active", "paused"}, "GitLab is giving them up for paused"),
    ),
    "due_date": ({""}, "no date, which 0 says as well"),
    "browse_issues.list milestone_phase": ({"Any", "None"}, "milestone takes them"),
    "browse_issues.statistics milestone_phase": ({"Any", "None"}, "milestone takes them"),
    "manage_member.invite access_level": (
        {"5"},
        "minimal access, which is paid, and given by group owners in GitLab",
    ),
    "search.issues state": ({"merged"}, "issues are not merged"),
    "browse_project_details.templates type": (
        {"dockerfiles", "gitignores", "gitlab_ci_ymls", "licenses"},
        "browse_instance has them",
    ),
    "browse_project_details.template type": (
        {"dockerfiles", "gitignores", "gitlab_ci_ymls", "licenses"},
        "browse_instance has them",
    ),
    "order_by": (
        {"storage_size", "repository_size", "wiki_size", "packages_size"},
        "of projects, and only administrators may",
    ),
    **dict.fromkeys(
        (
            "browse_user_details.projects order_by",
            "browse_user_details.contributed_projects order_by",
            "browse_user_details.starred_projects order_by",
        ),
        (
            {"similarity", "storage_size", "repository_size", "wiki_size", "packages_size"},
            "to a search of all projects",
        ),
    ),
}
"""Values that GitLab takes and we do not, by field or by action and field, and why."""


def values_sent(shape: Shape) -> set[str]:
    """The values of a field as GitLab gets them."""
    numbers = shape.mark(SentAsNumber)
    return set(map(str, numbers.numbers.values() if numbers else shape.values))


@every_action
def test_a_field_lists_at_least_the_values_that_gitlab_lists(action: type[Action]) -> None:
    for name, shape in shapes(action).items():
        inner = shape.items or shape
        left_out, _ = LEFT_OUT.get(f"{name_of(action)} {name}") or LEFT_OUT.get(name) or (set(), "")
        for endpoint in action.spec.endpoints:
            known = find(str(endpoint))
            parameter = (known.parameters or {}).get(sent_name(action, name)) if known else None
            if parameter and parameter.values and inner.type != "boolean":
                missing = set(map(str, parameter.values)) - values_sent(inner) - left_out
                assert missing == set(), f"{name} of {endpoint}"


def test_no_value_is_said_to_be_left_out_that_is_taken_or_that_gitlab_does_not_have() -> None:
    stale = dict(LEFT_OUT)
    for action in REGISTRY.actions():
        for name, shape in shapes(action).items():
            key = f"{name_of(action)} {name}" if f"{name_of(action)} {name}" in LEFT_OUT else name
            known = [find(str(endpoint)) for endpoint in action.spec.endpoints]
            lists = [(each.parameters or {}).get(sent_name(action, name)) for each in known if each]
            gitlabs = {str(value) for each in lists if each for value in each.values}
            if key in stale and stale[key][0] <= gitlabs - values_sent(shape.items or shape):
                del stale[key]
    assert stale == {}


@pytest.mark.parametrize(
    ("tool", "action", "field"),
    [
        ("browse_projects", "list", "min_access_level"),
        ("manage_project_settings", "share", "group_access"),
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
            if each["field"].partition("[")[0] == name:
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


def bound_of(said: str, words: str) -> int:
    """The number that a sentence names after these words."""
    found = re.search(rf"{words} (\d+)", said)
    assert found, said
    return int(found[1])


def inner_rules(shape: Shape) -> list[Any]:
    return [getattr(each, "metadata", [each]) for each in shape.marks]


def pattern_of(shape: Shape) -> str | None:
    constraints = [each for rules in inner_rules(shape) for each in rules]
    return next((each.pattern for each in constraints if getattr(each, "pattern", None)), None)


def most_of(shape: Shape) -> int | None:
    constraints = [each for rules in inner_rules(shape) for each in rules]
    return next((each.max_length for each in constraints if getattr(each, "max_length", None)), None)


@every_action
def test_the_sentence_about_a_text_that_is_too_long_names_the_length_that_is_accepted(
    action: type[Action],
) -> None:
    for name, shape in shapes(action).items():
        if shape.type != "string" or shape.values or not (most := most_of(shape)):
            continue
        said = expected(action, name, "a" * (most + 1))
        if "only one of" in (said or ""):
            continue
        assert said is not None and bound_of(said, "at most") == most, (
            f"{name} takes {most}, but says: {said}"
        )
        assert "at most" not in (expected(action, name, "a" * most) or ""), name


@every_action
def test_the_sentence_about_an_array_names_how_many_items_are_accepted(action: type[Action]) -> None:
    for name, shape in shapes(action).items():
        if shape.type != "array":
            continue
        example = action.spec.example.get(name)
        said = expected(action, name, [])
        if said and "at least" in said and isinstance(example, list):
            least = bound_of(said, "at least")
            taken = (example * least)[: max(least, len(example))]
            assert "at least" not in (expected(action, name, taken) or ""), f"{name}: {said}"
        most = most_of(shape)
        if most and isinstance(example, list):
            too_many = expected(action, name, (example * (most + 1))[: most + 1])
            assert too_many and bound_of(too_many, "at most") == most, f"{name}: {too_many}"
            assert "at most" not in (expected(action, name, (example * most)[:most]) or ""), name


REFUSED_BY_PATTERN = ("", " ", "a b\tc", "€€€", "\n", "x" * 30, "::", "#", "http:/a b", "../..")
"""Texts of which each pattern of ours refuses at least one."""


@every_action
def test_the_sentence_about_a_pattern_describes_what_it_accepts(action: type[Action]) -> None:
    """A pattern is told in words of its own, and the example that the action shows keeps to it."""
    for name, shape in shapes(action).items():
        pattern = pattern_of(shape.items or shape)
        if not pattern:
            continue
        one = (lambda text: [text]) if shape.type == "array" else (lambda text: text)
        refusals = [
            said
            for text in REFUSED_BY_PATTERN
            if not re.search(pattern, text) and (said := expected(action, name, one(text)))
        ]
        assert refusals, f"{name}: nothing that breaks {pattern} is refused"
        assert not {"text", "string", "a string", "another value"} & set(refusals), f"{name}: {pattern}"
        example = action.spec.example.get(name)
        if example is not None:
            assert expected(action, name, example) is None


PROMISED = {
    "a date as YYYY-MM-DD": ("2026-12-31", "31.12.2026"),
    "a time as 2026-01-31T12:00:00Z": ("2026-01-31T12:00:00Z", "noon"),
    "an array of strings": (["a", "b"], {"a": 1}),
    "an array of numbers": ([1, 2], ["a"]),
    "an array of usernames or numbers": (["alice", 2], [True]),
    "an array of paths or numbers": (["acme/website", 2], [True]),
    "a path or number": ("acme/website", {"a": 1}),
    "a username or number": ("alice", {"a": 1}),
    "a title or number": ("v1", {"a": 1}),
    "true or false": (True, "perhaps"),
    "a number": (7, "seven"),
    "an http or https URL": ("https://example.com/a", "ftp://example.com"),
    "an http, https or ftp URL": ("ftp://example.com/a", "file:///etc"),
    "a path that begins with /": ("/bin/tool", "bin/tool"),
    "letters, digits and _": ("A_1", "a-b"),
    "40 hex digits, the id of a thread": ("ab" * 20, "ab"),
    "a semantic version like 1.2.0": ("1.2.0", "one"),
    "five cron fields": ("0 23 * * 5", "0 23"),
    "a commit id": ("abcdef1", "xyz"),
    "#rrggbb or a CSS colour name": ("#d9534f", "# d9"),
    "a regular expression (RE2)": ("^a.*b$", "("),
    "a name without colons, like thumbsup": ("thumbsup", ":thumbsup:"),
    "text that is not empty": ("a", {"a": 1}),
}
"""What a sentence promises: a value that it says is right, and one that it says is not."""


@every_action
def test_what_a_sentence_says_is_right_is_accepted_and_the_contrary_refused(action: type[Action]) -> None:
    for name, shape in shapes(action).items():
        right, wrong = PROMISED.get(shape.expects, (None, None))
        if right is None:
            continue
        said = expected(action, name, right)
        assert said is None or said != shape.expects, f"{name}: {right} is refused with: {said}"
        assert expected(action, name, wrong) is not None, f"{name}: {wrong} is taken for {shape.expects}"


UNGRAMMATICAL = re.compile(
    r"\bas (?:number|path|array|date|time|string|object|integer|boolean|title|username)\b|\(s\)"
    r"|\b1 (?!is|has|was)[a-z]+s\b|\b(?:0|[2-9]|\d\d+) (?:item|character|level|call|second)\b|\ba [aeio]"
)


@every_action
def test_sentences_about_wrong_values_are_grammatical(action: type[Action]) -> None:
    values: list[Any] = [{"no": "such thing"}, ["no"], "", "x" * 70_000, -5, 2**70, [], [{}], True]
    for name in shapes(action):
        for value in values:
            try:
                validate(REGISTRY, action.spec.tool.name, {**example_of(action), name: value}, HERE)
            except CallFailed as failed:
                for said in (failed.failure.message, failed.failure.facts["suggested_fix"]):
                    assert not UNGRAMMATICAL.search(said), said
                    assert (said.endswith(".") and said[0] == said[0].upper()) or said.startswith(
                        action.spec.name
                    )


def test_a_rule_between_fields_is_not_told_as_a_bad_value() -> None:
    example = {"project_id": "1", "merge_request_iid": 1, "file_path": "a", "body": "b"}
    with pytest.raises(CallFailed) as caught:
        validate(REGISTRY, "manage_review", {"action": "comment_line", **example}, HERE)
    assert "cannot use the value" not in caught.value.failure.message
    assert caught.value.failure.facts["invalid_fields"][0]["field"] == "line"


def test_allowed_fields_are_fields_that_the_schema_shows() -> None:
    for tool in REGISTRY.listing(TOOLSETS):
        shown = {*tool["inputSchema"]["properties"], *fields_only_named(tool)}
        for action in REGISTRY.tool(tool["name"]).actions.values():
            with pytest.raises(CallFailed) as caught:
                validate(REGISTRY, tool["name"], {**example_of(action), "no_such_field": 1}, HERE)
            assert set(caught.value.failure.facts["allowed_fields"]) <= shown

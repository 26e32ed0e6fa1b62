"""What a client sees of the whole catalogue."""

from __future__ import annotations

import json
import re
from typing import Any

from rs_bpe.bpe import openai

from gitlab_mcp.actions.danger import Risk
from gitlab_mcp.actions.registry import Registry, declared
from gitlab_mcp.actions.schema import PAGE, listing, required_fields
from gitlab_mcp.actions.shape import shapes
from gitlab_mcp.actions.toolsets import TOOLSETS
from gitlab_mcp.tiers.feature_map import tier_map
from gitlab_mcp.tiers.marks import TierMarks
from tests.support.for_each import for_each
from tests.support.read_listing import fields_only_named

MOST_TOOLS, MOST_TOKENS = 25, 6_000
"""Of the default listing."""
MOST_TOKENS_FOR_FINDING = 600
"""Of find_actions, browse_action and run_action, which are in every listing."""

FORBIDDEN = {"anyOf", "oneOf", "allOf", "$ref", "$defs", "const", "format", "patternProperties", "default"}

REGISTRY = Registry()
LISTING = REGISTRY.listing(TOOLSETS)
DECLARATIONS = {tool.name: listing(tool, TierMarks(tier_map())) for tool in declared()}
"""Made before any row is: Python takes `Literal` types with the same values in another order for the same."""


def everything(schema: Any) -> Any:
    if isinstance(schema, dict):
        yield schema
        for key, value in schema.items():
            # The names of fields are not keywords of the schema.
            yield from everything(list(value.values()) if key == "properties" else value)
    elif isinstance(schema, list):
        for item in schema:
            yield from everything(item)


def test_the_catalogue_lists_what_is_declared() -> None:
    declarations = DECLARATIONS
    listed = {tool["name"]: tool for tool in LISTING}
    stale = {name for name in {*declarations, *listed} if declarations.get(name) != listed.get(name)}
    assert stale == set(), "run `make docs`"


@for_each(LISTING, lambda tool: str(tool["name"]))
def test_a_tool_fits_every_client(tool: dict[str, Any]) -> None:
    schema = tool["inputSchema"]
    assert set(schema) == {"type", "properties", "required"}
    assert schema["type"] == "object"
    assert set(schema["required"]) <= set(schema["properties"])
    for part in everything(schema):
        assert not FORBIDDEN & set(part), part
        assert isinstance(part.get("type", "string"), str)
    assert len(tool["name"]) <= 32
    assert len(tool["description"]) <= 1000


@for_each(LISTING, lambda tool: str(tool["name"]))
def test_annotations_tell_reading_from_writing(tool: dict[str, Any]) -> None:
    reads = tool["name"].startswith(("browse_", "search", "find_"))
    assert tool["annotations"]["readOnlyHint"] is reads
    if tool["name"] in ("run_action", "run_batch"):
        # They read or write as the calls in them do.
        assert tool["annotations"]["destructiveHint"] is True
        return
    dangers = {action.spec.danger.value for action in REGISTRY.tool(tool["name"]).actions.values()}
    if reads:
        assert dangers == {"read"}
    else:
        assert "read" not in dangers
        # Values of its fields count too.
        actions = REGISTRY.tool(tool["name"]).actions.values()
        marks = [mark for action in actions for shape in shapes(action).values() for mark in shape.marks]
        dangers |= {mark.danger.value for mark in marks if isinstance(mark, Risk)}
        assert tool["annotations"]["destructiveHint"] is bool(dangers & {"destructive", "dangerous"})


@for_each(LISTING, lambda tool: str(tool["name"]))
def test_the_listing_says_which_actions_ask_for_a_yes(tool: dict[str, Any]) -> None:
    asks = set()
    for name, action in REGISTRY.tool(tool["name"]).actions.items():
        risks = [mark for shape in shapes(action).values() for mark in shape.marks if isinstance(mark, Risk)]
        dangers = {str(each.danger) for each in (action.spec, *(risks if action.spec.writes else ()))}
        if dangers & {"destructive", "dangerous"}:
            asks.add(name)
    field = tool["inputSchema"]["properties"].get("confirmation_token")
    said = field["description"].removeprefix("After a yes to ") if field else ""
    assert set(filter(None, re.sub(r"\([^)]*\)", "", said).split(", "))) == asks


@for_each(LISTING, lambda tool: str(tool["name"]))
def test_what_the_listing_says_of_whose_a_field_is_is_so(tool: dict[str, Any]) -> None:
    """Read as a model reads it: the signatures, the note of the field, and the sentence about those without one."""
    actions = REGISTRY.tool(tool["name"]).actions
    options = {PAGE, "confirmation_token"}
    for field, schema in tool["inputSchema"]["properties"].items():
        takers = {name for name, action in actions.items() if field in shapes(action)}
        if field != "action" and field not in options:
            assert told_takers(tool, field, schema.get("description", "")) == takers, field


@for_each(LISTING, lambda tool: str(tool["name"]))
def test_a_field_without_a_schema_is_named_with_the_actions_that_take_it(tool: dict[str, Any]) -> None:
    named = fields_only_named(tool)
    assert not named.keys() & tool["inputSchema"]["properties"].keys()
    takers: dict[str, set[str]] = {}
    for name, action in REGISTRY.tool(tool["name"]).actions.items():
        for field in shapes(action).keys() - tool["inputSchema"]["properties"].keys():
            takers.setdefault(field, set()).add(name)
    of_lists = {"per_page", "detail"}
    assert {field: by for field, by in named.items() if field not in of_lists} == {
        field: by for field, by in takers.items() if field not in of_lists
    }
    assert takers.keys() <= named.keys()


def test_what_a_name_does_not_explain_is_explained_in_the_default_listing() -> None:
    descriptions = {tool["name"]: tool["description"] for tool in REGISTRY.listing(["core"])}
    unexplained = [
        f"{name} {action}"
        for name, action in (
            ("browse_pipelines", "failure_digest"),
            ("browse_merge_requests", "merge_readiness"),
            ("browse_merge_requests", "review_bundle"),
            ("browse_instance", "explain_access"),
            ("manage_review", "submit_review"),
            ("browse_users", "counts"),
            ("browse_users", "inbox"),
            ("manage_discussion", "create"),
            ("manage_review", "apply"),
        )
        if f" {action}: " not in descriptions[name]
    ]
    assert unexplained == []


@for_each(LISTING, lambda tool: str(tool["name"]))
def test_a_tool_has_a_title_and_says_whether_it_may_be_repeated(tool: dict[str, Any]) -> None:
    actions = REGISTRY.tool(tool["name"]).actions.values()
    again = all(action.spec.repeatable and action.spec.endpoints for action in actions)
    assert tool["title"][:1].isupper()
    assert "_" not in tool["title"]
    if not tool["annotations"]["readOnlyHint"]:
        assert tool["annotations"].get("idempotentHint", False) is again
    # Tools reach GitLab, which is what MCP assumes where nothing is said. The search does not.
    assert tool["annotations"].get("openWorldHint", True) is (tool["name"] != "find_actions")


def test_what_only_administrators_can_use_is_listed_only_where_it_is_chosen() -> None:
    by_toolset = {name: REGISTRY.toolset_of(name) for name in REGISTRY.names()}
    assert "admin" not in {by_toolset[tool["name"]] for tool in REGISTRY.listing(["all"])}
    assert [tool["name"] for tool in REGISTRY.listing(["discover"])] == [
        "browse_action",
        "find_actions",
        "run_action",
        "run_batch",
    ]


def told_takers(tool: dict[str, Any], field: str, note: str) -> set[str]:
    every = set(REGISTRY.action_names(tool["name"]))
    if field in tool["inputSchema"]["required"] or field in given_in_all(tool["description"]):
        return every
    named = {name for name, fields in signatures(tool["description"], every).items() if field in fields}
    if re.search(r"\bFor all\b", note):
        return every
    if also := re.search(r"\bAlso for ([a-z_, ]+)", note):
        return named | set(also[1].strip().split(", "))
    if only := re.search(r"\b(Not for|For) ([a-z_, ]+)", note):
        listed = set(only[2].strip().split(", "))
        return every - listed if only[1] == "Not for" else listed
    if named:
        return named
    if once := re.search(r"Unmarked fields are for ([a-z_, ]+)\.", tool["description"]):
        return set(once[1].split(", "))
    return every


def given_in_all(description: str) -> list[str]:
    return [
        name
        for given in re.findall(r"Give ([a-z_]+(?: or [a-z_]+)+)\.", description)
        for name in given.split(" or ")
    ]


def signatures(description: str, every: set[str]) -> dict[str, set[str]]:
    """The fields that the sentence about required fields names for each action."""
    found: dict[str, set[str]] = {name: set() for name in every}
    required = re.search(r"Required: (.*?\))\.(?: |$)", description)
    named: set[str] = set()
    for part in required[1].split("; ") if required else ():
        if once := re.fullmatch(r"(.*) \(except (.*)\)", part):
            names, fields = every - set(once[2].split(", ")), once[1]
        else:
            before, fields = part.rstrip(")").split("(")
            names = set(before.split(", "))
            if names & {"others", "all"} - every:
                names = every - named
            named |= names
        for name in names:
            found[name] |= set(re.split(r"[|+]|, ", fields)) - {""}
    return found


@for_each(LISTING, lambda tool: str(tool["name"]))
def test_what_the_listing_says_is_required_is_required(tool: dict[str, Any]) -> None:
    """The rest is what every action requires: it is in `required`, or under `Give`."""
    actions = REGISTRY.tool(tool["name"]).actions
    said = signatures(tool["description"], set(actions))
    for name, action in actions.items():
        needed = {each for field in required_fields(action) for each in re.split(r"[|+]", field)}
        of_all = {*tool["inputSchema"]["required"], *given_in_all(tool["description"])}
        of_all -= set() if REGISTRY.is_single(tool["name"]) else {"action"}
        assert said[name] | of_all >= needed >= said[name], name


def test_the_default_listing_costs_at_most_6000_tokens() -> None:
    default = json.dumps(REGISTRY.listing(["core"]), ensure_ascii=False, separators=(",", ":"))
    assert openai.o200k_base().count(default) <= MOST_TOKENS


def test_finding_and_calling_cost_at_most_600_tokens() -> None:
    found = [
        tool for tool in REGISTRY.listing(["discover"]) if tool["name"].endswith(("_action", "_actions"))
    ]
    assert len(found) == 3
    text = json.dumps(found, ensure_ascii=False, separators=(",", ":"))
    assert openai.o200k_base().count(text) <= MOST_TOKENS_FOR_FINDING


def test_the_default_toolset_has_at_most_25_tools() -> None:
    assert len(REGISTRY.listing(["core"])) <= MOST_TOOLS


def test_every_tool_is_in_a_known_toolset() -> None:
    assert {REGISTRY.tool(name).toolset for name in REGISTRY.names()} <= set(TOOLSETS)


def test_the_same_field_name_has_the_same_type_in_all_tools() -> None:
    types: dict[str, dict[str, set[str]]] = {}
    for tool in LISTING:
        for name, schema in tool["inputSchema"]["properties"].items():
            types.setdefault(name, {}).setdefault(schema["type"], set()).add(tool["name"])
    assert {name: users for name, users in types.items() if len(users) > 1} == {}

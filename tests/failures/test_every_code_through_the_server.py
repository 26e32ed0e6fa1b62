"""One call through the server for every code, read in every style: one failure, the same story in every form."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import resources
from typing import Any

import jsonschema
import pytest

from gitlab_mcp.app import App
from gitlab_mcp.callers import Secret
from gitlab_mcp.failures.codes import CODES, Code
from gitlab_mcp.failures.facts import FACTS
from gitlab_mcp.failures.render import STYLES
from gitlab_mcp.protocol.server import GitLabServer
from gitlab_mcp.settings import Settings
from tests.support.guarded import UNGUARDED, with_labels
from tests.support.scenes import CREATE, LABEL, LIST, PROJECT, SCENES, played
from tests.support.standin import StandIn

pytestmark = pytest.mark.anyio


@dataclass(frozen=True)
class Told:
    rendered: dict[str, Any]
    text: str


async def told(code: str, style: str, standin: StandIn) -> Told:
    async with played(code, standin) as (visited, tool, arguments):
        server = GitLabServer(visited, error_style=style, format="both")
        answer: Any = await server.call_tool(tool, arguments)
    assert answer.is_error is True
    shown, as_json = answer.content
    assert json.loads(as_json.text) == json.loads(json.dumps(answer.structured_content))
    return Told(json.loads(as_json.text), shown.text)


def facts_in(style: str, rendered: dict[str, Any]) -> dict[str, Any]:
    match style:
        case "toolerror":
            return {**rendered["details"], "retryable": rendered["retryable"]}
        case "aql":
            return dict(rendered["error"]["details"])
        case "problem":
            problem = rendered["problem"]
            return {"error_code": problem["code"].upper().replace("-", "_"), **problem["extensions"]}
        case _:
            return rendered


TEXT = {"type": "string", "minLength": 1}
SCHEMAS: dict[str, Any] = {
    "tier": {
        "required": ["error", "error_code", "http_status", "message", "retryable", "suggested_fix"],
        "properties": {
            "error": {"const": True},
            "error_code": {"enum": list(CODES)},
            "http_status": {"type": "integer", "minimum": 400, "maximum": 599},
            "message": TEXT,
            "retryable": {"type": "boolean"},
            "suggested_fix": TEXT,
        },
    },
    "toolerror": {
        "required": ["kind", "code", "message", "retryable", "details"],
        "properties": {
            "kind": {"enum": ["toolError:v1", "needsInput:v1"]},
            "code": {"enum": sorted({each.toolerror for each in CODES.values()})},
            "message": TEXT,
            "retryable": {"type": "boolean"},
            "details": {"type": "object", "required": ["error_code", "recovery"]},
        },
        "if": {"properties": {"kind": {"const": "needsInput:v1"}}},
        "then": {"required": ["question"]},
    },
    "aql": {
        "required": ["success", "error"],
        "additionalProperties": False,
        "properties": {
            "success": {"const": False},
            "error": {
                "required": ["code", "message", "details"],
                "additionalProperties": False,
                "properties": {
                    "code": {"type": "string", "pattern": "^[A-Z]+(_[A-Z]+)*$"},
                    "message": TEXT,
                    "details": {"type": "object", "required": ["operation", "error_code"]},
                },
            },
        },
    },
    "problem": json.loads(resources.files("gitlab_mcp").joinpath("failures/problem.schema.json").read_text()),
    "text": {
        "required": ["error", "error_code", "retryable"],
        "properties": {
            "error": {"type": "string", "pattern": "^(Input Error|Server Error \\([45]\\d\\d\\)): "}
        },
    },
}


HEADINGS = {"event_id": "Event", "request_id": "Request", "docs_url": "See", "gitlab_message": "GitLab said"}
"""What Markdown calls a fact, where that is not its name."""


def test_there_is_a_call_for_every_code() -> None:
    assert list(SCENES) == list(CODES)


def members(shown: Any) -> Iterator[Any]:
    if isinstance(shown, dict):
        yield from (leaf for value in shown.values() for leaf in members(value))
    elif isinstance(shown, list):
        yield from (leaf for value in shown for leaf in members(value))
    else:
        yield shown


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("code", CODES)
async def test_a_call_that_fails_is_told_as_its_style_promises(
    code: str, style: str, standin: StandIn
) -> None:
    answer = await told(code, style, standin)
    facts = facts_in(style, answer.rendered)
    assert facts["error_code"] == code
    jsonschema.validate(answer.rendered, SCHEMAS[style])
    assert None not in list(members(answer.rendered))
    if code != Code.UNKNOWN_TOOL:
        assert facts["tool"] == SCENES[code].call[0]
    assert facts["action"] == SCENES[code].call[1]["action"]
    if "check_with" in facts or facts.get("loop"):
        assert facts["retryable"] is False
    assert ("event_id" in facts) is CODES[Code(code)].is_nobodys_mistake

    # No sentence refers to a fact that is not shown.
    fields = {"action", "confirmation_token"} if "example" in facts else set()
    said = [word for word in members(answer.rendered) if isinstance(word, str)]
    for name in FACTS:
        if "_" not in name or name in fields:
            continue
        if (
            any(re.search(rf"\b{name}\b", word) for word in said if " " in word)
            and name != "confirmation_token"
        ):
            assert name in facts, name
        heading = HEADINGS.get(name, name)
        if name in facts and re.search(rf"\b{name}\b", answer.text):
            assert re.search(rf"\b{heading}: ", answer.text), name

    if style == "text":
        sentence = answer.rendered["error"]
        assert facts["suggested_fix"] in sentence
        assert ("changing the call" in sentence) <= facts["retryable"]
        assert ("cannot be resolved by retrying" in sentence) <= (not facts["retryable"])
        if "check_with" in facts:
            assert facts["check_with"]["action"] in sentence
    for name in ("confirmation_token", "expires_at", "what_will_happen", "valid_actions", "upgrade_url"):
        if name in facts:
            value = ", ".join(facts[name]) if isinstance(facts[name], list) else facts[name]
            assert value in answer.text, name


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (Code.UNKNOWN_TOOL, {"code": "NOT_FOUND_OPERATION", "operation": "browse_nonsense"}),
        (
            Code.INVALID_ACTION,
            {"message": "Unknown operation: 'fly'", "operation": "fly", "available": ["list", "get"]},
        ),
        (
            Code.TYPE_MISMATCH,
            {
                "message": "Parameter 'issue_iid' expected 'integer', got 'string'",
                "expected_type": "integer",
                "actual_type": "string",
                "value": "first",
            },
        ),
        (Code.INVALID_VALUE, {"expected_type": "string", "actual_type": "string", "value": "nonsense"}),
        (Code.INVALID_ENCODING, {"location": "arguments.title", "byte_offset": 2}),
        (
            Code.PAYLOAD_TOO_LARGE,
            {
                "message": "Payload exceeds array_elements limit of 10000",
                "limit_type": "array_elements",
                "actual_value": 10_001,
                "unit": "elements",
            },
        ),
        (
            Code.NOT_FOUND,
            {
                "message": "Resource 'label' not found: 'none'",
                "resource_type": "label",
                "resource_id": "none",
                "http_status": 404,
            },
        ),
        (
            Code.CONFIRMATION_REQUIRED,
            {"danger_level": "destructive", "reasons": ["Something is gone afterwards"]},
        ),
        (Code.DANGER_DENIED, {"reasons": ["Something is gone afterwards"]}),
        (Code.CONFIRMATION_INVALID, {"code": "TOKEN_INVALID", "token": "made-up"}),
        (
            Code.CONFIRMATION_MISMATCH,
            {"token_operation": "labels:delete", "requested_operation": "labels:delete"},
        ),
        (
            Code.QUOTA_PAUSED,
            {"metric": "writes_per_hour", "current": 9, "pause_threshold": 9, "hard_stop_threshold": 10},
        ),
        (Code.QUOTA_EXHAUSTED, {"metric": "writes_per_hour", "current": 1, "hard_stop_threshold": 1}),
        (Code.RATE_LIMITED, {"limit": 600, "window": "minute", "resets_at": "2027-01-15T08:00:00+00:00"}),
        (Code.CONFLICT, {"code": "CONFLICT_ALREADY_EXISTS"}),
        (Code.REJECTED, {"param_name": "color", "actual_type": "string", "value": "#d9534f"}),
    ],
)
async def test_aql_has_the_details_that_its_code_promises(
    code: str, expected: dict[str, Any], standin: StandIn
) -> None:
    error = (await told(code, "aql", standin)).rendered["error"]
    shown = {**error["details"], "code": error["code"], "message": error["message"]}
    assert {name: shown.get(name) for name in expected} == expected


@pytest.mark.parametrize(
    ("code", "names"),
    [
        (Code.CONFIRMATION_EXPIRED, ("token", "expired_at", "current_time")),
        (Code.CONFIRMATION_USED, ("token", "consumed_at")),
        (Code.CONFIRMATION_MISMATCH, ("token",)),
        (Code.UNKNOWN_TOOL, ("available",)),
    ],
)
async def test_aql_names_the_token_and_its_times(code: str, names: tuple[str, ...], standin: StandIn) -> None:
    assert set(names) <= set((await told(code, "aql", standin)).rendered["error"]["details"])


@pytest.mark.parametrize("style", STYLES)
async def test_the_items_of_a_batch_have_code_and_message_in_every_style(
    style: str, standin: StandIn
) -> None:
    answer = await told(Code.BATCH_PARTIAL_FAILURE, style, standin)
    (item,) = facts_in(style, answer.rendered)["results"]
    assert facts_in(style, item["error"])["error_code"] == "INVALID_ACTION"
    assert "calls[0] (INVALID_ACTION): browse_labels has no such action." in answer.text
    if style == "aql":
        expected = [{"index": 0, "code": "NOT_FOUND_OPERATION", "message": "Unknown operation: 'fly'"}]
        assert answer.rendered["error"]["details"]["errors"] == expected


async def test_a_problem_holds_what_the_caller_asked_about_and_an_empty_result(standin: StandIn) -> None:
    rendered = (await told(Code.NOT_FOUND, "problem", standin)).rendered
    assert rendered["empty"] is True and "items" not in rendered
    assert rendered["problem"]["extensions"].items() >= {**PROJECT, "label_id": "none"}.items()
    assert rendered["problem"]["instance"] == "urn:gitlab-mcp:labels:get"
    rendered = (await told(Code.NETWORK_ERROR, "problem", standin)).rendered
    assert (rendered["items"], rendered["total"]) == ([], 0)


async def test_only_what_gitlab_answered_has_a_status_code(standin: StandIn) -> None:
    assert "statusCode" not in (await told(Code.NETWORK_ERROR, "toolerror", standin)).rendered["details"]
    assert (await told(Code.REJECTED, "toolerror", standin)).rendered["details"]["statusCode"] == 422


async def test_needed_input_is_a_question_with_its_choices(standin: StandIn) -> None:
    asked = (await told(Code.CONFIRMATION_REQUIRED, "toolerror", standin)).rendered
    assert asked["question"].endswith("Go ahead?") and asked["choices"] == ["yes", "no"]
    asked = (await told(Code.INVALID_ACTION, "toolerror", standin)).rendered
    assert asked["choices"] == ["list", "get"]
    asked = (await told(Code.INVALID_VALUE, "toolerror", standin)).rendered
    assert asked["question"] == "Which value for state?" and "opened" in asked["choices"]


async def test_a_thing_that_was_looked_up_and_is_not_there_is_asked_for(standin: StandIn) -> None:
    asked = (await told(Code.NOT_FOUND, "toolerror", standin)).rendered
    assert (asked["kind"], asked["code"], asked["retryable"]) == ("needsInput:v1", "NOT_FOUND", False)
    assert asked["question"].endswith('Not found: label_id "none". Which one is meant?')


async def test_a_place_that_is_not_there_is_no_question_for_a_list_or_a_write(
    standin: StandIn, against: Callable[..., App]
) -> None:
    """Synthetic: GitLab's answer where the project is not there."""
    standin.answer("GET", "/*", 404, {"message": "404 Project Not Found"})
    standin.answer("POST", "/*", 404, {"message": "404 Project Not Found"})
    for call in (LIST, CREATE):
        server = GitLabServer(against(), error_style="toolerror", format="json")
        answer: Any = await server.call_tool(*call)
        assert answer.structured_content["kind"] == "toolError:v1"
        assert answer.structured_content["code"] == "NOT_FOUND"


async def test_a_success_has_the_envelope_of_its_style_with_the_quota_warning(standin: StandIn) -> None:
    with_labels(standin, "bug")
    app = App(Settings(url=standin.url, token=Secret("alice"), **{**UNGUARDED, "quota": ("writes=1",)}))
    try:
        server = GitLabServer(app, error_style="aql", format="json")
        answer: Any = await server.call_tool("manage_label", LABEL)
    finally:
        app.close()
    shown = json.loads(answer.content[0].text)
    assert shown["success"] is True and "id" in shown["data"]
    (warning,) = shown["warnings"]
    assert (warning["code"], warning["message"]) == ("RATE_LIMIT_QUOTA_WARNING", "Approaching quota limit")
    expected = {"metric": "writes_per_hour", "current": 1, "warn_threshold": 1, "pause_threshold": 1}
    assert warning["details"].items() >= expected.items()


async def test_an_unknown_field_inside_an_object_is_named_with_the_fields_of_that_object(
    standin: StandIn,
) -> None:
    app = App(Settings(url=standin.url, token=Secret("alice"), toolsets=("all",), **UNGUARDED))
    try:
        server = GitLabServer(app, error_style="aql", format="json")
        call = {"tool": "browse_labels", "arguments": {}, "bogus": 1}
        answer: Any = await server.call_tool("run_batch", {"action": "run", "calls": [call]})
    finally:
        app.close()
    error = json.loads(answer.content[0].text)["error"]
    assert error["code"] == "VALIDATION_UNKNOWN_FIELD"
    assert error["details"]["valid_params"] == ["tool", "arguments"]

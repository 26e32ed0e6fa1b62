"""One call through the server for every code, read in every style: one failure, the same story in every form."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from gitlab_mcp.actions.action import Danger
from gitlab_mcp.actions.arguments.defaults import InstanceDefaults
from gitlab_mcp.actions.arguments.validation import validate
from gitlab_mcp.actions.registry import Registry
from gitlab_mcp.actions.result import Result
from gitlab_mcp.app import App
from gitlab_mcp.callers import CallerKey, Consent, RequestContext, Secret, Token
from gitlab_mcp.failures.codes import CODES, Code
from gitlab_mcp.failures.facts import FACTS
from gitlab_mcp.failures.failure import Failure
from gitlab_mcp.failures.render import STYLES
from gitlab_mcp.policy.confirmation import purpose
from gitlab_mcp.policy.confirmation_tokens import LIFETIME, ConfirmationTokens
from gitlab_mcp.protocol.server import GitLabServer
from gitlab_mcp.settings import Settings
from tests.support.guarded import DEFAULTS, UNGUARDED, delete_label, refused, request_by, with_labels
from tests.support.standin import StandIn

pytestmark = pytest.mark.anyio

PROJECT = {"project_id": "acme/website"}
LIST = ("browse_labels", {"action": "list", **PROJECT})
CREATE = ("manage_issue", {"action": "create", **PROJECT, "title": "A title"})
LABEL = {"action": "create", **PROJECT, "name": "idea", "color": "#d9534f"}
DELETE = ("manage_label", delete_label())
NOWHERE = "http://127.0.0.1:9"
"""A port on which nothing listens."""

Arguments = dict[str, Any]


@dataclass(frozen=True)
class Scene:
    """A call, and what makes it fail. Answers of GitLab are synthetic."""

    call: tuple[str, Arguments]
    settings: Mapping[str, Any] = field(default_factory=dict)
    answer: tuple[Any, ...] = ()
    before: Callable[[App], Awaitable[Arguments]] | None = None
    """What happens first; returns further arguments of the call."""
    request_context: RequestContext | None = None


async def used_token(app: App) -> Arguments:
    token = (await refused(app, *DELETE)).facts["confirmation_token"]
    await app.call("manage_label", delete_label(confirmation_token=token))
    return {"confirmation_token": token}


async def token_for_another(app: App) -> Arguments:
    failure = await refused(app, "manage_label", delete_label("idea"))
    return {"confirmation_token": failure.facts["confirmation_token"]}


async def old_token(app: App) -> Arguments:
    settings = app._settings
    call = validate(Registry(), *DELETE, InstanceDefaults(settings.url))
    caller = CallerKey(Token(Secret("alice"), "private").fingerprint, settings.url, None)
    tokens = ConfirmationTokens(app._store, lambda: time.time() - LIFETIME - 100)
    return {"confirmation_token": (await tokens.issue(caller, purpose(call, caller), "labels:delete"))[0]}


async def nine_writes(app: App) -> Arguments:
    for number in range(9):
        await app.call("manage_label", {**LABEL, "name": f"label {number}"})
    return {}


async def one_write(app: App) -> Arguments:
    await app.call("manage_label", {**LABEL, "name": "first"})
    return {}


async def a_bug(app: App) -> Arguments:
    async def broken(*_: Any) -> None:
        raise ZeroDivisionError

    app._dispatch = replace(app._dispatch, guards=[broken])
    return {}


async def gitlab_was_gone(app: App) -> Arguments:
    for number in range(12):
        failure = await refused(app, "browse_labels", {**LIST[1], "page": number + 1})
        if failure.code == Code.UPSTREAM_PAUSED:
            break
    return {"page": 99}


SCOPE = {"error": "insufficient_scope", "error_description": "Too little.", "scope": "api read_api"}
HTML = "<!DOCTYPE html><html><body>Sign in</body></html>"
SCENES: dict[str, Scene] = {
    Code.UNKNOWN_TOOL: Scene(("browse_nonsense", {"action": "list"})),
    Code.INVALID_ACTION: Scene(("browse_labels", {"action": "fly", **PROJECT})),
    Code.MISSING_REQUIRED_FIELD: Scene(("manage_label", {"action": "create", **PROJECT, "name": "bug"})),
    Code.TYPE_MISMATCH: Scene(("browse_issues", {"action": "get", **PROJECT, "issue_iid": "first"})),
    Code.INVALID_VALUE: Scene(("browse_issues", {"action": "list", **PROJECT, "state": "nonsense"})),
    Code.FIELD_NOT_ALLOWED: Scene(("manage_label", {**LABEL, "zzz": 1})),
    Code.INVALID_ENCODING: Scene(("manage_issue", {**CREATE[1], "title": "é\0b"})),
    Code.PAYLOAD_TOO_LARGE: Scene(("manage_issue", {**CREATE[1], "labels": ["x"] * 10_001})),
    Code.READ_ONLY_MODE: Scene(CREATE, {"read_only": True}),
    Code.OUT_OF_SCOPE: Scene(LIST, {"only_in": ("other",)}),
    Code.DANGER_DENIED: Scene(DELETE, request_context=request_by("alice", trust=Danger.REVERSIBLE)),
    Code.TRUST_INSUFFICIENT: Scene(DELETE, {"trust": "reversible"}),
    Code.CONFIRMATION_REQUIRED: Scene(DELETE, DEFAULTS),
    Code.CONFIRMATION_INVALID: Scene(("manage_label", delete_label(confirmation_token="made-up")), DEFAULTS),
    Code.CONFIRMATION_EXPIRED: Scene(DELETE, DEFAULTS, before=old_token),
    Code.CONFIRMATION_USED: Scene(DELETE, DEFAULTS, before=used_token),
    Code.CONFIRMATION_MISMATCH: Scene(DELETE, DEFAULTS, before=token_for_another),
    Code.QUOTA_PAUSED: Scene(("manage_label", LABEL), {"quota": ("writes=10",)}, before=nine_writes),
    Code.QUOTA_EXHAUSTED: Scene(("manage_label", LABEL), {"quota": ("writes=1",)}, before=one_write),
    Code.AUTHENTICATION_FAILED: Scene(
        LIST, answer=("GET", 401, {"error": "invalid_token", "error_description": "Token was revoked."})
    ),
    Code.SCOPE_INSUFFICIENT: Scene(
        LIST,
        answer=(
            "GET",
            403,
            SCOPE,
        ),
    ),
    Code.PERMISSION_DENIED: Scene(
        ("manage_label", LABEL), answer=("POST", 403, {"message": "403 Forbidden"})
    ),
    Code.TIER_RESTRICTED: Scene(
        ("browse_epics", {"action": "list", "group_id": "acme"}),
        {"tier": "free"},
        answer=("GET", 403, {"message": "403 Forbidden"}),
    ),
    Code.FEATURE_UNAVAILABLE: Scene(
        ("browse_issues", {"action": "list", **PROJECT, "labels": ["off"]}),
        answer=("GET", 403, {"message": "403 Forbidden"}),
    ),
    Code.NOT_FOUND: Scene(
        ("browse_labels", {"action": "get", **PROJECT, "label_id": "none"}),
        answer=("GET", 404, {"message": "404 Label Not Found"}),
    ),
    Code.CONFLICT: Scene(("manage_label", LABEL), answer=("POST", 409, {"message": "Label already exists"})),
    Code.REJECTED: Scene(
        ("manage_label", LABEL), answer=("POST", 422, {"message": {"color": ["is invalid"]}})
    ),
    Code.RATE_LIMITED: Scene(
        CREATE,
        answer=(
            "POST",
            429,
            {"message": "Too many"},
            {"RateLimit-Limit": "600", "RateLimit-Reset": "1800000000"},
        ),
    ),
    Code.SERVER_ERROR: Scene(CREATE, answer=("POST", 500, {"message": "500 Internal Server Error"})),
    Code.NETWORK_ERROR: Scene(LIST, {"url": NOWHERE}),
    Code.OUTCOME_UNKNOWN: Scene(CREATE, answer=("POST", 502, HTML)),
    Code.BAD_RESPONSE: Scene(LIST, answer=("GET", 200, HTML, {"Content-Type": "text/html"})),
    Code.API_ERROR: Scene(CREATE, answer=("POST", 418, {"message": "418 I'm a teapot"})),
    Code.STORE_UNAVAILABLE: Scene(DELETE, {**DEFAULTS, "redis": Secret("redis://127.0.0.1:9/0")}),
    Code.UPSTREAM_PAUSED: Scene(LIST, {"url": NOWHERE}, before=gitlab_was_gone),
    Code.BUSY: Scene(LIST, {"calls_per_caller": 0}, request_context=request_by("alice")),
    Code.HOST_NOT_ALLOWED: Scene(
        ("browse_labels", {"action": "list", "url": "https://elsewhere.example.com/acme/website"})
    ),
    Code.REPLAY_MISS: Scene(
        ("browse_labels", {"action": "list", "project_id": "acme/unheard-of"}),
        {"replay": (Path("cassettes/labels.json"),)},
    ),
    Code.CONFIGURATION_ERROR: Scene(LIST, {"token": None}),
    Code.BATCH_PARTIAL_FAILURE: Scene(
        ("run_batch", {"action": "run", "calls": [{"tool": "browse_labels", "arguments": {"action": "fly"}}]})
    ),
    Code.INTERNAL_ERROR: Scene(LIST, before=a_bug),
}


@dataclass(frozen=True)
class Visited:
    """The server as one HTTP request sees it."""

    app: App
    request_context: RequestContext | None

    def listing(self, request_context: RequestContext | None = None) -> Any:
        return self.app.listing(request_context)

    def has_field(self, tool: str, field: str) -> bool:
        return self.app.has_field(tool, field)

    def record_refusal(self, failure: Failure) -> Failure:
        return self.app.record_refusal(failure)

    async def call(
        self, tool: str, arguments: Mapping[str, Any], report: Any, _: Any, consent: Consent
    ) -> Result:
        return await self.app.call(tool, arguments, report, self.request_context, consent)


@dataclass(frozen=True)
class Told:
    rendered: dict[str, Any]
    text: str


async def told(code: str, style: str, standin: StandIn) -> Told:
    scene = SCENES[code]
    with_labels(standin, "bug", "idea")
    settings = dict(scene.settings)
    if code == Code.FEATURE_UNAVAILABLE:
        off = {"id": 9001, "path_with_namespace": "acme/website", "issues_access_level": "disabled"}
        standin.answer("GET", "/projects/acme%2Fwebsite", 200, off)
    if scene.answer:
        method, status, body, *headers = scene.answer
        path = {"browse_epics": "/groups/*/epics", "browse_issues": "/projects/*/issues"}.get(
            scene.call[0], "/projects/*/issues" if scene.call[0] == "manage_issue" else "/projects/*/labels"
        )
        path += "/*" if scene.call[1]["action"] == "get" else ""
        standin.answer(method, path, status, body, *headers)
    chosen = {"token": Secret("alice"), "toolsets": ("all",), "url": standin.url, **UNGUARDED, **settings}
    app = App(Settings(**chosen))
    try:
        more = await scene.before(app) if scene.before else {}
        server = GitLabServer(Visited(app, scene.request_context), error_style=style, format="both")
        tool, arguments = scene.call
        answer: Any = await server.call_tool(tool, {**arguments, **more})
    finally:
        app.close()
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

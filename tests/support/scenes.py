"""One call for every code of a failure, with what makes it fail. Answers of GitLab are synthetic."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from gitlab_mcp.actions.action import Danger
from gitlab_mcp.actions.arguments.defaults import InstanceDefaults
from gitlab_mcp.actions.arguments.validation import validate
from gitlab_mcp.actions.registry import Registry
from gitlab_mcp.actions.result import Result
from gitlab_mcp.app import App
from gitlab_mcp.callers import CallerKey, Consent, RequestContext, Secret, Token
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import Failure
from gitlab_mcp.policy.confirmation import purpose
from gitlab_mcp.policy.confirmation_tokens import LIFETIME, ConfirmationTokens
from gitlab_mcp.settings import Settings
from tests.support.guarded import DEFAULTS, UNGUARDED, delete_label, refused, request_by, with_labels
from tests.support.standin import StandIn
from tests.support.versions import OLDEST, cassettes_of

PROJECT = {"project_id": "acme/website"}
LIST = ("browse_labels", {"action": "list", **PROJECT})
CREATE = ("manage_issue", {"action": "create", **PROJECT, "title": "A title"})
LABEL = {"action": "create", **PROJECT, "name": "idea", "color": "#d9534f"}
DELETE = ("manage_label", delete_label())
NOWHERE = "http://127.0.0.1:9"
"""A port on which nothing listens."""

NEVER_ENDING = ExitStack()

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
    caller = CallerKey(Token(Secret("alice"), "private").holder, settings.url, None)
    tokens = ConfirmationTokens(app._store, lambda: time.time() - LIFETIME - 100)
    return {"confirmation_token": (await tokens.issue(caller, purpose(call, caller), "labels:delete"))[0]}


async def nine_writes(app: App) -> Arguments:
    for number in range(9):
        await app.call("manage_label", {**LABEL, "name": f"label {number}"})
    return {}


async def one_write(app: App) -> Arguments:
    await app.call("manage_label", {**LABEL, "name": "first"})
    return {}


async def two_calls(app: App) -> Arguments:
    caller = Token(Secret("alice"), "private").holder
    for _ in range(2):
        NEVER_ENDING.enter_context(app._calls_per_caller.slot(caller))
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
    Code.BUSY: Scene(LIST, {"calls_per_caller": 2}, before=two_calls, request_context=request_by("alice")),
    Code.HOST_NOT_ALLOWED: Scene(
        ("browse_labels", {"action": "list", "url": "https://elsewhere.example.com/acme/website"})
    ),
    Code.REPLAY_MISS: Scene(
        ("browse_labels", {"action": "list", "project_id": "acme/unheard-of"}),
        {"replay": (cassettes_of(OLDEST) / "labels.json",)},
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

    async def listing_of_caller(self, request_context: RequestContext | None) -> Any:
        return await self.app.listing_of_caller(request_context)

    def has_field(self, tool: str, field: str) -> bool:
        return self.app.has_field(tool, field)

    def meant_call(self, tool: str, arguments: Any) -> tuple[str, Any]:
        return self.app.meant_call(tool, arguments)

    def record_refusal(self, failure: Failure) -> Failure:
        return self.app.record_refusal(failure)

    async def call(
        self, tool: str, arguments: Mapping[str, Any], report: Any, _: Any, consent: Consent
    ) -> Result:
        return await self.app.call(tool, arguments, report, self.request_context, consent)


@asynccontextmanager
async def played(code: str, standin: StandIn) -> AsyncIterator[tuple[Visited, str, Arguments]]:
    """The server in front of the stand-in, ready for the call that fails with this code: its tool and arguments."""
    scene = SCENES[code]
    with_labels(standin, "bug", "idea")
    if code == Code.FEATURE_UNAVAILABLE:
        off = {"id": 9001, "path_with_namespace": "acme/website", "issues_access_level": "disabled"}
        standin.answer("GET", "/projects/acme%2Fwebsite", 200, off)
    tool, arguments = scene.call
    if scene.answer:
        method, status, body, *headers = scene.answer
        path = {"browse_epics": "/groups/*/epics", "browse_labels": "/projects/*/labels"}.get(
            tool, "/projects/*/labels" if tool == "manage_label" else "/projects/*/issues"
        )
        path += "/*" if arguments["action"] == "get" else ""
        standin.answer(method, path, status, body, *headers)
    chosen = {
        "token": Secret("alice"),
        "toolsets": ("all",),
        "url": standin.url,
        **UNGUARDED,
        **scene.settings,
    }
    app = App(Settings(**chosen))
    try:
        more = await scene.before(app) if scene.before else {}
        yield Visited(app, scene.request_context), tool, {**arguments, **more}
    finally:
        app.close()

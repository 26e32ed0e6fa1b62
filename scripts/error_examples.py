"""One example for each code: what was sent, what GitLab answered, and what this server makes of it.

Recorded examples come from `tests/support/recordings`, put through the translator as it is. Where nothing could be
recorded, the server itself is called without a GitLab, or the fault is invented; then the example says so.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from gitlab_mcp.actions.action import Action
from gitlab_mcp.actions.arguments.defaults import InstanceDefaults
from gitlab_mcp.actions.arguments.validation import validate
from gitlab_mcp.actions.ask import NobodyToAsk
from gitlab_mcp.actions.exchange import Request
from gitlab_mcp.actions.registry import Registry
from gitlab_mcp.app import App
from gitlab_mcp.failures.codes import CODES, Code
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.failures.render import render
from gitlab_mcp.gitlab.faults import (
    BadAnswer,
    BadAnswerReason,
    ForeignHost,
    Refused,
    Unreachable,
    UnreachableReason,
)
from gitlab_mcp.gitlab.instance import AnswerCache, CachedLookups
from gitlab_mcp.refusals.translate import translate
from gitlab_mcp.settings import Settings
from tests.support.as_called import as_called
from tests.support.exam import Recorded, refused
from tests.support.recordings import rows

ROOT: Final = Path(__file__).resolve().parent.parent
URL: Final = "https://gitlab.example.com"
PROJECT: Final = {"project_id": "acme/website"}

RECORDED: Final = {
    Code.REJECTED: "labels/bad_color",
    Code.NOT_FOUND: "issues/guest_confidential",
    Code.AUTHENTICATION_FAILED: "auth/expired_users",
    Code.SCOPE_INSUFFICIENT: "scopes/read_api_writes_issue",
    Code.PERMISSION_DENIED: "branches/reporter_creates",
    Code.CONFLICT: "merge_requests/duplicate",
    Code.FEATURE_UNAVAILABLE: "issues/off_create",
    Code.TIER_RESTRICTED: "epics/list_free",
    Code.RATE_LIMITED: "rate_limits/users_get_by_id",
    Code.SERVER_ERROR: "branches/bad_search_regex",
}

LABEL: Final = {**PROJECT, "action": "delete", "label_id": "bug"}
CALLS: Final[Mapping[Code, tuple[str, dict[str, Any], dict[str, Any]]]] = {
    Code.UNKNOWN_TOOL: ("browse_issue", {"action": "list"}, {}),
    Code.INVALID_ACTION: ("browse_issues", {"action": "update", **PROJECT, "issue_iid": 1}, {}),
    Code.MISSING_REQUIRED_FIELD: ("manage_merge_request", {"action": "create", **PROJECT}, {}),
    Code.TYPE_MISMATCH: ("browse_issues", {"action": "get", **PROJECT, "issue_iid": "first"}, {}),
    Code.INVALID_VALUE: ("browse_issues", {"action": "list", **PROJECT, "state": "open"}, {}),
    Code.FIELD_NOT_ALLOWED: ("browse_issues", {"action": "list", **PROJECT, "milestone_id": 3}, {}),
    Code.INVALID_ENCODING: ("manage_issue", {"action": "create", **PROJECT, "title": "a\0b"}, {}),
    Code.PAYLOAD_TOO_LARGE: (
        "manage_issue",
        {"action": "create", **PROJECT, "title": "T", "labels": ["x"] * 10_001},
        {},
    ),
    Code.READ_ONLY_MODE: ("manage_label", LABEL, {"read_only": True}),
    Code.OUT_OF_SCOPE: (
        "browse_labels",
        {"action": "list", "project_id": "other/secret"},
        {"only_in": ("acme",)},
    ),
    Code.TRUST_INSUFFICIENT: ("manage_label", LABEL, {"trust": "reversible"}),
    Code.CONFIRMATION_REQUIRED: ("manage_label", LABEL, {}),
    Code.CONFIRMATION_INVALID: ("manage_label", {**LABEL, "confirmation_token": "made-up"}, {}),
    Code.REPLAY_MISS: ("browse_labels", {"action": "list", "project_id": "acme/unheard-of"}, {}),
}


def _sent(method: str, path: str, repeatable: bool = False) -> Request:
    return Request(method, path, repeatable=repeatable)


CREATE: Final = _sent("POST", "/projects/acme%2Fwebsite/issues")
READ: Final = _sent("GET", "/projects/acme%2Fwebsite/issues")
JSON: Final = {"content-type": "application/json"}
INVENTED: Final[Mapping[Code, Exception | Failure]] = {
    Code.NETWORK_ERROR: Unreachable(
        READ, UnreachableReason.TLS, "gitlab.example.com", sent=False, attempts=1
    ),
    Code.OUTCOME_UNKNOWN: Unreachable(CREATE, UnreachableReason.LOST, "gitlab.example.com", sent=True),
    Code.BAD_RESPONSE: BadAnswer(READ, BadAnswerReason.HTML, 200),
    Code.API_ERROR: Refused(READ, 418, JSON, b'{"message":"418 I\'m a teapot"}'),
    Code.HOST_NOT_ALLOWED: ForeignHost("elsewhere.example.com"),
    Code.INTERNAL_ERROR: ZeroDivisionError(),
}
SAID: Final[Mapping[Code, tuple[str, dict[str, Any]]]] = {
    Code.DANGER_DENIED: (
        "delete is destructive, and callers may do at most what is reversible here.",
        {"danger": "destructive", "trust_held": "reversible", "trust_required": "destructive"},
    ),
    Code.CONFIRMATION_EXPIRED: ("The confirmation has expired.", {}),
    Code.CONFIRMATION_USED: ("The confirmation was used already.", {}),
    Code.CONFIRMATION_MISMATCH: ("The confirmation was given for another call.", {}),
    Code.QUOTA_PAUSED: (
        "Half of the writes of this hour are made; a person should look.",
        {"limit": 1000, "remaining": 500},
    ),
    Code.QUOTA_EXHAUSTED: (
        "The writes of this hour are used up.",
        {"limit": 1000, "retry_after_seconds": 900},
    ),
    Code.STORE_UNAVAILABLE: ("The shared store does not answer.", {}),
    Code.UPSTREAM_PAUSED: (
        "GitLab failed several times in a row and is given a rest.",
        {"retry_after_seconds": 20},
    ),
    Code.BUSY: ("This caller has too many calls under way.", {"limit": 16}),
    Code.CONFIGURATION_ERROR: (
        "No GitLab token was given, so nobody can be asked anything.",
        {"setting": "GITLAB_TOKEN", "token_problem": "missing"},
    ),
    Code.BATCH_PARTIAL_FAILURE: (
        "The call failed.",
        {"results": [{"error": Failure(Code.UNKNOWN_TOOL, "There is no such tool.")}]},
    ),
}
CHANGES: Final = ("event_id", "confirmation_token", "expires_at", "request_id", "reset_at")
"""Facts that differ from one run to the next."""


def examples() -> dict[str, dict[str, Any]]:
    """By code, in the order of the catalogue."""
    logging.getLogger("gitlab_mcp").setLevel(logging.CRITICAL)
    found = asyncio.run(_all())
    return {code.value: found[code] for code in CODES}


async def _all() -> dict[Code, dict[str, Any]]:
    recorded = {row["label"]: row for row in rows("errors")}
    found = {code: await _recorded(code, recorded[label]) for code, label in RECORDED.items()}
    found |= {code: await _own(code, *call) for code, call in CALLS.items()}
    for code, problem in INVENTED.items():
        failure = await translate(problem, None, NobodyToAsk()) if isinstance(problem, Exception) else problem
        found[code] = _example("synthetic", code, failure)
    for code, (message, facts) in SAID.items():
        fix = CODES[code].agent
        found[code] = _example("synthetic", code, Failure(code, message, {**facts, "suggested_fix": fix}))
    return found


async def _recorded(code: str, row: Mapping[str, Any]) -> dict[str, Any]:
    called = as_called(row)
    assert called, row["label"]
    spec, ask = called.action.spec, CachedLookups(Recorded("context_ee", row["actor"]), AnswerCache())
    arguments = {"action": spec.name, **called.arguments}
    failure = await translate(refused(row), _action(spec.tool.name, arguments), ask)
    call = {"tool": spec.tool.name, "arguments": arguments}
    answered = {"status": row["status"], "body": row["body"][:400]}
    return {
        **_example("recorded", code, failure.knowing(tool=spec.tool.name, action=spec.name), call),
        "gitlab": answered,
    }


def _action(tool: str, arguments: Mapping[str, Any]) -> Action | None:
    """None for what this server would not even send: what GitLab says to it is an example all the same."""
    try:
        return validate(Registry(), tool, arguments, InstanceDefaults(URL)).action
    except CallFailed:
        return None


async def _own(code: str, tool: str, arguments: dict[str, Any], settings: dict[str, Any]) -> dict[str, Any]:
    app = App(Settings(url=URL, replay=(ROOT / "cassettes" / "labels.json",), toolsets=("all",), **settings))
    try:
        await app.call(tool, arguments)
    except CallFailed as failed:
        return _example(
            "this server alone", code, failed.failure, {"tool": tool, "arguments": _short(arguments)}
        )
    finally:
        app.close()
    raise AssertionError(f"{code}: it went through")


def _short(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: f"an array of {len(value)} items" if isinstance(value, list) and len(value) > 5 else value
        for name, value in arguments.items()
    }


def _example(
    source: str, code: str, failure: Failure, call: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    assert failure.code == code, f"{failure.code} in place of {code}"
    facts = {name: "…" if name in CHANGES else value for name, value in failure.facts.items()}
    answer = render(replace(failure, facts=facts))
    example: dict[str, Any] = {"source": source}
    if call:
        example["call"] = call
    return {**example, "answer": json.loads(json.dumps(answer, default=str))}

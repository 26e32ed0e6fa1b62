"""One example for each code: what was sent, what GitLab answered, and what this server makes of it.

Recorded examples come from `tests/support/recordings`, put through the translator as it is. Otherwise the server itself
is called: alone, or where GitLab has a part in it, with a stand-in that answers what the example says.
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
from gitlab_mcp.actions.registry import Registry
from gitlab_mcp.app import App
from gitlab_mcp.callers import Consent
from gitlab_mcp.failures.codes import CODES, Code
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.failures.render import render
from gitlab_mcp.gitlab.instance import AnswerCache, CachedLookups
from gitlab_mcp.observability.call_log import CallLog
from gitlab_mcp.observability.outcome import Outcome
from gitlab_mcp.refusals.translate import translate
from gitlab_mcp.settings import Settings
from tests.support.as_called import as_called
from tests.support.exam import Recorded, refused
from tests.support.recordings import rows
from tests.support.scenes import SCENES, played
from tests.support.standin import StandIn

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


SYNTHETIC: Final = (
    Code.NETWORK_ERROR,
    Code.OUTCOME_UNKNOWN,
    Code.BAD_RESPONSE,
    Code.API_ERROR,
    Code.STORE_UNAVAILABLE,
    Code.UPSTREAM_PAUSED,
    Code.INTERNAL_ERROR,
)
"""Calls of `tests/support/scenes.py` that fail because of what the stand-in, the network or a planted bug does."""
ALONE: Final = (
    Code.DANGER_DENIED,
    Code.CONFIRMATION_EXPIRED,
    Code.CONFIRMATION_USED,
    Code.CONFIRMATION_MISMATCH,
    Code.QUOTA_PAUSED,
    Code.QUOTA_EXHAUSTED,
    Code.BUSY,
    Code.HOST_NOT_ALLOWED,
    Code.CONFIGURATION_ERROR,
    Code.BATCH_PARTIAL_FAILURE,
)
"""Calls of `tests/support/scenes.py` that are refused before GitLab is asked."""
CHANGES: Final = (
    "event_id",
    "confirmation_token",
    "consumed_at",
    "current_time",
    "expired_at",
    "expires_at",
    "request_id",
    "reset_at",
    "retry_after_seconds",
)
"""Facts that differ from one run to the next."""


_CALL_LOG: Final = CallLog(lambda outcome: None, lambda outcome, bug: None)


def examples() -> dict[str, dict[str, Any]]:
    """By code, in the order of the catalogue."""
    logging.getLogger("gitlab_mcp").setLevel(logging.CRITICAL)
    found = asyncio.run(_all())
    return {code.value: found[code] for code in CODES}


async def _all() -> dict[Code, dict[str, Any]]:
    recorded = {row["label"]: row for row in rows("errors")}
    found = {code: await _recorded(code, recorded[label]) for code, label in RECORDED.items()}
    found |= {code: await _own(code, *call) for code, call in CALLS.items()}
    found |= {code: await _played(code, "synthetic") for code in SYNTHETIC}
    found |= {code: await _played(code, "this server alone") for code in ALONE}
    return found


async def _recorded(code: str, row: Mapping[str, Any]) -> dict[str, Any]:
    called = as_called(row)
    assert called, row["label"]
    spec, ask = called.action.spec, CachedLookups(Recorded("context_ee", row["actor"]), AnswerCache())
    arguments = {"action": spec.name, **called.arguments}
    failure = await translate(refused(row), _action(spec.tool.name, arguments), ask)
    # Gives the event id, as after every call.
    failure = _CALL_LOG.record(Outcome("", 0.0, failure)) or failure
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


async def _played(code: Code, source: str) -> dict[str, Any]:
    with StandIn() as standin:
        async with played(code, standin) as (server, tool, arguments):
            try:
                await server.call(tool, arguments, None, None, Consent())
            except CallFailed as failed:
                call = {"tool": tool, "arguments": _without_changes(arguments)}
                example = _example(source, code, failed.failure, call)
            else:
                raise AssertionError(f"{code}: it went through")
        # The stand-in listens on another port each time.
        text = json.dumps(example).replace(standin.url, URL)
    _, *answered = SCENES[code].answer or [None]
    gitlab = {"gitlab": {"status": answered[0], "body": _as_text(answered[1])}} if answered else {}
    return {**json.loads(text), **gitlab}


def _as_text(body: Any) -> str:
    return body if isinstance(body, str) else json.dumps(body)


def _without_changes(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {name: "…" if name in CHANGES else value for name, value in _short(arguments).items()}


async def _own(code: str, tool: str, arguments: dict[str, Any], settings: dict[str, Any]) -> dict[str, Any]:
    app = App(
        Settings(
            url=URL, replay=(ROOT / "cassettes" / "17.2" / "labels.json",), toolsets=("all",), **settings
        )
    )
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

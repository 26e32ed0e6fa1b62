from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitlab_mcp.failures.codes import CODES, Code
from gitlab_mcp.failures.facts import FACTS
from gitlab_mcp.failures.failure import Failure
from gitlab_mcp.failures.render import STYLES, as_text, render

TEXT = st.text(min_size=1, max_size=8)
VALUES = TEXT | st.integers() | st.booleans() | st.lists(TEXT, min_size=1, max_size=3)
SHAPED: dict[str, Any] = {
    "http_status": st.integers(400, 599),
    "invalid_fields": st.just([{"field": "name", "expected": "number", "received": "array"}]),
    "missing_fields": st.just(["title"]),
    "unknown_fields": st.just(["titel"]),
    "allowed_fields": st.just(["title"]),
    "alternatives": st.just(
        [{"action": "browse_labels list", "description": "Labels.", "available_on": "Free"}]
    ),
    "candidates": st.just([{"id": 7, "name": "acme/website"}]),
    "blockers": st.just([{"status": "conflict", "reason": "it conflicts", "lifted_by": "Resolve it."}]),
    "evidence": st.lists(TEXT, min_size=1, max_size=3),
    "gitlab_message": st.text(min_size=1),
    "results": st.just([{"result": {}}, {"error": Failure(Code.NOT_FOUND, "No.")}]),
    "retryable": st.booleans(),
    "check_with": st.just({"action": "browse_issues list", "arguments": {"project_id": "acme/website"}}),
    "valid_actions": st.just(["get", "list"]),
    "suggested_fix": st.just("Do something else."),
}
FAILURES = st.builds(
    Failure,
    st.sampled_from(sorted(CODES)),
    st.just("Something is not as it should be."),
    st.fixed_dictionaries({}, optional={name: SHAPED.get(name, VALUES) for name in FACTS}),
)


def leaves(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [leaf for inner in value.values() for leaf in leaves(inner)]
    if isinstance(value, list):
        return [leaf for inner in value for leaf in leaves(inner)]
    return [value]


@given(failure=FAILURES)
def test_every_fact_is_in_every_dialect_and_nothing_is_null(failure: Failure) -> None:
    for style in STYLES:
        rendered = render(failure, style)
        assert json.loads(json.dumps(rendered)) == rendered, style
        assert None not in leaves(rendered), style
        holders = [rendered, rendered.get("details", {}), rendered.get("problem", {}).get("extensions", {})]
        error = rendered.get("error")
        holders.append(error["details"] if isinstance(error, dict) else {})
        for name, value in failure.facts.items():
            if name not in ("retryable", "http_status", "results"):
                assert any(holder.get(name) == value for holder in holders), (style, name)


@given(failure=FAILURES)
def test_a_person_gets_a_text_in_every_dialect(failure: Failure) -> None:
    for style in STYLES:
        assert failure.message in as_text(failure, style), style


TIER = Failure(
    Code.TIER_RESTRICTED,
    "Epics need GitLab Premium or Ultimate; this GitLab is on Free.",
    {
        "tool": "browse_epics",
        "action": "list",
        "http_status": 403,
        "tier_required": "Premium",
        "confidence": "certain",
        "evidence": ["the instance has no licence"],
        "gitlab_message": "403 Forbidden",
    },
)
MISSING = Failure(
    Code.MISSING_REQUIRED_FIELD,
    "create needs title.",
    {"tool": "manage_issue", "action": "create", "missing_fields": ["title"]},
)


def test_the_default_is_flat_and_says_what_first() -> None:
    assert render(TIER) == {
        "error": True,
        "error_code": "TIER_RESTRICTED",
        "tool": "browse_epics",
        "action": "list",
        "http_status": 403,
        "message": "Epics need GitLab Premium or Ultimate; this GitLab is on Free.",
        "confidence": "certain",
        "evidence": ["the instance has no licence"],
        "retryable": False,
        "gitlab_message": "403 Forbidden",
        "tier_required": "Premium",
    }
    assert list(render(TIER))[:6] == ["error", "error_code", "tool", "action", "http_status", "message"]


@pytest.mark.parametrize(
    ("code", "kind", "again"),
    [
        (Code.NETWORK_ERROR, "NETWORK_ERROR", True),
        (Code.SERVER_ERROR, "SERVER_ERROR", True),
        (Code.RATE_LIMITED, "CLIENT_ERROR", True),
        (Code.NOT_FOUND, "NOT_FOUND", False),
        (Code.PERMISSION_DENIED, "AUTHENTICATION_ERROR", False),
        (Code.OUTCOME_UNKNOWN, "NETWORK_ERROR", False),
        (Code.INTERNAL_ERROR, "UNKNOWN_ERROR", False),
    ],
)
def test_toolerror_sends_the_same_again_only_where_waiting_helps(code: Code, kind: str, again: bool) -> None:
    rendered = render(Failure(code, "It failed."), "toolerror")
    assert (rendered["code"], rendered["retryable"]) == (kind, again)


def test_text_says_whose_turn_it_is() -> None:
    assert as_text(MISSING, "text").startswith("Input Error: create needs title.")
    crash = Failure(Code.SERVER_ERROR, "GitLab failed.", {"http_status": 500, "event_id": "abc"})
    assert as_text(crash, "text").startswith("Server Error (500): GitLab failed. Event ID: abc.")


def test_what_gitlab_said_cannot_become_markup() -> None:
    shown = as_text(Failure(Code.REJECTED, "No.", {"gitlab_message": "` ![x](http://evil) `"}))
    assert "`' ![x](http://evil) '`" in shown

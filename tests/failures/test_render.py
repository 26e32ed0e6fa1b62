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

VALUES = st.text(min_size=1) | st.integers() | st.booleans() | st.lists(st.text(min_size=1), min_size=1)
SHAPED: dict[str, Any] = {
    "http_status": st.integers(400, 599),
    "invalid_fields": st.just([{"field": "name", "expected": "number", "received": "array"}]),
    "missing_fields": st.just(["title"]),
    "unknown_fields": st.just(["titel"]),
    "allowed_fields": st.just(["title"]),
    "alternatives": st.just(
        [{"action": "browse_labels list", "description": "Labels.", "available_on": "Free"}]
    ),
    "blockers": st.just([{"status": "conflict", "reason": "it conflicts", "lifted_by": "Resolve it."}]),
    "evidence": st.lists(st.text(min_size=1), min_size=1),
    "gitlab_message": st.text(min_size=1),
    "results": st.just([{"data": {}}, {"error": {"error_code": "NOT_FOUND", "message": "No."}}]),
    "retryable": st.booleans(),
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
            if name != "retryable":
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


def test_toolerror_asks_for_input_only_where_a_person_could_give_it() -> None:
    assert render(TIER, "toolerror")["kind"] == "toolError:v1"
    asked = render(MISSING, "toolerror")
    assert (asked["kind"], asked["code"], asked["retryable"]) == ("needsInput:v1", "CLIENT_ERROR", False)
    assert asked["details"]["statusCode"] == 400


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


@pytest.mark.parametrize(
    ("failure", "code", "message"),
    [
        (MISSING, "VALIDATION_MISSING_PARAM", "Missing required parameter 'title'"),
        (
            Failure(
                Code.TYPE_MISMATCH,
                "No.",
                {"invalid_fields": [{"field": "page", "expected": "number", "received": "array"}]},
            ),
            "VALIDATION_INVALID_TYPE",
            "Parameter 'page' expected 'number', got 'array'",
        ),
        (
            Failure(
                Code.FIELD_NOT_ALLOWED,
                "No.",
                {"tool": "t", "action": "a", "unknown_fields": ["x"], "allowed_fields": ["y"]},
            ),
            "VALIDATION_UNKNOWN_PARAM",
            "Unknown parameter(s) for operation 't a': x",
        ),
        (
            Failure(Code.INVALID_ACTION, "No.", {"action": "fly"}),
            "NOT_FOUND_OPERATION",
            "Unknown operation: 'fly'",
        ),
        (
            Failure(Code.REJECTED, "No.", {"missing_fields": ["ref"]}),
            "VALIDATION_MISSING_PARAM",
            "Missing required parameter 'ref'",
        ),
        (Failure(Code.REJECTED, "GitLab said no."), "VALIDATION_INVALID_TYPE", "GitLab said no."),
        (Failure(Code.CONFLICT, "There.", {"state": "exists"}), "CONFLICT_ALREADY_EXISTS", "There."),
        (Failure(Code.CONFLICT, "Changed.", {"state": "changed"}), "CONFLICT_VERSION_MISMATCH", "Changed."),
        (Failure(Code.RATE_LIMITED, "No."), "RATE_LIMIT_EXCEEDED", "API rate limit exceeded"),
        (
            Failure(Code.CONFIRMATION_USED, "No."),
            "TOKEN_ALREADY_USED",
            "Confirmation token has already been used",
        ),
        (
            Failure(Code.PERMISSION_DENIED, "No right."),
            "PERMISSION_DENIED",
            "Permission denied: 'No right.'",
        ),
    ],
)
def test_aql_uses_its_own_codes_and_templates(failure: Failure, code: str, message: str) -> None:
    error = render(failure, "aql")["error"]
    assert (error["code"], error["message"]) == (code, message)


def test_aql_counts_a_batch() -> None:
    results = [{"data": {}}, {"error": {"error_code": "NOT_FOUND", "message": "No."}}]
    error = render(Failure(Code.BATCH_PARTIAL_FAILURE, "1 of 2 failed.", {"results": results}), "aql")[
        "error"
    ]
    assert error["message"] == "1 of 2 operations failed"
    assert error["details"]["errors"] == [{"index": 1, "code": "NOT_FOUND", "message": "No."}]


def test_problem_is_rfc_9457_beside_an_empty_result() -> None:
    rendered = render(TIER, "problem")
    assert (rendered["items"], rendered["error"]) == ([], TIER.message)
    problem = rendered["problem"]
    assert problem["type"].endswith(problem["code"])
    assert (problem["code"], problem["status"]) == ("tier-restricted", 403)
    assert problem["instance"] == "urn:gitlab-mcp:epics:list"
    assert "items" not in render(MISSING, "problem")


def test_text_says_whose_turn_it_is() -> None:
    assert as_text(MISSING, "text").startswith("Input Error: create needs title.")
    crash = Failure(Code.SERVER_ERROR, "GitLab failed.", {"http_status": 500, "event_id": "abc"})
    assert as_text(crash, "text").startswith("Server Error (500): GitLab failed. Event ID: abc.")


def test_what_gitlab_said_cannot_become_markup() -> None:
    shown = as_text(Failure(Code.REJECTED, "No.", {"gitlab_message": "` ![x](http://evil) `"}))
    assert "`' ![x](http://evil) '`" in shown

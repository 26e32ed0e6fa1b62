"""MCP-AQL: its codes, its message templates, and the details each of its codes carries beside our facts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import Failure
from gitlab_mcp.failures.render.facts import code_of, facts, status_of

Details = dict[str, Any]


def render(failure: Failure) -> dict[str, Any]:
    known = facts(failure)
    code = _code(failure)
    details = {
        "error_code": failure.code,
        "operation": _operation(known),
        **_DETAILS.get(code, _none)(failure),
    }
    details = {name: value for name, value in details.items() if value is not None}
    return {
        "success": False,
        "error": {"code": code, "message": _message(code, details, failure), "details": {**details, **known}},
    }


def _code(failure: Failure) -> str:
    """One code of ours is two of theirs where they ask what exactly was wrong."""
    if failure.code == Code.CONFLICT and failure.facts.get("state") not in (None, "exists"):
        return "CONFLICT_VERSION_MISMATCH"
    if failure.code == Code.REJECTED and failure.facts.get("missing_fields"):
        return "VALIDATION_MISSING_PARAM"
    return code_of(failure).aql


def _message(code: str, details: Details, failure: Failure) -> str:
    """The template where its details are known; otherwise our sentence, which says more than a gap would."""
    template = _TEMPLATES.get(code, "")
    try:
        return template.format_map(details) if template else failure.message
    except KeyError:
        return failure.message


def _operation(known: Mapping[str, Any]) -> str | None:
    return (
        f"{known['tool']} {known['action']}" if "tool" in known and "action" in known else known.get("tool")
    )


def _first(values: Any) -> Any:
    return next(iter(values), None) if values else None


def _none(failure: Failure) -> Details:
    return {}


def _missing_param(failure: Failure) -> Details:
    return {"param_name": _first(failure.facts.get("missing_fields"))}


def _invalid_type(failure: Failure) -> Details:
    first = _first(failure.facts.get("invalid_fields")) or {}
    return {
        "param_name": first.get("field"),
        "expected_type": first.get("expected"),
        "actual_type": first.get("received"),
    }


def _unknown_param(failure: Failure) -> Details:
    unknown = list(failure.facts.get("unknown_fields", ())) or None
    valid = failure.facts.get("allowed_fields")
    return {
        "unknown_params": unknown,
        "valid_params": list(valid) if valid else None,
        "param_list": ", ".join(unknown) if unknown else None,
    }


def _encoding(failure: Failure) -> Details:
    return {"location": (_first(failure.facts.get("invalid_fields")) or {}).get("field")}


def _too_large(failure: Failure) -> Details:
    limit, unit = failure.facts.get("limit"), failure.facts.get("unit")
    kind = "request_size" if unit else "response_size"
    return {"limit_type": kind, "limit_value": limit, "unit": unit or "bytes"} if limit is not None else {}


def _no_operation(failure: Failure) -> Details:
    asked = failure.facts.get("action") if failure.code == Code.INVALID_ACTION else failure.facts.get("tool")
    return {"operation_name": asked, "available": failure.facts.get("valid_actions")}


def _no_resource(failure: Failure) -> Details:
    return {"resource_type": failure.facts.get("missing"), "http_status": status_of(failure)}


def _denied(failure: Failure) -> Details:
    return {
        "reason": failure.message,
        "http_status": status_of(failure),
        "required_scope": failure.facts.get("scope_required"),
    }


def _internal(failure: Failure) -> Details:
    return {"description": failure.message, "http_status": status_of(failure)}


def _trust(failure: Failure) -> Details:
    allowed = failure.facts.get("allowed")
    return {
        "danger_level": failure.facts.get("danger"),
        "required_trust": failure.facts.get("trust_required"),
        "actual_trust": failure.facts.get("trust_held", allowed),
        "adapter_trust": failure.facts.get("trust_held", allowed),
        "minimum_trust_required": failure.facts.get("trust_required"),
    }


def _confirmation(failure: Failure) -> Details:
    return {
        "danger_level": failure.facts.get("danger"),
        "confirmation_message": failure.facts.get("what_will_happen"),
        "confirmation_token": failure.facts.get("confirmation_token"),
        "expires_at": failure.facts.get("expires_at"),
    }


def _limits(failure: Failure) -> Details:
    known = failure.facts
    return {
        "limit": known.get("limit"),
        "remaining": known.get("remaining"),
        "resets_at": known.get("reset_at"),
        "retry_after_seconds": known.get("retry_after_seconds"),
        "confirmation_token": known.get("confirmation_token"),
        "expires_at": known.get("expires_at"),
    }


def _batch(failure: Failure) -> Details:
    results = failure.facts.get("results", ())
    failed = [
        {"index": index, "code": item["error"].get("error_code"), "message": item["error"].get("message")}
        for index, item in enumerate(results)
        if isinstance(item, Mapping) and isinstance(item.get("error"), Mapping)
    ]
    return {
        "total": len(results),
        "succeeded": len(results) - len(failed),
        "failed": len(failed),
        "errors": failed,
    }


_DETAILS: Final[Mapping[str, Callable[[Failure], Details]]] = {
    "VALIDATION_MISSING_PARAM": _missing_param,
    "VALIDATION_INVALID_TYPE": _invalid_type,
    "VALIDATION_UNKNOWN_PARAM": _unknown_param,
    "VALIDATION_INVALID_ENCODING": _encoding,
    "VALIDATION_PAYLOAD_TOO_LARGE": _too_large,
    "NOT_FOUND_OPERATION": _no_operation,
    "NOT_FOUND_RESOURCE": _no_resource,
    "PERMISSION_DENIED": _denied,
    "PERMISSION_TRUST_LEVEL_INSUFFICIENT": _trust,
    "PERMISSION_DANGER_LEVEL_DENIED": _trust,
    "CONFIRMATION_REQUIRED": _confirmation,
    "RATE_LIMIT_EXCEEDED": _limits,
    "RATE_LIMIT_QUOTA_PAUSE": _limits,
    "RATE_LIMIT_QUOTA_EXHAUSTED": _limits,
    "INTERNAL_ERROR": _internal,
    "BATCH_PARTIAL_FAILURE": _batch,
}

_TEMPLATES: Final[Mapping[str, str]] = {
    "VALIDATION_MISSING_PARAM": "Missing required parameter '{param_name}'",
    "VALIDATION_INVALID_TYPE": "Parameter '{param_name}' expected '{expected_type}', got '{actual_type}'",
    "VALIDATION_UNKNOWN_PARAM": "Unknown parameter(s) for operation '{operation}': {param_list}",
    "VALIDATION_INVALID_ENCODING": "Invalid character encoding in request",
    "VALIDATION_PAYLOAD_TOO_LARGE": "Payload exceeds {limit_type} limit of {limit_value}",
    "NOT_FOUND_OPERATION": "Unknown operation: '{operation_name}'",
    "PERMISSION_DENIED": "Permission denied: '{reason}'",
    "PERMISSION_TRUST_LEVEL_INSUFFICIENT": (
        "Operation '{operation}' requires trust level '{required_trust}', adapter has '{actual_trust}'"
    ),
    "PERMISSION_DANGER_LEVEL_DENIED": (
        "Operation '{operation}' (danger: {danger_level}) denied for adapter trust level '{adapter_trust}'"
    ),
    "CONFIRMATION_REQUIRED": "This operation requires confirmation",
    "RATE_LIMIT_EXCEEDED": "API rate limit exceeded",
    "RATE_LIMIT_QUOTA_PAUSE": "Quota pause threshold reached",
    "RATE_LIMIT_QUOTA_EXHAUSTED": "Quota exhausted",
    "TOKEN_INVALID": "Invalid confirmation token",
    "TOKEN_EXPIRED": "Confirmation token has expired",
    "TOKEN_ALREADY_USED": "Confirmation token has already been used",
    "TOKEN_SCOPE_MISMATCH": "Confirmation token scope mismatch",
    "INTERNAL_ERROR": "Internal error: '{description}'",
    "BATCH_PARTIAL_FAILURE": "{failed} of {total} operations failed",
}

"""MCP-AQL: its codes, its message templates, and the details each of its codes carries beside our facts."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from gitlab_mcp.failures.codes import NOTICES, Code, NoticeCode
from gitlab_mcp.failures.failure import Failure
from gitlab_mcp.failures.render.facts import code_of, facts, failed_items

Details = dict[str, Any]


def render(failure: Failure) -> dict[str, Any]:
    code = _code(failure)
    details = {
        "error_code": failure.code,
        "operation": failure.call.operation,
        **_DETAILS.get(code, _none)(failure),
    }
    details = {name: value for name, value in details.items() if value is not None}
    # Facts first: where a name means both, the dialect's own meaning counts.
    shown = {**facts(failure, render), **details}
    return {
        "success": False,
        "error": {"code": code, "message": _message(code, details, failure), "details": shown},
    }


def success(data: Mapping[str, Any]) -> dict[str, Any]:
    """`data` is the result; our warnings stand beside it, those of GitLab stay in it."""
    rest = dict(data)
    noted = rest.pop("warnings", None)
    entries = noted if isinstance(noted, list) else []
    ours = [entry for entry in entries if isinstance(entry, Mapping) and entry.get("code") in NOTICES]
    theirs = [entry for entry in entries if entry not in ours] if isinstance(noted, list) else noted
    if theirs:
        rest["warnings"] = theirs
    answer: dict[str, Any] = {"success": True, "data": rest}
    return {**answer, "warnings": [_warning(entry) for entry in ours]} if ours else answer


def _warning(entry: Mapping[str, Any]) -> dict[str, Any]:
    facts = {name: value for name, value in entry.items() if name not in ("code", "message")}
    if entry["code"] != NoticeCode.QUOTA_WARNING:
        return {"code": entry["code"], "message": entry["message"], "details": facts}
    return {
        "code": "RATE_LIMIT_QUOTA_WARNING",
        "message": "Approaching quota limit",
        "details": {**facts, **_renamed(facts, _QUOTA)},
    }


def _code(failure: Failure) -> str:
    """One code of ours is two of theirs where they ask what exactly was wrong."""
    if failure.code == Code.CONFLICT and failure.facts.get("state") != "exists":
        # It is there and not as the call takes it to be: changed, archived, merged, or GitLab does not say.
        return "CONFLICT_VERSION_MISMATCH"
    if failure.code == Code.REJECTED and failure.facts.get("missing_fields"):
        return "VALIDATION_MISSING_PARAM"
    unknown = failure.facts.get("unknown_fields")
    if failure.code == Code.FIELD_NOT_ALLOWED and unknown and all(map(_is_nested, unknown)):
        return "VALIDATION_UNKNOWN_FIELD"
    return code_of(failure).aql


def _is_nested(field: str) -> bool:
    return "." in field or "[" in field


def _message(code: str, details: Details, failure: Failure) -> str:
    """The template where its details are known; otherwise our sentence behind the words the category begins with."""
    template = _TEMPLATES.get(code, "")
    try:
        if code == "VALIDATION_INVALID_TYPE":
            return template.format_map(_compared(details, failure))
        return template.format_map(details) if template else failure.message
    except KeyError:
        return f"{_BEGINNINGS[code.partition('_')[0]]}: '{failure.message}'"


def _compared(details: Details, failure: Failure) -> Details:
    """What was expected and what came: types, or where the type was right, the rule and the value."""
    first = _first(failure.facts.get("invalid_fields")) or {}
    if details.get("expected_type") != details.get("actual_type"):
        return details
    return {
        "param_name": details["param_name"],
        "expected_type": first["expected"],
        "actual_type": str(first["received"]).strip('"'),
    }


def _renamed(known: Mapping[str, Any], names: Mapping[str, str]) -> Details:
    """The facts under the names that this dialect has for them."""
    return {theirs: known[ours] for theirs, ours in names.items() if known.get(ours) is not None}


def _first(values: Any) -> Any:
    return next(iter(values), None) if values else None


def _none(failure: Failure) -> Details:
    return {}


def _missing_param(failure: Failure) -> Details:
    return {"param_name": _first(failure.facts.get("missing_fields"))}


def _invalid_type(failure: Failure) -> Details:
    first = _first(failure.facts.get("invalid_fields")) or {}
    field, received = first.get("field"), first.get("received")
    return {
        "param_name": field,
        "expected_type": failure.call.field_types.get(str(field), first.get("expected")),
        **(_received(str(received)) if received is not None else {}),
    }


def _received(word: str) -> Details:
    """The type of what was received and, where it is short enough to be repeated, the value."""
    if word.startswith('"') and word.endswith('"') and len(word) > 1:
        return {"actual_type": "string", "value": word[1:-1]}
    if word in ("true", "false"):
        return {"actual_type": "boolean", "value": word == "true"}
    if re.fullmatch(r"-?\d+", word):
        return {"actual_type": "integer", "value": int(word)}
    if re.fullmatch(r"-?[\d.]+(?:e[-+]?\d+)?", word):
        return {"actual_type": "number", "value": float(word)}
    return {"actual_type": word if word in ("array", "object", "null") else "string"}


def _unknown_param(failure: Failure) -> Details:
    unknown = list(failure.facts.get("unknown_fields", ())) or None
    valid = failure.facts.get("allowed_fields")
    return {
        "unknown_params": unknown,
        "valid_params": list(valid) if valid else None,
        "param_list": ", ".join(unknown) if unknown else None,
    }


def _encoding(failure: Failure) -> Details:
    return _renamed(failure.facts, {"location": "location", "byte_offset": "byte_offset"})


def _too_large(failure: Failure) -> Details:
    names = {"limit_type": "limit_type", "limit_value": "limit", "actual_value": "actual", "unit": "unit"}
    return _renamed(failure.facts, names)


def _no_operation(failure: Failure) -> Details:
    known = failure.facts
    if failure.code == Code.INVALID_ACTION:
        return {"operation": known.get("action", "unknown"), "available": known.get("valid_actions")}
    return {"operation": known.get("tool", "unknown"), "available": list(failure.call.available) or None}


def _no_resource(failure: Failure) -> Details:
    known = failure.facts
    if failure.code == Code.REPLAY_MISS:
        return {"resource_type": "recording", "resource_id": known.get("request")}
    # Of several the last is the innermost: what was asked for.
    named = str(known.get("missing", "")).split(", ")[-1]
    id = failure.call.ids.get(named)
    return {
        "resource_type": re.sub(r"_(?:id|iid|path|name)$", "", named).replace("_", " ") or None,
        "resource_id": str(id) if id is not None else None,
        "http_status": failure.status,
    }


def _denied(failure: Failure) -> Details:
    return {
        "reason": failure.message,
        "http_status": failure.status,
        "required_scope": failure.facts.get("scope_required"),
    }


def _internal(failure: Failure) -> Details:
    return {"description": failure.message, "http_status": failure.status}


def _trust(failure: Failure) -> Details:
    allowed = failure.facts.get("allowed")
    return {
        "danger_level": failure.facts.get("danger"),
        "required_trust": failure.facts.get("trust_required"),
        "actual_trust": failure.facts.get("trust_held", allowed),
        "adapter_trust": failure.facts.get("trust_held", allowed),
        "reasons": _reasons(failure),
        "minimum_trust_required": failure.facts.get("trust_required"),
    }


def _confirmation(failure: Failure) -> Details:
    names = {
        "danger_level": "danger",
        "confirmation_message": "what_will_happen",
        "confirmation_token": "confirmation_token",
        "expires_at": "expires_at",
    }
    return {"reasons": _reasons(failure), **_renamed(failure.facts, names)}


def _reasons(failure: Failure) -> list[str] | None:
    return _REASONS.get(str(failure.facts.get("danger")))


def _limits(failure: Failure) -> Details:
    return _renamed(failure.facts, {"resets_at": "reset_at"})


def _quota(failure: Failure) -> Details:
    return _renamed(failure.facts, _QUOTA)


def _token(failure: Failure) -> Details:
    return {"token": failure.call.confirmation_token}


def _other_token(failure: Failure) -> Details:
    return {"token": failure.call.confirmation_token, "requested_operation": failure.call.operation}


def _batch(failure: Failure) -> Details:
    errors = []
    for index, failed in failed_items(failure):
        error = render(failed)["error"]
        errors.append({"index": index, "code": error["code"], "message": error["message"]})
    results = failure.facts.get("results", ())
    succeeded = sum("result" in each for each in results)
    return {"total": len(results), "succeeded": succeeded, "failed": len(errors), "errors": errors}


_QUOTA: Final = {
    "metric": "metric",
    "current": "used",
    "warn_threshold": "warn_at",
    "pause_threshold": "pause_at",
    "hard_stop_threshold": "limit",
    "resets_at": "reset_at",
}
_REASONS: Final = {
    "reversible": ["Changes something"],
    "destructive": ["Something is gone afterwards"],
    "dangerous": ["Reaches beyond one object", "Cannot simply be undone"],
}
_BEGINNINGS: Final = {
    "VALIDATION": "Validation failed",
    "NOT": "Resource not found",
    "PERMISSION": "Permission denied",
    "INTERNAL": "Internal error",
}

_DETAILS: Final[Mapping[str, Callable[[Failure], Details]]] = {
    "VALIDATION_MISSING_PARAM": _missing_param,
    "VALIDATION_INVALID_TYPE": _invalid_type,
    "VALIDATION_UNKNOWN_PARAM": _unknown_param,
    "VALIDATION_UNKNOWN_FIELD": _unknown_param,
    "VALIDATION_INVALID_ENCODING": _encoding,
    "VALIDATION_PAYLOAD_TOO_LARGE": _too_large,
    "NOT_FOUND_OPERATION": _no_operation,
    "NOT_FOUND_RESOURCE": _no_resource,
    "PERMISSION_DENIED": _denied,
    "PERMISSION_TRUST_LEVEL_INSUFFICIENT": _trust,
    "PERMISSION_DANGER_LEVEL_DENIED": _trust,
    "CONFIRMATION_REQUIRED": _confirmation,
    "RATE_LIMIT_EXCEEDED": _limits,
    "RATE_LIMIT_QUOTA_PAUSE": _quota,
    "RATE_LIMIT_QUOTA_EXHAUSTED": _quota,
    "TOKEN_INVALID": _token,
    "TOKEN_EXPIRED": _token,
    "TOKEN_ALREADY_USED": _token,
    "TOKEN_SCOPE_MISMATCH": _other_token,
    "INTERNAL_ERROR": _internal,
    "BATCH_PARTIAL_FAILURE": _batch,
}

_TEMPLATES: Final[Mapping[str, str]] = {
    "VALIDATION_MISSING_PARAM": "Missing required parameter '{param_name}'",
    "VALIDATION_INVALID_TYPE": "Parameter '{param_name}' expected '{expected_type}', got '{actual_type}'",
    "VALIDATION_UNKNOWN_PARAM": "Unknown parameter(s) for operation '{operation}': {param_list}",
    "VALIDATION_UNKNOWN_FIELD": "Unknown field(s) for operation '{operation}': {param_list}",
    "VALIDATION_INVALID_ENCODING": "Invalid character encoding in request",
    "VALIDATION_PAYLOAD_TOO_LARGE": "Payload exceeds {limit_type} limit of {limit_value}",
    "NOT_FOUND_OPERATION": "Unknown operation: '{operation}'",
    "NOT_FOUND_RESOURCE": "Resource '{resource_type}' not found: '{resource_id}'",
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

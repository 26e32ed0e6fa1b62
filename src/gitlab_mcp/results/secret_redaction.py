"""Keeps secrets out of what a model reads: tokens, passwords, values of CI variables."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final

from gitlab_mcp.failures.secret_text import REDACTED, is_secret_name, redact_text

__all__ = ["REDACTED", "VisibleSecret", "keep_visible", "redact_json", "redact_strings", "redact_text"]

_HEADERS_THAT_TELL_NOTHING: Final = frozenset(
    {"content-type", "user-agent", "idempotency-key", "x-gitlab-event", "x-gitlab-event-uuid"}
    | {"x-gitlab-instance", "x-gitlab-webhook-uuid"}
)
_WITH_SECRET_VALUES: Final = ("custom_headers", "url_variables")


class VisibleSecret(str):
    """A secret that the caller asked for, such as the token just created. It is not redacted."""

    __slots__ = ()


def keep_visible(body: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """The body of an answer in which the secrets under these names are not redacted."""
    return {
        name: VisibleSecret(value) if name in names and isinstance(value, str) else value
        for name, value in body.items()
    }


def redact_json(value: Any) -> Any:
    """The JSON value without secrets, recognised by the names of members and by how they look."""
    if isinstance(value, str):
        return value if isinstance(value, VisibleSecret) else redact_text(value)
    if value is None or isinstance(value, (int, float)):
        return value
    if isinstance(value, (dict, Mapping)):
        return redact_members(value, value)
    if isinstance(value, (list, tuple)):
        return [redact_json(item) for item in value]
    return value


def redact_members(value: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
    """Of the object those members that have one of these names, without secrets."""
    is_ci_variable = "key" in value and "variable_type" in value
    return {
        name: member
        if member is None or isinstance(member, (int, float))
        else _redact_member(name, member, is_ci_variable)
        for name, member in value.items()
        if name in names
    }


def redact_strings(value: Any) -> Any:
    """The JSON value with `redact_text` applied to every string, whatever the names of members.

    For failures: they show tokens of our own, such as a confirmation token.
    """
    if isinstance(value, str):
        return redact_text(value)
    if isinstance(value, Mapping):
        return {name: redact_strings(member) for name, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [redact_strings(item) for item in value]
    return value


def _redact_member(name: str, member: Any, of_ci_variable: bool) -> Any:
    if isinstance(member, str):
        if not member or isinstance(member, VisibleSecret):
            return member
        is_secret = is_secret_name(name) or (of_ci_variable and name == "value")
        return REDACTED if is_secret else redact_text(member)
    if (name == "request_headers" and isinstance(member, Mapping)) or (
        name in _WITH_SECRET_VALUES and isinstance(member, list)
    ):
        return _redact_of_webhook(name, member)
    return redact_json(member)


def _redact_of_webhook(name: str, member: Any) -> Any:
    """The headers of a webhook and the variables in its address: only their names are shown."""
    if name == "request_headers":
        return {
            key: value if key.lower() in _HEADERS_THAT_TELL_NOTHING else REDACTED
            for key, value in member.items()
        }
    return [
        {**redact_json(each), "value": REDACTED}
        if isinstance(each, Mapping) and "value" in each
        else redact_json(each)
        for each in member
    ]

"""What must not reach a model: tokens, passwords, values of CI variables."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

REDACTED = "[redacted]"

_SECRET_NAME = re.compile(
    r"(?:^|_)(?:token|password|secret|private_key|signing_key|secret_access_key|api_key|client_key_pass)$"
)
# GitLab's token prefixes; routable tokens go on after a dot. The last is the old runner registration token.
_TOKEN = re.compile(
    r"\b(?:gl(?:pat|dt|rt|rtr|cbt|ptt|ft|soat|oas|agent|imt|ffct|wt)-[\w-]{8,}(?:\.[\w-]+)*|GR1348941[\w-]{20,})"
)
_PASSWORD_IN_URL = re.compile(r"(?<=://)[^\s/:@]*:[^\s/@]+(?=@)")


class Revealed(str):
    """A secret the caller asked for, such as the token just created: it is shown."""

    __slots__ = ()


def revealing(body: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """The body of an answer in which the secrets under these names are to be shown."""
    return {
        name: Revealed(value) if name in names and isinstance(value, str) else value
        for name, value in body.items()
    }


def redact(value: Any) -> Any:
    """The same JSON value without secrets."""
    if isinstance(value, Revealed):
        return value
    if isinstance(value, str):
        return redact_text(value)
    if value is None or isinstance(value, (int, float)):
        return value
    if isinstance(value, (dict, Mapping)):
        return {name: _redact_member(value, name, member) for name, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [redact(item) for item in value]
    return value


def redact_by_shape(value: Any) -> Any:
    """The same without what looks like a secret, whatever it is called: a failure has tokens of its own to show."""
    if isinstance(value, str):
        return redact_text(value)
    if isinstance(value, Mapping):
        return {name: redact_by_shape(member) for name, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [redact_by_shape(item) for item in value]
    return value


def redact_text(text: str) -> str:
    return _PASSWORD_IN_URL.sub(REDACTED, _TOKEN.sub(REDACTED, text))


def _redact_member(of: Mapping[str, Any], name: str, member: Any) -> Any:
    if isinstance(member, Revealed) or not isinstance(member, str) or not member:
        return redact(member)
    is_variable = name == "value" and "key" in of and "variable_type" in of
    return REDACTED if is_variable or _SECRET_NAME.search(name) else redact_text(member)

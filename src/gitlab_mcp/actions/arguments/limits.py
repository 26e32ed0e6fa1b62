"""Arguments refused before validation: too deep, too many, too long, or no legal Unicode."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import CallFailed, Failure

DEEPEST = 32
MOST_ITEMS = 10_000
MOST_CHARACTERS = 10_000_000


def check_transportable(arguments: Mapping[str, Any]) -> None:
    """Raise CallFailed for arguments that are too large or that no JSON request could carry."""
    seen = 0
    todo: list[tuple[Any, int]] = [(arguments, 0)]
    while todo:
        value, depth = todo.pop()
        if depth > DEEPEST:
            raise CallFailed(_too_large("nesting", DEEPEST))
        if isinstance(value, str):
            seen += len(value)
            if "\0" in value or re.search("[\ud800-\udfff]", value):
                raise CallFailed(_bad_encoding())
        elif isinstance(value, Mapping):
            todo.extend((part, depth + 1) for pair in value.items() for part in pair)
            seen += len(value)
        elif isinstance(value, (list, tuple)):
            if len(value) > MOST_ITEMS:
                raise CallFailed(_too_large("items in an array", MOST_ITEMS))
            todo.extend((item, depth + 1) for item in value)
            seen += len(value)
        if seen > MOST_CHARACTERS:
            raise CallFailed(_too_large("characters", MOST_CHARACTERS))


def _too_large(what: str, limit: int) -> Failure:
    return Failure(Code.PAYLOAD_TOO_LARGE, f"The arguments hold more {what} than this server takes.").knowing(
        limit=limit, unit=what, suggested_fix=f"Send at most {limit} {what} in one call."
    )


def _bad_encoding() -> Failure:
    return Failure(Code.INVALID_ENCODING, "A string holds a NUL or half a surrogate pair.").knowing(
        suggested_fix="Send well-formed Unicode without U+0000."
    )

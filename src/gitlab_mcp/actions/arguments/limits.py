"""Arguments refused before validation: too deep, too many, too long, or no legal Unicode."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from gitlab_mcp.actions.arguments.problems import safe_to_repeat
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import CallFailed, Failure

DEEPEST: Final = 32
MOST_ITEMS: Final = 10_000
MOST_BYTES: Final = 10_000_000

_UNREADABLE: Final = re.compile("[\0\ud800-\udfff]")
_LONGEST_LOCATION: Final = 80


def check_transportable(arguments: Mapping[str, Any]) -> None:
    """Raise CallFailed for arguments that are too large or that no JSON request could carry."""
    depth = size = 0
    longest = 0
    unreadable: Failure | None = None
    for value, level, location in _parts(arguments):
        depth = max(depth, level)
        if isinstance(value, str):
            size += len(value.encode("utf-8", "surrogatepass"))
            if unreadable is None and (found := _UNREADABLE.search(value)):
                unreadable = _bad_encoding(location, value[: found.start()])
        elif isinstance(value, (Mapping, list, tuple)):
            size += len(value)
            if not isinstance(value, Mapping):
                longest = max(longest, len(value))
    if depth > DEEPEST:
        raise CallFailed(_too_large("nesting_depth", DEEPEST, depth, "levels"))
    if longest > MOST_ITEMS:
        raise CallFailed(_too_large("array_elements", MOST_ITEMS, longest, "elements"))
    if size > MOST_BYTES:
        raise CallFailed(_too_large("request_size", MOST_BYTES, size, "bytes"))
    if unreadable is not None:
        raise CallFailed(unreadable)


def _parts(arguments: Mapping[str, Any]) -> Iterator[tuple[Any, int, str]]:
    """Every value and every name inside, with how deep it is and where."""
    todo: list[tuple[Any, int, str]] = [(arguments, 0, "arguments")]
    while todo:
        value, depth, location = todo.pop()
        yield value, depth, location
        # Long enough to find the place; a location per level would grow without end.
        known = location[:_LONGEST_LOCATION]
        if isinstance(value, Mapping):
            for name, member in value.items():
                todo += [(name, depth + 1, known), (member, depth + 1, f"{known}.{safe_to_repeat(name)}")]
        elif isinstance(value, (list, tuple)):
            todo += [(item, depth + 1, f"{known}[{number}]") for number, item in enumerate(value)]


_HOW: Final = {
    "nesting_depth": ("are nested more deeply", "Nest arguments at most {limit} levels deep."),
    "array_elements": ("hold a longer array", "Send at most {limit} items in one array."),
    "request_size": ("are larger", "Send at most {limit} bytes in one call."),
}


def _too_large(limit_type: str, limit: int, actual: int, unit: str) -> Failure:
    how, fix = _HOW[limit_type]
    return Failure(Code.PAYLOAD_TOO_LARGE, f"The arguments {how} than this server takes.").knowing(
        limit_type=limit_type, limit=limit, actual=actual, unit=unit, suggested_fix=fix.format(limit=limit)
    )


def _bad_encoding(location: str, before: str) -> Failure:
    return Failure(Code.INVALID_ENCODING, "A string holds a NUL or half a surrogate pair.").knowing(
        location=location,
        byte_offset=len(before.encode("utf-8", "surrogatepass")),
        suggested_fix="Send well-formed Unicode without U+0000.",
    )

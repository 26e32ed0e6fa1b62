"""Arguments refused before anything looks at them: too deep, too many, too long, or nothing that JSON can carry."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from gitlab_mcp.actions.arguments.problems import safe_to_repeat
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import CallFailed, Failure

DEEPEST: Final = 32
MOST_ITEMS: Final = 10_000
MOST_NAMES: Final = 500
"""In one object. The tool with the most fields has a fifth of it."""
MOST_VALUES: Final = 100_000
"""In all arrays and objects together."""
MOST_BYTES: Final = 10_000_000

_UNREADABLE: Final = re.compile("[\0\ud800-\udfff]")
_LONGEST_LOCATION: Final = 80
_MOST_BITS: Final = 1024


def check_transportable(arguments: Mapping[str, Any]) -> None:
    """Raise CallFailed for arguments that are too large or that no JSON request could carry.

    It stops at the first limit, so that its own work is limited too.
    """
    size = count = 0
    unreadable: Failure | None = None
    for value, level, location in _parts(arguments):
        if level > DEEPEST:
            raise CallFailed(_too_large("nesting_depth", DEEPEST, level, "levels"))
        if isinstance(value, str):
            size += len(value.encode("utf-8", "surrogatepass"))
            if unreadable is None and (found := _UNREADABLE.search(value)):
                unreadable = _bad_encoding(_named(location), value[: found.start()])
        elif isinstance(value, (Mapping, list, tuple)):
            size += len(value)
            count += len(value)
            _check_length(value)
            if count > MOST_VALUES:
                raise CallFailed(_too_large("values", MOST_VALUES, count, "values"))
        elif (isinstance(value, float) and not math.isfinite(value)) or _is_huge(value):
            raise CallFailed(_no_number(_named(location)))
        if size > MOST_BYTES:
            raise CallFailed(_too_large("request_size", MOST_BYTES, size, "bytes"))
    if unreadable is not None:
        raise CallFailed(unreadable)


def _is_huge(value: Any) -> bool:
    """Python writes no number out that has more than some thousand digits."""
    return isinstance(value, int) and value.bit_length() > _MOST_BITS


def _check_length(value: Mapping[str, Any] | list[Any] | tuple[Any, ...]) -> None:
    if isinstance(value, Mapping):
        if len(value) > MOST_NAMES:
            raise CallFailed(_too_large("object_members", MOST_NAMES, len(value), "members"))
    elif len(value) > MOST_ITEMS:
        raise CallFailed(_too_large("array_elements", MOST_ITEMS, len(value), "elements"))


_Location = tuple[Any, str | int]
"""The location around, and the name or number inside of it. It is written out only for the value that is wrong."""


def _parts(arguments: Mapping[str, Any]) -> Iterator[tuple[Any, int, _Location]]:
    """Every value and every name inside, with how deep it is and where."""
    todo: list[tuple[Any, int, _Location]] = [(arguments, 0, (None, "arguments"))]
    while todo:
        value, depth, location = todo.pop()
        yield value, depth, location
        if isinstance(value, Mapping):
            for name, member in value.items():
                todo += [(name, depth + 1, location), (member, depth + 1, (location, name))]
        elif isinstance(value, (list, tuple)):
            todo += [(item, depth + 1, (location, number)) for number, item in enumerate(value)]


def _named(location: _Location) -> str:
    around, name = location
    if around is None:
        return str(name)
    known = _named(around)[:_LONGEST_LOCATION]
    return f"{known}[{name}]" if isinstance(name, int) else f"{known}.{safe_to_repeat(name)}"


_HOW: Final = {
    "nesting_depth": ("are nested more deeply", "Nest arguments at most {limit} levels deep."),
    "array_elements": ("hold a longer array", "Send at most {limit} items in one array."),
    "object_members": ("hold an object with more members", "Send at most {limit} members in one object."),
    "values": ("hold more values", "Send at most {limit} values in one call; make several calls."),
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


def _no_number(location: str) -> Failure:
    return Failure(Code.INVALID_ENCODING, "A number is infinite, none, or of hundreds of digits.").knowing(
        location=location,
        suggested_fix="Send a number that fits into 64 bits.",
    )

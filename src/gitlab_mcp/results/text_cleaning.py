"""Removes characters that people do not see and models do: they can hide instructions in a text."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gitlab_mcp.failures.invisible_characters import INVISIBLE

_LINE_ENDS = re.compile("\r\n|[\u2028\u2029]")
# How each of these looks in JSON that is written in ASCII. DEL is the only one that is not escaped there.
_ESCAPED = re.compile(r"\\[urbf]|\x7f")


@dataclass(frozen=True, slots=True)
class Cleaned:
    value: Any
    removed: int
    """How many invisible characters were removed."""


def remove_invisible(text: str) -> Cleaned:
    """The text without invisible characters; a line ends with a line feed."""
    if text.isascii() and text.isprintable():
        return Cleaned(text, 0)
    cleaned, removed = INVISIBLE.subn("", _LINE_ENDS.sub("\n", text))
    return Cleaned(cleaned, removed)


def remove_invisible_in_json(value: Any) -> Cleaned:
    """The same for every string inside a JSON value, names of members included."""
    # Most answers hold nothing that JSON would escape, and looking for it there is ten times faster.
    return _clean(value) if _ESCAPED.search(json.dumps(value, default=str)) else Cleaned(value, 0)


def _clean(value: Any) -> Cleaned:
    if isinstance(value, str):
        cleaned = remove_invisible(value)
        # The value itself where nothing changed: it may be a subclass of str, which must not be lost.
        return Cleaned(value, 0) if cleaned.value == value else cleaned
    if value is None or isinstance(value, (int, float)):
        return Cleaned(value, 0)
    if isinstance(value, (dict, Mapping)):
        names = [remove_invisible(str(name)) for name in value]
        members = [_clean(member) for member in value.values()]
        return Cleaned(
            {name.value: member.value for name, member in zip(names, members, strict=True)},
            sum(part.removed for part in (*names, *members)),
        )
    if isinstance(value, (list, tuple)):
        items = [_clean(item) for item in value]
        return Cleaned([item.value for item in items], sum(item.removed for item in items))
    return Cleaned(value, 0)

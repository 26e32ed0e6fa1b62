"""Removes characters that people do not see and models do: they can hide instructions in a text."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

# Controls, bidi overrides, zero widths, tag characters, fillers, and the variation selectors that can carry hidden
# bytes. One U+FE0E or U+FE0F after a character stays, since it chooses how an emoji looks; a run of them can carry
# hidden bytes too.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]|(?<=[\ufe0e\ufe0f])[\ufe0e\ufe0f]"
)
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
    cleaned, removed = _INVISIBLE.subn("", _LINE_ENDS.sub("\n", text))
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

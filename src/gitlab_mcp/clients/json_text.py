"""JSON in which one member is set or taken out while every other character stays, comments and trailing commas too."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

_STRING_OR_COMMENT = re.compile(r'"(?:\\.|[^"\\])*"|//[^\r\n]*|/\*.*?\*/', re.DOTALL)
_STRING_OR_LAST_COMMA = re.compile(r'"(?:\\.|[^"\\])*"|,(?=\s*[}\]])', re.DOTALL)
_BETWEEN = " \t\r\n,:"


def parsed(text: str) -> Any:
    return json.loads(_strict(text)) if text.strip() else {}


def with_value(text: str, path: Sequence[str], value: Any) -> str:
    """`path` leads to the member; objects on the way that are not there are made."""
    text = text if text.strip() else "{\n}\n"
    strict = _strict(text)
    start = _skip(strict, 0)
    for depth, key in enumerate(path):
        inside = _Container.at(strict, start)
        found = inside.last_named(key)
        if found is None:
            for missing in reversed(path[depth + 1 :]):
                value = {missing: value}
            return _inserted(text, inside, json.dumps(key, ensure_ascii=False) + ": ", value)
        start, end = found.start, found.end
    indent = _indent_of_line(text, start)
    return text[:start] + _dumped(text, value, indent) + text[end:]


def with_item(text: str, path: Sequence[str], item: Any) -> str:
    """With one item more in the list at `path`, which is made where it is not there."""
    strict = _strict(text)
    start = _skip(strict, 0)
    for key in path:
        found = _Container.at(strict, start).last_named(key)
        if found is None:
            return with_value(text, path, [item])
        start = found.start
    return _inserted(text, _Container.at(strict, start), "", item)


def without(text: str, path: Sequence[str]) -> str:
    """Without the member at `path`, which must be there."""
    strict = _strict(text)
    start = _skip(strict, 0)
    for key in path:
        inside = _Container.at(strict, start)
        gone = next(child for child in reversed(inside.children) if child.key == key)
        start = gone.start
    bare, begin, end = _without_comments(text), gone.key_start, gone.end
    comma: int | None = None
    if bare[after := _next_character(bare, end)] == ",":
        end = after + 1
    elif before := [child for child in inside.children if child.end <= begin]:
        comma = _next_character(bare, before[-1].end)
    if (indent := _own_line(text, begin)) is not None:
        begin -= len(indent)
        rest = re.match(r"[ \t]*\r?\n", text[end:])
        end += len(rest[0]) if rest else 0
    else:
        begin = len(text[:begin].rstrip(" \t"))
    kept = text[:begin] if comma is None else text[:comma] + text[comma + 1 : begin]
    return kept + text[end:]


@dataclass(frozen=True, slots=True)
class _Child:
    key: str | None
    key_start: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Container:
    start: int
    children: Sequence[_Child]
    close: int

    @classmethod
    def at(cls, strict: str, start: int) -> _Container:
        """`strict` is JSON that was parsed before, so what stands between its values needs no second look."""
        decoder, children, at = json.JSONDecoder(), [], _skip(strict, start + 1)
        while strict[at] not in "}]":
            key, key_start = None, at
            if strict[start] == "{":
                key, at = decoder.raw_decode(strict, at)
                at = _skip(strict, at)
            _, end = decoder.raw_decode(strict, at)
            children.append(_Child(key, key_start, at, end))
            at = _skip(strict, end)
        return cls(start, children, at)

    def last_named(self, key: str) -> _Child | None:
        """Of several members with one name the last counts, as everywhere in JSON."""
        return next((child for child in reversed(self.children) if child.key == key), None)


def _inserted(text: str, inside: _Container, key: str, value: Any) -> str:
    """After all that stands in the container, comments too, in lines of its own where the others have them, and with a
    comma at its end where the last one had it."""
    begun = text[: inside.close].rstrip()
    gap = text[len(begun) : inside.close]
    outer = _indent_of_line(text, inside.start)
    inner, comma = outer + _unit(text), ""
    if inside.children:
        last, bare = inside.children[-1], _without_comments(text)
        if bare[_next_character(bare, last.end)] == ",":
            comma = ","
        else:
            begun = begun[: last.end] + "," + begun[last.end :]
        if "\n" not in text[inside.start : inside.close]:
            return f"{begun} {key}{json.dumps(value, ensure_ascii=False)}{comma}{gap}{text[inside.close :]}"
        inner = _own_line(text, last.key_start) or inner
    newline = "\r\n" if "\r\n" in text else "\n"
    gap = gap if "\n" in gap else newline + outer
    return f"{begun}{newline}{inner}{key}{_dumped(text, value, inner)}{comma}{gap}{text[inside.close :]}"


def _dumped(text: str, value: Any, indent: str) -> str:
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = json.dumps(value, ensure_ascii=False, indent=_unit(text)).split("\n")
    return (newline + indent).join(lines)


def _unit(text: str) -> str:
    """What the file indents by."""
    found = re.search(r"\{\s*?\n([ \t]+)[\"/]", text)
    return found[1] if found else "  "


def _indent_of_line(text: str, position: int) -> str:
    line = text[text.rfind("\n", 0, position) + 1 : position]
    return line[: len(line) - len(line.lstrip())]


def _own_line(text: str, position: int) -> str | None:
    """The indentation of what begins its line at `position`; None where something stands before it."""
    line = text[text.rfind("\n", 0, position) + 1 : position]
    return None if line.strip() else line


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _BETWEEN:
        at += 1
    return at


def _next_character(text: str, at: int) -> int:
    while text[at].isspace():
        at += 1
    return at


def _strict(text: str) -> str:
    """The same with spaces in place of comments and last commas. Every position stays. ValueError if it is no JSON."""
    strict = _STRING_OR_LAST_COMMA.sub(
        lambda found: found[0] if found[0][0] == '"' else " ", _without_comments(text)
    )
    json.loads(strict)
    return strict


def _without_comments(text: str) -> str:
    return _STRING_OR_COMMENT.sub(
        lambda found: found[0] if found[0][0] == '"' else re.sub(r"[^\r\n]", " ", found[0]), text
    )

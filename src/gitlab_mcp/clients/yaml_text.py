"""YAML in which one entry is set or taken out while every other line stays."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import yaml


def parsed(text: str) -> Any:
    try:
        found = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from None
    return {} if found is None else found


def with_value(text: str, path: Sequence[str], value: Mapping[str, Any]) -> str:
    node, lines_end = _composed(text), "" if not text or text.endswith("\n") else "\n"
    if not isinstance(node, yaml.MappingNode):
        return text + lines_end + _block(text, path, value, 0)
    for depth, key in enumerate(path):
        if not any(each.value == key for each, _ in node.value):
            return _added(text, node, path[depth:], value)
        key_node, child = _entry(node, key)
        if depth == len(path) - 1:
            begin, end = _lines_of(text, key_node, child)
            return text[:begin] + _block(text, [key], value, key_node.start_mark.column) + text[end:]
        if not isinstance(child, yaml.MappingNode):
            # Nothing stands behind the key yet.
            begin, end = _lines_of(text, key_node, child)
            return text[:begin] + _block(text, path[depth:], value, key_node.start_mark.column) + text[end:]
        node = child
    raise LookupError(path)


def without(text: str, path: Sequence[str]) -> str:
    node: Any = _composed(text)
    for key in path[:-1]:
        parent_key, node = _entry(node, key)
    begin, end = _lines_of(text, *_entry(node, path[-1]))
    if len(node.value) == 1:
        begin, end = _lines_of(text, parent_key, node)
        return text[:begin] + _block(text, [path[-2]], {}, parent_key.start_mark.column) + text[end:]
    return text[:begin] + text[end:]


def _composed(text: str) -> Any:
    return yaml.compose(text, Loader=yaml.SafeLoader)


def _entry(node: Any, key: str) -> tuple[Any, Any]:
    """Of several with one name the last counts."""
    pairs: list[tuple[Any, Any]] = [pair for pair in node.value if pair[0].value == key]
    return pairs[-1]


def _added(text: str, node: Any, path: Sequence[str], value: Mapping[str, Any]) -> str:
    """Behind the last entry of a mapping."""
    if node.flow_style:
        for key in reversed(path[1:]):
            value = {key: value}
        comma = ", " if node.value else ""
        close = node.end_mark.index - 1
        entry = f"{json.dumps(path[0])}: {json.dumps(value, ensure_ascii=False)}"
        return f"{text[:close]}{comma}{entry}{text[close:]}"
    _, end = _lines_of(text, *node.value[-1])
    before = text[:end]
    if not before.endswith("\n"):
        before += _newline(text)
    return before + _block(text, path, value, node.value[0][0].start_mark.column) + text[end:]


def _lines_of(text: str, key: Any, value: Any) -> tuple[int, int]:
    """Where the lines of an entry begin and end. What stands between two entries belongs to neither."""
    last = value
    while isinstance(last, yaml.CollectionNode) and not last.flow_style and last.value:
        last = last.value[-1][1] if isinstance(last, yaml.MappingNode) else last.value[-1]
    end = max(last.end_mark.index, key.end_mark.index + 1)
    if text[end - 1 : end] != "\n":
        end = text.find("\n", end) + 1 or len(text)
    return text.rfind("\n", 0, key.start_mark.index) + 1, end


def _block(text: str, path: Sequence[str], value: Mapping[str, Any], column: int) -> str:
    nested: Any = value
    for key in reversed(path):
        nested = {key: nested}
    written = yaml.safe_dump(nested, sort_keys=False, allow_unicode=True, width=10_000)
    newline = _newline(text)
    return "".join(" " * column + line + newline for line in written.splitlines())


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"

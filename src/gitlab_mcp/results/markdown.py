"""A result as Markdown, for people: the same facts as the JSON, as a list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gitlab_mcp.actions.result import Result


def as_markdown(result: Result) -> str:
    data = dict(result.data)
    items = data.pop("items", None)
    lines = []
    if isinstance(items, Sequence) and not isinstance(items, str):
        lines += [f"- {_line(item)}" for item in items]
    lines += [f"**{_value(key)}**: {_value(value)}" for key, value in data.items()]
    return "\n".join(lines)


def _line(item: Any) -> str:
    if not isinstance(item, Mapping):
        return _value(item)
    return ", ".join(f"{_value(key)}: {_value(value)}" for key, value in item.items())


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return "{" + _line(value) + "}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "; ".join(_value(each) for each in value)
    # One line per field: a line break of somebody's text must not look like a new field.
    return " ⏎ ".join(str(value).splitlines())

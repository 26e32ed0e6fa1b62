"""The fields that a caller named, by GitLab's own names, in place of those that an action shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gitlab_mcp.results.shown_fields import slim


def named_fields(body: Mapping[str, Any], fields: Sequence[str]) -> dict[str, Any]:
    return {**each_named(body, fields), **unknown_fields([body], fields)}


def each_named(item: Any, fields: Sequence[str]) -> Any:
    """The named fields that the item has, also those that are empty. `author.id` is a field of a field."""
    if not isinstance(item, Mapping):
        return item
    return {field: slim(_follow(item, field), depth=1) for field in fields if _has(item, field)}


def unknown_fields(items: Sequence[Any], fields: Sequence[str]) -> dict[str, Any]:
    """The named fields that no item has, with those there are; nothing where all are known."""
    rows = [item for item in items if isinstance(item, Mapping)]
    unknown = [field for field in fields if not any(_has(row, field) for row in rows)]
    if not rows or not unknown:
        return {}
    known = dict.fromkeys(name for row in rows for name in row)
    return {"unknown_fields": unknown, "known_fields": list(known)}


def _has(item: Mapping[str, Any], field: str) -> bool:
    first, _, rest = field.partition(".")
    if first not in item:
        return False
    inner = item[first]
    return not rest or (isinstance(inner, Mapping) and _has(inner, rest)) or inner is None


def _follow(item: Mapping[str, Any], field: str) -> Any:
    found: Any = item
    for name in field.split("."):
        found = found.get(name) if isinstance(found, Mapping) else None
    return found

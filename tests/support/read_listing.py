"""The listing as a model reads it: which fields a description only names, for which actions."""

from __future__ import annotations

import re
from itertools import product
from typing import Any


def fields_only_named(tool: dict[str, Any]) -> dict[str, set[str]]:
    """Each field that has no schema, with the actions that take it; none where whatever lists takes it."""
    description = tool["description"]
    every = set(tool["inputSchema"]["properties"].get("action", {}).get("enum", ()))
    found: dict[str, set[str]] = {}
    more = re.search(r"More: (.*?\))\.(?: |$)", description)
    for part in more[1].split("; ") if more else ():
        before, _, fields = part.partition("(")
        takers = every if before == "all" else set(before.split(", "))
        for field in re.sub(r" \([^()]*\)", "", fields.removesuffix(")")).split(", "):
            for name in expanded(field):
                found.setdefault(name, set()).update(takers)
    options = re.search(r"Options: ([^.]*)\.", description)
    return found | {name.partition("=")[0]: set() for name in (options[1].split(", ") if options else ())}


def expanded(pattern: str) -> list[str]:
    """`{created,updated}_{after,before}` is four names."""
    parts = [part.strip("{}").split(",") for part in re.split(r"(\{[^}]*\})", pattern)]
    return ["".join(each) for each in product(*parts)]


def said_of_field(tool: dict[str, Any], field: str) -> str:
    """What the schema says of it, or what stands behind its name where it is only named."""
    schema = tool["inputSchema"]["properties"].get(field)
    if schema is not None:
        return str(schema.get("description", ""))
    named = re.search(rf"\b{field} \(([^()]*)\)", tool["description"])
    return named[1] if named else ""

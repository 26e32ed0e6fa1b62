"""The names of the users, groups and projects that a call gives by number, for the person who is asked about it.

Usernames and paths hold no sentences, so they cannot talk the person into a yes. Anything else is not shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from pydantic import BaseModel

from gitlab_mcp.actions.action import Action
from gitlab_mcp.actions.ask import Ask
from gitlab_mcp.actions.fields import Names, NamesPlace
from gitlab_mcp.actions.shape import shapes

FieldAndNumber = tuple[str, str]

_MOST_LOOKED_UP: Final = 10
_SAFE: Final = re.compile(r"[\w.-]+(/[\w.-]+)*")
_LONGEST: Final = 255
_INSIDE_OF_OBJECTS: Final = {"user_id": "user", "group_id": "group"}
"""What a member of an object names, as in a list of who may push."""


async def names_of_numbers(action: Action, ask: Ask) -> Mapping[FieldAndNumber, str]:
    """By field and number. A number whose name cannot be read is not in it."""
    names: dict[FieldAndNumber, str] = {}
    for field, kind, number in list(dict.fromkeys(_numbers(action)))[:_MOST_LOOKED_UP]:
        name = await _name(kind, number, ask)
        if name is not None and len(name) <= _LONGEST and _SAFE.fullmatch(name):
            names[field, number] = name
    return names


def _numbers(action: Action) -> Iterator[tuple[str, str, str]]:
    """The field, what it names, and the number."""
    for field, shape in shapes(type(action)).items():
        if field not in action.model_fields_set:
            continue
        mark = shape.mark(Names) or shape.mark(NamesPlace)
        yield from _in(getattr(action, field), field, mark.kind if mark else "")


def _in(value: Any, field: str, kind: str) -> Iterator[tuple[str, str, str]]:
    if isinstance(value, BaseModel):
        value = value.model_dump(exclude_unset=True)
    if isinstance(value, list):
        for item in value:
            yield from _in(item, field, kind)
    elif isinstance(value, Mapping):
        for name, member in value.items():
            yield from _in(member, name, _INSIDE_OF_OBJECTS.get(name, ""))
    elif kind and not isinstance(value, bool) and str(value).isdecimal() and int(value) > 0:
        yield field, kind, str(value)


async def _name(kind: str, number: str, ask: Ask) -> str | None:
    found: Any = None
    attribute = ""
    if kind == "user":
        found, attribute = await ask.look(f"/users/{number}"), "username"
    elif kind == "group":
        found, attribute = await ask.group(number), "full_path"
    elif kind == "project":
        found, attribute = await ask.project(number), "path_with_namespace"
    name = found.get(attribute) if isinstance(found, Mapping) else None
    return name if isinstance(name, str) else None

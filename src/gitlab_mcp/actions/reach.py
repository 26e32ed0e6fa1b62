"""What a field of a call can reach: a place, one thing anywhere, a thing inside of the call's place, or nothing.

A field says it with a mark of `actions.fields`. Where it has none, its type says it: a number or a choice reaches
nothing, an id in a path behind a project or group is looked for there only. What neither says is undeclared, and is
refused where places are limited.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from pydantic import BaseModel

from gitlab_mcp.actions.action import Action, Endpoint
from gitlab_mcp.actions.fields import Anywhere, Members, Names, NamesPlace, ReachesNothing, Within
from gitlab_mcp.actions.shape import Shape, shapes


@dataclass(frozen=True, slots=True)
class Undeclared:
    """Nobody said what the field can reach."""


Reach = NamesPlace | Anywhere | Within | ReachesNothing | Undeclared

_SOUNDS_LIKE_A_REFERENCE: Final = re.compile(
    r"project|group|namespace|(?:^|_)(?:id|ids|iid|iids|gid|path_with_\w+)$"
)
_BELOW_A_PLACE: Final = re.compile(r"/(?:projects|groups)/\{\w+\}/")


@dataclass(frozen=True, slots=True)
class Reached:
    """A value of a call, and what it can reach."""

    field: str
    """With the field it is inside of: `allowed_to_push.group_id`."""
    reach: Reach
    value: Any


def reached(action: Action) -> Iterator[Reached]:
    """Every value that the call was given."""
    kind, endpoint = type(action), action.endpoint() if action.spec.endpoints else None
    for name, shape in shapes(kind).items():
        value = getattr(action, name)
        if value is not None:
            yield from _values(name, name, shape, value, endpoint)


def reach_of(name: str, shape: Shape, endpoint: Endpoint | None) -> Reach:
    """What a field can reach that holds one value, or several of a kind."""
    for mark in shape.marks:
        if isinstance(mark, NamesPlace | Anywhere | Within | ReachesNothing):
            return mark
        if isinstance(mark, Names):
            return _reach_of_names(mark)
    if shape.values or shape.type in ("boolean", "number"):
        return ReachesNothing()
    if shape.items is not None:
        return reach_of(name, shape.items, endpoint)
    if not _SOUNDS_LIKE_A_REFERENCE.search(name) and shape.type in ("string", "integer"):
        return ReachesNothing()
    if endpoint is not None and name in _placeholders_below_a_place(endpoint):
        return Within()
    return Undeclared()


def undeclared(action: type[Action]) -> list[str]:
    """The fields of which neither a mark nor the type says what they can reach."""
    return [
        field
        for name, shape in shapes(action).items()
        for field, inner_name, inner in _leaves(name, name, shape)
        if not inner.mark(Members)
        and all(
            isinstance(reach_of(inner_name, inner, endpoint), Undeclared)
            for endpoint in action.spec.endpoints or (None,)
        )
    ]


def _reach_of_names(mark: Names) -> Reach:
    if mark.kind == "group":
        return NamesPlace("group")
    return Within() if mark.kind == "milestone" else ReachesNothing()


@cache
def _placeholders_below_a_place(endpoint: Endpoint) -> frozenset[str]:
    place = _BELOW_A_PLACE.search(endpoint.path)
    return (
        frozenset(Endpoint(endpoint.method, endpoint.path[place.end() :]).placeholders)
        if place
        else frozenset()
    )


def _leaves(field: str, name: str, shape: Shape) -> Iterator[tuple[str, str, Shape]]:
    members = shape.members or (shape.items.members if shape.items else ())
    if not members:
        yield field, name, shape
    for inner, inner_shape in members:
        yield from _leaves(f"{field}.{inner}", inner, inner_shape)


def _values(field: str, name: str, shape: Shape, value: Any, endpoint: Endpoint | None) -> Iterator[Reached]:
    if isinstance(value, list | tuple):
        for item in value:
            yield from _values(field, name, shape, item, endpoint)
    elif isinstance(value, BaseModel):
        for inner, inner_shape in shapes(type(value)).items():
            if getattr(value, inner) is not None:
                yield from _values(f"{field}.{inner}", inner, inner_shape, getattr(value, inner), endpoint)
    elif isinstance(value, Mapping) and shape.mark(ReachesNothing) is None:
        declared = shape.mark(Members)
        for inner, inner_value in value.items():
            inner_reach = declared.reach.get(inner) if declared else None
            yield Reached(f"{field}.{inner}", inner_reach or Undeclared(), inner_value)
    else:
        yield Reached(field, reach_of(name, shape, endpoint), value)

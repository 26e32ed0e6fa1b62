"""Which fields of a call hold names where GitLab wants numbers."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from gitlab_mcp.actions.action import Action
from gitlab_mcp.actions.fields import Names
from gitlab_mcp.actions.shape import shapes


@cache
def fields_that_name(action: type[Action]) -> dict[str, Names]:
    marks = {name: shape.mark(Names) for name, shape in shapes(action).items()}
    return {name: mark for name, mark in marks.items() if mark}


def has_names(action: Action) -> bool:
    """Whether something is to be looked up."""
    return any(True for _ in names_given(action))


def names_given(action: Action) -> Iterator[tuple[str, Names, str]]:
    """Each name to look up: the field, its mark and the name."""
    for field, mark in fields_that_name(type(action)).items():
        if field in action.model_fields_set:
            for value in as_list(getattr(action, field)):
                if mark.is_to_look_up(value):
                    yield field, mark, value


def as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]

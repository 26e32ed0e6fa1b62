"""Which of the arguments name the thing that a call is about."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from gitlab_mcp.actions.action import Action
from gitlab_mcp.actions.arguments.problems import plain
from gitlab_mcp.actions.shape import shapes

_NAMES_A_THING: Final = re.compile(r"(?:^|_)(?:id|iid|path|ref|sha|slug|branch|line|username)$|^tag_name$")
_LONGEST: Final = 80


def ids_among(action: type[Action], given: Mapping[str, Any]) -> dict[str, str | int]:
    """The ids, paths, refs and lines in short, plain text; a name that the action does not have is left out."""
    return {
        name: value
        for name, value in given.items()
        if name in shapes(action)
        and (name in action.spec.placeholders or _NAMES_A_THING.search(name))
        and is_short(value)
    }


def is_short(value: Any, longest: int = _LONGEST) -> bool:
    """Whether a value may be repeated: a number, or short text of plain characters."""
    if isinstance(value, bool):
        return False
    return isinstance(value, int) or (
        isinstance(value, str) and len(value) <= longest and plain(value) == value
    )

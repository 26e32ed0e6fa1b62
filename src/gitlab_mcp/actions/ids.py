"""Which of the arguments name the thing that a call is about."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from gitlab_mcp.actions.action import Action
from gitlab_mcp.actions.arguments.problems import plain
from gitlab_mcp.actions.secret_fields import is_secret
from gitlab_mcp.actions.shape import shapes

_NAMES_A_THING: Final = re.compile(r"(?:^|_)(?:id|iid|path|ref|sha|slug|branch|line|username)$|^tag_name$")
_LONGEST: Final = 80
_MOST_NAMED: Final = 3


def ids_among(action: type[Action], given: Mapping[str, Any]) -> dict[str, str | int]:
    """The ids, paths, refs and lines in short, plain text; a name that the action does not have is left out."""
    return {
        name: value
        for name, value in given.items()
        if name in shapes(action)
        and (name in action.spec.placeholders or _NAMES_A_THING.search(name))
        and is_short(value)
    }


def as_sent(given: Mapping[str, Any], names: Iterable[str]) -> str:
    """What was given for these fields, in one line without secrets: `file_path "src/main.py", issue_iid 7`."""
    return ", ".join(
        f"{name} {_quoted(given[name])}" for name in names if _may_be_said(name, given.get(name))
    )


def _may_be_said(name: str, value: Any) -> bool:
    parts = value if isinstance(value, list) and 0 < len(value) <= _MOST_NAMED else [value]
    return not is_secret(name) and all(isinstance(part, (str, int)) and part is not True for part in parts)


def _quoted(value: Any) -> str:
    if isinstance(value, list):
        return " and ".join(map(_quoted, value))
    text = plain(value)
    text = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
    return f'"{text}"' if isinstance(value, str) else text


def is_short(value: Any, longest: int = _LONGEST) -> bool:
    """Whether a value may be repeated: a number, or short text of plain characters."""
    if isinstance(value, bool):
        return False
    return isinstance(value, int) or (
        isinstance(value, str) and len(value) <= longest and plain(value) == value
    )

"""Values that stand for none: an empty text or list where it can mean nothing.

It means nothing in what reads, and in a new thing whose field takes no empty value. In a change it could clear
something, and is left as it is.

Some clients send every field that a tool lists, because the strict modes of model providers let a model leave none out.
What they send empty was not given, in a change too, and the answer says so. They clear with a blank: `" "`, or `[""]`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final

from pydantic import ValidationError

from gitlab_mcp.actions.action import Action
from gitlab_mcp.actions.call import Options
from gitlab_mcp.actions.shape import shapes

_EMPTY: Final[Mapping[str, Any]] = {"string": "", "array": [], "object": {}}
_BLANKS: Final[tuple[tuple[Any, Any], ...]] = ((" ", ""), ([""], []))
"""What a client that fills in everything sends in place of an empty value that it means."""
TO_CLEAR: Final = 'send " ", or [""] for a list'


def leave_out_empty(
    listed: Mapping[str, Mapping[str, Any]],
    action: type[Action],
    sent: Collection[str],
    given: dict[str, Any],
) -> dict[str, Any]:
    """Take out of `given` what stands for no value; what is to be said of it.

    `listed` are the fields that the tool lists, `sent` the names that the client sent.
    """
    fills_in = len(listed) > 1 and listed.keys() <= set(sent)
    not_changed: list[str] = []
    for name, value in [*given.items()]:
        if name in shapes(action):
            if _is_left_out(action, name, value, fills_in):
                del given[name]
                if _is_update(action) and _takes(action, name, value):
                    not_changed.append(name)
            elif fills_in and action.spec.writes:
                given[name] = next((empty for blank, empty in _BLANKS if value == blank), value)
        elif name in shapes(Options):
            if _is_empty(shapes(Options)[name].type, value):
                del given[name]
        elif name in listed and _says_nothing(listed[name], value, fills_in):
            del given[name]
    return {"not_changed": not_changed, "to_clear": TO_CLEAR} if not_changed else {}


def _is_left_out(action: type[Action], name: str, value: Any, fills_in: bool) -> bool:
    shape = shapes(action)[name]
    if shape.required:
        return False
    if _is_empty(shape.type, value):
        return fills_in or not action.spec.writes or not (_is_update(action) or _takes(action, name, value))
    return fills_in and shape.type == "integer" and value == 0 and not _takes(action, name, value)


def _is_empty(type: str, value: Any) -> bool:
    return type in _EMPTY and bool(value == _EMPTY[type])


def _says_nothing(field: Mapping[str, Any], value: Any, fills_in: bool) -> bool:
    """Of a field that only other actions take. A model that must give it has to choose one of several values."""
    had_to_be_chosen = fills_in and (value == 0 or "enum" in field or field["type"] == "boolean")
    return _is_empty(field["type"], value) or had_to_be_chosen


def _is_update(action: type[Action]) -> bool:
    """Whether there is something before the call that an empty value would clear."""
    return any(endpoint.method in ("PUT", "PATCH") for endpoint in action.spec.endpoints)


def _takes(action: type[Action], name: str, value: Any) -> bool:
    try:
        action.model_validate({name: value})
    except ValidationError as mistake:
        return all(each["loc"][:1] != (name,) for each in mistake.errors(include_input=False))
    return True

"""What a field's annotation says: its JSON type, its allowed values, its marks."""

from __future__ import annotations

import types
import typing
from dataclasses import dataclass, replace
from functools import cache
from typing import Annotated, Any, Literal, Union

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from gitlab_mcp.actions.fields import Expects, NotSent, SentAs

if typing.TYPE_CHECKING:
    from gitlab_mcp.actions.action import Action

_JSON_TYPES: dict[Any, str] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    dict: "object",
    list: "array",
}

_EXPECTS: dict[str, str] = {
    "string": "text",
    "integer": "a number",
    "number": "a number",
    "boolean": "true or false",
    "object": "an object",
    "array": "an array",
}


@dataclass(frozen=True, slots=True)
class Shape:
    """One field, without pydantic: enough to print its schema and to name what it expects."""

    type: str
    values: tuple[str, ...] = ()
    items: Shape | None = None
    members: tuple[tuple[str, Shape], ...] = ()
    """The fields of an object, where they are known."""
    required_members: tuple[str, ...] = ()
    description: str = ""
    marks: tuple[Any, ...] = ()
    required: bool = False

    def mark(self, kind: Any) -> Any:
        for mark in self.marks:
            if isinstance(mark, kind):
                return mark
        return None

    @property
    def expects(self) -> str:
        """How an error says what would be right."""
        expects = self.mark(Expects)
        if expects is not None:
            return str(expects.what)
        if self.values:
            return "one of " + ", ".join(self.values)
        return _EXPECTS[self.type]


@cache
def shapes(action: type[Action] | type[BaseModel]) -> dict[str, Shape]:
    """The fields of an action (or of an object inside one), in the order of their declaration."""
    return {name: _shape_of_field(info) for name, info in action.model_fields.items()}


def required(action: type[Action] | type[BaseModel]) -> list[str]:
    """The fields that must be given, whatever else is."""
    return [name for name, shape in shapes(action).items() if shape.required]


def sent_name(action: type[Action], name: str) -> str:
    """What GitLab calls a field of ours."""
    sent = shapes(action)[name].mark(SentAs)
    return str(sent.name) if sent else name


@cache
def sent_fields(action: type[Action]) -> tuple[str, ...]:
    """Our names of the fields that GitLab is told."""
    return tuple(name for name, shape in shapes(action).items() if not shape.mark(NotSent))


def _shape_of_field(info: FieldInfo) -> Shape:
    # pydantic takes the outermost Annotated apart; below a union it leaves it whole.
    annotation: Any = Annotated[info.annotation, *info.metadata] if info.metadata else info.annotation
    shape = _shape(annotation)
    return replace(shape, description=info.description or shape.description, required=info.is_required())


def _shape(annotation: Any) -> Shape:
    origin = typing.get_origin(annotation)
    if origin is Annotated:
        inner, *marks = typing.get_args(annotation)
        shape = _shape(inner)
        descriptions = [
            mark.description for mark in marks if isinstance(mark, FieldInfo) and mark.description
        ]
        return replace(
            shape,
            description=descriptions[-1] if descriptions else shape.description,
            # The outer mark is the more special one and is found first.
            marks=(*reversed(marks), *shape.marks),
        )
    if origin in (Union, types.UnionType):
        return _shape(next(arg for arg in typing.get_args(annotation) if arg is not type(None)))
    if origin is Literal:
        values = typing.get_args(annotation)
        return Shape("integer" if isinstance(values[0], int) else "string", values=tuple(map(str, values)))
    if origin is list:
        return Shape("array", items=_shape(typing.get_args(annotation)[0]))
    if origin is dict:
        return Shape("object")
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        members = tuple(shapes(annotation).items())
        return Shape("object", members=members, required_members=tuple(required(annotation)))
    return Shape(_JSON_TYPES[annotation])

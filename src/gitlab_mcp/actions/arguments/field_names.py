"""Fields under other names: taken where one field is meant, explained where not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from gitlab_mcp.actions.action import Action
from gitlab_mcp.actions.arguments.words import is_short_name, misspelt, same_words, snake
from gitlab_mcp.actions.fields import AlsoCalled, SentAs
from gitlab_mcp.actions.other_names import VALUES, called
from gitlab_mcp.actions.shape import Shape, shapes

OTHER_NUMBER = "the number people see after # or !, not GitLab's id, which is another number"


@dataclass(frozen=True, slots=True)
class Meant:
    """What an unknown field stands for."""

    fields: tuple[str, ...] = ()
    """The fields that could be meant; one that is certain is in `taken`."""
    taken: Mapping[str, Any] | None = None
    """The fields to send in its place."""
    advice: str = ""
    """A sentence about what is offered."""


def what_is_meant(action: type[Action], name: str, value: Any, given: Mapping[str, Any]) -> Meant:
    """The field of the action that a name it does not have stands for."""
    if not is_short_name(name):
        return Meant()
    fields = shapes(action)
    plain = snake(name)
    if plain in fields:
        return _taken(plain, value, given)
    if plain in action.spec.rewrites:
        changes = action.spec.rewrites[plain](value, given)
        if changes is not None:
            return Meant(taken=changes)
    if plain in action.spec.not_taken:
        return Meant(advice=action.spec.not_taken[plain])
    if plain == "id":
        return _id(action, value, given)
    found = candidates(plain, fields, value)
    found = [each for each in found if each not in given or not _names_the_thing(action, each)] or found
    if len(found) > 1:
        fitting = [each for each in found if _accepts(each, fields[each], plain, value)]
        found = fitting if len(fitting) == 1 else found
    if len(found) > 1:
        return Meant(fields=tuple(found))
    if not found:
        typo = misspelt(plain, fields)
        return Meant(fields=(typo,)) if typo else Meant(advice=_who_takes_it(action, plain))
    return _as_field(action, found[0], plain, value, given)


def candidates(name: str, fields: Mapping[str, Shape], value: Any = None) -> list[str]:
    """The fields that are also called so."""
    if _is_number(value) and f"{name}_id" in fields:
        return [f"{name}_id"]
    found = [field for field, shape in fields.items() if name in _other_names(field, shape)]
    return found or same_words(name, fields)


def _other_names(field: str, shape: Shape) -> Iterable[str]:
    for mark in shape.marks:
        if isinstance(mark, AlsoCalled):
            yield from mark.names
        elif isinstance(mark, SentAs):
            yield snake(mark.name.replace("[", "_").replace("]", ""))
            yield mark.name
    yield from called(field)


def _as_field(action: type[Action], field: str, name: str, value: Any, given: Mapping[str, Any]) -> Meant:
    if field.endswith("_iid") and name.endswith("_id") and action.spec.writes:
        return Meant(fields=(field,), advice=f"{field} is {OTHER_NUMBER}")
    spelled = VALUES.get(field, {}).get(name)
    if spelled is not None:
        value = spelled.get(str(value).lower(), value)
        if value not in shapes(action)[field].values:
            return Meant(fields=(field,), advice=f"{field} is {shapes(action)[field].expects}")
    return _taken(field, value, given)


def _taken(field: str, value: Any, given: Mapping[str, Any]) -> Meant:
    if field in given and given[field] != value:
        return Meant(fields=(field,), advice=f"{field} is given too, with another value: send one of them")
    return Meant(taken={field: value})


def _id(action: type[Action], value: Any, given: Mapping[str, Any]) -> Meant:
    """GitLab's paths call the project `id`, its answers the thing."""
    places = [name for name in ("project_id", "group_id") if name in shapes(action)]
    things = [
        name
        for name in shapes(action)
        if name in action.spec.placeholders and name not in places and name.endswith(("_id", "_iid"))
    ]
    found = [name for name in things if name not in given]
    if places and not any(place in given for place in places):
        found = [*places, *found]
    if len(found) != 1:
        return Meant(fields=tuple(found), advice="" if found else _who_takes_it(action, "id"))
    return _as_field(action, found[0], "_id", value, given)


def _names_the_thing(action: type[Action], field: str) -> bool:
    return field in action.spec.placeholders or shapes(action)[field].required


def _accepts(field: str, shape: Shape, name: str, value: Any) -> bool:
    spelled = VALUES.get(field, {}).get(name, {}).get(str(value).lower(), value)
    return str(spelled) in shape.values if shape.values else False


def _is_number(value: Any) -> bool:
    return isinstance(value, int) or (isinstance(value, str) and value.isdecimal())


def _who_takes_it(action: type[Action], name: str) -> str:
    """Which other actions of the tool have such a field."""
    others = [each for each, other in action.spec.tool.actions.items() if name in shapes(other)]
    if others:
        have = "has it" if len(others) == 1 else "have it"
        return f"{action.spec.name} has no {name}; {', '.join(others[:4])} of {action.spec.tool.name} {have}"
    return ""

"""Picks the fields an agent needs out of an answer, as the action's `shows=` names them.

`shows` is a line of fields. A field is the name of a member, `name=path.to.member`, or `path.to.member`, which
is then named by the first part of the path. A path through a list is followed in each item. `notes(id body)`
shows of each note the fields in parentheses. To keep a list short, `created_at:date` shows there only the day,
and `draft:mark` is there only where it says something; one object shows both whole. Fields after ` | ` are for one
object only, so that a list and a get share a line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

_TIME = re.compile(r"^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})\.\d+(?:Z|\+00:00)$")
_LONGEST_TIME = 35
_SAYS_NOTHING = (False, "not_open")
"""The last is the merge status of a merge request whose state says it already."""
_FIELD = re.compile(r"([^\s()]+)(?:\(([^()]*)\))?")


@dataclass(frozen=True, slots=True)
class ShownField:
    name: str
    path: tuple[str, ...]
    inside: tuple[ShownField, ...] = ()
    in_short: str = ""
    """How a list shows it: `date`, `mark`, or whole."""


@dataclass(frozen=True, slots=True)
class ShownFields:
    in_a_list: tuple[ShownField, ...]
    alone: tuple[ShownField, ...]


@cache
def shown_fields(shows: str) -> ShownFields:
    always, _, alone = shows.partition("|")
    in_a_list = _parse(always)
    whole = tuple(replace(field, in_short="") for field in in_a_list)
    return ShownFields(in_a_list, whole + _parse(alone))


def _parse(line: str) -> tuple[ShownField, ...]:
    return tuple(_parse_field(*match) for match in _FIELD.findall(line))


def _parse_field(field: str, inside: str) -> ShownField:
    name, _, path = field.rpartition("=")
    path, _, in_short = path.partition(":")
    parts = tuple(path.split("."))
    return ShownField(name or parts[0], parts, _parse(inside), in_short)


def pick_fields(value: Any, fields: Iterable[ShownField], *, slim_instead: bool = True) -> Any:
    """An object with these fields. What is no object, or has none of the fields, is slimmed instead."""
    if not isinstance(value, (dict, Mapping)):
        return slim(value)
    picked = without_empty(_pick(value, fields))
    return picked or slim(value) if slim_instead else picked


def _pick(value: Mapping[str, Any], fields: Iterable[ShownField]) -> dict[str, Any]:
    picked: dict[str, Any] = {}
    for field in fields:
        found = _follow(value, field.path) if len(field.path) > 1 else value.get(field.path[0])
        is_short = found is None or (isinstance(found, (str, int, float)) and not field.in_short)
        picked[field.name] = found if is_short else _shortened(found, field)
    return picked


def _shortened(found: Any, field: ShownField) -> Any:
    if field.in_short == "date" and isinstance(found, str):
        return found.partition("T")[0]
    if field.in_short == "mark" and found in _SAYS_NOTHING:
        return None
    return _pick_inside(found, field.inside)


def times_to_the_second(value: Any) -> Any:
    """The value with shorter times: `2026-11-16T02:13:07.704+00:00` is `2026-11-16T02:13:07Z`."""
    if isinstance(value, str):
        may_be_one = value[10:11] == "T" and len(value) <= _LONGEST_TIME
        return _TIME.sub(r"\1Z", value) if may_be_one else value
    if isinstance(value, list):
        return [times_to_the_second(item) for item in value]
    if isinstance(value, dict):
        return {
            name: times_to_the_second(member) if isinstance(member, (str, list, dict)) else member
            for name, member in value.items()
        }
    return value


def _pick_inside(value: Any, inside: tuple[ShownField, ...]) -> Any:
    if inside and isinstance(value, list):
        return [pick_fields(item, inside) for item in value]
    return pick_fields(value, inside) if inside else slim(value, depth=1)


def _follow(value: Any, path: tuple[str, ...]) -> Any:
    for depth, part in enumerate(path):
        if isinstance(value, (dict, Mapping)):
            value = value.get(part)
        elif isinstance(value, list):
            return [_follow(item, path[depth:]) for item in value]
        else:
            return None
    return value


def slim(value: Any, depth: int = 0) -> Any:
    """The value without empty members and decoration; a nested user, milestone or project is only its name."""
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, list):
        return [item for item in (slim(item, depth) for item in value) if not _is_empty(item)]
    if not isinstance(value, (dict, Mapping)):
        return value
    if depth > 0 and (name := _name_of(value)) is not None:
        return name
    return without_empty(
        {name: slim(member, depth + 1) for name, member in value.items() if not _is_decoration(name, member)}
    )


def _name_of(value: Mapping[str, Any]) -> Any:
    """The name of an object that GitLab repeats inside others: user, milestone, project, group, label, reference."""
    if "username" in value and "name" in value:
        return value["username"]
    if "title" in value and "iid" in value and "due_date" in value and "start_date" in value:
        return value["title"]
    if "path_with_namespace" in value:
        return value["path_with_namespace"]
    if "full_path" in value and "kind" in value:
        return value["full_path"]
    if "text_color" in value and "name" in value:
        return value["name"]
    if value.keys() >= {"short", "relative", "full"}:
        return value["full"]
    return None


def _is_decoration(name: str, member: Any) -> bool:
    return (
        name.startswith("avatar")
        or name in ("_links", "web_path", "text_color")
        or name.endswith(("_html", "_avatar_url"))
        # A list of links is content, as of a release; a map of API addresses is not.
        or (name == "links" and isinstance(member, Mapping))
    )


def _is_empty(value: Any) -> bool:
    if value is None or isinstance(value, (str, list, dict)):
        return not value
    return not isinstance(value, (int, float)) and isinstance(value, Mapping) and not value


def without_empty(members: Mapping[str, Any]) -> dict[str, Any]:
    """Without what is null, an empty text, list or object. 0 and false say something and stay."""
    return {name: member for name, member in members.items() if member or not _is_empty(member)}

"""Projections: the fields a person would want, out of all that GitLab sends.

`shows` is a line of words. A word is the name of a member, `name=path.to.member`, or `path.to.member`, which
is then called by the first part of the path. A path through a list is followed in each item. `notes(id body)`
shows of each note the words in parentheses. Words after ` | ` are for one object only, so that a list and a
get share a line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

IDENTITY = (
    "id iid key name title path path_with_namespace full_path username tag_name ref sha state status "
    "merge_status web_url url slug file_path branch expires_at job_id pipeline_id merge_error"
)
_WORD = re.compile(r"([^\s()]+)(?:\(([^()]*)\))?")


@dataclass(frozen=True, slots=True)
class Word:
    name: str
    path: tuple[str, ...]
    inside: tuple[Word, ...] = ()


@dataclass(frozen=True, slots=True)
class View:
    in_a_list: tuple[Word, ...]
    alone: tuple[Word, ...]


@cache
def view(shows: str) -> View:
    short, _, more = shows.partition("|")
    in_a_list = _words(short)
    return View(in_a_list, in_a_list + _words(more))


def _words(line: str) -> tuple[Word, ...]:
    return tuple(_word(*found) for found in _WORD.findall(line))


def _word(word: str, inside: str) -> Word:
    name, _, path = word.rpartition("=")
    parts = tuple(path.split("."))
    return Word(name or parts[0], parts, _words(inside))


def project(value: Any, words: Iterable[Word]) -> Any:
    """The members the words name. What is not an object, or has none of them, is slimmed instead."""
    if not isinstance(value, (dict, Mapping)):
        return slim(value)
    return _without_nothing(_named(value, words)) or slim(value)


def _named(value: Mapping[str, Any], words: Iterable[Word]) -> dict[str, Any]:
    return {word.name: _member(_follow(value, word.path), word.inside) for word in words}


def _member(value: Any, inside: tuple[Word, ...]) -> Any:
    if inside and isinstance(value, list):
        return [project(item, inside) for item in value]
    return project(value, inside) if inside else slim(value, depth=1)


def _follow(value: Any, path: tuple[str, ...]) -> Any:
    if not path:
        return value
    if isinstance(value, list):
        return [_follow(item, path) for item in value]
    if isinstance(value, (dict, Mapping)):
        return _follow(value.get(path[0]), path[1:])
    return None


def slim(value: Any, depth: int = 0) -> Any:
    """Without nothings, decoration and the objects that GitLab repeats inside every other object."""
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, list):
        return [item for item in (slim(item, depth) for item in value) if not _is_nothing(item)]
    if not isinstance(value, (dict, Mapping)):
        return value
    if depth > 0 and (called := _called(value)) is not None:
        return called
    return _without_nothing(
        {name: slim(member, depth + 1) for name, member in value.items() if not _decorates(name, member)}
    )


def _called(value: Mapping[str, Any]) -> Any:
    """What a nested object is called, where its name says enough: a user, a milestone, a project, a label…"""
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


def _decorates(name: str, member: Any) -> bool:
    return (
        name.startswith("avatar")
        or name in ("_links", "web_path", "text_color")
        or name.endswith(("_html", "_avatar_url"))
        # The links of a release are content; a map of addresses is not.
        or (name == "links" and isinstance(member, Mapping))
    )


def _is_nothing(value: Any) -> bool:
    return value is None or (isinstance(value, (str, list, dict, Mapping)) and not value)


def _without_nothing(members: Mapping[str, Any]) -> dict[str, Any]:
    return {name: member for name, member in members.items() if not _is_nothing(member)}


def written(body: Any, shows: str, sent: Mapping[str, Any]) -> Any:
    """What a write brought about: what the caller does not know already."""
    words = view(shows or IDENTITY).in_a_list
    if not isinstance(body, Mapping):
        return slim(body)
    shown = _without_nothing(_named(body, words))
    return {name: member for name, member in shown.items() if not _same(member, sent.get(name))}


def _same(answered: Any, sent: Any) -> bool:
    return sent is not None and (answered == sent or str(answered) == str(sent))

"""Where callers may act: in these projects and groups, and never in those.

Places are compared by their numbers, group by group upwards, so that neither a rename nor an old path, a URL or a
number in place of a path makes another place of it. What cannot be looked up is outside.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator
from fnmatch import fnmatchcase
from typing import Any, Final

from pydantic import BaseModel

from gitlab_mcp.actions.action import Action, encode_segment
from gitlab_mcp.actions.ask import Ask
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.policy import Intent

_PROJECT: Final = re.compile(r"(\w+_)?project(_id|_ids)?$")
_GROUP: Final = re.compile(r"(\w+_)?(group|namespace)(_id|_ids|_path)?$")

NOWHERE: Final = (
    # Each call in a batch is looked at for itself.
    "run_batch.run",
    "browse_instance.*",
    "browse_users.current",
    "browse_users.get",
    "browse_users.list",
    "browse_users.status",
    "browse_users.counts",
    "browse_users.associations_count",
    "browse_users.followers",
    "browse_users.following",
    "browse_users.keys",
    "browse_users.gpg_keys",
    "browse_users.emails",
)
"""Actions that name no place and show nothing of any. All others that name none could reach everywhere: where places
are limited, they are refused."""

_DEEPEST: Final = 32

Node = tuple[str, int]
"""`project`, `group` or `user` (the namespace of one), and its number."""


def field_names(action: type[Action]) -> dict[str, str]:
    """The fields by which an action names a place: each a `project` or a `group`."""
    kinds = {name: kind for name in action.model_fields if (kind := _kind(name))}
    if action.spec.tool.name == "manage_group" and "parent_id" in action.model_fields:
        kinds["parent_id"] = "group"
    return kinds


def _kind(field: str) -> str | None:
    if _PROJECT.fullmatch(field):
        return "project"
    return "group" if _GROUP.fullmatch(field) else None


class Places:
    """As a guard: refuses calls that reach outside `only` (where something is) or into `never`.

    An entry is a path (`acme`, `acme/website`), a project's number (`42`) or a group's (`group:7`). A path is looked
    up when it is first needed, and means the same place from then on.
    """

    def __init__(self, only: tuple[str, ...] = (), never: tuple[str, ...] = ()) -> None:
        self._only = only
        self._never = never
        self._found: dict[tuple[str, str], Node] = {}

    async def __call__(self, intent: Intent) -> None:
        named = list(_named(intent.call.action))
        if not named and not any(fnmatchcase(intent.name, free) for free in NOWHERE):
            raise CallFailed(self._refusal("It names no project or group, and could reach any.", None))
        for name, kind, value in named:
            if why := await self._objection(kind, value, intent.caller.gitlab_url, intent.ask):
                raise CallFailed(self._refusal(f"{name} {why}.", name))

    async def _objection(self, kind: str, value: str, gitlab: str, ask: Ask) -> str | None:
        lineage = [step async for step in _lineage(kind, value, ask)]
        if not lineage or lineage[-1] is not _TOP:
            return "names something that your token cannot see, or not with the groups above it"
        nodes = {node for node, _ in lineage}
        paths = {path for _, path in lineage}
        for entry in self._never:
            node = await self._node(entry, gitlab, ask)
            # One that cannot be looked up is compared by its name: better than not at all.
            if node in nodes or (node is None and entry in paths):
                return "is in a place that the operator does not allow"
            if kind == "group" and node is not None and await _holds(lineage[0][0], node, ask):
                return "is a group that holds a place that the operator does not allow, and would show it"
        if self._only and not any([await self._node(entry, gitlab, ask) in nodes for entry in self._only]):
            return "is outside of the places that the operator allows"
        return None

    async def _node(self, entry: str, gitlab: str, ask: Ask) -> Node | None:
        if entry.isdecimal():
            return ("project", int(entry))
        if entry.startswith("group:"):
            return ("group", int(entry.removeprefix("group:")))
        found = self._found.get((gitlab, entry)) or await _find(entry, ask)
        if found is not None:
            self._found[(gitlab, entry)] = found
        return found

    def _refusal(self, why: str, field: str | None) -> Failure:
        inside = f" inside {', '.join(self._only)}" if self._only else ""
        fix = f"Give as {field} one{inside} that your token can see." if field else f"Name one{inside}."
        return Failure(
            Code.OUT_OF_SCOPE, f"The operator allows only some projects and groups. {why}"
        ).knowing(
            allowed={"only_in": list(self._only)} if self._only else None,
            confidence="certain",
            suggested_fix=fix,
            retryable=False,
        )


_TOP: Final[tuple[Node, str]] = (("top", 0), "")


async def _lineage(kind: str, value: str, ask: Ask) -> AsyncIterator[tuple[Node, str]]:
    """The place and the groups above it, then the top; it ends without the top where something cannot be read."""
    above: Any = value
    if kind == "project":
        project = await ask.project(value)
        if project is None or not isinstance(project.get("namespace"), dict):
            return
        yield ("project", project["id"]), str(project.get("path_with_namespace", "")).casefold()
        namespace = project["namespace"]
        if namespace.get("kind") == "user":
            yield ("user", namespace["id"]), str(namespace.get("full_path", "")).casefold()
            yield _TOP
            return
        above = namespace.get("id")
    for _ in range(_DEEPEST):
        if above is None:
            yield _TOP
            return
        group = await ask.group(str(above))
        if group is None:
            return
        yield ("group", group["id"]), str(group.get("full_path", "")).casefold()
        above = group.get("parent_id")


async def _holds(group: Node, place: Node, ask: Ask) -> bool:
    return place[0] != "user" and group in [node async for node, _ in _lineage(place[0], str(place[1]), ask)]


async def _find(entry: str, ask: Ask) -> Node | None:
    """A path is a project's, a group's or a user's, never two of them."""
    if "/" in entry and (project := await ask.project(entry)) is not None:
        return ("project", project["id"])
    if (group := await ask.group(entry)) is not None:
        return ("group", group["id"])
    namespace = await ask.look(f"/namespaces/{encode_segment(entry)}")
    match namespace:
        case {"kind": "user", "id": int(number)}:
            return ("user", number)
    return None


def _named(action: Action) -> Iterator[tuple[str, str, str]]:
    """Each place that is named: the field, `project` or `group`, and the name or number."""
    kinds = field_names(type(action))
    for name in type(action).model_fields:
        value = getattr(action, name)
        if name in kinds:
            yield from _each(name, kinds[name], value)
        elif isinstance(value, list):
            for item in value:
                for inner, inner_value in _parts(item):
                    if kind := _kind(inner):
                        yield from _each(f"{name}.{inner}", kind, inner_value)


def _parts(item: Any) -> list[tuple[str, Any]]:
    if isinstance(item, BaseModel):
        return list(item)
    return list(item.items()) if isinstance(item, dict) else []


def _each(name: str, kind: str, value: Any) -> Iterator[tuple[str, str, str]]:
    for each in value if isinstance(value, list) else [value]:
        if each is not None:
            yield name, kind, str(each)

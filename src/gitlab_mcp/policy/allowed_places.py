"""In which projects and groups callers may act: `--only-in`, `--never-in` and `X-MCP-Only-In`.

Places are compared by id, from the project up through its groups, because paths change: a group can be renamed and
another can take its name. A place that the caller's token cannot look up is refused.
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
from gitlab_mcp.policy.guard import ProposedCall

_PROJECT: Final = re.compile(r"(\w+_)?project(_id|_ids)?$")
_GROUP: Final = re.compile(r"(\w+_)?(group|namespace)(_id|_ids|_path)?$")

ACTIONS_WITHOUT_PLACE: Final = (
    # Each call of a batch meets this guard itself.
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
"""Actions that name no place and show nothing of one. Any other action without a place could reach every project, so
it is refused where places are limited."""

_DEEPEST_NESTING: Final = 32

Place = tuple[str, int]
"""`project`, `group` or `user` (a personal namespace), and its id."""


def place_fields(action: type[Action]) -> dict[str, str]:
    """The fields that name a place, each with `project` or `group`."""
    kinds = {name: kind for name in action.model_fields if (kind := _kind_of_field(name))}
    if action.spec.tool.name == "manage_group" and "parent_id" in action.model_fields:
        kinds["parent_id"] = "group"
    return kinds


def _kind_of_field(field: str) -> str | None:
    if _PROJECT.fullmatch(field):
        return "project"
    return "group" if _GROUP.fullmatch(field) else None


class AllowedPlaces:
    """As a guard: refuses calls outside the places of `only` (empty: everywhere) or inside those of `never`.

    An entry is a path (`acme`, `acme/website`), a project's id (`42`) or a group's (`group:7`). A path is looked up
    once and means that place from then on, also after a rename.
    """

    def __init__(self, only: tuple[str, ...] = (), never: tuple[str, ...] = ()) -> None:
        self._only = only
        self._never = never
        self._looked_up: dict[tuple[str, str], Place] = {}

    async def __call__(self, proposed: ProposedCall) -> None:
        named = list(_named_places(proposed.call.action))
        if not named and not any(fnmatchcase(proposed.name, pattern) for pattern in ACTIONS_WITHOUT_PLACE):
            raise CallFailed(self._refusal("It names no project or group, and could reach any.", None))
        for name, kind, value in named:
            if reason := await self._reason_to_refuse(kind, value, proposed.caller.gitlab_url, proposed.ask):
                raise CallFailed(self._refusal(f"{name} {reason}.", name))

    async def _reason_to_refuse(self, kind: str, value: str, gitlab: str, ask: Ask) -> str | None:
        lineage = [step async for step in _lineage(kind, value, ask)]
        if not lineage or lineage[-1] is not _TOP:
            return "names something that your token cannot see, or not with the groups above it"
        places = {place for place, _ in lineage}
        paths = {path for _, path in lineage}
        for entry in self._never:
            place = await self._place(entry, gitlab, ask)
            # A denied place that cannot be looked up is compared by its path.
            if place in places or (place is None and entry in paths):
                return "is in a place that the operator does not allow"
            if kind == "group" and place is not None and await _contains(lineage[0][0], place, ask):
                return "is a group that holds a place that the operator does not allow, and would show it"
        if self._only and not any([await self._place(entry, gitlab, ask) in places for entry in self._only]):
            return "is outside of the places that the operator allows"
        return None

    async def _place(self, entry: str, gitlab: str, ask: Ask) -> Place | None:
        if entry.isdecimal():
            return ("project", int(entry))
        if entry.startswith("group:"):
            return ("group", int(entry.removeprefix("group:")))
        found = self._looked_up.get((gitlab, entry)) or await _look_up(entry, ask)
        if found is not None:
            self._looked_up[(gitlab, entry)] = found
        return found

    def _refusal(self, reason: str, field: str | None) -> Failure:
        inside = f" inside {', '.join(self._only)}" if self._only else ""
        fix = f"Give as {field} one{inside} that your token can see." if field else f"Name one{inside}."
        return Failure(
            Code.OUT_OF_SCOPE, f"The operator allows only some projects and groups. {reason}"
        ).knowing(
            allowed={"only_in": list(self._only)} if self._only else None,
            confidence="certain",
            suggested_fix=fix,
            retryable=False,
        )


_TOP: Final[tuple[Place, str]] = (("top", 0), "")


async def _lineage(kind: str, value: str, ask: Ask) -> AsyncIterator[tuple[Place, str]]:
    """The place, then the groups above it, each with its path; `_TOP` is last unless one of them cannot be read."""
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
    for _ in range(_DEEPEST_NESTING):
        if above is None:
            yield _TOP
            return
        group = await ask.group(str(above))
        if group is None:
            return
        yield ("group", group["id"]), str(group.get("full_path", "")).casefold()
        above = group.get("parent_id")


async def _contains(group: Place, place: Place, ask: Ask) -> bool:
    kind, id = place
    return kind != "user" and group in [above async for above, _ in _lineage(kind, str(id), ask)]


async def _look_up(entry: str, ask: Ask) -> Place | None:
    """No two of a project, a group and a user have the same path."""
    if "/" in entry and (project := await ask.project(entry)) is not None:
        return ("project", project["id"])
    if (group := await ask.group(entry)) is not None:
        return ("group", group["id"])
    namespace = await ask.look(f"/namespaces/{encode_segment(entry)}")
    match namespace:
        case {"kind": "user", "id": int(number)}:
            return ("user", number)
    return None


def _named_places(action: Action) -> Iterator[tuple[str, str, str]]:
    """Each place that the call names: the field, `project` or `group`, and the path or id."""
    kinds = place_fields(type(action))
    for name in type(action).model_fields:
        value = getattr(action, name)
        if name in kinds:
            yield from _each_value(name, kinds[name], value)
        elif isinstance(value, list):
            for item in value:
                for inner, inner_value in _members(item):
                    if kind := _kind_of_field(inner):
                        yield from _each_value(f"{name}.{inner}", kind, inner_value)


def _members(item: Any) -> list[tuple[str, Any]]:
    if isinstance(item, BaseModel):
        return list(item)
    return list(item.items()) if isinstance(item, dict) else []


def _each_value(name: str, kind: str, value: Any) -> Iterator[tuple[str, str, str]]:
    for each in value if isinstance(value, list) else [value]:
        if each is not None:
            yield name, kind, str(each)

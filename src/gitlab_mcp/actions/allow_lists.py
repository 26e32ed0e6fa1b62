"""Lists of who may do something on a protected thing: each entry a role, a user or a group."""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import AfterValidator, Field

from gitlab_mcp.actions.fields import (
    PROTECTION_LEVELS_SAID,
    Expects,
    FromJson,
    Members,
    NamesPlace,
    ReachesNothing,
    Within,
    protection_level,
)

WHO: Final = ("access_level", "user_id", "group_id", "deploy_key_id")
NUMBERS: Final = (*WHO, "id", "group_inheritance_type", "required_approvals")


def _with_level(entry: dict[str, Any]) -> dict[str, Any]:
    if "access_level" not in entry:
        return entry
    return {**entry, "access_level": protection_level(entry["access_level"])}


def _entries(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    entries = [_with_level(entry) for entry in entries]
    for entry in entries:
        numbers = [value for name, value in entry.items() if name in NUMBERS]
        rest = {name: value for name, value in entry.items() if name not in NUMBERS}
        if any(isinstance(value, bool) or not isinstance(value, int) or value < 0 for value in numbers):
            raise ValueError("numbers are expected")
        if rest.keys() - {"_destroy"} or not all(isinstance(value, bool) for value in rest.values()):
            raise ValueError("an entry holds something else")
        # GitLab takes an entry that names two and keeps one of them.
        if sum(name in entry for name in WHO) != 1 and "id" not in entry:
            raise ValueError("exactly one of access_level, user_id, group_id is expected")
    return entries


AllowList = Annotated[
    list[dict[str, Any]],
    Field(min_length=1),
    FromJson,
    AfterValidator(_entries),
    # GitLab takes only a deploy key that the project has, and only entries of this list.
    Members(
        {name: ReachesNothing() for name in (*NUMBERS, "_destroy")}
        | {"group_id": NamesPlace("group"), "deploy_key_id": Within(), "id": Within()}
    ),
    Expects(
        "an array of {access_level}, {user_id} or {group_id}; {id, _destroy: true} removes an entry; access_level is "
        + PROTECTION_LEVELS_SAID
    ),
]

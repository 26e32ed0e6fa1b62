"""Names in place of numbers: whom `alice` means, which milestone is `v1.0`, which group is `acme/team`.

GitLab takes a word for a user's number without a complaint and does something else with it, so no name is sent that was
not found. Read with the caller's own rights, once for each name, and remembered for a minute.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any, Final

from gitlab_mcp.actions.action import Action, fill
from gitlab_mcp.actions.ask import Ask
from gitlab_mcp.actions.fields import ME, USERNAME, Names
from gitlab_mcp.actions.names import names_given
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.gitlab.concurrently import concurrently

_MOST_CANDIDATES: Final = 10
_LONGEST_SEARCH: Final = "100"
_MOST_NAMES: Final = 50
"""To be looked up for one call. Each takes a request."""


async def replace_names(action: Action, ask: Ask) -> Action:
    """The same action with numbers for names, and the caller's username for `me`."""
    found: dict[str, dict[str, int | str]] = {}
    marks: dict[str, Names] = {}
    given = list(islice(names_given(action), _MOST_NAMES + 1))
    if len(given) > _MOST_NAMES:
        raise CallFailed(_too_many(given[-1][0]))
    numbers = await concurrently([partial(_look_up, action, *each, ask) for each in given])
    for (field, mark, name), number in zip(given, numbers, strict=True):
        if isinstance(number, Exception):
            raise number
        marks[field] = mark
        found.setdefault(field, {})[name] = number
    changes = {
        field: _replaced(getattr(action, field), marks[field], values) for field, values in found.items()
    }
    return action.model_copy(update=changes)


def _replaced(value: Any, mark: Names, found: Mapping[str, int | str]) -> Any:
    def one(each: Any) -> Any:
        return found[each] if mark.is_to_look_up(each) else each

    return [one(each) for each in value] if isinstance(value, list) else one(value)


async def _look_up(action: Action, field: str, mark: Names, name: str, ask: Ask) -> int | str:
    if mark.kind == "username":
        return str((await _caller(ask))["username"])
    if mark.kind == "user":
        return await _user(field, name, ask)
    if mark.kind == "milestone":
        return await _milestone(action, field, name, ask)
    group = await ask.group(name)
    if group is None:
        raise CallFailed(_unknown(field, "group", "browse_project_details namespaces", search=name))
    return int(group["id"])


async def _caller(ask: Ask) -> Mapping[str, Any]:
    user = await ask.names("/user")
    if isinstance(user, Mapping) and "username" in user:
        return user
    raise CallFailed(
        Failure(Code.INVALID_VALUE, "GitLab does not say who the caller is.").knowing(
            suggested_fix="Give a username instead of me."
        )
    )


async def _user(field: str, name: str, ask: Ask) -> int:
    if name == ME:
        return int((await _caller(ask))["id"])
    if USERNAME.fullmatch(name):
        match await ask.names("/users", username=name):
            case [{"id": int(number)}]:
                return number
    alike = _listed(await ask.names("/users", search=name, per_page=_LONGEST_SEARCH))
    of_that_name = [user for user in alike if str(user.get("name")).casefold() == name.casefold()]
    if len(of_that_name) == 1:
        return int(of_that_name[0]["id"])
    if not alike:
        raise CallFailed(_unknown(field, "user", "browse_users list", search=name))
    candidates = [{"id": user["id"], "username": user.get("username")} for user in of_that_name or alike]
    raise CallFailed(_ambiguous(field, "user", candidates))


async def _milestone(action: Action, field: str, title: str, ask: Ask) -> int:
    place, query = _place_of_milestone(action, field)
    found = _listed(await ask.names(f"{fill(place, **action.given())}/milestones", title=title, **query))
    if len(found) == 1:
        return int(found[0]["id"])
    if not found:
        named = {name: value for name, value in action.given().items() if name in ("project_id", "group_id")}
        raise CallFailed(_unknown(field, "milestone", "browse_milestones list", **named, **query))
    candidates = [
        {name: each[name] for name in ("id", "project_id", "group_id") if each.get(name)} for each in found
    ]
    raise CallFailed(_ambiguous(field, "milestone", candidates))


def _listed(answer: Any) -> list[Any]:
    if answer is not None and not isinstance(answer, list):
        raise CallFailed(
            Failure(
                Code.BAD_RESPONSE, "GitLab did not answer with a list to the question for a name."
            ).knowing(suggested_fix="Give the number in place of the name.")
        )
    return answer or []


def _place_of_milestone(action: Action, field: str) -> tuple[str, dict[str, str]]:
    """Where its title is looked for: in the place that a path names; else also in the groups above the project."""
    if field in action.spec.placeholders:
        return action.endpoint().path.partition("/milestones")[0], {}
    given = action.given()
    place = "target_project_id" if "target_project_id" in given else "project_id"
    return f"/projects/{{{place}}}", {"include_ancestors": "true"}


def _too_many(field: str) -> Failure:
    expected = f"at most {_MOST_NAMES} names, or numbers"
    return Failure(
        Code.INVALID_VALUE, f"{field} holds more names than are looked up. Nothing was sent."
    ).knowing(
        invalid_fields=[{"field": field, "expected": expected, "received": "more names"}],
        suggested_fix=f"Give {field} as numbers, or fewer names at a time.",
    )


def _unknown(field: str, kind: str, look_in: str, **arguments: Any) -> Failure:
    return Failure(
        Code.NOT_FOUND,
        f"There is no {kind} of the name in {field} that your token can see. Nothing was sent.",
    ).knowing(
        missing=field,
        confidence="certain",
        evidence=[f"GitLab was asked for the name in {field}"],
        suggested_fix=f"Look the {kind} up with {look_in}, or give {field} as a number.",
        alternatives=[
            {
                "action": look_in,
                "arguments": arguments,
                "description": f"finds a {kind}",
                "available_on": "Free",
            }
        ],
        retryable=False,
    )


def _ambiguous(field: str, kind: str, candidates: Sequence[Mapping[str, Any]]) -> Failure:
    return Failure(
        Code.INVALID_VALUE, f"The name in {field} fits no {kind} exactly, or more than one. Nothing was sent."
    ).knowing(
        invalid_fields=[
            {"field": field, "expected": "the number of one of the candidates", "received": "a name"}
        ],
        candidates=list(candidates[:_MOST_CANDIDATES]),
        suggested_fix=f"Give {field} as the id of one of the candidates.",
        retryable=False,
    )

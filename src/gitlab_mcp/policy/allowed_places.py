"""In which projects and groups callers may act: `--only-in`, `--never-in` and `X-MCP-Only-In`.

Every field of a call says what it can reach (`actions.reach`). A place is looked up and judged. A number that GitLab
looks for in the whole instance is resolved to its project first, or refused. A field of which nobody says it is
refused.

Places are compared by id, from the project up through its groups, because paths change: a group can be renamed and
another can take its name. What cannot be looked up is refused.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any, Final

from gitlab_mcp.actions.action import Action, encode_segment
from gitlab_mcp.actions.ask import Ask
from gitlab_mcp.actions.fields import Anywhere, NamesPlace
from gitlab_mcp.actions.places import place_on
from gitlab_mcp.actions.quick_actions import TakesQuickActions, names_another_place
from gitlab_mcp.actions.reach import Reached, Undeclared, reached
from gitlab_mcp.actions.shape import shapes
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.policy.guard import ProposedCall

ACTIONS_WITHOUT_PLACE: Final = frozenset((
    # Each call of a batch meets this guard itself.
    "run_batch.run",
    # It asks GitLab nothing.
    "find_actions.find",
    "browse_instance.metadata", "browse_instance.token", "browse_instance.explain_access",
    "browse_instance_details.templates", "browse_instance_details.template",
    "browse_instance_details.broadcast_messages",
    "browse_users.current", "browse_users.get", "browse_users.list", "browse_user_details.status",
    "browse_users.counts", "browse_user_details.associations_count",
    "browse_user_details.followers", "browse_user_details.following",
    "browse_user_details.keys", "browse_user_details.gpg_keys", "browse_user_details.emails",
))  # fmt: skip
"""Actions that name no place and show nothing of one. Any other action without a place could reach every project, so
it is refused where places are limited."""

_DEEPEST_NESTING: Final = 32
_STEPS_IN_A_PATH: Final = re.compile(r"(?:^|/)\.{1,2}(?:/|$)")

Place = tuple[str, int]
"""`project`, `group` or `user` (a personal namespace), and its id."""


class AllowedPlaces:
    """As a guard: refuses calls outside the places of `only` (empty: everywhere) or inside those of `never`.

    An entry is a path (`acme`, `acme/website`), a project's id (`42`) or a group's (`group:7`), with its GitLab in
    front where it is not `home`. Without one, an entry of `only` is a place of `home` alone, and one of `never` is
    a place of every GitLab: what is unclear allows nothing. With no `home`, entries belong to the GitLab of the call.

    A path is looked up once and means that place from then on, also after a rename.
    """

    def __init__(
        self,
        only: tuple[str, ...] = (),
        never: tuple[str, ...] = (),
        *,
        home: str | None = None,
        gitlabs: tuple[str, ...] = (),
    ) -> None:
        self._only = only
        self._never = never
        self._home = home
        self._gitlabs = gitlabs
        self._looked_up: dict[tuple[str, str], Place] = {}

    async def __call__(self, proposed: ProposedCall) -> None:
        action, gitlab, ask = proposed.call.action, proposed.caller.gitlab_url, proposed.ask
        if proposed.call.options.quick_actions:
            self._judge_quick_actions(action)
        judged = False
        for each in reached(action):
            judged |= await self._judge(each, gitlab, ask)
        for name in _absent_places(action):
            own = await _own_namespace(ask)
            if own is None:
                raise CallFailed(
                    self._refusal(f"Without {name} it goes to a place that cannot be looked up.", name)
                )
            await self._judge_place(name, "namespace", own, gitlab, ask)
            judged = True
        if not judged and proposed.name not in ACTIONS_WITHOUT_PLACE:
            raise CallFailed(self._refusal("It names no project or group, and could reach any.", None))

    async def allows(self, project: str, gitlab: str, ask: Ask) -> bool:
        """Whether a call about another place may also read this project, to which GitLab's answers lead."""
        return await self._reason_to_refuse("project", project, gitlab, ask) is None

    def _judge_quick_actions(self, action: Action) -> None:
        for name, shape in shapes(type(action)).items():
            if shape.mark(TakesQuickActions) and names_another_place(getattr(action, name) or ""):
                reason = f"{name} holds a quick action that names another project or group."
                raise CallFailed(self._refusal(reason, None))

    async def _judge(self, found: Reached, gitlab: str, ask: Ask) -> bool:
        """Whether it named a place, which is then an allowed one."""
        match found.reach:
            case NamesPlace(kind=kind, inside=inside):
                value = str(found.value)
                if inside is not None:
                    match_inside = re.search(inside, value)
                    if match_inside is None:
                        return False
                    value = match_inside[1]
                await self._judge_place(found.field, kind, value, gitlab, ask)
                # A place inside of another text is one more place, not the one that the call is about.
                return inside is None
            case Anywhere(found_at=None, what=what):
                raise CallFailed(
                    self._refusal(
                        f"{found.field} is the number of a thing anywhere in GitLab ({what}), and its place cannot "
                        "be looked up.",
                        None,
                    )
                )
            case Anywhere(found_at=str(path), what=what):
                project = await _project_of(path.format(id=encode_segment(found.value)), ask)
                if project is None:
                    raise CallFailed(
                        self._refusal(f"The project of the {what} cannot be looked up.", found.field)
                    )
                await self._judge_place(found.field, "project", project, gitlab, ask)
                return True
            case Undeclared():
                raise CallFailed(self._refusal(f"It is not known what {found.field} can reach.", None))
        return False

    async def _judge_place(self, field: str, kind: str, value: str, gitlab: str, ask: Ask) -> None:
        if reason := await self._reason_to_refuse(kind, value, gitlab, ask):
            raise CallFailed(self._refusal(f"{field} {reason}.", field))

    async def _reason_to_refuse(self, kind: str, value: str, gitlab: str, ask: Ask) -> str | None:
        if _STEPS_IN_A_PATH.search(value):
            return "is no path of a project or group"
        lineage = [step async for step in _lineage(kind, value, ask)]
        if not lineage or lineage[-1] is not _TOP:
            return "names something that your token cannot see, or not with the groups above it"
        places = {place for place, _ in lineage}
        paths = {path for _, path in lineage}
        for entry in self._entries(self._never, gitlab, everywhere=True):
            place = await self._place(entry, gitlab, ask)
            # A denied place that is not there for this caller is compared by its path.
            if place in places or (place is None and entry in paths):
                return "is in a place that the operator does not allow"
            if place is None and not await _is_not_there(entry, ask):
                return (
                    "cannot be compared with a place that the operator does not allow: looking that up failed"
                )
            if lineage[0][0][0] == "group" and await _may_contain(lineage[0], place, entry, ask):
                return "is a group that holds a place that the operator does not allow, and would show it"
        if self._only:
            allowed = [
                await self._place(entry, gitlab, ask)
                for entry in self._entries(self._only, gitlab, everywhere=False)
            ]
            if not any(place in places for place in allowed):
                return "is outside of the places that the operator allows"
        return None

    def _entries(self, entries: tuple[str, ...], gitlab: str, *, everywhere: bool) -> Iterator[str]:
        """Those that are places of this GitLab, without its address."""
        for entry in entries:
            named, place = place_on(entry, {gitlab, *self._gitlabs})
            of_this = named == gitlab if named else everywhere or self._home in (None, gitlab)
            if of_this:
                yield place

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
        fix = (
            f"Give as {field} one{inside} that your token can see."
            if field
            else f"Make a call that names a project or group{inside} and nothing else."
        )
        return Failure(
            Code.OUT_OF_SCOPE, f"The operator allows only some projects and groups. {reason}"
        ).knowing(
            allowed={"only_in": list(self._only)} if self._only else None,
            confidence="certain",
            suggested_fix=fix,
            retryable=False,
        )


def _absent_places(action: Action) -> Iterator[str]:
    """The fields that were left out, and without which GitLab takes the caller's own namespace."""
    for name, shape in shapes(type(action)).items():
        mark = shape.mark(NamesPlace)
        if mark and mark.own_if_absent and getattr(action, name) is None:
            yield name


async def _own_namespace(ask: Ask) -> str | None:
    match await ask.look("/user"):
        case {"username": str(username)}:
            return username
    return None


async def _project_of(path: str, ask: Ask) -> str | None:
    match await ask.look(path):
        case {"project": {"id": int(number)}}:
            return str(number)
    return None


_TOP: Final[tuple[Place, str]] = (("top", 0), "")


async def _lineage(kind: str, value: str, ask: Ask) -> AsyncIterator[tuple[Place, str]]:
    """The place, then the groups above it, each with its path; `_TOP` is last unless one of them cannot be read."""
    above: Any = value
    if kind == "project":
        project = await ask.project(value)
        if project is None or not isinstance(project.get("namespace"), Mapping):
            return
        yield ("project", project["id"]), str(project.get("path_with_namespace", "")).casefold()
        namespace = project["namespace"]
        if namespace.get("kind") == "user":
            yield _personal(namespace)
            yield _TOP
            return
        above = namespace.get("id")
    if kind == "namespace":
        personal: Any = await ask.look(f"/namespaces/{encode_segment(value)}")
        match personal:
            case {"kind": "user", "id": int()}:
                yield _personal(personal)
                yield _TOP
                return
    for _ in range(_DEEPEST_NESTING):
        if above is None:
            yield _TOP
            return
        group = await ask.group(str(above))
        if group is None:
            return
        yield ("group", group["id"]), str(group.get("full_path", "")).casefold()
        above = group.get("parent_id")


def _personal(namespace: Mapping[str, Any]) -> tuple[Place, str]:
    return ("user", namespace["id"]), str(namespace.get("full_path", "")).casefold()


async def _may_contain(group: tuple[Place, str], place: Place | None, entry: str, ask: Ask) -> bool:
    """Whether a group holds a denied place, as far as that can be told; where it cannot, it may."""
    if place is None:
        # It could not be looked up: its path says where it is, as long as nobody renamed it.
        return entry.startswith(f"{group[1]}/")
    if place[0] == "user":
        return False
    lineage = [step async for step in _lineage(place[0], str(place[1]), ask)]
    if not lineage or lineage[-1] is not _TOP:
        return await ask.exists(f"/{place[0]}s/{place[1]}") is not False
    return group[0] in [above for above, _ in lineage]


async def _is_not_there(entry: str, ask: Ask) -> bool:
    """Whether GitLab said so. Where it said nothing, a look-up failed."""
    path = encode_segment(entry)
    paths = [f"/groups/{path}", f"/namespaces/{path}", *([f"/projects/{path}"] if "/" in entry else [])]
    return all([await ask.exists(path) is False for path in paths])


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

"""What works at a place for this caller and what does not, with the reason: what a refusal would say, beforehand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Protocol

from gitlab_mcp.actions.action import ROLE_NAMES, Action, fill
from gitlab_mcp.actions.arguments.wrapped_calls import ANY_CALL, READING_CALL
from gitlab_mcp.actions.ask import Ask, TokenFacts, role_in
from gitlab_mcp.actions.result import Result
from gitlab_mcp.actions.token_needs import TokenNeeds
from gitlab_mcp.api.switches import SWITCHES, switch_of, switched_off
from gitlab_mcp.failures.codes import Code, NoticeCode
from gitlab_mcp.gitlab.concurrently import concurrently
from gitlab_mcp.refusals.causes import works_in_closed_projects
from gitlab_mcp.results.shown_fields import without_empty
from gitlab_mcp.tiers.effective_tier import EffectiveTier
from gitlab_mcp.tiers.feature_map import Effect, Feature, TierMap
from gitlab_mcp.tiers.requirements import ActionRequirements, requirements_of_action

_CODES: Final[Mapping[Effect, tuple[Code | NoticeCode, str]]] = {
    "refused": (Code.TIER_RESTRICTED, "refuses it"),
    "dropped": (NoticeCode.TIER_IGNORED, "takes it and drops it"),
    "not_enforced": (NoticeCode.TIER_NOT_ENFORCED, "keeps it and does not act on it"),
    "empty": (NoticeCode.EMPTY_BECAUSE, "answers with nothing"),
    "works": (NoticeCode.TIER_NOT_ENFORCED, "does it"),
}
"""By what GitLab does, the code a call would get. The gravest first."""

_MAKERS: Final = f"{READING_CALL} or {ANY_CALL}"
_TOLD_BY_GITLAB: Final = frozenset({"gitlab", "token", "here"})


@dataclass(frozen=True, slots=True)
class Place:
    """The project, the group or the whole instance, and the caller's rights there."""

    effective_tier: EffectiveTier
    token: TokenFacts | None
    role: int | None
    kind: str | None
    """`project_id` or `group_id`; None for the whole instance."""
    is_closed: bool = False
    """GitLab says that it is not there, so nothing in it can be reached."""

    @property
    def is_readable(self) -> bool:
        return not self.kind or bool(self.effective_tier.project or self.effective_tier.group)


@dataclass(frozen=True, slots=True)
class _Obstacle:
    code: Code | NoticeCode
    why: str


class Server(Protocol):
    """What this server itself adds: see `actions.server.Server`."""

    def switch_on_with(self, tool: str) -> str | None: ...

    def may_be_called(self, tool: str) -> bool: ...

    def refusal(self, action: type[Action]) -> tuple[Code, str] | None: ...


def explain(place: Place, tiers: TierMap, actions: Sequence[type[Action]], server: Server) -> Result:
    if place.is_closed:
        return _closed(place, actions)
    obstacles: dict[_Obstacle, list[str]] = {}
    permissions: dict[str, list[str]] = {}
    tier_unknown: list[str] = []
    working: Counter[str] = Counter()
    every: Counter[str] = Counter()
    for action in actions:
        tool, name = action.spec.tool.name, f"{action.spec.tool.name} {action.spec.name}"
        every[tool] += 1
        refusal = server.refusal(action)
        obstacle = next(_obstacles(action, place, tiers), _Obstacle(*refusal) if refusal else None)
        if obstacle:
            obstacles.setdefault(obstacle, []).append(name)
        else:
            working[tool] += 1
            for needs in _needs(action, place) if place.token and place.token.fine_grained else ():
                permissions.setdefault(needs.told, []).append(name)
            if any(
                place.effective_tier.lacks(feature) is None
                for feature in _needed(_requirements(action, place, tiers), place)
            ):
                tier_unknown.append(name)
    data = {
        **_about(place),
        "works": [tool for tool in every if working[tool] == every[tool]],
        "works_in_part": [tool for tool in every if 0 < working[tool] < every[tool]],
        "does_not": [
            {"code": obstacle.code, "why": obstacle.why, "actions": _grouped(names)}
            for obstacle, names in obstacles.items()
        ],
        "needs_permission": [
            {"permission": permission, "actions": _grouped(dict.fromkeys(names))}
            for permission, names in permissions.items()
        ],
        "depends_on_the_tier": _grouped(tier_unknown),
        "fields": list(_fields(actions, place, tiers)),
        "not_listed": _not_listed(actions, server),
    }
    return _result(without_empty(data))


def _closed(place: Place, actions: Iterable[type[Action]]) -> Result:
    kind = "project" if place.kind == "project_id" else "group"
    closed = {
        "code": Code.NOT_FOUND,
        "why": f"There is no such {kind}, or this user may not see it.",
        "actions": _grouped(
            f"{action.spec.tool.name} {action.spec.name}" for action in actions if _is_about(action, place)
        ),
    }
    about = {name: value for name, value in _about(place).items() if value is not None}
    return _result({**about, "does_not": [closed]})


def _result(data: Mapping[str, Any]) -> Result:
    return Result(data=data, own_members=frozenset(data) - _TOLD_BY_GITLAB)


def _needs(action: type[Action], place: Place) -> Iterator[TokenNeeds]:
    """What the endpoints ask of a token that the action has at such a place."""
    known = action.spec.token_needs
    about = [each for each in action.spec.endpoints if place.kind in each.placeholders]
    for endpoint in about or action.spec.endpoints:
        if (needs := known.get(str(endpoint))) and needs.permissions:
            yield needs


def _not_listed(actions: Iterable[type[Action]], server: Server) -> list[dict[str, Any]]:
    """The tools named above that are not listed, by their toolset, with what calls them."""
    found: dict[str, dict[str, Any]] = {}
    for tool in dict.fromkeys(action.spec.tool for action in actions):
        if (how := server.switch_on_with(tool.name)) is not None:
            callable_now = server.may_be_called(tool.name)
            entry = {
                "toolset": tool.toolset,
                **({"call_with": _MAKERS} if callable_now else {"switch_on_with": how}),
                "tools": [],
            }
            found.setdefault(tool.toolset, entry)["tools"].append(tool.name)
    return list(found.values())


async def read_place(ask: Ask, *, project_id: str | None, group_id: str | None) -> Place:
    # All at once: what follows finds it remembered.
    about: list[Callable[[], Awaitable[object]]] = [ask.instance, ask.token]
    about += [partial(ask.project, project_id)] if project_id else []
    about += [partial(ask.group, group_id)] if group_id else []
    await concurrently(about)
    instance, token = await ask.instance(), await ask.token()
    if project_id:
        project = await ask.project(project_id)
        role = role_in(project) if project else None
        closed = project is None and await _is_closed(ask, token, fill("/projects/{id}", id=project_id))
        return Place(EffectiveTier(instance, project=project), token, role, "project_id", closed)
    if group_id:
        group = await ask.group(group_id)
        closed = group is None and await _is_closed(ask, token, fill("/groups/{id}", id=group_id))
        role = None if closed else await ask.group_role(group_id)
        return Place(EffectiveTier(instance, group=group), token, role, "group_id", closed)
    return Place(EffectiveTier(instance), token, None, None)


async def _is_closed(ask: Ask, token: TokenFacts | None, path: str) -> bool:
    # A fine-grained token, or that of a job, may reach things in a place that it may not read itself.
    plain = token is None or not (token.fine_grained or token.kind == "job")
    return plain and await ask.exists(path) is False


def _about(place: Place) -> dict[str, Any]:
    instance, token, known = place.effective_tier.instance, place.token, place.effective_tier.known
    project, group = place.effective_tier.project, place.effective_tier.group
    off = [switch.title for switch in SWITCHES.values() if project and switch.is_off(project)]
    return {
        "gitlab": _known(
            edition=instance.edition,
            version=instance.version,
            tier=known.name if known else "unknown",
            tier_at_least=None
            if known or place.effective_tier.lowest_possible == "Free"
            else place.effective_tier.lowest_possible,
            known_by=known.evidence if known else None,
        ),
        "token": _known(
            kind=token.kind,
            fine_grained=token.fine_grained or None,
            scopes=list(token.scopes),
            administrator=token.admin,
            expires_at=token.expires_at,
            problem=token.problem,
        )
        if token
        else "unknown",
        "here": _known(
            readable=None if place.is_readable else False if place.is_closed else "not with this token",
            role=ROLE_NAMES.get(place.role, str(place.role)) if place.role is not None else None,
            archived=(project or group or {}).get("archived"),
            marked_for_deletion_on=(project or group or {}).get("marked_for_deletion_on"),
            switched_off=off or None,
        )
        if place.kind
        else None,
        "projects_of_this_group": _projects_of(group) if group else None,
    }


def _projects_of(group: Mapping[str, Any]) -> str | None:
    """What the state of a group means for its projects. A marked group does not show in them."""
    if group.get("archived"):
        return "Archived with it: nothing in them can be changed, and none can be made or moved here."
    if group.get("marked_for_deletion_on"):
        return "Can still be changed; they go with the group unless it is restored."
    return None


def _obstacles(action: type[Action], place: Place, tiers: TierMap) -> Iterator[_Obstacle]:
    """The reasons why it does not work, the one that would outlast the others first."""
    for feature in _needed(_requirements(action, place, tiers), place):
        if _is_in_the_way(feature, place):
            yield _Obstacle(*_of_tier(feature, place, writes=action.spec.writes))
    if _too_narrow(action, place.token):
        scope = "api" if action.spec.writes else "read_api"
        yield _Obstacle(Code.SCOPE_INSUFFICIENT, f"The token needs the scope {scope}.")
    if place.token and place.token.kind == "job" and not _takes_job_token(action):
        yield _Obstacle(Code.SCOPE_INSUFFICIENT, "The token of a CI/CD job is not taken for this.")
    if not _is_about(action, place):
        return
    project, spec = place.effective_tier.project, action.spec
    if project and spec.writes and _is_closed_to(action):
        if project.get("marked_for_deletion_on"):
            yield _Obstacle(Code.CONFLICT, "The project is marked for deletion.")
        elif project.get("archived"):
            yield _Obstacle(Code.CONFLICT, "The project is archived.")
    switch = spec.switch or next(filter(None, (switch_of(each.path) for each in spec.endpoints)), None)
    if project and switch and (off := switched_off(switch, project)):
        titles = " and ".join(each.title for each in off)
        yield _Obstacle(Code.FEATURE_UNAVAILABLE, f"{titles}: switched off in this project.")
    admin = bool(place.token and place.token.admin)
    about = next(each for each in spec.endpoints if place.kind in each.placeholders)
    needed = spec.role_at(about)
    if needed and place.role is not None and not admin and not spec.lets_in(place.role, about):
        yield _Obstacle(Code.PERMISSION_DENIED, f"It needs the role {ROLE_NAMES[int(needed)]}.")


def _is_closed_to(action: type[Action]) -> bool:
    """Whether a project that is archived or waits for its deletion refuses it."""
    return not any(works_in_closed_projects(endpoint.path) for endpoint in action.spec.endpoints)


def _requirements(action: type[Action], place: Place, tiers: TierMap) -> ActionRequirements:
    return requirements_of_action(action, tiers, place.effective_tier.instance.version)


def _needed(requirements: ActionRequirements, place: Place) -> Iterable[Feature]:
    if place.kind and place.kind in requirements.by_path_field:
        return (requirements.by_path_field[place.kind],)
    return (requirements.feature,) if requirements.feature else ()


def _of_tier(feature: Feature, place: Place, *, writes: bool) -> tuple[Code | NoticeCode, str]:
    tier = feature.tier_in(place.effective_tier.instance.version)
    expected = place.effective_tier.expected_without(feature)
    effects = [effect for effect in _CODES if expected.may_be(effect)]
    if effects == ["refused"] or (effects == ["empty"] and writes):
        return Code.TIER_RESTRICTED, f"{feature.name}: {tier}."
    # Several where the version leaves it open.
    silently = " or ".join(_CODES[effect][1] for effect in effects)
    return _CODES[effects[0]][0], f"{feature.name}: {tier}. GitLab {silently}."


def _is_in_the_way(feature: Feature, place: Place) -> bool:
    tier = place.effective_tier
    return bool(tier.lacks(feature)) and not tier.expected_without(feature).is_surely("works")


def _too_narrow(action: type[Action], token: TokenFacts | None) -> bool:
    if token is None or not token.scopes or "api" in token.scopes:
        return False
    return action.spec.writes or "read_api" not in token.scopes


def _takes_job_token(action: type[Action]) -> bool:
    return not action.spec.endpoints or any(needs.job_token for needs in action.spec.token_needs.values())


def _is_about(action: type[Action], place: Place) -> bool:
    """Whether the action is about the kind of place at hand."""
    return any(place.kind in endpoint.placeholders for endpoint in action.spec.endpoints)


def _fields(actions: Iterable[type[Action]], place: Place, tiers: TierMap) -> Iterator[Mapping[str, Any]]:
    found: dict[str, tuple[Feature, list[str]]] = {}
    for action in actions:
        for name, feature in _requirements(action, place, tiers).by_field.items():
            if _is_in_the_way(feature, place):
                where = f"{action.spec.tool.name} {action.spec.name} {name}"
                found.setdefault(feature.key, (feature, []))[1].append(where)
    for feature, names in found.values():
        code, why = _of_tier(feature, place, writes=True)
        yield {"code": code, "why": why, "fields": names}


def _grouped(names: Iterable[str]) -> list[str]:
    """`browse_epics list` and `browse_epics get` as `browse_epics list, get`."""
    tools: dict[str, list[str]] = {}
    for name in names:
        tool, _, action = name.partition(" ")
        tools.setdefault(tool, []).append(action)
    return [f"{tool} {', '.join(actions)}" for tool, actions in tools.items()]


def _known(**facts: Any) -> dict[str, Any]:
    return {name: value for name, value in facts.items() if value is not None}

"""What works here for this caller and what does not, with the reason: the translator's questions, asked beforehand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from gitlab_mcp.actions.access import AboutAccess
from gitlab_mcp.actions.action import ROLE_NAMES, Action
from gitlab_mcp.actions.ask import Ask, TokenFacts, role_in
from gitlab_mcp.actions.result import Result
from gitlab_mcp.api.switches import SWITCHES, switch_of, switched_off
from gitlab_mcp.failures.codes import Code, NoticeCode
from gitlab_mcp.tiers.effective_tier import EffectiveTier
from gitlab_mcp.tiers.feature_map import Feature, TierMap
from gitlab_mcp.tiers.requirements import ActionRequirements, requirements_of_action

_SILENTLY: Final = {
    "dropped": (NoticeCode.TIER_IGNORED, "GitLab takes it and drops it"),
    "not_enforced": (NoticeCode.TIER_NOT_ENFORCED, "GitLab keeps it and does not act on it"),
    "empty": (NoticeCode.EMPTY_BECAUSE, "GitLab answers with nothing"),
}


@dataclass(frozen=True, slots=True)
class _Here:
    """The place at hand and who stands there."""

    effective_tier: EffectiveTier
    token: TokenFacts | None
    role: int | None
    place: str | None
    """`project_id` or `group_id`."""

    @property
    def is_readable(self) -> bool:
        return not self.place or bool(self.effective_tier.project or self.effective_tier.group)


@dataclass(frozen=True, slots=True)
class _Wall:
    code: Code | NoticeCode
    why: str


async def explain(asked: AboutAccess, ask: Ask, tiers: TierMap, actions: Sequence[type[Action]]) -> Result:
    here = await _look(asked, ask)
    walls: dict[_Wall, list[str]] = {}
    open_: list[str] = []
    working: Counter[str] = Counter()
    every: Counter[str] = Counter()
    for action in actions:
        tool, name = action.spec.tool.name, f"{action.spec.tool.name} {action.spec.name}"
        every[tool] += 1
        if wall := next(_walls(action, here, tiers), None):
            walls.setdefault(wall, []).append(name)
        else:
            working[tool] += 1
            if any(
                here.effective_tier.lacks(feature) is None
                for feature in _needed(_price(action, here, tiers), here)
            ):
                open_.append(name)
    data = {
        **_about(here),
        "works": [tool for tool in every if working[tool] == every[tool]],
        "works_in_part": [tool for tool in every if 0 < working[tool] < every[tool]],
        "does_not": [
            {"code": wall.code, "why": wall.why, "actions": _grouped(names)} for wall, names in walls.items()
        ],
        "depends_on_the_tier": _grouped(open_),
        "fields": list(_fields(actions, here, tiers)),
    }
    return Result(data={name: value for name, value in data.items() if value not in (None, [], {})})


async def _look(asked: AboutAccess, ask: Ask) -> _Here:
    instance, token = await ask.instance(), await ask.token()
    if asked.project_id:
        project = await ask.project(asked.project_id)
        role = role_in(project) if project else None
        return _Here(EffectiveTier(instance, project=project), token, role, "project_id")
    if asked.group_id:
        group = await ask.group(asked.group_id)
        return _Here(
            EffectiveTier(instance, group=group), token, await ask.group_role(asked.group_id), "group_id"
        )
    return _Here(EffectiveTier(instance), token, None, None)


def _about(here: _Here) -> dict[str, Any]:
    instance, token, known = here.effective_tier.instance, here.token, here.effective_tier.known
    lowest = here.effective_tier.lowest_possible
    project = here.effective_tier.project
    off = [switch.title for switch in SWITCHES.values() if project and switch.is_off(project)]
    return {
        "gitlab": _known(
            edition=instance.edition,
            version=instance.version,
            tier=known.name if known else "unknown",
            tier_at_least=None if known or lowest == "Free" else lowest,
            known_by=known.evidence if known else None,
        ),
        "token": _known(
            kind=token.kind,
            scopes=list(token.scopes),
            administrator=token.admin,
            expires_at=token.expires_at,
            problem=token.problem,
        )
        if token
        else "unknown",
        "here": _known(
            readable=None if here.is_readable else False,
            role=ROLE_NAMES.get(here.role, str(here.role)) if here.role is not None else None,
            archived=(project or {}).get("archived"),
            switched_off=off or None,
        )
        if here.place
        else None,
    }


def _walls(action: type[Action], here: _Here, tiers: TierMap) -> Iterator[_Wall]:
    """The reasons why it does not work, the one that would outlast the others first."""
    for feature in _needed(_price(action, here, tiers), here):
        if here.effective_tier.lacks(feature) and _effect(feature, here) != "works":
            yield _Wall(*_of_tier(feature, here, writes=action.spec.writes))
    if _too_narrow(action, here.token):
        scope = "api" if action.spec.writes else "read_api"
        yield _Wall(Code.SCOPE_INSUFFICIENT, f"The token needs the scope {scope}.")
    if not _is_about(action, here):
        return
    project, spec = here.effective_tier.project, action.spec
    if project and spec.writes and project.get("archived"):
        yield _Wall(Code.CONFLICT, "The project is archived.")
    switch = spec.switch or next(filter(None, (switch_of(each.path) for each in spec.endpoints)), None)
    if project and switch and (off := switched_off(switch, project)):
        titles = " and ".join(each.title for each in off)
        yield _Wall(Code.FEATURE_UNAVAILABLE, f"{titles}: switched off in this project.")
    admin = bool(here.token and here.token.admin)
    if spec.role is not None and here.role is not None and here.role < spec.role and not admin:
        yield _Wall(Code.PERMISSION_DENIED, f"It needs the role {ROLE_NAMES[int(spec.role)]}.")


def _price(action: type[Action], here: _Here, tiers: TierMap) -> ActionRequirements:
    return requirements_of_action(action, tiers, here.effective_tier.instance.version)


def _needed(price: ActionRequirements, here: _Here) -> Iterable[Feature]:
    if here.place and here.place in price.by_path_field:
        return (price.by_path_field[here.place],)
    return (price.feature,) if price.feature else ()


def _of_tier(feature: Feature, here: _Here, *, writes: bool) -> tuple[Code | NoticeCode, str]:
    tier = feature.tier_in(here.effective_tier.instance.version)
    effect = _effect(feature, here)
    if effect == "refused" or (effect == "empty" and writes):
        return Code.TIER_RESTRICTED, f"{feature.name}: {tier}."
    code, silently = _SILENTLY[effect]
    return code, f"{feature.name}: {tier}. {silently}."


def _effect(feature: Feature, here: _Here) -> str:
    usual = here.effective_tier.behaviour_without(feature)
    return usual.effect if usual else "refused"


def _too_narrow(action: type[Action], token: TokenFacts | None) -> bool:
    if token is None or not token.scopes or "api" in token.scopes:
        return False
    return action.spec.writes or "read_api" not in token.scopes


def _is_about(action: type[Action], here: _Here) -> bool:
    """Whether the action is about the kind of place at hand."""
    return any(here.place in endpoint.placeholders for endpoint in action.spec.endpoints)


def _fields(actions: Iterable[type[Action]], here: _Here, tiers: TierMap) -> Iterator[Mapping[str, Any]]:
    found: dict[str, tuple[Feature, list[str]]] = {}
    for action in actions:
        for name, feature in _price(action, here, tiers).by_field.items():
            if here.effective_tier.lacks(feature) and _effect(feature, here) != "works":
                where = f"{action.spec.tool.name} {action.spec.name} {name}"
                found.setdefault(feature.key, (feature, []))[1].append(where)
    for feature, names in found.values():
        code, why = _of_tier(feature, here, writes=True)
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

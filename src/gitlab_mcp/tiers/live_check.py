"""Holds the feature map against a live GitLab, by reading alone.

A feature can be asked about where one of its endpoints is read with nothing but a project or a group. What GitLab
answers is compared with what the map says of this edition, version and tier. A refusal that a role explains as well
proves nothing, and is no verdict.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from gitlab_mcp.actions.action import ROLE_NAMES, Role, encode_segment
from gitlab_mcp.actions.ask import Ask, InstanceFacts
from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.api import endpoints
from gitlab_mcp.gitlab.faults import BadAnswer, CircuitOpen, Refused, ReplayMiss, Unreachable
from gitlab_mcp.tiers.effective_tier import EffectiveTier, effective_tier_at
from gitlab_mcp.tiers.feature_map import Behaviour, Feature

NO_SUCH_ROUTE: Final = "no such route"
NOT_ASKED: Final = "the check stopped before it"
_NO_ROUTE_BODY: Final = {"error": "404 Not Found"}
_PLACES: Final = {"/projects/:id/": "project", "/groups/:id/": "group"}
_BY_PLACE: Final = {"project_id": ("project", "id"), "group_path": ("group", "full_path")}
"""Required parameters that name the place once more, and the key of the place that they are."""
_LISTS: Final = ({"min_access_level": "40"}, {"membership": "true"})
"""Where the caller may most is where a refusal tells most. Never the projects of strangers."""
_GROUP_LISTS: Final = ({"min_access_level": "50"}, {"min_access_level": "10"})


class Verdict(StrEnum):
    CONFIRMED = "confirmed"
    CONTRADICTED = "contradicted"
    NOT_ASKABLE = "not askable"


@dataclass(frozen=True, slots=True)
class CheckedFeature:
    feature: Feature
    verdict: Verdict
    reason: str
    asked: str | None = None
    """The endpoint, as the map spells it."""
    status: int | None = None


@dataclass(frozen=True, slots=True)
class Checked:
    """`stopped_by` is the fault after which GitLab was left alone. What was found until then holds."""

    instance: InstanceFacts
    places: Mapping[str, str]
    """The path of the project and of the group that were asked about."""
    tier: str | None
    findings: tuple[CheckedFeature, ...]
    stopped_by: Exception | None = None

    def count(self, verdict: Verdict) -> int:
        return sum(finding.verdict is verdict for finding in self.findings)


@dataclass(frozen=True, slots=True)
class _Place:
    """A project or a group, or with neither the instance as a whole."""

    kind: str
    shown: Mapping[str, Any]
    tier: EffectiveTier
    role: int | None

    @property
    def path(self) -> str:
        return str(self.shown.get("path_with_namespace") or self.shown.get("full_path") or "")


@dataclass(frozen=True, slots=True)
class _Question:
    endpoint: str
    place: _Place
    path: str
    query: Mapping[str, str]

    @property
    def role(self) -> Role | None:
        """The least role that GitLab lets read it; None where it was not measured."""
        facts = endpoints.find(self.endpoint, self.place.tier.instance.version)
        return (
            Role[facts.role.upper()]
            if facts and facts.role and facts.role.upper() in Role.__members__
            else None
        )


class NoSuchPlace(Exception):
    """The project or group that was named is not there for this token."""

    def __init__(self, kind: str) -> None:
        self.kind = kind


class _Stop(Exception):
    def __init__(self, fault: Exception) -> None:
        self.fault = fault


async def check_map(
    features: Iterable[Feature],
    gitlab: GitLab,
    ask: Ask,
    *,
    project: str | None = None,
    group: str | None = None,
) -> Checked:
    """Asks one question after another, and stops where GitLab is away, takes no more or does not know the token.

    `project` and `group` are where it is asked; without them one of the caller's own. NoSuchPlace where they are not
    there.
    """
    features = [feature for feature in features if feature.without_it]
    places: dict[str, _Place] = {}
    findings: list[CheckedFeature] = []
    instance = InstanceFacts()
    stopped_by: Exception | None = None
    try:
        gitlab.report(0, len(features), "which GitLab is it?")
        with suppress(ReplayMiss):
            await _reply(gitlab, "/metadata")
        instance = await ask.instance()
        places = await _places(gitlab, ask, project, group)
        for number, feature in enumerate(features):
            gitlab.report(number, len(features), feature.name)
            findings.append(await _found(feature, gitlab, places))
    except (_Stop, ReplayMiss) as stop:
        stopped_by = stop.fault if isinstance(stop, _Stop) else stop
        left = features[len(findings) :]
        findings += [CheckedFeature(each, Verdict.NOT_ASKABLE, NOT_ASKED) for each in left]
    tiers = [place.tier.known.name for place in places.values() if place.tier.known]
    return Checked(
        instance,
        {kind: place.path for kind, place in places.items() if place.path},
        tiers[0] if tiers else None,
        tuple(findings),
        stopped_by,
    )


async def _reply(gitlab: GitLab, path: str, **query: str) -> Answer | Refused:
    """What GitLab itself answers. _Stop for what is no answer of GitLab, or says that it will give no more."""
    try:
        return await gitlab.get(path, **query)
    except Refused as refused:
        if refused.status == 429 or refused.status >= 500 or refused.is_web_page:
            raise _Stop(refused) from None
        if refused.status == 401 and await _is_dead(gitlab, refused):
            raise _Stop(refused) from None
        return refused
    except (Unreachable, CircuitOpen, BadAnswer) as fault:
        raise _Stop(fault) from None


async def _is_dead(gitlab: GitLab, refused: Refused) -> bool:
    """Whether GitLab no longer takes the token. Some features answer 401 to a good one, too."""
    if "error_description" in (refused.body() or {}):
        return True
    try:
        await gitlab.get("/user")
    except Refused as again:
        return again.status == 401
    except Exception:
        return False
    return False


async def _places(gitlab: GitLab, ask: Ask, project: str | None, group: str | None) -> dict[str, _Place]:
    instance, token = await ask.instance(), await ask.token()
    admin = Role.ADMIN if token and token.admin else None
    found = {"instance": _Place("instance", {}, EffectiveTier(instance), admin)}
    shown = await _named(gitlab, "project", f"/projects/{encode_segment(project)}") if project else None
    if project is None:
        shown = await _first(gitlab, "project", _LISTS)
    if shown:
        tier = await effective_tier_at(ask, str(shown["id"]), None)
        found["project"] = _Place("project", shown, tier, admin or _project_role(shown))
    if group is None and shown:
        namespace = shown.get("namespace") or {}
        group = str(namespace["id"]) if namespace.get("kind") == "group" else None
    shown = await _named(gitlab, "group", f"/groups/{encode_segment(group)}") if group else None
    if group is None:
        shown = await _first(gitlab, "group", _GROUP_LISTS)
    if shown:
        tier = await effective_tier_at(ask, None, str(shown["id"]))
        role = admin or await ask.group_role(str(shown["id"]))
        found["group"] = _Place("group", shown, _nearest_tier(tier, shown, found.get("project")), role)
    return found


async def _named(gitlab: GitLab, kind: str, path: str) -> dict[str, Any]:
    answer = await _reply(gitlab, path, **({"with_projects": "false"} if kind == "group" else {}))
    body = answer.body if isinstance(answer, Answer) else None
    if not isinstance(body, dict) or "id" not in body:
        raise NoSuchPlace(kind)
    return body


async def _first(gitlab: GitLab, kind: str, lists: Iterable[Mapping[str, str]]) -> dict[str, Any] | None:
    for query in lists:
        with suppress(ReplayMiss):
            answer = await _reply(gitlab, f"/{kind}s", **query)
            listed = answer.body if isinstance(answer, Answer) and isinstance(answer.body, list) else []
            if listed and isinstance(listed[0], dict) and "id" in listed[0]:
                return await _named(gitlab, kind, f"/{kind}s/{listed[0]['id']}")
    return None


def _project_role(project: Mapping[str, Any]) -> int | None:
    permissions = project.get("permissions")
    if not isinstance(permissions, dict):
        return None
    return max(
        (each.get("access_level", 0) for each in permissions.values() if isinstance(each, dict)), default=0
    )


def _nearest_tier(tier: EffectiveTier, group: Mapping[str, Any], project: _Place | None) -> EffectiveTier:
    """A group does not tell Ultimate from Premium. A project under the same licence or plan does."""
    if tier.known or project is None or project.tier.known is None:
        return tier
    same = project.path.split("/")[0] == str(group.get("full_path")).split("/")[0]
    return project.tier if same or not tier.instance.is_gitlab_com else tier


async def _found(feature: Feature, gitlab: GitLab, places: Mapping[str, _Place]) -> CheckedFeature:
    question = _question(feature, places)
    if isinstance(question, str):
        return CheckedFeature(feature, Verdict.NOT_ASKABLE, question)
    lacks = question.place.tier.lacks(feature)
    if lacks is None:
        reason = "the tier here is not known; where you know it, set GITLAB_TIER"
        return CheckedFeature(feature, Verdict.NOT_ASKABLE, reason, question.endpoint)
    try:
        reply = await _reply(gitlab, question.path, **question.query)
    except ReplayMiss:
        return CheckedFeature(feature, Verdict.NOT_ASKABLE, "it is not in the recording", question.endpoint)
    verdict, reason = _judged(feature, question, reply, lacks=lacks)
    return CheckedFeature(feature, verdict, reason, question.endpoint, reply.status)


def _question(feature: Feature, places: Mapping[str, _Place]) -> _Question | str:
    """The question, or why there is none."""
    if not feature.endpoints:
        return "no endpoint of its own: a field or GraphQL alone needs it"
    reading = [each.partition(" ")[2] for each in feature.endpoints if each.startswith("GET ")]
    if not reading:
        return "only a write would tell, and this check never writes"
    reasons = []
    for path in reading:
        question = _question_at(path, places)
        if isinstance(question, _Question):
            return question
        reasons.append(question)
    return reasons[0]


def _question_at(path: str, places: Mapping[str, _Place]) -> _Question | str:
    endpoint = f"GET {path}"
    prefix = next((each for each in _PLACES if path.startswith(each)), "")
    rest = path.removeprefix(prefix)
    if path.startswith("/api/"):
        return "it is outside of GitLab's REST API"
    if endpoints.placeholders(rest) or "*" in rest:
        return "it needs an object of the feature, such as its number"
    kind = _PLACES.get(prefix, "instance")
    place = places.get(kind)
    if place is None:
        return f"there is no {kind} to ask about; name one with --{kind}"
    facts = endpoints.find(endpoint, place.tier.instance.version)
    query = {}
    for name, parameter in (facts.parameters if facts and facts.parameters else {}).items():
        if not parameter.required or name in facts.in_path if facts else True:
            continue
        of, key = _BY_PLACE.get(name, ("", ""))
        value = (
            parameter.values[0] if parameter.values else places[of].shown.get(key) if of in places else None
        )
        if value is None:
            return f"it needs a value that nobody but you knows: {name}"
        query[name] = str(value)
        place = places.get(of, place)
    if place.kind == "instance" and place.role != Role.ADMIN:
        return "only an administrator gets an answer that tells"
    return _Question(endpoint, place, path.replace(":id", str(place.shown.get("id")), 1), query)


def _judged(
    feature: Feature, question: _Question, reply: Answer | Refused, *, lacks: bool
) -> tuple[Verdict, str]:
    place = question.place
    tier = place.tier.known.name if place.tier.known else place.tier.lowest_possible
    behaviours = place.tier.expected_without(feature).behaviours
    answered = _described(reply)
    if isinstance(reply, Refused) and (why := _role_explains(question)):
        return Verdict.NOT_ASKABLE, f"GitLab answered {answered}, and {why}"
    if isinstance(reply, Refused) and reply.body() == _NO_ROUTE_BODY and not _no_route_expected(behaviours):
        return Verdict.NOT_ASKABLE, "this GitLab has no such route; another version may have it"
    if lacks:
        fits = [each for each in behaviours if _fits(each, reply)]
        expected = " or ".join(dict.fromkeys(_expected(each) for each in behaviours)) or "nothing"
        if fits:
            return Verdict.CONFIRMED, f"on {tier} GitLab answered {answered}, as the map says"
        if reply.status == 400:
            return (
                Verdict.NOT_ASKABLE,
                f"GitLab answered {answered}, which is about the request, not the tier",
            )
        return Verdict.CONTRADICTED, f"on {tier} the map says {expected}; GitLab answered {answered}"
    if isinstance(reply, Answer):
        return Verdict.CONFIRMED, f"it works on {tier}: GitLab answered {answered}"
    if any(each.effect == "refused" and _fits(each, reply) for each in behaviours):
        return Verdict.CONTRADICTED, f"the map says it works on {tier}; GitLab answered {answered}"
    return Verdict.NOT_ASKABLE, f"GitLab answered {answered}, which is not how it refuses for a tier"


def _role_explains(question: _Question) -> str | None:
    """Why a refusal may be about the caller and not about the tier."""
    role, needed = question.place.role, question.role
    if role is None:
        return "your role is not known"
    if needed is not None and role < needed:
        return f"it needs the role {needed.name.capitalize()}; yours is {ROLE_NAMES.get(role, role)}"
    if needed is None and role < Role.OWNER:
        return "a higher role might get another answer: ask as an owner"
    return None


def _no_route_expected(behaviours: Iterable[Behaviour]) -> bool:
    return any(each.says == NO_SUCH_ROUTE for each in behaviours)


def _fits(behaviour: Behaviour, reply: Answer | Refused) -> bool:
    if isinstance(reply, Answer):
        if behaviour.effect == "empty":
            return not reply.body
        return behaviour.effect != "refused"
    if behaviour.effect != "refused" or behaviour.status != reply.status:
        return False
    body = reply.body()
    if behaviour.says == NO_SUCH_ROUTE or body == _NO_ROUTE_BODY:
        return behaviour.says == NO_SUCH_ROUTE and body == _NO_ROUTE_BODY
    return behaviour.says is None or behaviour.says.lower() in _sentence(body).lower()


def _sentence(body: Any) -> str:
    told = (body.get("message") or body.get("error") or "") if isinstance(body, dict) else ""
    return str(told)


def _expected(behaviour: Behaviour) -> str:
    if behaviour.effect != "refused":
        return {"empty": "an empty answer"}.get(behaviour.effect, "an answer")
    says = f" {behaviour.says!r}" if behaviour.says else ""
    return f"{behaviour.status or 'a refusal'}{says}"


def _described(reply: Answer | Refused) -> str:
    if isinstance(reply, Answer):
        return f"{reply.status}{'' if reply.body else ', empty'}"
    return f"{reply.status} {_sentence(reply.body())[:80]!r}"

"""Holds the feature map against a live GitLab, by reading alone.

A feature can be asked about where one of its endpoints is read with nothing but a project or a group, or with an
issue or a merge request that is there. What GitLab answers is compared with what the map says of this edition, version
and tier. A refusal that a role explains as well proves nothing, and is no verdict. Where GitLab tells in which plan it
sells a feature, that is compared, too.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import chain
from typing import Any, Final, TypeVar

from gitlab_mcp.actions.action import ROLE_NAMES, Role, encode_segment
from gitlab_mcp.actions.ask import Ask, InstanceFacts
from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.api import endpoints
from gitlab_mcp.api.switches import SWITCHES
from gitlab_mcp.gitlab.faults import BadAnswer, CircuitOpen, Refused, ReplayMiss, Unreachable
from gitlab_mcp.tiers.effective_tier import EffectiveTier, effective_tier_at
from gitlab_mcp.tiers.feature_map import Behaviour, Feature
from gitlab_mcp.tiers.licensed_features import LicensedFeature, licensed_features

T = TypeVar("T")

NO_SUCH_ROUTE: Final = "no such route"
NOT_ASKED: Final = "the check stopped before it"
BY_GRAPHQL: Final = "POST /graphql"
_NEEDS_A_THING: Final = "it needs an object of the feature, such as its number"
_MOST_READS: Final = 3
_NOTHING: Final[Mapping[str, str]] = {}
_NO_ROUTE_BODY: Final = {"error": "404 Not Found"}
_PLACES: Final = {"/projects/:id/": "project", "/groups/:id/": "group"}
_BY_PLACE: Final = {"project_id": ("project", "id"), "group_path": ("group", "full_path")}
"""Required parameters that name the place once more, and the key of the place that they are."""
_LISTS: Final = ({"min_access_level": "40"}, {"membership": "true"})
"""Where the caller may most is where a refusal tells most. Never the projects of strangers."""
_GROUP_LISTS: Final = ({"min_access_level": "50"}, {"min_access_level": "10"})
_LISTED_ELSEWHERE: Final = {"merge_trains/merge_requests": "merge_requests"}
"""By the path of a thing below its project, the path of the list that it is in, where that is another."""
_SAMPLES: Final = {"search": "readme", "q": "readme", "metric": "deployment_frequency"}
"""A value for required parameters that take any."""


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
    at: str | None = None
    """The path of the project or group that it was asked about."""


@dataclass(frozen=True, slots=True)
class Checked:
    """`stopped_by` is the fault after which GitLab was left alone. What was found until then holds."""

    instance: InstanceFacts
    places: Mapping[str, tuple[str, ...]]
    """The paths of the projects and of the groups that were asked about; of a live GitLab one of each."""
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
    thing: str | None = None
    """The list that the thing below the place was taken from."""
    made_up: bool = False
    """There is no such thing: only a refusal that comes before the look-up tells something."""

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
    places = _Places(gitlab, ask)
    findings: list[CheckedFeature] = []
    instance = InstanceFacts()
    licence = _Licence()
    stopped_by: Exception | None = None
    try:
        gitlab.report(0, len(features), "which GitLab is it?")
        with suppress(ReplayMiss):
            await _reply(gitlab, "/metadata")
        instance = await ask.instance()
        await places.choose(project, group)
        licence = await _licence(features, places)
        for number, feature in enumerate(features):
            gitlab.report(number, len(features), feature.name)
            findings.append(licence.weighed(await _found(feature, places)))
    except (_Stop, ReplayMiss) as stop:
        stopped_by = stop.fault if isinstance(stop, _Stop) else stop
        left = features[len(findings) :]
        findings += [CheckedFeature(each, Verdict.NOT_ASKABLE, NOT_ASKED) for each in left]
    tiers = [place.tier.known.name for place in places.chosen.values() if place.tier.known]
    return Checked(
        instance,
        places.asked_about(findings),
        tiers[0] if tiers else None,
        tuple(findings),
        stopped_by,
    )


async def _reply(gitlab: GitLab, path: str, **query: str) -> Answer | Refused:
    return await _heard(gitlab, gitlab.get(path, **query))


async def _heard(gitlab: GitLab, asked: Awaitable[T]) -> T | Refused:
    """What GitLab itself answers. _Stop for what is no answer of GitLab, or says that it will give no more."""
    try:
        return await asked
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


@dataclass(slots=True)
class _Places:
    """Where is asked: the instance, one project and one group.

    A recording holds answers about several. So where it has none about these, the others that it lists are tried.
    """

    gitlab: GitLab
    ask: Ask
    chosen: dict[str, _Place] = field(default_factory=dict)
    named: set[str] = field(default_factory=set)
    """The kinds whose place the person named: no other is tried."""
    _others: dict[str, list[_Place]] = field(default_factory=dict)
    _listed: dict[str, Answer | Refused] = field(default_factory=dict)

    async def choose(self, project: str | None, group: str | None) -> None:
        """NoSuchPlace where what is named is not there."""
        self.named = {kind for kind, given in (("project", project), ("group", group)) if given}
        instance = await self.ask.instance()
        self.chosen["instance"] = _Place("instance", {}, EffectiveTier(instance), await self._admin())
        shown = await self._read("project", project) if project else await self._first("project", _LISTS)
        if shown:
            self.chosen["project"] = await self._place("project", shown)
        if group is None and shown:
            namespace = shown.get("namespace") or {}
            group = str(namespace["id"]) if namespace.get("kind") == "group" else None
        shown = await self._read("group", group) if group else await self._first("group", _GROUP_LISTS)
        if shown:
            self.chosen["group"] = await self._place("group", shown)

    async def others(self, kind: str) -> list[_Place]:
        if kind not in ("project", "group") or kind in self.named:
            return []
        if kind not in self._others:
            self._others[kind] = []
            seen = {self.chosen[kind].shown["id"]} if kind in self.chosen else set()
            for number in [each async for each in self._numbers(kind)]:
                if number in seen:
                    continue
                seen.add(number)
                with suppress(ReplayMiss, NoSuchPlace):
                    place = await self._place(kind, await self._read(kind, str(number)))
                    self._others[kind].append(place)
        return self._others[kind]

    async def list_below(self, place: _Place, things: str) -> Answer | Refused:
        path = f"/{place.kind}s/{place.shown['id']}/{things}"
        if path not in self._listed:
            self._listed[path] = await _reply(self.gitlab, path)
        return self._listed[path]

    def asked_about(self, findings: Iterable[CheckedFeature]) -> dict[str, tuple[str, ...]]:
        paths = {kind: {place.path: None} for kind, place in self.chosen.items() if place.path}
        places = {place.path: kind for kind, others in self._others.items() for place in others}
        for finding in findings:
            if finding.at in places and finding.verdict is not Verdict.NOT_ASKABLE:
                paths.setdefault(places[finding.at], {})[finding.at] = None
        return {kind: tuple(each) for kind, each in paths.items()}

    async def _admin(self) -> int | None:
        token = await self.ask.token()
        return Role.ADMIN if token and token.admin else None

    async def _place(self, kind: str, shown: Mapping[str, Any]) -> _Place:
        number = str(shown["id"])
        if kind == "project":
            tier = await effective_tier_at(self.ask, number, None)
            return _Place(kind, shown, tier, await self._admin() or _project_role(shown))
        tier = await effective_tier_at(self.ask, None, number)
        role = await self._admin() or await self.ask.group_role(number)
        return _Place(kind, shown, _nearest_tier(tier, shown, self.chosen.get("project")), role)

    async def _read(self, kind: str, id: str) -> dict[str, Any]:
        path = f"/{kind}s/{encode_segment(id)}"
        try:
            answer = await _reply(
                self.gitlab, path, **({"with_projects": "false"} if kind == "group" else {})
            )
        except ReplayMiss:
            answer = await _reply(self.gitlab, path)
        body = answer.body if isinstance(answer, Answer) else None
        if not isinstance(body, dict) or "id" not in body:
            raise NoSuchPlace(kind)
        return body

    async def _first(self, kind: str, lists: Iterable[Mapping[str, str]]) -> dict[str, Any] | None:
        missed = False
        for query in lists:
            try:
                listed = await self._list(kind, query)
            except ReplayMiss:
                missed = True
                continue
            if listed:
                return await self._read(kind, str(listed[0]["id"]))
        others = await self.others(kind) if missed else []
        return dict(others[0].shown) if others else None

    async def _numbers(self, kind: str) -> AsyncIterator[int]:
        """The numbers that a recording lists: in its lists, and in the groups whose projects it shows."""
        for query in (*(_LISTS if kind == "project" else _GROUP_LISTS), _NOTHING):
            with suppress(ReplayMiss):
                for each in await self._list(kind, query):
                    yield each["id"]
        if kind == "project":
            for group in await self.others("group"):
                for each in group.shown.get("projects") or []:
                    yield each["id"]
            return
        for query in (*_LISTS, _NOTHING):
            with suppress(ReplayMiss):
                for each in await self._list("project", query):
                    namespace = each.get("namespace") or {}
                    if namespace.get("kind") == "group":
                        yield namespace["id"]

    async def _list(self, kind: str, query: Mapping[str, str]) -> list[dict[str, Any]]:
        answer = await _reply(self.gitlab, f"/{kind}s", **query)
        listed = answer.body if isinstance(answer, Answer) and isinstance(answer.body, list) else []
        return [each for each in listed if isinstance(each, dict) and "id" in each]


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


@dataclass(frozen=True, slots=True)
class _Licence:
    """What GitLab says of its licensed features at one place; nothing where it does not tell."""

    place: _Place | None = None
    told: Mapping[str, LicensedFeature] = field(default_factory=dict)

    def weighed(self, found: CheckedFeature) -> CheckedFeature:
        """The plan is compared also where a read gave a verdict: that does not tell Premium from Ultimate."""
        feature, place = found.feature, self.place
        told = self.told.get(feature.licensed_as or "")
        if told is None or told.tier is None or place is None or found.verdict is Verdict.CONTRADICTED:
            return found
        there = "is here" if told.available else "is not here"
        said = f"GitLab says that {feature.licensed_as} needs the plan {told.plan} and {there}"
        needed, lacks = feature.tier_in(place.tier.instance.version), place.tier.lacks(feature)
        if told.tier != needed:
            verdict, reason = Verdict.CONTRADICTED, f"the map says {needed}; {said}"
        elif found.verdict is Verdict.CONFIRMED:
            return found
        elif lacks is told.available and not feature.add_on:
            tier = place.tier.known.name if place.tier.known else place.tier.lowest_possible
            verdict, reason = Verdict.CONTRADICTED, f"the map says {needed}, and this is {tier}; {said}"
        else:
            verdict, reason = Verdict.CONFIRMED, said
        return CheckedFeature(feature, verdict, reason, BY_GRAPHQL, 200, place.path)


async def _licence(features: Iterable[Feature], places: _Places) -> _Licence:
    place = places.chosen.get("project") or places.chosen.get("group")
    if place is None or place.tier.edition_key == "ce":
        return _Licence()
    names = [each.licensed_as for each in features if each.licensed_as]
    with suppress(ReplayMiss):
        told = await _heard(places.gitlab, licensed_features(places.gitlab, place.kind, place.path, names))
        return _Licence(place, {} if isinstance(told, Refused) else told)
    return _Licence()


async def _found(feature: Feature, places: _Places) -> CheckedFeature:
    """The first verdict that one of the feature's reads gives, or why the first of them gives none."""
    reads = _reads(feature)
    if isinstance(reads, str):
        return CheckedFeature(feature, Verdict.NOT_ASKABLE, reads)
    without: CheckedFeature | None = None
    for path, query in reads[:_MOST_READS]:
        finding = await _found_at(feature, path, query, places)
        if finding.verdict is not Verdict.NOT_ASKABLE:
            return finding
        without = without or finding
    assert without is not None
    return without


def _reads(feature: Feature) -> list[tuple[str, Mapping[str, str]]] | str:
    """The paths that are read, each with the parameter that needs the feature; or why there are none."""
    reading = [each.partition(" ")[2] for each in feature.endpoints if each.startswith("GET ")]
    if reading:
        return [(path, _NOTHING) for path in reading]
    if feature.endpoints:
        return "only a write would tell, and this check never writes"
    # A parameter that is merely dropped shows in no answer.
    refused = all(each.effect == "refused" for each in chain(*feature.without_it.values()))
    filters: list[tuple[str, Mapping[str, str]]] = [
        (endpoint.partition(" ")[2], {name: str(feature.only[name][0])})
        for endpoint, names in feature.parameters.items()
        for name in names
        if refused and endpoint.startswith("GET /groups/") and isinstance(feature.only.get(name), list)
    ]
    return filters or "no endpoint of its own: a field or GraphQL alone needs it"


async def _found_at(feature: Feature, path: str, query: Mapping[str, str], places: _Places) -> CheckedFeature:
    """Asked at the chosen place, and where a recording lacks that, at the others that it has."""
    kind, endpoint = _kind(path, places), f"GET {path}"
    if kind not in places.chosen:
        reason = f"there is no {kind} to ask about; name one with --{kind}"
        return CheckedFeature(feature, Verdict.NOT_ASKABLE, reason, endpoint)
    without: CheckedFeature | None = None
    with suppress(ReplayMiss):
        return await _asked(feature, path, query, places.chosen[kind], places)
    for place in await places.others(kind):
        with suppress(ReplayMiss):
            finding = await _asked(feature, path, query, place, places)
            if finding.verdict is not Verdict.NOT_ASKABLE:
                return finding
            without = without or finding
    return without or CheckedFeature(feature, Verdict.NOT_ASKABLE, "it is not in the recording", endpoint)


def _kind(path: str, places: _Places) -> str:
    for prefix, kind in _PLACES.items():
        if path.startswith(prefix):
            return kind
    facts = endpoints.find(f"GET {path}", places.chosen["instance"].tier.instance.version)
    required = [name for name, each in ((facts and facts.parameters) or {}).items() if each.required]
    return next((_BY_PLACE[name][0] for name in required if name in _BY_PLACE), "instance")


async def _asked(
    feature: Feature, path: str, query: Mapping[str, str], place: _Place, places: _Places
) -> CheckedFeature:
    """ReplayMiss where a recording has none of the answers."""
    endpoint, at = f"GET {path}", place.path or None
    lacks = place.tier.lacks(feature)
    if lacks is None:
        reason = "the tier here is not known; where you know it, set GITLAB_TIER"
        return CheckedFeature(feature, Verdict.NOT_ASKABLE, reason, endpoint, at=at)
    missed: ReplayMiss | None = None
    for question in await _questions(feature, path, query, place, places, lacks=lacks):
        if isinstance(question, str):
            return CheckedFeature(feature, Verdict.NOT_ASKABLE, question, endpoint, at=at)
        try:
            reply = await _reply(places.gitlab, question.path, **question.query)
        except ReplayMiss as miss:
            missed = miss
            continue
        verdict, reason = _judged(feature, question, reply, lacks=lacks)
        return CheckedFeature(feature, verdict, reason, endpoint, reply.status, at)
    assert missed is not None
    raise missed


async def _questions(
    feature: Feature, path: str, query: Mapping[str, str], place: _Place, places: _Places, *, lacks: bool
) -> list[_Question | str]:
    """The same question about each thing that is listed there, or why there is none.

    The first is enough where GitLab lives; a recording may know only of another.
    """
    prefix = next((each for each in _PLACES if path.startswith(each)), "")
    rest = path.removeprefix(prefix)
    if path.startswith("/api/"):
        return ["it is outside of GitLab's REST API"]
    names = endpoints.placeholders(rest)
    if len(names) > 1 or "*" in rest or (names and not prefix):
        return [_NEEDS_A_THING]
    given = _required(f"GET {path}", query, place, names)
    if isinstance(given, str):
        return [given]
    if place.kind == "instance" and place.role != Role.ADMIN:
        return ["only an administrator gets an answer that tells"]
    here = path.replace(":id", str(place.shown.get("id")), 1)
    if not names:
        return [_Question(f"GET {path}", place, here, given)]
    [name] = names
    things = rest.partition(f"/:{name}")[0]
    things = _LISTED_ELSEWHERE.get(things, things)
    listed = await places.list_below(place, things)
    if isinstance(listed, Refused):
        behaviours = place.tier.expected_without(feature).behaviours
        # Asked about a thing that is not there, a 404 tells nothing.
        if not (lacks and behaviours and all(each.effect == "refused" for each in behaviours)):
            return [_NEEDS_A_THING]
        if any(each.status == 404 and each.says != NO_SUCH_ROUTE for each in behaviours):
            return [_NEEDS_A_THING]
        return [_Question(f"GET {path}", place, here.replace(f":{name}", "1"), given, things, made_up=True)]
    numbers = list(_numbers_in(listed.body, "iid" if name.endswith("iid") else "id"))
    if not numbers:
        return [f"there are no {things.replace('_', ' ')} in {place.path} to ask about"]
    return [
        _Question(f"GET {path}", place, here.replace(f":{name}", str(number)), given, things)
        for number in numbers
    ]


def _numbers_in(listed: Any, key: str) -> Iterator[int]:
    for each in listed if isinstance(listed, list) else ():
        if isinstance(each, dict) and isinstance(each.get(key), int):
            yield each[key]


def _required(
    endpoint: str, query: Mapping[str, str], place: _Place, in_path: Iterable[str]
) -> dict[str, str] | str:
    """What must be sent along, or why that is not known."""
    facts = endpoints.find(endpoint, place.tier.instance.version)
    given = dict(query)
    for name, parameter in ((facts and facts.parameters) or {}).items():
        if not parameter.required or name in given or name in in_path or (facts and name in facts.in_path):
            continue
        kind, key = _BY_PLACE.get(name, ("", ""))
        value = parameter.values[0] if parameter.values else _SAMPLES.get(name)
        if kind == place.kind:
            value = place.shown.get(key)
        if value is None:
            return f"it needs a value that nobody but you knows: {name}"
        given[name] = str(value)
    return given


def _judged(
    feature: Feature, question: _Question, reply: Answer | Refused, *, lacks: bool
) -> tuple[Verdict, str]:
    place = question.place
    tier = place.tier.known.name if place.tier.known else place.tier.lowest_possible
    behaviours = place.tier.expected_without(feature).behaviours
    answered = _described(reply)
    if isinstance(reply, Refused) and (why := _role_explains(question)):
        return Verdict.NOT_ASKABLE, f"GitLab answered {answered}, and {why}"
    if question.made_up and not any(_fits(each, reply) for each in behaviours):
        return Verdict.NOT_ASKABLE, _NEEDS_A_THING
    if isinstance(reply, Refused) and reply.body() == _NO_ROUTE_BODY and not _no_route_expected(behaviours):
        return Verdict.NOT_ASKABLE, "this GitLab has no such route; another version may have it"
    if lacks:
        fits = [each for each in behaviours if _fits(each, reply)]
        expected = " or ".join(dict.fromkeys(_expected(each) for each in behaviours)) or "nothing"
        if fits:
            return Verdict.CONFIRMED, f"on {tier} GitLab answered {answered}, as the map says"
        if reply.status == 400 or (reply.status == 404 and question.thing):
            return (
                Verdict.NOT_ASKABLE,
                f"GitLab answered {answered}, which is about the request, not the tier",
            )
        if isinstance(reply, Answer) and question.thing and _is_empty(reply.body) and _writes(feature):
            return Verdict.NOT_ASKABLE, "GitLab answered with nothing, and only a write would tell more"
        if isinstance(reply, Refused) and _is_closed(place.shown):
            return Verdict.NOT_ASKABLE, f"GitLab answered {answered}, in a project where much is switched off"
        return Verdict.CONTRADICTED, f"on {tier} the map says {expected}; GitLab answered {answered}"
    if isinstance(reply, Answer):
        return Verdict.CONFIRMED, f"it works on {tier}: GitLab answered {answered}"
    if not feature.endpoints:
        return Verdict.NOT_ASKABLE, f"GitLab answered {answered}; on {tier} it must be set up, too"
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


def _is_closed(project: Mapping[str, Any]) -> bool:
    """Whether it is archived, marked for deletion, or lacks what most of a project is made of."""
    off = [
        name
        for name in ("repository", "issues", "merge_requests", "builds")
        if SWITCHES[name].is_off(project)
    ]
    return bool(off or project.get("archived") or project.get("marked_for_deletion_on"))


def _no_route_expected(behaviours: Iterable[Behaviour]) -> bool:
    return any(each.says == NO_SUCH_ROUTE for each in behaviours)


def _fits(behaviour: Behaviour, reply: Answer | Refused) -> bool:
    if isinstance(reply, Answer):
        if behaviour.effect == "empty":
            return _is_empty(reply.body)
        return behaviour.effect != "refused"
    if behaviour.effect != "refused" or behaviour.status != reply.status:
        return False
    body = reply.body()
    if behaviour.says == NO_SUCH_ROUTE or body == _NO_ROUTE_BODY:
        return behaviour.says == NO_SUCH_ROUTE and body == _NO_ROUTE_BODY
    return behaviour.says is None or behaviour.says.lower() in _sentence(body).lower()


def _is_empty(body: Any) -> bool:
    """Nothing, or an object that lists nothing: `{"approval_rules_overwritten": false, "rules": []}`."""
    lists = [each for each in body.values() if isinstance(each, list)] if isinstance(body, dict) else []
    return not body or (bool(lists) and not any(lists))


def _writes(feature: Feature) -> bool:
    return any(not each.startswith("GET ") for each in feature.endpoints)


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

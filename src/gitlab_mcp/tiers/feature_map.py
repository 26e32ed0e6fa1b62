"""The feature map: which tier each feature needs, what GitLab does without it, and what to use instead.

`tier_features.yaml` is the only place where a tier is stated, and says what each key means. It is read on first need.
A file of the operator is merged over it by key, so that a newer GitLab needs no newer server.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal, get_args

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    StrictInt,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_core import ErrorDetails, PydanticCustomError

from gitlab_mcp.api.versions import version_number

Tier = Literal["Free", "Premium", "Ultimate"]
Edition = Literal["ee_without_license", "gitlab_com_free", "ce"]
Effect = Literal["refused", "dropped", "not_enforced", "empty", "works"]
Basis = Literal["measured 17.2 and 19.3", "measured 17.2", "measured 19.3", "code 18.9", "inferred"]

TIERS: Final[tuple[str, ...]] = get_args(Tier)
SILENT_EFFECTS: Final[tuple[Effect, ...]] = ("dropped", "not_enforced", "empty", "works")
"""What an edition does without a feature and does not say: the call looks like a success."""
SEVERAL_ENTRIES: Final = "several"

_TIERS_FROM: Final[Mapping[Tier, str]] = {
    "Free": "Premium or Ultimate",
    "Premium": "Premium or Ultimate",
    "Ultimate": "Ultimate",
}
_ARGUMENT: Final = re.compile(r"\$(\w+)")
_PACKAGED = Path(__file__).parent.parent / "tier_features.yaml"


class TierMapError(Exception):
    """The map cannot be used. The text names the file and the key."""


def rank(tier: str) -> int:
    return TIERS.index(tier)


def _two_numbers(version: Any) -> tuple[int, ...]:
    number = version_number(version) if isinstance(version, str) else ()
    if len(number) != 2:
        raise PydanticCustomError("version", 'a version such as "18.0" is expected')
    return number


def _several_or_values(only: Any) -> Any:
    if only != SEVERAL_ENTRIES and not isinstance(only, list):
        raise PydanticCustomError("values", f"a list of values or {SEVERAL_ENTRIES} is expected")
    return only


Text = Annotated[str, Field(min_length=1)]
Version = Annotated[tuple[int, ...], BeforeValidator(_two_numbers)]
Values = Annotated[Any, BeforeValidator(_several_or_values)]


class _Entry(BaseModel):
    # Built on first need: every call imports this module, and few need the map.
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class Behaviour(_Entry):
    """What one edition does when it lacks the feature."""

    since: Version | None = None
    """The first version that is known to do so."""
    until: Version | None = None
    """The last version that is known to do so."""
    effect: Effect
    status: StrictInt | None = None
    says: Text | None = None
    """The sentence of the body, or `no such route`."""
    basis: Basis
    code_says: Text | None = None
    """What the code of 18.9 does, where a running GitLab was measured to do something else."""

    def holds_in(self, number: tuple[int, ...]) -> bool:
        return (self.since or number) <= number <= (self.until or number)


@dataclass(frozen=True, slots=True)
class Expected:
    """What a GitLab does that lacks a feature: several behaviours where its version leaves it open."""

    behaviours: tuple[Behaviour, ...]

    @property
    def effects(self) -> frozenset[Effect]:
        """Where nothing is known, a feature that is not there is refused."""
        return frozenset(each.effect for each in self.behaviours) or frozenset({"refused"})

    def is_surely(self, *effects: Effect) -> bool:
        return self.effects <= set(effects)

    def may_be(self, *effects: Effect) -> bool:
        return not self.effects.isdisjoint(effects)

    def after_success(self) -> Expected:
        """The same, once GitLab said yes: what refuses is ruled out."""
        return Expected(tuple(each for each in self.behaviours if each.effect != "refused"))


def _one_or_several(given: Any) -> tuple[Behaviour, ...]:
    """One behaviour for every version, or a list of them, the oldest first. A tuple is what nobody measured: any of
    them can be."""
    if isinstance(given, tuple):
        return given
    if not isinstance(given, list):
        return (Behaviour.model_validate(given),)
    behaviours = tuple(Behaviour.model_validate(each) for each in given)
    for older, newer in pairwise(behaviours):
        if not (older.until and newer.since and older.until < newer.since):
            raise PydanticCustomError(
                "versions", "the oldest first, each with until, and the next with since"
            )
    return behaviours


Behaviours = Annotated[tuple[Behaviour, ...], PlainValidator(_one_or_several)]


class Alternative(_Entry):
    action: Text | None = None
    """`tool action` of this server."""
    where: Text | None = None
    """Where a person does it in GitLab's pages, in place of an action."""
    why: Text
    tier: Tier = "Free"
    arguments: Mapping[str, Any] = {}
    """`$name` stands for the caller's argument of that name, also inside a text."""

    @model_validator(mode="after")
    def _is_an_action_or_a_place(self) -> Alternative:
        if (self.action is None) == (self.where is None):
            raise PydanticCustomError("alternative", "either action or where is expected")
        return self

    def with_arguments(self, given: Mapping[str, Any]) -> dict[str, Any]:
        arguments = {name: _filled_in(value, given) for name, value in self.arguments.items()}
        present = {name: value for name, value in arguments.items() if value is not None}
        if self.where is not None:
            return {"where": self.where, "description": self.why, "available_on": f"{self.tier} (UI only)"}
        return {
            "action": self.action,
            **({"arguments": present} if present else {}),
            "description": self.why,
            "available_on": self.tier,
        }


def _filled_in(value: Any, given: Mapping[str, Any]) -> Any:
    """None where the caller did not give what it stands for."""
    if isinstance(value, list):
        entries = [_filled_in(entry, given) for entry in value]
        return None if None in entries else entries
    if not isinstance(value, str):
        return value
    names = _ARGUMENT.findall(value)
    if any(given.get(name) is None for name in names):
        return None
    if names and value == f"${names[0]}":
        return given[names[0]]
    return _ARGUMENT.sub(lambda match: str(given[match[1]]), value)


class EarlierTier(_Entry):
    """The tier a feature had before a version."""

    before: Version
    tier: Tier


class Feature(_Entry):
    key: str
    name: Text
    tier: Tier
    docs: Text
    licensed_as: Text | None = None
    """Its name among the licensed features that GitLab tells of by GraphQL."""
    earlier: tuple[EarlierTier, ...] = ()
    add_on: Text | None = None
    endpoints: tuple[str, ...] = ()
    parameters: Mapping[str, tuple[str, ...]] = {}
    """By endpoint, the parameters that need the feature where the endpoint does not."""
    only: Mapping[str, Values] = {}
    """By parameter, the values that need the feature; `several` for a list with more than one entry."""
    only_for: Mapping[str, Text] = {}
    """By parameter, what needs the feature, in words, where it cannot be told from the value."""
    as_filter: Mapping[Edition, Literal["dropped", "empty", "works"]] = {}
    """By edition, what becomes of its parameters in a list: `dropped` means that everything is listed."""
    graphql: tuple[str, ...] = ()
    role: Text | None = None
    changed: Text | None = None
    without_it: Mapping[Edition, Behaviours] = {}
    alternatives: tuple[Alternative, ...] = ()
    otherwise: Text | None = None
    """What to do where no call helps."""
    notes: tuple[str, ...] = ()

    @field_validator("only")
    @classmethod
    def _names_its_parameters(cls, only: Mapping[str, Any], info: ValidationInfo) -> Mapping[str, Any]:
        parameters = {name for names in info.data.get("parameters", {}).values() for name in names}
        for name in only:
            if name not in parameters:
                raise PydanticCustomError("parameter", "{name} is none of its parameters", {"name": name})
        return only

    @property
    def is_ever_paid(self) -> bool:
        return {self.tier, *(was.tier for was in self.earlier)} != {"Free"}

    @property
    def is_paid_on_gitlab_com_alone(self) -> bool:
        """Whether every self-managed GitLab has it."""
        self_managed: tuple[Edition, ...] = ("ee_without_license", "ce")
        return self.tier != "Free" and all(
            self.expected(edition, None).is_surely("works") for edition in self_managed
        )

    @property
    def is_plural(self) -> bool:
        """By its head: of `Approval state of merge requests`, the approval state."""
        head = self.name.partition(" of ")[0]
        return head.endswith("s") and not head.endswith(("ss", "analytics"))

    def tier_in(self, version: str | None) -> Tier:
        """The tier in a version of GitLab: features move down with time. Where it is unknown, the newest."""
        number = version_number(version)
        return next((was.tier for was in self.earlier if number and number < was.before), self.tier)

    def paid_tier_in(self, version: str | None) -> Tier:
        """Its tier; of a feature that became free the one it had, where the version is unknown."""
        tier = self.tier_in(version)
        return max(self.tiers_possible_in(version), key=rank) if tier == "Free" else tier

    def tiers_possible_in(self, version: str | None) -> frozenset[Tier]:
        """Its tier; every tier it ever had where the version is unknown."""
        if version_number(version):
            return frozenset({self.tier_in(version)})
        return frozenset({self.tier, *(was.tier for was in self.earlier)})

    def expected(self, edition: Edition, version: str | None) -> Expected:
        """What an edition that lacks it does in a version of GitLab.

        Between two measured versions it may still do what the older or already what the newer one does.
        """
        behaviours, number = self.without_it.get(edition, ()), version_number(version)
        if not number:
            return Expected(behaviours)
        if known := tuple(each for each in behaviours if each.holds_in(number)):
            return Expected(known)
        before = [each for each in behaviours if each.until and each.until < number]
        after = [each for each in behaviours if each.since and number < each.since]
        return Expected((*before[-1:], *after[:1]))

    def available_on(self, version: str | None) -> str:
        """The paid tiers that have it, as a sentence names them."""
        tiers = _TIERS_FROM[self.paid_tier_in(version)]
        if len(self.tiers_possible_in(version)) == 1:
            return tiers
        was = self.earlier[-1]
        before = f"before {'.'.join(map(str, was.before))}"
        return f"{tiers} {before}" if self.tier == "Free" else f"{tiers} ({_TIERS_FROM[was.tier]} {before})"

    def alternatives_on(self, tier: str | None, given: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The alternatives that work on this tier, with the caller's arguments; all where the tier is unknown."""
        working = (each for each in self.alternatives if tier is None or each.tier in ("Free", tier))
        return [each.with_arguments(given) for each in working]

    def some_edition_has_effect(self, *effects: Effect) -> bool:
        """Whether an edition that lacks the feature is known to do one of these, in some version."""
        return any(Expected(behaviours).may_be(*effects) for behaviours in self.without_it.values())

    def effect_as_filter(self, edition: Edition, version: str | None) -> str:
        """What an edition that lacks the feature makes of its parameters in a list. CE drops unknown ones."""
        works_on_ce = self.expected("ce", version).is_surely("works")
        return self.as_filter.get(edition, "dropped" if edition == "ce" and not works_on_ce else "works")

    def is_needed_for(self, parameter: str, value: Any) -> bool:
        only = self.only.get(parameter)
        if only == SEVERAL_ENTRIES:
            return isinstance(value, list | tuple) and len(value) > 1
        return only is None or value in only


@dataclass(frozen=True, slots=True)
class TierMap:
    features: Mapping[str, Feature]

    def __getitem__(self, key: str) -> Feature:
        try:
            return self.features[key]
        except KeyError:
            raise TierMapError(f"no feature is called {key}") from None

    def paid_endpoints(self) -> dict[str, str]:
        """By normalised endpoint, the feature that it is or was paid with as a whole."""
        # Here, not above: only the generator asks, and every server imports this module.
        from gitlab_mcp.api.endpoints import normalised

        paid = (each for each in self.features.values() if each.is_ever_paid)
        return {normalised(endpoint): feature.key for feature in paid for endpoint in feature.endpoints}


@cache
def tier_map(*own: Path) -> TierMap:
    """The packaged map, with the operator's files over it in order."""
    entries: dict[str, dict[str, Any]] = {}
    files: dict[str, Path] = {}
    for path in (_PACKAGED, *own):
        for key, entry in _entries(path):
            entries[key] = {**entries.get(key, {}), **entry}
            files[key] = path
    return TierMap(MappingProxyType({key: _feature(files[key], key, entries[key]) for key in entries}))


def _entries(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    # Here, not above: every call imports this module, and few of them need the map.
    import yaml

    try:
        document = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as problem:
        raise TierMapError(f"{path}: {problem}") from problem
    if not isinstance(document, dict):
        raise TierMapError(f"{path}: a mapping of features is expected")
    for key, entry in document.items():
        if not isinstance(entry, dict):
            raise TierMapError(f"{path.name}: {key}: a mapping is expected")
        yield str(key), entry


def _feature(file: Path, key: str, entry: Mapping[str, Any]) -> Feature:
    try:
        return Feature.model_validate({**entry, "key": key})
    except ValidationError as invalid:
        raise TierMapError(f"{file.name}: {key}: {_described(invalid.errors()[0])}") from None


_EXPECTED: Final = {
    "missing": "text",
    "string_type": "text",
    "string_too_short": "text",
    "int_type": "a number",
    "tuple_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
}
_ENTRIES: Final[Mapping[str, type[_Entry]]] = {
    "alternatives": Alternative,
    "earlier": EarlierTier,
    "without_it": Behaviour,
}


def _described(error: ErrorDetails) -> str:
    """The keys that lead to the mistake, and what is wrong there."""
    *path, last = error["loc"]
    if error["type"] in ("extra_forbidden", "invalid_key"):
        allowed = (_ENTRIES[str(path[0])] if path else Feature).model_fields.keys() - {"key"}
        return ": ".join(map(str, (*path, f"unknown key {last}; allowed are {', '.join(sorted(allowed))}")))
    if last == "[key]":
        *path, key = path
        return ": ".join(map(str, (*path, f"unknown key {key}; allowed are {_choices(error)}")))
    if error["type"] == "literal_error":
        wrong = f"{error['input']} is none of {_choices(error)}"
    elif expected := _EXPECTED.get(error["type"]):
        wrong = f"{expected} is expected"
    else:
        wrong = error["msg"]
    return ": ".join(map(str, (*path, last, wrong)))


def _choices(error: ErrorDetails) -> str:
    return str(error["ctx"]["expected"]).replace("'", "").replace(" or ", ", ")

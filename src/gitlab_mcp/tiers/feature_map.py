"""The tier facts: which features are paid, how each edition refuses them, and what to use instead.

`tier_features.yaml` is the only place where a tier is stated. It is read on first need; a file of the operator's
own is merged over it by key, so that a newer GitLab needs no newer server.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

TIERS: Final = ("Free", "Premium", "Ultimate")
EDITIONS: Final = ("ee_without_license", "gitlab_com_free", "ce")
SILENT: Final = ("dropped", "not_enforced", "empty", "works")
"""What an edition that lacks a feature may do when it is used, so that it looks like a success."""
EFFECTS: Final = ("refused", *SILENT)
SEVERAL: Final = "several"
BASES: Final = ("measured 17.2", "code 18.9", "inferred")

_PACKAGED = Path(__file__).parent.parent / "tier_features.yaml"


class TierMapError(Exception):
    """The map cannot be used. The text names the file and the key."""


@dataclass(frozen=True, slots=True)
class Behaviour:
    """What one edition does when it lacks the feature."""

    effect: str
    status: int | None
    says: str | None
    """The sentence of the body, or `no such route`."""
    basis: str
    code_says: str | None
    """What the code of 18.9 does, where 17.2 was measured to do something else."""


@dataclass(frozen=True, slots=True)
class Alternative:
    action: str
    """`tool action` of this server."""
    why: str
    tier: str
    arguments: Mapping[str, Any]
    """`$name` stands for the caller's argument of that name."""

    def with_arguments(self, given: Mapping[str, Any]) -> dict[str, Any]:
        filled = {name: _filled(value, given) for name, value in self.arguments.items()}
        known = {name: value for name, value in filled.items() if value is not None}
        shown: dict[str, Any] = {"action": self.action}
        if known:
            shown["arguments"] = known
        return {**shown, "description": self.why, "available_on": self.tier}


@dataclass(frozen=True, slots=True)
class Earlier:
    """The tier a feature had before a version."""

    before: tuple[int, ...]
    tier: str


@dataclass(frozen=True, slots=True)
class Feature:
    key: str
    name: str
    tier: str
    docs: str
    earlier: tuple[Earlier, ...]
    add_on: str | None
    endpoints: tuple[str, ...]
    parameters: Mapping[str, tuple[str, ...]]
    """By endpoint, the parameters that are paid where the endpoint is not."""
    only: Mapping[str, Any]
    """By parameter, the values for which it is paid; `several` for a list with more than one entry."""
    as_filter: Mapping[str, str]
    """By edition, what becomes of its parameters in a list: `dropped` (everything is listed), `empty`, `works`."""
    graphql: tuple[str, ...]
    role: str | None
    changed: str | None
    without_it: Mapping[str, Behaviour]
    alternatives: tuple[Alternative, ...]
    notes: tuple[str, ...]

    @property
    def is_ever_paid(self) -> bool:
        return {self.tier, *(was.tier for was in self.earlier)} != {"Free"}

    @property
    def plural(self) -> bool:
        return self.name.endswith("s") and not self.name.endswith(("ss", "analytics"))

    def tier_in(self, version: str | None) -> str:
        """The tier in a version of GitLab: features move down with time."""
        number = version_number(version)
        return next((was.tier for was in self.earlier if number and number < was.before), self.tier)

    def needs(self, version: str | None) -> str:
        """The tiers that have it, as a sentence names them."""
        return "Ultimate" if self.tier_in(version) == "Ultimate" else "Premium or Ultimate"

    def instead(self, tier: str | None, given: Mapping[str, Any]) -> list[dict[str, Any]]:
        """What reaches the goal another way on this tier, with the arguments known; all where nobody knows the tier."""
        fitting = (each for each in self.alternatives if tier is None or each.tier in ("Free", tier))
        return [each.with_arguments(given) for each in fitting]

    def is_ever(self, effect: str) -> bool:
        """Whether some edition that lacks the feature is known to do this."""
        return any(behaviour.effect == effect for behaviour in self.without_it.values())

    def filtering(self, edition: str) -> str:
        """What an edition that lacks the feature makes of its parameters in a list. CE drops what it does not know."""
        known = self.without_it.get(edition)
        usual = "dropped" if edition == "ce" and not (known and known.effect == "works") else "works"
        return self.as_filter.get(edition, usual)

    def paid_with(self, parameter: str, value: Any) -> bool:
        paid = self.only.get(parameter)
        if paid == SEVERAL:
            return isinstance(value, list | tuple) and len(value) > 1
        return paid is None or value in paid


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

    def offering(self, actions: Container[str]) -> TierMap:
        """The same map, with only those alternatives that can be called here."""
        return TierMap(
            {
                key: replace(
                    feature,
                    alternatives=tuple(each for each in feature.alternatives if each.action in actions),
                )
                for key, feature in self.features.items()
            }
        )


def rank(tier: str) -> int:
    return TIERS.index(tier)


def version_number(version: str | None) -> tuple[int, ...]:
    """`17.2.0-pre` as (17, 2); empty where there is none."""
    return tuple(int(part) for part in re.findall(r"\d+", version)[:2]) if version else ()


@cache
def tier_map(*own: Path) -> TierMap:
    """The packaged map, with the operator's files over it in order."""
    raw: dict[str, dict[str, Any]] = {}
    origins: dict[str, Path] = {}
    for path in (_PACKAGED, *own):
        for key, entry in _entries(path):
            raw[key] = {**raw.get(key, {}), **entry}
            origins[key] = path
    return TierMap(
        MappingProxyType({key: _feature(f"{origins[key].name}: {key}", key, raw[key]) for key in raw})
    )


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


def _feature(where: str, key: str, entry: Mapping[str, Any]) -> Feature:
    _only(where, entry, {each.name for each in fields(Feature)} - {"key"})
    return Feature(
        key=key,
        name=_text(where, entry, "name"),
        tier=_one_of(where, entry, "tier", TIERS),
        docs=_text(where, entry, "docs"),
        earlier=tuple(
            _earlier(f"{where}: earlier: {number}", was)
            for number, was in enumerate(_list(where, entry, "earlier"))
        ),
        add_on=_optional(where, entry, "add_on"),
        endpoints=_texts(where, entry, "endpoints"),
        parameters={
            endpoint: _texts(f"{where}: parameters", _mapping(where, entry, "parameters"), endpoint)
            for endpoint in _mapping(where, entry, "parameters")
        },
        only=_only_values(where, entry),
        as_filter={
            edition: _one_of(
                f"{where}: as_filter", entry["as_filter"], edition, ("dropped", "empty", "works")
            )
            for edition in _editions(where, entry, "as_filter")
        },
        graphql=_texts(where, entry, "graphql"),
        role=_optional(where, entry, "role"),
        changed=_optional(where, entry, "changed"),
        without_it={
            edition: _behaviour(f"{where}: without_it: {edition}", behaviour)
            for edition, behaviour in _editions(where, entry, "without_it").items()
        },
        alternatives=tuple(
            _alternative(f"{where}: alternatives: {number}", alternative)
            for number, alternative in enumerate(_list(where, entry, "alternatives"))
        ),
        notes=_texts(where, entry, "notes"),
    )


def _earlier(where: str, entry: Any) -> Earlier:
    if not isinstance(entry, dict):
        raise TierMapError(f"{where}: a mapping is expected")
    _only(where, entry, {each.name for each in fields(Earlier)})
    before = version_number(_text(where, entry, "before"))
    if len(before) != 2:
        raise TierMapError(f'{where}: before: a version such as "18.0" is expected')
    return Earlier(before, _one_of(where, entry, "tier", TIERS))


def _only_values(where: str, entry: Mapping[str, Any]) -> Mapping[str, Any]:
    only = _mapping(where, entry, "only")
    named = {name for names in _mapping(where, entry, "parameters").values() for name in names}
    for parameter, values in only.items():
        if parameter not in named:
            raise TierMapError(f"{where}: only: {parameter} is none of its parameters")
        if values != SEVERAL and not isinstance(values, list):
            raise TierMapError(f"{where}: only: {parameter}: a list of values or {SEVERAL} is expected")
    return only


def _editions(where: str, entry: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    editions = _mapping(where, entry, key)
    _only(f"{where}: {key}", editions, set(EDITIONS))
    return editions


def _behaviour(where: str, entry: Any) -> Behaviour:
    if not isinstance(entry, dict):
        raise TierMapError(f"{where}: a mapping is expected")
    _only(where, entry, {each.name for each in fields(Behaviour)})
    status = entry.get("status")
    if status is not None and not isinstance(status, int):
        raise TierMapError(f"{where}: status: a number is expected")
    return Behaviour(
        effect=_one_of(where, entry, "effect", EFFECTS),
        status=status,
        says=_optional(where, entry, "says"),
        basis=_one_of(where, entry, "basis", BASES),
        code_says=_optional(where, entry, "code_says"),
    )


def _alternative(where: str, entry: Any) -> Alternative:
    if not isinstance(entry, dict):
        raise TierMapError(f"{where}: a mapping is expected")
    _only(where, entry, {each.name for each in fields(Alternative)})
    return Alternative(
        action=_text(where, entry, "action"),
        why=_text(where, entry, "why"),
        tier=_one_of(where, {"tier": "Free", **entry}, "tier", TIERS),
        arguments=_mapping(where, entry, "arguments"),
    )


def _filled(value: Any, given: Mapping[str, Any]) -> Any:
    return given.get(value[1:]) if isinstance(value, str) and value.startswith("$") else value


def _only(where: str, entry: Mapping[str, Any], allowed: set[str]) -> None:
    unknown = sorted(str(key) for key in entry if key not in allowed)
    if unknown:
        raise TierMapError(f"{where}: unknown key {unknown[0]}; allowed are {', '.join(sorted(allowed))}")


def _text(where: str, entry: Mapping[str, Any], key: str) -> str:
    value = entry.get(key)
    if not isinstance(value, str) or not value:
        raise TierMapError(f"{where}: {key}: text is expected")
    return value


def _optional(where: str, entry: Mapping[str, Any], key: str) -> str | None:
    return None if entry.get(key) is None else _text(where, entry, key)


def _one_of(where: str, entry: Mapping[str, Any], key: str, allowed: tuple[str, ...]) -> str:
    value = _text(where, entry, key)
    if value not in allowed:
        raise TierMapError(f"{where}: {key}: {value} is none of {', '.join(allowed)}")
    return value


def _list(where: str, entry: Mapping[str, Any], key: str) -> list[Any]:
    value = entry.get(key, [])
    if not isinstance(value, list):
        raise TierMapError(f"{where}: {key}: a list is expected")
    return value


def _texts(where: str, entry: Mapping[str, Any], key: str) -> tuple[str, ...]:
    values = _list(where, entry, key)
    if not all(isinstance(value, str) for value in values):
        raise TierMapError(f"{where}: {key}: a list of texts is expected")
    return tuple(values)


def _mapping(where: str, entry: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = entry.get(key, {})
    if not isinstance(value, dict):
        raise TierMapError(f"{where}: {key}: a mapping is expected")
    return value

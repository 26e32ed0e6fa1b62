"""The features of the map that an action needs, and those that one call of it needs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cache
from typing import get_args

from gitlab_mcp.actions.action import Action
from gitlab_mcp.actions.fields import NeededEverywhere, Needs
from gitlab_mcp.actions.shape import shapes
from gitlab_mcp.tiers.feature_map import Behaviour, Edition, Feature, TierMap, rank


@dataclass(frozen=True, slots=True)
class _Declared:
    """The keys of the features that an action declares. No map is needed to read them."""

    action: str | None
    path_fields: Mapping[str, str]
    fields: Mapping[str, str]
    everywhere: str | None

    def needed_at(self, placeholders: Collection[str]) -> str | None:
        """What a call of an endpoint needs, by the last of its places that needs something."""
        in_path = [name for name in placeholders if name in self.path_fields]
        if in_path:
            return self.path_fields[in_path[-1]]
        return self.action or (None if placeholders else self.everywhere)


@cache
def _declared(action: type[Action]) -> _Declared:
    marked = {name: mark.feature for name, shape in shapes(action).items() if (mark := shape.mark(Needs))}
    in_path = action.spec.placeholders
    path_fields = {name: key for name, key in marked.items() if name in in_path}
    everywhere = [mark.feature for shape in shapes(action).values() if (mark := shape.mark(NeededEverywhere))]
    return _Declared(
        action.spec.feature,
        path_fields,
        {name: key for name, key in marked.items() if name not in in_path},
        # A call that names no place reaches every group: it needs no less than one of a group.
        next(iter(everywhere), path_fields.get("group_id")),
    )


def _by_documentation(action: type[Action]) -> Feature | None:
    """Of a row that the map does not know, what its page says. Nobody measured what a GitLab without it does."""
    spec = action.spec
    if spec.documented_tier is None:
        return None
    either = tuple(Behaviour(effect=effect, basis="inferred") for effect in ("refused", "works"))
    return Feature.model_validate(
        {
            "key": "by_documentation",
            "name": f"{spec.tool.name} {spec.name} (by its documentation)",
            "tier": spec.documented_tier,
            "docs": spec.docs,
            "without_it": dict.fromkeys(get_args(Edition), either),
        }
    )


@dataclass(frozen=True, slots=True)
class ActionRequirements:
    """The features that calls of an action can need."""

    feature: Feature | None
    """What every call needs, unless a field of the path needs something else."""
    by_path_field: Mapping[str, Feature]
    """The wiki of a project is free; with `group_id` it is not."""
    by_field: Mapping[str, Feature]
    everywhere: Feature | None
    """What a call needs that names no place."""
    version: str | None

    @property
    def tier(self) -> str:
        """The lowest tier on which some call works."""
        return self.tier_of(self.feature) if self.feature else "Free"

    @property
    def features(self) -> tuple[Feature, ...]:
        action = [self.feature] if self.feature else []
        everywhere = [self.everywhere] if self.everywhere else []
        every = [*action, *self.by_path_field.values(), *self.by_field.values(), *everywhere]
        return tuple({feature.key: feature for feature in every}.values())

    def tier_of(self, feature: Feature) -> str:
        return feature.tier_in(self.version)

    def above(self, features: Mapping[str, Feature]) -> dict[str, str]:
        """The names whose feature needs a higher tier than the action, with that tier."""
        tiers = {name: self.tier_of(feature) for name, feature in features.items()}
        return {name: tier for name, tier in tiers.items() if rank(tier) > rank(self.tier)}


def requirements_of_action(
    action: type[Action], tiers: TierMap, version: str | None = None
) -> ActionRequirements:
    """`version`: of a GitLab in which a feature may still have had another tier."""
    declared = _declared(action)
    return ActionRequirements(
        tiers[declared.action] if declared.action else _by_documentation(action),
        {name: tiers[key] for name, key in declared.path_fields.items()},
        {name: tiers[key] for name, key in declared.fields.items()},
        tiers[declared.everywhere] if declared.everywhere else None,
        version,
    )


@dataclass(frozen=True, slots=True)
class Requirement:
    """A feature that a call needs, and the field that needs it where the action as a whole does not."""

    feature: Feature
    field: str | None = None


def requirements_of_call(action: Action | None, tiers: Callable[[], TierMap]) -> tuple[Requirement, ...]:
    """The features behind the action and behind the given fields. Most calls need none: then no map is read."""
    if action is None:
        return ()
    declared, given = _declared(type(action)), action.given()
    key = declared.needed_at(action.endpoint().placeholders)
    by_field = [
        Requirement(needed, name)
        for name, field_key in sorted(declared.fields.items())
        if name in given and (needed := tiers()[field_key]).is_needed_for(name, given[name])
    ]
    feature = tiers()[key] if key else _by_documentation(type(action))
    return (*([Requirement(feature)] if feature else []), *by_field)

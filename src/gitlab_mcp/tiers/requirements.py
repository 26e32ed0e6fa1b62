"""What an action costs: the tier it needs as a whole, by place and by field. Read off its declaration and the map."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from gitlab_mcp.actions.action import Action
from gitlab_mcp.actions.fields import Needs
from gitlab_mcp.actions.shape import shapes
from gitlab_mcp.tiers.feature_map import Feature, TierMap, rank


@dataclass(frozen=True, slots=True)
class Requirement:
    """A feature the call needs, and the field that needs it where the action as a whole does not."""

    feature: Feature
    field: str | None = None


@dataclass(frozen=True, slots=True)
class ActionRequirements:
    whole: Feature | None = None
    places: Mapping[str, Feature] = field(default_factory=dict)
    """By the field that names the place: the wiki of a project is free, that of a group is not."""
    fields: Mapping[str, Feature] = field(default_factory=dict)
    version: str | None = None

    @property
    def tier(self) -> str:
        """The lowest tier on which something of it works."""
        return self.tier_of(self.whole) if self.whole else "Free"

    @property
    def features(self) -> tuple[Feature, ...]:
        named = [*([self.whole] if self.whole else []), *self.places.values(), *self.fields.values()]
        return tuple({feature.key: feature for feature in named}.values())

    def tier_of(self, feature: Feature) -> str:
        return feature.tier_in(self.version)

    def above(self, features: Mapping[str, Feature]) -> dict[str, str]:
        """Those that cost more than the action itself, by name, with their tier."""
        tiers = {name: self.tier_of(feature) for name, feature in features.items()}
        return {name: tier for name, tier in tiers.items() if rank(tier) > rank(self.tier)}


def action_requirements(
    action: type[Action], tiers: TierMap, version: str | None = None
) -> ActionRequirements:
    """`version`: of a GitLab in which a feature may still have had another tier."""
    placeholders = action.spec.placeholders
    marked = {
        name: tiers[mark.feature] for name, shape in shapes(action).items() if (mark := shape.mark(Needs))
    }
    whole = tiers[action.spec.feature] if action.spec.feature else None
    return ActionRequirements(
        whole,
        {name: feature for name, feature in marked.items() if name in placeholders},
        {name: feature for name, feature in marked.items() if name not in placeholders},
        version,
    )


def requirements_of(action: Action | None, tiers: Callable[[], TierMap]) -> tuple[Requirement, ...]:
    """The features behind the action and behind the fields that were given. Most need none: then no map is read."""
    if action is None:
        return ()
    known = shapes(type(action))
    marked = {name: mark for name in sorted(action.given()) if (mark := known[name].mark(Needs))}
    # A place has its price: the wiki of a project is free, that of a group is not.
    places = [marked.pop(name).feature for name in action.endpoint().placeholders if name in marked]
    price = places[-1] if places else action.spec.feature
    whole = [Requirement(tiers()[price])] if price else []
    fields = [
        Requirement(feature, name)
        for name, mark in marked.items()
        if (feature := tiers()[mark.feature]).paid_with(name, getattr(action, name))
    ]
    return (*whole, *fields)

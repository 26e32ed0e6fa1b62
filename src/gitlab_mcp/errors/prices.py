"""What an action costs: the tier it needs as a whole, by place and by field. Read off its declaration and the map."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gitlab_mcp.core.action import Action
from gitlab_mcp.core.fields import Needs
from gitlab_mcp.core.shape import shapes
from gitlab_mcp.errors.tiers import Feature, TierMap, rank


@dataclass(frozen=True, slots=True)
class Price:
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


def price_of(action: type[Action], tiers: TierMap, version: str | None = None) -> Price:
    """`version`: of a GitLab in which a feature may still have had another tier."""
    placeholders = action.spec.placeholders
    marked = {
        name: tiers[mark.feature] for name, shape in shapes(action).items() if (mark := shape.mark(Needs))
    }
    whole = tiers[action.spec.feature] if action.spec.feature else None
    return Price(
        whole,
        {name: feature for name, feature in marked.items() if name in placeholders},
        {name: feature for name, feature in marked.items() if name not in placeholders},
        version,
    )

"""The tier in effect for a call. A self-managed instance has one; on GitLab.com each top-level group has its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from gitlab_mcp.actions.ask import Ask, InstanceFacts
from gitlab_mcp.tiers.feature_map import Edition, Expected, Feature, rank

# The keys of a project that only a licence adds, the highest tier first. The last key is there on every EE, for
# every caller with a token: where it is missing too, the project says nothing about the tier.
_PROJECT_KEYS: Final = (
    ("only_allow_merge_if_all_status_checks_passed", "Ultimate"),
    ("allow_pipeline_trigger_approve_deployment", "Premium"),
    ("requirements_access_level", "Free"),
)
# The same for a group. No key tells Ultimate from Premium; the plan does, which GitLab.com shows to owners.
_GROUP_KEYS: Final = (
    ("allowed_email_domains_list", "Premium"),
    ("prevent_forking_outside_group", "Free"),
)
_PLANS: Final = {
    "free": "Free",
    **dict.fromkeys(("premium", "premium_trial", "silver"), "Premium"),
    **dict.fromkeys(("ultimate", "ultimate_trial", "ultimate_trial_paid_customer"), "Ultimate"),
    **dict.fromkeys(("opensource", "gold"), "Ultimate"),
}


class KnownTier(NamedTuple):
    name: str
    evidence: str
    """How it is known, as a clause for evidence."""


@dataclass(frozen=True, slots=True)
class EffectiveTier:
    """What the instance, the project and the group say about the tier."""

    instance: InstanceFacts = field(default_factory=InstanceFacts)
    project: Mapping[str, Any] | None = None
    group: Mapping[str, Any] | None = None

    @property
    def known(self) -> KnownTier | None:
        """What a project or group shows counts more than what the instance says."""
        if self.instance.edition != "CE":
            if tier := _tier_by_keys(self.project, _PROJECT_KEYS):
                return KnownTier(tier, f"the project shows the settings of {tier}")
            if tier := _PLANS.get(str(self.group.get("plan"))) if self.group else None:
                return KnownTier(tier, f"the plan of the namespace is {tier}")
            if _tier_by_keys(self.group, _GROUP_KEYS) == "Free":
                return KnownTier("Free", "the group shows no settings of a paid tier")
        if self.instance.tier is None or self.instance.at_least:
            return None
        return KnownTier(self.instance.tier, self.instance.known_by or "the instance says so")

    @property
    def lowest_possible(self) -> str:
        """The known tier, or else the lowest that it can be."""
        if known := self.known:
            return known.name
        return _tier_by_keys(self.group, _GROUP_KEYS) or self.instance.tier or "Free"

    def lacks(self, feature: Feature) -> bool | None:
        """Whether the tier is too low for the feature.

        None where the tier is unknown, or where the version is and the feature moved to another tier.
        """
        needed = {rank(tier) for tier in feature.tiers_possible_in(self.instance.version)}
        if rank(self.lowest_possible) >= max(needed):
            return False
        return True if self.known and rank(self.known.name) < min(needed) else None

    def expected_without(self, feature: Feature) -> Expected:
        """What this GitLab does when it lacks the feature."""
        return feature.expected(self.edition_key, self.instance.version)

    @property
    def whose(self) -> str:
        """What has the tier, for a sentence."""
        return "this namespace" if self.instance.is_gitlab_com else "this GitLab"

    @property
    def edition_key(self) -> Edition:
        """This GitLab among the editions of the feature map."""
        if self.instance.edition == "CE":
            return "ce"
        return "gitlab_com_free" if self.instance.is_gitlab_com else "ee_without_license"


async def effective_tier_at(ask: Ask, project_id: str | None, group_id: str | None) -> EffectiveTier:
    """Asks for the project or group only where the tier of the instance is unknown."""
    instance = await ask.instance()
    if instance.tier is not None and not instance.at_least:
        return EffectiveTier(instance)
    if project_id:
        return EffectiveTier(instance, project=await ask.project(project_id))
    return EffectiveTier(instance, group=await ask.group(group_id) if group_id else None)


def _tier_by_keys(shown: Mapping[str, Any] | None, keys: tuple[tuple[str, str], ...]) -> str | None:
    return next((tier for key, tier in keys if key in shown), None) if shown else None

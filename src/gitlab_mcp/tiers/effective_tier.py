"""Which tier a call meets. Self-managed it is the instance's; on GitLab.com each top-level group has its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from gitlab_mcp.actions.ask import Ask, InstanceFacts
from gitlab_mcp.tiers.feature_map import Behaviour, Feature, rank

# Keys that only a licence shows, the highest tier first; without any it is Free. The last of each row is a key
# that every EE shows to whoever reads it with a token: without it the answer tells nothing.
_OF_PROJECT: Final = (
    ("only_allow_merge_if_all_status_checks_passed", "Ultimate"),
    ("allow_pipeline_trigger_approve_deployment", "Premium"),
    ("requirements_access_level", "Free"),
)
# No key of a group tells Ultimate from Premium; its plan does, which GitLab.com shows to owners.
_OF_GROUP: Final = (
    ("allowed_email_domains_list", "Premium"),
    ("prevent_forking_outside_group", "Free"),
)
_PLANS: Final = {
    "free": "Free",
    **dict.fromkeys(("premium", "premium_trial", "silver"), "Premium"),
    **dict.fromkeys(("ultimate", "ultimate_trial", "ultimate_trial_paid_customer"), "Ultimate"),
    **dict.fromkeys(("opensource", "gold"), "Ultimate"),
}


@dataclass(frozen=True, slots=True)
class EffectiveTier:
    instance: InstanceFacts = field(default_factory=InstanceFacts)
    project: Mapping[str, Any] | None = None
    group: Mapping[str, Any] | None = None

    @property
    def known(self) -> tuple[str, str] | None:
        """The tier at hand and how it is known. What a project or group shows counts more than the instance."""
        if self.instance.edition != "CE":
            if found := _shown(self.project, _OF_PROJECT):
                return found, f"the project shows the settings of {found}"
            if planned := _PLANS.get(str(self.group.get("plan"))) if self.group else None:
                return planned, f"the plan of the namespace is {planned}"
            if _shown(self.group, _OF_GROUP) == "Free":
                return "Free", "the group shows no settings of a paid tier"
        if self.instance.tier is None or self.instance.at_least:
            return None
        return self.instance.tier, self.instance.known_by or "the instance says so"

    @property
    def least(self) -> str:
        """The tier that is there in any case."""
        if known := self.known:
            return known[0]
        return _shown(self.group, _OF_GROUP) or self.instance.tier or "Free"

    def lacks(self, feature: Feature) -> bool | None:
        """Whether the tier at hand is too low for it; None where nobody knows."""
        needed = rank(feature.tier_in(self.instance.version))
        if rank(self.least) >= needed:
            return False
        return True if self.known else None

    def without(self, feature: Feature) -> Behaviour | None:
        """What this GitLab is known to do where it lacks the feature."""
        return feature.without_it.get(self.edition)

    @property
    def edition(self) -> str:
        if self.instance.edition == "CE":
            return "ce"
        return "gitlab_com_free" if self.instance.is_gitlab_com else "ee_without_license"


async def effective_tier_at(ask: Ask, project_id: str | None, group_id: str | None) -> EffectiveTier:
    """Asks the project or group only where the instance does not settle it."""
    instance = await ask.instance()
    if instance.tier is not None and not instance.at_least:
        return EffectiveTier(instance)
    if project_id:
        return EffectiveTier(instance, project=await ask.project(project_id))
    return EffectiveTier(instance, group=await ask.group(group_id) if group_id else None)


def _shown(of: Mapping[str, Any] | None, keys: tuple[tuple[str, str], ...]) -> str | None:
    return next((tier for key, tier in keys if key in of), None) if of else None

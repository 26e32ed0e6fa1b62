"""The warnings of a call that succeeded although it needs a feature above the tier."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from gitlab_mcp.actions.result import Notice
from gitlab_mcp.failures.codes import NoticeCode
from gitlab_mcp.tiers.effective_tier import EffectiveTier
from gitlab_mcp.tiers.feature_map import SEVERAL_ENTRIES, Feature

_MOST_ALTERNATIVES: Final = 2


@dataclass(frozen=True, slots=True)
class TierNotices:
    """Makes the warnings about one feature; `field` is what needs it where the action as a whole does not."""

    feature: Feature
    effective_tier: EffectiveTier
    given: Mapping[str, Any]
    field: str | None = None

    def ignored(self) -> Notice:
        subject = f"{self.field} was ignored" if self.field else "What was asked for was dropped"
        if self.field and self.feature.only.get(self.field) == SEVERAL_ENTRIES:
            subject = f"Only one entry of {self.field} was kept"
        otherwise = f" {self.feature.otherwise}" if self.feature.otherwise else ""
        return self._notice(NoticeCode.TIER_IGNORED, f"{subject}: {self._needs}.{otherwise}")

    def filter_ignored(self) -> Notice:
        message = f"{self.field} was ignored, so that more is listed than was asked for: {self._needs}."
        return self._notice(NoticeCode.TIER_IGNORED, message)

    def not_enforced(self, *, surely: bool = True) -> Notice:
        """Not `surely`: where the version of this GitLab leaves open what it does."""
        does = "keeps it and does not act on it" if surely else "may keep it and not act on it"
        return self._notice(NoticeCode.TIER_NOT_ENFORCED, f"GitLab {does}: {self._needs}.", surely=surely)

    def empty_list(self) -> Notice:
        because = f": nothing here can have what {self.field} asks for" if self.field else ""
        return self._notice(NoticeCode.EMPTY_BECAUSE, f"{self._needs}{because}.")

    @property
    def _needs(self) -> str:
        feature, tier = self.feature, self.effective_tier.known
        available_on = feature.available_on(self.effective_tier.instance.version)
        here = f", and {self.effective_tier.whose} is on {tier.name}" if tier else ""
        return f"{feature.name} {'need' if feature.is_plural else 'needs'} GitLab {available_on}{here}"

    def _notice(self, code: NoticeCode, message: str, *, surely: bool = True) -> Notice:
        tier = self.effective_tier.known.name if self.effective_tier.known else None
        facts = {
            "field": self.field,
            "feature_name": self.feature.name,
            "tier_required": self.feature.tier_in(self.effective_tier.instance.version),
            "current_tier": tier,
            "confidence": None if tier and surely else "possible",
            "alternatives": self.feature.alternatives_on(tier, self.given)[:_MOST_ALTERNATIVES],
        }
        return Notice(code, message, {name: value for name, value in facts.items() if value})

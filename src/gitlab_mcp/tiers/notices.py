"""The warnings of a success that a tier stands behind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from gitlab_mcp.actions.result import Notice
from gitlab_mcp.failures.codes import NoticeCode
from gitlab_mcp.tiers.effective_tier import EffectiveTier
from gitlab_mcp.tiers.feature_map import Feature

_MOST_ALTERNATIVES: Final = 2


@dataclass(frozen=True, slots=True)
class UnmetRequirement:
    """A feature that the tier at hand lacks, the field that needs it where not the whole action does."""

    feature: Feature
    effective_tier: EffectiveTier
    given: Mapping[str, Any]
    field: str | None = None

    def ignored(self) -> Notice:
        what = f"{self.field} was ignored" if self.field else "What was asked for was dropped"
        return self._warning(NoticeCode.TIER_IGNORED, f"{what}: {self._needs}.")

    def ignored_as_filter(self) -> Notice:
        message = f"{self.field} was ignored, so that more is listed than was asked for: {self._needs}."
        return self._warning(NoticeCode.TIER_IGNORED, message)

    def not_enforced(self) -> Notice:
        message = f"GitLab keeps it and does not act on it: {self._needs}."
        return self._warning(NoticeCode.TIER_NOT_ENFORCED, message)

    def empty(self) -> Notice:
        so = f": nothing here can have what {self.field} asks for" if self.field else ""
        return self._warning(NoticeCode.EMPTY_BECAUSE, f"{self._needs}{so}.")

    @property
    def _needs(self) -> str:
        feature, known = self.feature, self.effective_tier.known
        above = feature.needs(self.effective_tier.instance.version)
        here = f", and this GitLab is on {known[0]}" if known else ""
        return f"{feature.name} {'need' if feature.plural else 'needs'} GitLab {above}{here}"

    def _warning(self, code: NoticeCode, message: str) -> Notice:
        here = self.effective_tier.known[0] if self.effective_tier.known else None
        facts = {
            "field": self.field,
            "feature_name": self.feature.name,
            "tier_required": self.feature.tier_in(self.effective_tier.instance.version),
            "current_tier": here,
            "confidence": None if here else "possible",
            "alternatives": self.feature.instead(here, self.given)[:_MOST_ALTERNATIVES],
        }
        return Notice(code, message, {name: value for name, value in facts.items() if value})

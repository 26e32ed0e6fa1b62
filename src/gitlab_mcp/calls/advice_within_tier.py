"""Keeps the calls that a failure suggests to what the tier has: nobody is sent from one refusal into the next."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from gitlab_mcp.actions.arguments.defaults import InstanceDefaults
from gitlab_mcp.actions.arguments.validation import validate
from gitlab_mcp.actions.ask import Ask
from gitlab_mcp.actions.registry import Registry
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.tiers.effective_tier import EffectiveTier, effective_tier_at
from gitlab_mcp.tiers.feature_map import Feature, TierMap, rank
from gitlab_mcp.tiers.requirements import requirements_of_action, requirements_of_call

Arguments = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class AdviceWithinTier:
    registry: Registry
    defaults: InstanceDefaults
    tiers: Callable[[], TierMap]

    async def __call__(self, failure: Failure, given: Arguments, ask: Callable[[], Ask]) -> Failure:
        """The failure without calls that the tier is known to lack, and with the tier that others need."""
        facts = dict(failure.facts)
        tier = _AskedOnce(ask, given)
        if "send" in facts:
            facts = await self._send(facts, given, tier)
        if "alternatives" in facts:
            kept = [await self._alternative(each, tier) for each in facts["alternatives"]]
            facts["alternatives"] = [each for each in kept if each is not None]
            if not facts["alternatives"]:
                del facts["alternatives"]
        return replace(failure, facts=facts)

    async def _send(self, facts: dict[str, Any], given: Arguments, tier: _AskedOnce) -> dict[str, Any]:
        call = facts["send"]
        feature = self._paid({**given, **call.get("arguments", {})}, call["tool"])
        if feature is None:
            return facts
        lacks, needed = await tier.lacks(feature)
        if lacks is False:
            return facts
        others = {name: value for name, value in facts.items() if name != "send" or not lacks}
        not_here = ", which is not in effect here" if lacks else ""
        said = f"{facts.get('suggested_fix', '')} {feature.name} needs {needed}{not_here}.".strip()
        return {**others, "suggested_fix": said}

    async def _alternative(self, call: Arguments, tier: _AskedOnce) -> Arguments | None:
        if "action" not in call:
            return call
        tool, _, action = str(call["action"]).partition(" ")
        feature = self._paid({**call.get("arguments", {}), "action": action}, tool)
        if feature is None:
            return call
        lacks, needed = await tier.lacks(feature)
        return None if lacks else {**call, "available_on": needed}

    def _paid(self, arguments: Arguments, tool: str) -> Feature | None:
        """The feature that the call needs: of several the one of the highest tier."""
        try:
            action = validate(self.registry, tool, arguments, self.defaults).action
            found = [each.feature for each in requirements_of_call(action, self.tiers)]
        except CallFailed:
            # Not complete yet: what the action as a whole needs is known all the same.
            declared = self.registry.action(tool, arguments.get("action"))
            feature = requirements_of_action(declared, self.tiers()).feature if declared else None
            found = [feature] if feature else []
        paid = [each for each in found if rank(each.tier) > rank("Free")]
        return max(paid, key=lambda each: rank(each.tier), default=None)


class _AskedOnce:
    """The tier in effect, asked for when a suggested call needs to know."""

    def __init__(self, ask: Callable[[], Ask], given: Arguments) -> None:
        self._ask, self._given = ask, given
        self._known: EffectiveTier | None = None

    async def lacks(self, feature: Feature) -> tuple[bool | None, str]:
        """Whether the tier lacks it, None where that is unknown; and the tier that has it."""
        if self._known is None:
            places = [self._given.get(name) for name in ("project_id", "group_id")]
            project, group = (str(place) if isinstance(place, (str, int)) else None for place in places)
            asked: Awaitable[EffectiveTier] = effective_tier_at(self._ask(), project, group)
            self._known = await asked
        return self._known.lacks(feature), feature.tier_in(self._known.instance.version)

"""What the listing says of tiers: the actions and fields that cost more than the tool they are in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gitlab_mcp.actions.action import Action
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.tiers.feature_map import SEVERAL_ENTRIES, TIERS, Feature, TierMap
from gitlab_mcp.tiers.requirements import ActionRequirements, requirements_of_action

_SAAS: Final = " on GitLab.com"


class TierMarks:
    """Implements `actions.schema.Marks`. What the tool's own description says of a tier is not said again."""

    def __init__(self, tiers: TierMap) -> None:
        self._tiers = tiers

    def of_actions(self, tool: Tool) -> list[str]:
        """Such as `Premium: dependencies, merge_train.` or `Premium on GitLab.com: create.`"""
        needed = {name: _where(self._requirements(action)) for name, action in tool.actions.items()}
        places = [place for tier in TIERS[1:] if tier not in tool.about for place in (tier, f"{tier}{_SAAS}")]
        if "Free" not in needed.values():
            return []
        return [
            f"{place}: {', '.join(name for name, its in needed.items() if its == place)}."
            for place in places
            if place in needed.values()
        ]

    def of_field(self, tool: Tool, field: str, actions: list[str]) -> str:
        """Such as `Premium`, `blocks, is_blocked_by: Premium` or `Premium for code, commits`."""
        marks = {name: mark for name in actions if (mark := self._mark(tool, tool.actions[name], field))}
        different = set(marks.values())
        if len(different) != 1:
            return ""
        [mark] = different
        return mark if len(marks) == len(actions) else f"{mark} for {', '.join(marks)}"

    def _mark(self, tool: Tool, action: type[Action], field: str) -> str:
        requirements = self._requirements(action)
        if field in requirements.above(requirements.by_field):
            return _field_mark(field, requirements.by_field[field])
        tier = requirements.above(requirements.by_path_field).get(field)
        return tier if tier and tier not in tool.about else ""

    def _requirements(self, action: type[Action]) -> ActionRequirements:
        return requirements_of_action(action, self._tiers)


def _where(requirements: ActionRequirements) -> str:
    feature = requirements.feature
    alone = feature is not None and feature.is_paid_on_gitlab_com_alone
    return f"{requirements.tier}{_SAAS}" if alone else requirements.tier


def _field_mark(field: str, feature: Feature) -> str:
    only = feature.only.get(field)
    if only == SEVERAL_ENTRIES:
        return f"several: {feature.tier}"
    values: Mapping[str, str] = feature.only_for
    if field in values:
        return f"{values[field]}: {feature.tier}"
    return f"{', '.join(map(str, only))}: {feature.tier}" if only else str(feature.tier)

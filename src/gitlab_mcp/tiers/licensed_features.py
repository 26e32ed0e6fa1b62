"""What GitLab itself says of what it sells.

An Enterprise Edition from 18.11 on tells everybody who can read a project or group, by GraphQL, which plan a feature
needs and whether it is there. Older ones and the Community Edition do not know the question.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from gitlab_mcp.actions.exchange import GitLab
from gitlab_mcp.gitlab.faults import GraphQLRefused

_AT_ONCE: Final = 20
"""GitLab limits how much one query may ask."""
_TIERS: Final = {"starter": "Premium", "premium": "Premium", "ultimate": "Ultimate"}
"""By plan. Starter is what some features of Premium were sold in before."""


@dataclass(frozen=True, slots=True)
class LicensedFeature:
    plan: str
    available: bool
    """Whether the project or group has it: by the licence, or on GitLab.com by its plan."""

    @property
    def tier(self) -> str | None:
        return _TIERS.get(self.plan)


async def licensed_features(
    gitlab: GitLab, kind: str, path: str, names: Iterable[str]
) -> dict[str, LicensedFeature]:
    """By name, of those that this GitLab knows. `kind` is project or group."""
    told: dict[str, LicensedFeature] = {}
    left = sorted(set(names))
    while left:
        batch = left[:_AT_ONCE]
        try:
            data = await gitlab.graphql(licence_question(kind, batch), {"path": path})
        except GraphQLRefused as refused:
            unknown = _unknown_names(refused) & set(batch)
            if not unknown:
                return told
            left = [name for name in left if name not in unknown]
            continue
        shown = data.get(kind)
        if not isinstance(shown, dict):
            return told
        told |= {name: one for name in batch if (one := _read(shown.get(name))) is not None}
        left = left[_AT_ONCE:]
    return told


def licence_question(kind: str, names: Iterable[str]) -> str:
    asked = " ".join(
        f"{name}: licensedFeatureAvailability(feature: {name}) {{ available requiredPlan }}" for name in names
    )
    return f"query($path: ID!) {{ {kind}(fullPath: $path) {{ {asked} }} }}"


def _unknown_names(refused: GraphQLRefused) -> set[str]:
    """The names that this version does not have: the errors lead to the argument of each."""
    paths = [error.get("path") for error in refused.errors]
    return {
        str(path[-2]) for path in paths if isinstance(path, list) and len(path) > 1 and path[-1] == "feature"
    }


def _read(answer: Any) -> LicensedFeature | None:
    match answer:
        case {"available": bool() as available, "requiredPlan": str() as plan}:
            return LicensedFeature(plan, available)
        case _:
            return None

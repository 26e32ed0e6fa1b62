"""Successes that are not what they look like: what GitLab dropped, saved in vain, or answered with nothing.

A call that simply succeeded costs a comparison of what was sent with what came back. Questions are asked only
where something looks off, or where a feature is known to be taken and not carried out.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable
from typing import Final

import anyio

from gitlab_mcp.actions.action import Action
from gitlab_mcp.actions.ask import Ask
from gitlab_mcp.actions.exchange import Answer
from gitlab_mcp.actions.result import Notice, Result
from gitlab_mcp.success_checks.dropped_fields import dropped
from gitlab_mcp.success_checks.empty_lists import why_empty
from gitlab_mcp.success_checks.not_done import undone
from gitlab_mcp.success_checks.success import Success
from gitlab_mcp.tiers.feature_map import SILENT, Feature, TierMap, tier_map
from gitlab_mcp.tiers.notices import UnmetRequirement
from gitlab_mcp.tiers.requirements import requirements_of

log = logging.getLogger("gitlab_mcp.errors")

_PATIENCE: Final = 8.0
"""Seconds for questions about a call that is done already."""


async def check_success(
    action: Action, outcome: Answer | Result, ask: Ask, tiers: Callable[[], TierMap] = tier_map
) -> tuple[Notice, ...]:
    """What a caller should know about a success. Never raises, and never holds it up for long."""
    found: list[Notice] = []
    if isinstance(outcome, Answer) and outcome.already:
        return ()
    try:
        with anyio.move_on_after(_PATIENCE):
            async for warning in _doubts(Success(action, outcome, requirements_of(action, tiers), ask)):
                found.append(warning)
    except Exception:
        # The call is done: what is odd about it must not turn it into a failure.
        log.exception("%s %s: its success could not be checked", action.spec.tool.name, action.spec.name)
    return tuple(found)


async def _doubts(success: Success) -> AsyncIterator[Notice]:
    told = [warning async for warning in _about_tiers(success)]
    told += [warning async for warning in dropped(success)]
    for warning in told:
        yield warning
    if not told:
        for warning in undone(success):
            yield warning
        if because := await why_empty(success):
            yield because


async def _about_tiers(success: Success) -> AsyncIterator[Notice]:
    for paid in success.requirements:
        if paid.field is None:
            warning = await _whole(success, paid.feature)
        elif not success.writes:
            warning = await _filtered(success, paid.feature, paid.field)
        else:
            warning = None
        if warning:
            yield warning


async def _whole(success: Success, feature: Feature) -> Notice | None:
    if not success.is_empty and not any(map(feature.is_ever, SILENT)):
        return None
    effective_tier = await success.effective_tier()
    usual = effective_tier.without(feature)
    effect = usual.effect if usual else "refused"
    if not effective_tier.lacks(feature) or effect == "works":
        return None
    unpaid = UnmetRequirement(feature, effective_tier, success.given)
    if success.is_empty:
        return unpaid.empty()
    if effect == "not_enforced" and success.method != "DELETE":
        return unpaid.not_enforced()
    return unpaid.ignored() if effect == "dropped" and success.writes else None


async def _filtered(success: Success, feature: Feature, field: str) -> Notice | None:
    effective_tier = await success.effective_tier()
    if not effective_tier.lacks(feature):
        return None
    unpaid = UnmetRequirement(feature, effective_tier, success.given, field)
    match feature.filtering(effective_tier.edition):
        case "dropped":
            return unpaid.ignored_as_filter()
        case "empty" if success.is_empty:
            return unpaid.empty()
        case _:
            return None

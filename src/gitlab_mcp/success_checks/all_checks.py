"""Runs every check on a call that succeeded.

A call with nothing unusual about it costs a comparison of what was sent with what came back. GitLab is asked only
where something looks wrong, or where a feature is known to be accepted and not carried out.
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
from gitlab_mcp.success_checks.administrators_filters import administrators_filters
from gitlab_mcp.success_checks.empty_lists import empty_list_reason
from gitlab_mcp.success_checks.error_in_success import error_in_success
from gitlab_mcp.success_checks.features_above_tier import features_above_tier
from gitlab_mcp.success_checks.ignored_quick_actions import ignored_quick_actions
from gitlab_mcp.success_checks.success import Success
from gitlab_mcp.success_checks.unchanged_state import unchanged_state
from gitlab_mcp.success_checks.unknown_to_version import fields_unknown_to_version
from gitlab_mcp.success_checks.unsaved_fields import unsaved_fields
from gitlab_mcp.tiers.feature_map import TierMap, tier_map
from gitlab_mcp.tiers.requirements import requirements_of_call

log = logging.getLogger("gitlab_mcp.errors")

_MOST_SECONDS: Final = 8.0
"""For questions about a call that is already done."""


async def run_all_checks(
    action: Action, outcome: Answer | Result, ask: Ask, tiers: Callable[[], TierMap] = tier_map
) -> tuple[Notice, ...]:
    """The warnings that go with a success. Never raises, and takes seconds at most."""
    found: list[Notice] = []
    if not action.spec.endpoints or (isinstance(outcome, Answer) and outcome.already):
        # Nothing was asked of GitLab, or nothing was done.
        return ()
    try:
        with anyio.move_on_after(_MOST_SECONDS):
            async for notice in _notices(Success(action, outcome, requirements_of_call(action, tiers), ask)):
                found.append(notice)
    except Exception:
        # The call is done: a bug in a check must not turn it into a failure.
        log.exception("%s %s: its success could not be checked", action.spec.tool.name, action.spec.name)
    return tuple(found)


async def _notices(success: Success) -> AsyncIterator[Notice]:
    found = [notice async for notice in fields_unknown_to_version(success)]
    told = {notice.facts["field"] for notice in found}
    found += [notice async for notice in features_above_tier(success)]
    found += [notice async for notice in unsaved_fields(success) if notice.facts.get("field") not in told]
    for notice in found:
        yield notice
    if found:
        return
    for check in (administrators_filters, ignored_quick_actions, error_in_success, unchanged_state):
        for notice in check(success):
            yield notice
    if reason := await empty_list_reason(success):
        yield reason

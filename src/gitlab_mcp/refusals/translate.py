"""Any exception of a call becomes one `Failure`."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

from gitlab_mcp.actions.action import Action
from gitlab_mcp.actions.ask import Ask
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.gitlab.faults import (
    BadAnswer,
    CircuitOpen,
    ForeignHost,
    GraphQLRefused,
    NoToken,
    Refused,
    ReplayMiss,
    Unreachable,
    may_have_happened,
)
from gitlab_mcp.refusals import transport_failures
from gitlab_mcp.refusals.decide import explain_refusal
from gitlab_mcp.refusals.gitlab_com import without_an_administrator
from gitlab_mcp.refusals.graphql_errors import explain_graphql_errors
from gitlab_mcp.refusals.missing import name_the_group
from gitlab_mcp.tiers.feature_map import TierMap, tier_map

log = logging.getLogger("gitlab_mcp.errors")

DOCS: Final = "https://docs.gitlab.com/"


async def translate(
    problem: BaseException, action: Action | None, ask: Ask, tiers: Callable[[], TierMap] = tier_map
) -> Failure:
    """Never raises. An exception of no known type is a bug of this server: INTERNAL_ERROR."""
    try:
        failure = await _translated(problem, action, ask, tiers)
        if _may_have_taken_effect(problem, action):
            failure = transport_failures.outcome_unknown(failure, action)
        else:
            failure = await name_the_group(failure, action, ask)
        failure = await without_an_administrator(failure, ask)
    except Exception:
        # A bug in the translation: the caller still gets an answer.
        failure = _internal_error()
        with suppress(Exception):
            log.exception("a failure could not be explained", extra={"event_id": failure.facts["event_id"]})
    return _complete(failure, action)


async def _translated(
    problem: BaseException, action: Action | None, ask: Ask, tiers: Callable[[], TierMap]
) -> Failure:
    match problem:
        case CallFailed():
            return problem.failure
        case Refused():
            return await explain_refusal(problem, action, ask, tiers)
        case GraphQLRefused() if may_have_happened(problem):
            return transport_failures.gave_up()
        case GraphQLRefused():
            return await explain_graphql_errors(problem, action, ask, tiers)
        case Unreachable():
            return transport_failures.unreachable(problem, action)
        case BadAnswer():
            return transport_failures.bad_answer(problem)
        case ReplayMiss():
            return transport_failures.replay_miss(problem)
        case ForeignHost():
            return transport_failures.foreign_host(problem)
        case CircuitOpen():
            return transport_failures.circuit_open(problem)
        case NoToken():
            return transport_failures.no_token(problem)
        case _:
            return _internal_error()


def _may_have_taken_effect(problem: BaseException, action: Action | None) -> bool:
    """Whether it is a write that must not be sent again before somebody looked."""
    match problem:
        case Refused(request=request) | BadAnswer(request=request) | GraphQLRefused(request=request):
            once = not (request.reads or request.repeatable)
        case Unreachable(request=request):
            # It was sent again where it may be. No answer came to any attempt.
            once = not request.reads and (action is None or action.spec.writes)
        case _:
            return False
    return once and may_have_happened(problem)


def _internal_error() -> Failure:
    return Failure(
        Code.INTERNAL_ERROR,
        "Something went wrong inside this server; it is not the fault of the arguments.",
        {"event_id": uuid.uuid4().hex, "suggested_fix": "Report the event_id to whoever runs this server."},
    )


def _complete(failure: Failure, action: Action | None) -> Failure:
    docs: dict[str, str] = {}
    if action is not None:
        spec = action.spec
        docs["docs_url"] = DOCS + (spec.docs_at(action.endpoint()) if spec.endpoints else spec.docs)
    known = replace(failure, facts={**docs, **_without_none(failure.facts)})
    return known.knowing(retryable=known.retryable)


def _without_none(facts: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in facts.items() if value is not None}

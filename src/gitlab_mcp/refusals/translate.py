"""From whatever went wrong to one `Failure`: by type, by signature, and by what separates the causes that are left."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Final

from gitlab_mcp.actions.action import Action
from gitlab_mcp.actions.ask import Ask
from gitlab_mcp.failures.codes import CODES, Code
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
from gitlab_mcp.refusals import decide as refusals
from gitlab_mcp.refusals import graphql_errors as graphql
from gitlab_mcp.refusals import transport_failures as unanswered
from gitlab_mcp.tiers.feature_map import TierMap, tier_map

log = logging.getLogger("gitlab_mcp.errors")

DOCS: Final = "https://docs.gitlab.com/"


async def translate(
    problem: BaseException, action: Action | None, ask: Ask, tiers: Callable[[], TierMap] = tier_map
) -> Failure:
    """One failure for any problem. Never raises; what nobody foresaw is a bug of ours and says so."""
    try:
        failure = await _translated(problem, action, ask, tiers)
    except Exception:
        # The translator itself failed: the caller still gets an answer.
        failure = _bug()
        with suppress(Exception):
            log.exception("a failure could not be explained", extra={"event_id": failure.facts["event_id"]})
    return _complete(failure, action)


async def _translated(
    problem: BaseException, action: Action | None, ask: Ask, tiers: Callable[[], TierMap]
) -> Failure:
    match problem:
        case CallFailed():
            return problem.failure
        case Refused() if _may_have_worked(problem):
            return unanswered.given_up(problem, action)
        case Refused():
            return await refusals.translate(problem, action, ask, tiers)
        case GraphQLRefused():
            return await graphql.translate(problem, action, ask, tiers)
        case Unreachable():
            return unanswered.unreachable(problem, action)
        case BadAnswer():
            return unanswered.bad_answer(problem, action)
        case ReplayMiss():
            return unanswered.replay_miss(problem)
        case ForeignHost():
            return unanswered.foreign_host(problem)
        case CircuitOpen():
            return unanswered.paused(problem)
        case NoToken():
            return unanswered.no_token()
        case _:
            return _bug()


def _may_have_worked(refused: Refused) -> bool:
    request = refused.request
    return may_have_happened(refused) and not request.reads and not request.repeatable


def _bug() -> Failure:
    return Failure(
        Code.INTERNAL_ERROR,
        "Something went wrong inside this server; it is not the fault of the arguments.",
        {"event_id": uuid.uuid4().hex, "suggested_fix": "Report the event_id to whoever runs this server."},
    )


def _complete(failure: Failure, action: Action | None) -> Failure:
    code = CODES[failure.code]
    facts: dict[str, Any] = {"http_status": code.status, "retryable": code.retryable}
    if action is not None:
        facts["docs_url"] = DOCS + action.spec.docs
    return Failure(failure.code, failure.message, {**facts, **_known(failure.facts)})


def _known(facts: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in facts.items() if value is not None}

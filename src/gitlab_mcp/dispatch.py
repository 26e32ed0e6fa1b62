"""The story of one call: validate, guard, run, present; and one place where everything that fails is caught."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

from gitlab_mcp.core.action import Action
from gitlab_mcp.core.exchange import Answer, GitLab, Request
from gitlab_mcp.core.outcome import Outcome
from gitlab_mcp.core.registry import Registry
from gitlab_mcp.core.result import Result
from gitlab_mcp.core.unsaid import Surroundings
from gitlab_mcp.core.validation import validate
from gitlab_mcp.errors.ask import Ask, NobodyToAsk
from gitlab_mcp.errors.catalogue import CODES, INTERNAL_ERROR
from gitlab_mcp.errors.failure import CallFailed, Failure
from gitlab_mcp.policy import Guard

log = logging.getLogger("gitlab_mcp.calls")


@dataclass(frozen=True, slots=True)
class Caller:
    """GitLab with one caller's rights, and the questions about it that a failure may ask."""

    gitlab: GitLab
    ask: Ask
    slot: AbstractContextManager[None] = field(default_factory=nullcontext)
    """Held while GitLab is being talked to; entering it may refuse."""


@dataclass(frozen=True, slots=True)
class Dispatch:
    registry: Registry
    here: Surroundings
    guards: Sequence[Guard]
    max_bytes: int
    observe: Callable[[Outcome], None] = lambda outcome: None

    async def __call__(
        self, tool: str, arguments: Mapping[str, Any], connect: Callable[[], Caller]
    ) -> Result:
        """The result of the call. Raises CallFailed, and nothing else but a cancellation."""
        started = time.perf_counter()
        action: Action | None = None
        caller: Caller | None = None
        bug: Exception | None = None
        try:
            call = validate(self.registry, tool, arguments, self.here)
            action = call.action
            for guard in self.guards:
                guard(call)
            caller = connect()
            with caller.slot:
                answer = await self._run(action, caller.gitlab)
            # Here, not above: a call that is refused needs none of it, and start-up is paid by everyone.
            from gitlab_mcp.results.present import present

            result = present(
                action,
                answer,
                detail=call.options.detail or "slim",
                max_bytes=call.options.max_bytes or self.max_bytes,
            )
            self._tell(Outcome(self._operation(tool, action), time.perf_counter() - started))
            return result
        except CallFailed as failed:
            caught = time.perf_counter()
            failure = failed.failure
        except Exception as problem:
            caught = time.perf_counter()
            failure = await _translated(problem, action, caller)
            bug = problem if failure.code == INTERNAL_ERROR else None
        failure = failure.knowing(tool=tool, action=_action_name(action, arguments))
        ended = time.perf_counter()
        status = failure.facts.get("http_status", CODES[failure.code].status)
        outcome = Outcome(self._operation(tool, action), ended - started, failure, status, ended - caught)
        _record(outcome, failure, bug)
        self._tell(outcome)
        raise CallFailed(failure) from None

    async def _run(self, action: Action, gitlab: GitLab) -> Answer | Result:
        if not action.spec.writes:
            return await action.run(gitlab)
        from gitlab_mcp.recovery import carry_out

        return await carry_out(action, gitlab, self._reading)

    def _reading(self, read: str, arguments: Mapping[str, Any]) -> Request:
        tool, _, name = read.partition(" ")
        return validate(self.registry, tool, {"action": name, **arguments}, self.here).action.request()

    def _operation(self, tool: str, action: Action | None) -> str:
        if action is not None:
            return f"{tool}:{action.spec.name}"
        return tool if tool in self.registry else "unknown"

    def _tell(self, outcome: Outcome) -> None:
        try:
            self.observe(outcome)
        except Exception:
            log.exception("the outcome of %s was not counted", outcome.operation)


async def _translated(problem: Exception, action: Action | None, caller: Caller | None) -> Failure:
    from gitlab_mcp.errors.translate import translate

    return await translate(problem, action, caller.ask if caller else NobodyToAsk())


def _action_name(action: Action | None, arguments: Mapping[str, Any]) -> str | None:
    if action is not None:
        return action.spec.name
    named = arguments.get("action")
    return named if isinstance(named, str) and named.isidentifier() and len(named) <= 32 else None


def _record(outcome: Outcome, failure: Failure, bug: Exception | None) -> None:
    """One line per failure, at the level of its cause. No arguments, no bodies, no tokens."""
    level = logging.ERROR if failure.code == INTERNAL_ERROR or outcome.http_status >= 500 else logging.WARNING
    log.log(
        level,
        "%s failed with %s",
        outcome.operation,
        failure.code,
        exc_info=bug,
        extra={
            "component": "calls",
            "operation": outcome.operation,
            "error_code": failure.code,
            "http_status": outcome.http_status,
            "event_id": failure.facts.get("event_id"),
            "duration_ms": round(outcome.seconds * 1000, 1),
        },
    )

"""The story of one call: validate, guard, run, present; and one place where everything that fails is caught."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import anyio

from gitlab_mcp.accounts import Accounts
from gitlab_mcp.core.access import AboutAccess
from gitlab_mcp.core.action import Action
from gitlab_mcp.core.batch import Batch, BatchedCall
from gitlab_mcp.core.call import Call, Options
from gitlab_mcp.core.caller import Who
from gitlab_mcp.core.exchange import Answer, GitLab, Request
from gitlab_mcp.core.outcome import Outcome
from gitlab_mcp.core.registry import Registry
from gitlab_mcp.core.result import Result, Warning
from gitlab_mcp.core.unsaid import Surroundings
from gitlab_mcp.core.validation import validate
from gitlab_mcp.errors.ask import Ask, NobodyToAsk
from gitlab_mcp.errors.catalogue import CODES, INTERNAL_ERROR
from gitlab_mcp.errors.failure import CallFailed, Failure
from gitlab_mcp.policy import Guard, Intent
from gitlab_mcp.results.secrets import redact_by_shape, redact_text

if TYPE_CHECKING:
    from gitlab_mcp.errors.tiers import TierMap


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
    tiers: Callable[[], TierMap]
    show: Callable[[Failure], Mapping[str, Any]]
    """A failure in the words of the dialect that was chosen, for where several are in one answer."""
    judge: Callable[[Who, str, Mapping[str, Any], Failure], Awaitable[Failure]]
    """A failure in the light of those before it."""
    accounts: Accounts

    async def __call__(
        self, tool: str, arguments: Mapping[str, Any], who: Who, connect: Callable[[], Caller]
    ) -> Result:
        """The result of the call. Raises CallFailed, and nothing else but a cancellation."""
        started = time.perf_counter()
        action: Action | None = None
        caller: Caller | None = None
        bug: Exception | None = None

        def ended(failure: Failure | None = None, **more: Any) -> Outcome:
            spent = time.perf_counter() - started
            return Outcome(self._operation(tool, action), spent, failure, who=who, action=action, **more)

        try:
            call = validate(self.registry, tool, arguments, self.here)
            action = call.action
            caller = connect()
            with caller.slot:
                result = await self._carried_out(call, who, caller)
            self.accounts.close(ended())
            return result
        except CallFailed as failed:
            caught, failure = time.perf_counter(), failed.failure
        except Exception as problem:
            caught, failure = time.perf_counter(), await self._translated(problem, action, caller)
            bug = problem if failure.code == INTERNAL_ERROR else None
        except anyio.get_cancelled_exc_class():
            self.accounts.close(ended(cancelled=True))
            raise
        # GitLab repeats in its refusals what it was sent, and an agent may send a token for a name.
        failure = replace(failure, facts=redact_by_shape(failure.facts))
        failure = failure.knowing(tool=redact_text(tool), action=_action_name(action, arguments))
        failure = await self.judge(who, tool, arguments, failure)
        status = failure.facts.get("http_status", CODES[failure.code].status)
        outcome = ended(failure, http_status=status, explaining=time.perf_counter() - caught)
        raise CallFailed(self.accounts.close(outcome, bug) or failure) from None

    async def _carried_out(self, call: Call, who: Who, caller: Caller) -> Result:
        action, max_bytes = call.action, call.options.max_bytes or self.max_bytes
        intent = Intent(call, who, caller.ask)
        warned = [said for guard in self.guards if (said := await guard(intent))]
        if isinstance(action, Batch):
            return await self._batch(action, call.options, who, caller)
        answer = await self._run(action, caller)
        warnings = [*warned, *await self._doubts(action, answer, caller.ask)]
        # Here, not above: a call that is refused needs none of it, and start-up is paid by everyone.
        from gitlab_mcp.results.present import present

        detail = call.options.detail or "slim"
        return present(action, answer, detail=detail, max_bytes=max_bytes, warnings=warnings)

    async def _batch(self, batch: Batch, options: Options, who: Who, caller: Caller) -> Result:
        """Each call in it is validated, guarded and counted as if it came alone; all share one deadline."""
        from gitlab_mcp.batch import Means, carry_out

        alone = replace(caller, slot=nullcontext())

        async def one(call: BatchedCall, share: int) -> Result:
            arguments = call.within(share, options.detail)
            return await replace(self, max_bytes=share)(call.tool, arguments, who, lambda: alone)

        def writes(call: BatchedCall) -> bool:
            return self.registry.writes(call.tool, call.arguments.get("action"))

        means = Means(writes, one, self.show, caller.gitlab.report)
        return await carry_out(batch.calls, options.max_bytes or self.max_bytes, means)

    async def _run(self, action: Action, caller: Caller) -> Answer | Result:
        if isinstance(action, AboutAccess):
            from gitlab_mcp.errors.access import explain

            actions = self.registry.actions(action.toolset or "core")
            return await explain(action, caller.ask, self.tiers(), actions)
        if not action.spec.writes:
            return await action.run(caller.gitlab)
        from gitlab_mcp.recovery import carry_out

        return await carry_out(action, caller.gitlab, self._reading)

    async def _doubts(self, action: Action, answer: Answer | Result, ask: Ask) -> Sequence[Warning]:
        from gitlab_mcp.errors.silence import doubts

        return await doubts(action, answer, ask, self.tiers)

    async def _translated(self, problem: Exception, action: Action | None, caller: Caller | None) -> Failure:
        from gitlab_mcp.errors.translate import translate

        return await translate(problem, action, caller.ask if caller else NobodyToAsk(), self.tiers)

    def _reading(self, read: str, arguments: Mapping[str, Any]) -> Request:
        tool, _, name = read.partition(" ")
        return validate(self.registry, tool, {"action": name, **arguments}, self.here).action.request()

    def _operation(self, tool: str, action: Action | None) -> str:
        if action is not None:
            return f"{tool}:{action.spec.name}"
        return tool if tool in self.registry else "unknown"


def _action_name(action: Action | None, arguments: Mapping[str, Any]) -> str | None:
    if action is not None:
        return action.spec.name
    named = arguments.get("action")
    return named if isinstance(named, str) and named.isidentifier() and len(named) <= 32 else None

"""The story of one call: validate, guard, run, present; and one place where everything that fails is caught."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import anyio

from gitlab_mcp.actions.access import AboutAccess
from gitlab_mcp.actions.action import Action
from gitlab_mcp.actions.arguments.defaults import InstanceDefaults
from gitlab_mcp.actions.arguments.validation import validate
from gitlab_mcp.actions.ask import Ask, NobodyToAsk
from gitlab_mcp.actions.batch import Batch, BatchedCall
from gitlab_mcp.actions.call import Call, Options
from gitlab_mcp.actions.exchange import Answer, GitLab, Request
from gitlab_mcp.actions.registry import Registry
from gitlab_mcp.actions.result import Notice, Result
from gitlab_mcp.callers import CallerKey
from gitlab_mcp.failures.codes import CODES, Code
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.observability.call_log import CallLog
from gitlab_mcp.observability.outcome import Outcome
from gitlab_mcp.policy.guard import Guard, ProposedCall
from gitlab_mcp.results.secrets import redact_by_shape, redact_text

if TYPE_CHECKING:
    from gitlab_mcp.tiers.feature_map import TierMap


@dataclass(frozen=True, slots=True)
class Session:
    """GitLab with one caller's rights, and the questions about it that a failure may ask."""

    gitlab: GitLab
    ask: Ask
    slot: AbstractContextManager[None] = field(default_factory=nullcontext)
    """Held while GitLab is being talked to; entering it may refuse."""


@dataclass(frozen=True, slots=True)
class Dispatch:
    registry: Registry
    defaults: InstanceDefaults
    guards: Sequence[Guard]
    max_bytes: int
    tiers: Callable[[], TierMap]
    show: Callable[[Failure], Mapping[str, Any]]
    """A failure in the words of the dialect that was chosen, for where several are in one answer."""
    judge: Callable[[CallerKey, str, Mapping[str, Any], Failure], Awaitable[Failure]]
    """A failure in the light of those before it."""
    call_log: CallLog

    async def __call__(
        self, tool: str, arguments: Mapping[str, Any], caller: CallerKey, connect: Callable[[], Session]
    ) -> Result:
        """The result of the call. Raises CallFailed, and nothing else but a cancellation."""
        started = time.perf_counter()
        action: Action | None = None
        session: Session | None = None
        bug: Exception | None = None

        def ended(failure: Failure | None = None, **more: Any) -> Outcome:
            spent = time.perf_counter() - started
            return Outcome(
                self._operation(tool, action), spent, failure, caller=caller, action=action, **more
            )

        try:
            call = validate(self.registry, tool, arguments, self.defaults)
            action = call.action
            session = connect()
            with session.slot:
                result = await self._carried_out(call, caller, session)
            self.call_log.record(ended())
            return result
        except CallFailed as failed:
            caught, failure = time.perf_counter(), failed.failure
        except Exception as problem:
            caught, failure = time.perf_counter(), await self._translated(problem, action, session)
            bug = problem if failure.code == Code.INTERNAL_ERROR else None
        except anyio.get_cancelled_exc_class():
            self.call_log.record(ended(cancelled=True))
            raise
        # GitLab repeats in its refusals what it was sent, and an agent may send a token for a name.
        failure = replace(failure, facts=redact_by_shape(failure.facts))
        failure = failure.knowing(tool=redact_text(tool), action=_action_name(action, arguments))
        failure = await self.judge(caller, tool, arguments, failure)
        status = failure.facts.get("http_status", CODES[failure.code].status)
        outcome = ended(failure, http_status=status, explaining_seconds=time.perf_counter() - caught)
        raise CallFailed(self.call_log.record(outcome, bug) or failure) from None

    async def _carried_out(self, call: Call, caller: CallerKey, session: Session) -> Result:
        action, max_bytes = call.action, call.options.max_bytes or self.max_bytes
        proposed = ProposedCall(call, caller, session.ask)
        warned = [said for guard in self.guards if (said := await guard(proposed))]
        if isinstance(action, Batch):
            return await self._batch(action, call.options, caller, session)
        answer = await self._run(action, session)
        warnings = [*warned, *await self._doubts(action, answer, session.ask)]
        # Here, not above: a call that is refused needs none of it, and start-up is paid by everyone.
        from gitlab_mcp.results.present import present

        detail = call.options.detail or "slim"
        return present(action, answer, detail=detail, max_bytes=max_bytes, warnings=warnings)

    async def _batch(self, batch: Batch, options: Options, caller: CallerKey, session: Session) -> Result:
        """Each call in it is validated, guarded and counted as if it came alone; all share one deadline."""
        from gitlab_mcp.calls.batch import BatchRunner, carry_out

        alone = replace(session, slot=nullcontext())

        async def one(call: BatchedCall, share: int) -> Result:
            arguments = call.within(share, options.detail)
            return await replace(self, max_bytes=share)(call.tool, arguments, caller, lambda: alone)

        def writes(call: BatchedCall) -> bool:
            return self.registry.writes(call.tool, call.arguments.get("action"))

        means = BatchRunner(writes, one, self.show, session.gitlab.report)
        return await carry_out(batch.calls, options.max_bytes or self.max_bytes, means)

    async def _run(self, action: Action, session: Session) -> Answer | Result:
        if isinstance(action, AboutAccess):
            from gitlab_mcp.workflows.explain_access import explain

            actions = self.registry.actions(action.toolset or "core")
            return await explain(action, session.ask, self.tiers(), actions)
        if not action.spec.writes:
            return await action.run(session.gitlab)
        from gitlab_mcp.calls.recovery import carry_out

        return await carry_out(action, session.gitlab, self._reading)

    async def _doubts(self, action: Action, answer: Answer | Result, ask: Ask) -> Sequence[Notice]:
        from gitlab_mcp.success_checks.checks import check_success

        return await check_success(action, answer, ask, self.tiers)

    async def _translated(
        self, problem: Exception, action: Action | None, session: Session | None
    ) -> Failure:
        from gitlab_mcp.refusals.translate import translate

        return await translate(problem, action, session.ask if session else NobodyToAsk(), self.tiers)

    def _reading(self, read: str, arguments: Mapping[str, Any]) -> Request:
        tool, _, name = read.partition(" ")
        return validate(self.registry, tool, {"action": name, **arguments}, self.defaults).action.request()

    def _operation(self, tool: str, action: Action | None) -> str:
        if action is not None:
            return f"{tool}:{action.spec.name}"
        return tool if tool in self.registry else "unknown"


def _action_name(action: Action | None, arguments: Mapping[str, Any]) -> str | None:
    if action is not None:
        return action.spec.name
    named = arguments.get("action")
    return named if isinstance(named, str) and named.isidentifier() and len(named) <= 32 else None

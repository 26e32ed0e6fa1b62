"""The story of one call: validate, guard, run, check, present; and the one place where every failure is caught."""

from __future__ import annotations

import time
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
import anyio.to_thread

from gitlab_mcp.actions.action import Action
from gitlab_mcp.actions.arguments.defaults import InstanceDefaults
from gitlab_mcp.actions.arguments.validation import validate
from gitlab_mcp.actions.arguments.wrapped_calls import unwrapped
from gitlab_mcp.actions.ask import Ask, NobodyToAsk
from gitlab_mcp.actions.call import FEWEST_BYTES, LONGEST_TOKEN, MOST_BYTES, Call
from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.actions.ids import as_sent, ids_among, is_short
from gitlab_mcp.actions.memory import HeldAnswers, held_answers, held_by_call
from gitlab_mcp.actions.names import has_names
from gitlab_mcp.actions.registry import Registry
from gitlab_mcp.actions.result import Notice, Result, UndoCall
from gitlab_mcp.actions.shape import shapes
from gitlab_mcp.callers import NOBODY_TO_ASK, CallerKey, Consent
from gitlab_mcp.calls.claims import Claims
from gitlab_mcp.calls.local_files import LocalFiles, NoLocalFiles
from gitlab_mcp.calls.wrong_shapes import as_bad_answer
from gitlab_mcp.failures.codes import Code, Recovery
from gitlab_mcp.failures.failure import CallFailed, Declined, FailedCall, Failure
from gitlab_mcp.failures.size_limit import limit_size
from gitlab_mcp.failures.tool_names import UNKNOWN, operation_name
from gitlab_mcp.gitlab.known_answers import KnowingGitLab
from gitlab_mcp.observability.audit import PlannedWrite
from gitlab_mcp.observability.call_log import CallLog
from gitlab_mcp.observability.outcome import Outcome
from gitlab_mcp.policy.confirmation import AskForConfirmation, AskForMoreDanger
from gitlab_mcp.policy.guard import Guard, ProposedCall
from gitlab_mcp.policy.next_steps import callable_here
from gitlab_mcp.policy.offered_tools import OfferedTools
from gitlab_mcp.policy.rules import fences
from gitlab_mcp.results.content_blocks import compact_json
from gitlab_mcp.results.secret_redaction import redact_strings, redact_text
from gitlab_mcp.spans import Spans, unheard

if TYPE_CHECKING:
    from gitlab_mcp.tiers.feature_map import TierMap

T = TypeVar("T")

_MUCH_TO_PRESENT = 512 * 1024
"""Bytes of memory that GitLab's answers take. What takes more is presented in a thread."""
_MANY = 100
_LONG_TEXT = 10_000

LONGEST_ACTION_NAME = 32
"""A longer name is none of ours and is not repeated in an error."""


@dataclass(frozen=True, slots=True)
class Session:
    """GitLab with one caller's rights, and the questions about that caller's surroundings."""

    gitlab: GitLab
    ask: Ask
    slot: AbstractContextManager[None] = field(default_factory=nullcontext)
    """Held while the call runs. Entering it refuses the call where the caller has too many under way."""
    user_id: Callable[[], int | None] = lambda: None
    """GitLab's number of the caller, where an answer has shown it."""


@dataclass(frozen=True, slots=True)
class Dispatch:
    registry: Registry
    defaults: InstanceDefaults
    guards: Sequence[Guard]
    last_guards: Sequence[Guard]
    """Asked after the others, and after names were replaced by the numbers they stand for."""
    max_bytes: int
    tiers: Callable[[], TierMap]
    render: Callable[[Failure], Mapping[str, Any]]
    """A failure in the style the caller reads, for answers that hold several."""
    stop_loops: Callable[[CallerKey, str, Mapping[str, Any], Failure], Awaitable[Failure]]
    """Tells a caller whose same call fails the same way again and again to stop."""
    offered: OfferedTools
    call_log: CallLog
    claims: Claims
    before_write: Callable[[PlannedWrite], Awaitable[None]]
    """Writes down what is about to be changed. Raises CallFailed where it must be written and cannot be."""
    local_files: LocalFiles | NoLocalFiles
    tells_undo: bool = True
    """A step of a larger write is not undone alone."""
    spans: Spans = unheard

    async def __call__(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        caller: CallerKey,
        connect: Callable[[], Session],
        consent: Consent = NOBODY_TO_ASK,
    ) -> Result:
        """The result of the call. Raises CallFailed, and nothing else but a cancellation."""
        name = tool if tool in self.registry else UNKNOWN
        with (
            self.spans(f"tools/call {name}", {"mcp.method.name": "tools/call", "gen_ai.tool.name": name}),
            held_by_call() as held,
        ):
            return await self._call(tool, arguments, caller, connect, consent, held)

    async def _call(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        caller: CallerKey,
        connect: Callable[[], Session],
        consent: Consent,
        held: HeldAnswers,
    ) -> Result:
        started = time.perf_counter()
        action: Action | None = None
        session: Session | None = None
        bug: Exception | None = None
        made_of: Mapping[str, Any] = {}
        write_id: str | None = None
        is_tried_out = False
        cause: Exception

        def ended(failure: Failure | None = None, **more: Any) -> Outcome:
            spent = time.perf_counter() - started
            operation = self._operation(tool, arguments, action)
            return Outcome(
                operation,
                spent,
                failure,
                caller=caller,
                # For the audit nothing was written.
                action=None if is_tried_out else action,
                write_id=write_id,
                user_id=session.user_id() if session else None,
                **more,
            )

        try:
            meant = unwrapped(self.registry, tool, arguments)
            tool, arguments = meant.tool, meant.arguments
            with self.spans("validate", {}):
                call = await self._validate(tool, arguments)
            action, made_of, is_tried_out = call.action, call.taken_as, call.is_tried_out
            meant.check(type(action))
            session = connect()
            with session.slot:
                proposed = ProposedCall(call, caller, session.ask, consent, rehearsal=is_tried_out)
                if is_tried_out:
                    result = await self._try_out(proposed, session)
                else:
                    with self.spans("guards", {}):
                        call, notices = await self._allow(proposed)
                    action = call.action
                    if action.spec.writes:
                        planned = PlannedWrite(uuid.uuid4().hex[:16], action, caller, session.user_id())
                        await self.before_write(planned)
                        write_id = planned.id
                    server = _Server(self, call, caller, _knowing(session, call.looked_at), consent)
                    result = await self._carry_out(call, server, notices)
            self.call_log.record(ended())
            return result
        except CallFailed as failed:
            caught, cause, failure = time.perf_counter(), failed, failed.failure
        except Exception as problem:
            caught, cause = time.perf_counter(), problem
            writes = action is not None and action.spec.writes and not is_tried_out
            wrong_shape = as_bad_answer(problem, held, writes=writes)
            with self.spans("explain", {}):
                failure = await self._translate(wrong_shape or problem, action, session)
            # Where the answer could not be read is worth a line in the log, whoever's fault it is.
            bug = problem if wrong_shape or failure.code == Code.INTERNAL_ERROR else None
        except anyio.get_cancelled_exc_class():
            self.call_log.record(ended(cancelled=True))
            raise
        failure = await self._advising_within_tier(failure, arguments, session, connect)
        # GitLab repeats in its refusals what it was sent, and an agent may send a token for a name.
        failure = replace(
            _naming_what_is_missing(failure, action),
            facts=redact_strings(callable_here(failure.facts, self.offered)),
            call=self._failed_call(tool, arguments, action),
        )
        called = action.spec.tool.name if action is not None else redact_text(tool)
        failure = failure.knowing(tool=called, action=_action_name(action, arguments))
        if made_of:
            failure = failure.knowing(taken_as=redact_strings(made_of))
        failure = await self.stop_loops(caller, tool, arguments, failure)
        failure = limit_size(failure, self._most_bytes_of(arguments), self.render)
        outcome = ended(failure, explaining_seconds=time.perf_counter() - caught)
        raise CallFailed(self.call_log.record(outcome, bug) or failure) from cause

    async def _advising_within_tier(
        self,
        failure: Failure,
        arguments: Mapping[str, Any],
        session: Session | None,
        connect: Callable[[], Session],
    ) -> Failure:
        if not {"send", "alternatives"} & failure.facts.keys():
            return failure
        from gitlab_mcp.calls.advice_within_tier import AdviceWithinTier

        try:
            advice = AdviceWithinTier(self.registry, self.defaults, self.tiers)
            return await advice(failure, arguments, lambda: (session or connect()).ask)
        except Exception:
            # Without a token nobody can be asked about the tier. The failure is told as it is.
            return failure

    async def rehearse(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        caller: CallerKey,
        session: Session,
        consent: Consent,
    ) -> Failure | None:
        """What the person would be asked before this call; None where nothing. It is not made, counted or logged.

        Raises Declined where the person has said no to it.
        """
        try:
            meant = unwrapped(self.registry, tool, arguments)
            call = validate(self.registry, meant.tool, meant.arguments, self.defaults)
            meant.check(type(call.action))
            if call.is_tried_out:
                return None
            await self._allow(ProposedCall(call, caller, session.ask, consent, rehearsal=True))
        except Declined:
            raise
        except CallFailed as failed:
            return failed.failure if failed.failure.confirmation else None
        except Exception:
            # The call itself will say what is wrong with it.
            return None
        return None

    def not_made(
        self, tool: str, arguments: Mapping[str, Any], caller: CallerKey, failure: Failure
    ) -> Failure:
        """The failure of a call that another call was to make, and could not."""
        failure = replace(failure, call=self._failed_call(tool, arguments, None))
        failure = failure.knowing(tool=redact_text(tool), action=_action_name(None, arguments))
        outcome = Outcome(self._operation(tool, arguments, None), 0.0, failure, caller=caller)
        return self.call_log.record(outcome) or failure

    async def _allow(self, proposed: ProposedCall) -> tuple[Call, list[Notice]]:
        """The call with numbers for names and the version it is about, and what the guards have to say. Both are looked
        up only where the caller may act; a group's path means the same to the guards before as its number does to
        those after."""
        proposed, notices = await self._prepare(proposed)
        notices += await self._ask_last_guards(proposed)
        return proposed.call, notices

    async def _prepare(self, proposed: ProposedCall) -> tuple[ProposedCall, list[Notice]]:
        notices = [notice for guard in self.guards if (notice := await guard(proposed))]
        call = proposed.call
        if has_names(call.action):
            from gitlab_mcp.workflows.name_lookup import replace_names

            call = replace(call, action=await replace_names(call.action, proposed.ask))
            proposed = replace(proposed, call=call)
        if call.action.spec.writes:
            call = replace(call, action=await self.local_files.read_into(call.action))
            call = await _pinned(call, proposed.ask)
            proposed = replace(proposed, call=call)
        return proposed, notices

    async def _ask_last_guards(self, proposed: ProposedCall) -> list[Notice]:
        return [notice for guard in self.last_guards if (notice := await guard(proposed))]

    async def _try_out(self, proposed: ProposedCall, session: Session) -> Result:
        """What the call would do. A guard that would refuse it refuses; one that would ask the person does not."""
        from gitlab_mcp.calls.dry_run import ReadOnlyGitLab, tried_out
        from gitlab_mcp.results.present_answer import present_answer

        proposed, notices = await self._prepare(proposed)
        question: str | None = None
        try:
            notices += await self._ask_last_guards(proposed)
        except CallFailed as refused:
            if refused.failure.recovery is not Recovery.WITH_TOKEN:
                raise
            question = str(refused.failure.facts["what_will_happen"])
        call, gitlab = proposed.call, ReadOnlyGitLab(session.gitlab)
        knowing = _knowing(replace(session, gitlab=gitlab), call.looked_at)
        server = _Server(self, call, proposed.caller, knowing, proposed.consent)
        result = await tried_out(call.action, server, gitlab, self.tiers(), question)
        return present_answer(
            call.action,
            result,
            detail="slim",
            max_bytes=self._max_bytes(call),
            warnings=notices,
            said_first=_how_taken(call),
        )

    async def _carry_out(self, call: Call, server: _Server, notices: list[Notice]) -> Result:
        started = time.monotonic()
        answer = await self._run(call.action, server)
        seconds = time.monotonic() - started
        if isinstance(answer, Result) and answer.is_presented:
            return replace(answer, data={**_how_taken(call), **answer.data})
        notices = [
            *notices,
            *(answer.warnings if isinstance(answer, Answer) else ()),
            *(
                replace(notice, facts=callable_here(notice.facts, self.offered))
                for notice in await self._check_success(call.action, answer, server.ask)
            ),
        ]
        # Here, not above: a call that is refused needs none of it, and everyone pays for start-up.
        from gitlab_mcp.results.present_answer import present_answer

        detail = call.options.detail or "slim"
        present = partial(
            present_answer,
            call.action,
            answer,
            detail=detail,
            fields=call.options.fields or (),
            max_bytes=self._max_bytes(call),
            warnings=notices,
            said_first=_how_taken(call),
            undo=self._undo_of(call, answer, seconds),
        )
        with held_answers() as held:
            return present() if held.taken < _MUCH_TO_PRESENT else await _aside(present)

    def _undo_of(self, call: Call, answer: Answer | Result, seconds: float) -> UndoCall | None:
        # What commands in a text have done is not taken back with the text.
        if call.action.spec.undo is None or call.options.quick_actions or not self.tells_undo:
            return None
        from gitlab_mcp.calls.undoing import Undoing

        return Undoing(self._action_of, self.offered).of(call.action, answer, seconds)

    def _max_bytes(self, call: Call) -> int:
        return call.options.max_bytes or self.max_bytes

    async def _validate(self, tool: str, arguments: Mapping[str, Any]) -> Call:
        check = partial(validate, self.registry, tool, arguments, self.defaults)
        if not _is_much(arguments):
            return check()
        # The model of an action is built on its first use, which threads must not do at once.
        if (declared := self.registry.action(tool, arguments.get("action"))) is not None:
            declared.model_rebuild()
        return await _aside(check)

    async def _run(self, action: Action, server: _Server) -> Answer | Result:
        if not action.spec.writes:
            return await action.run_with(server)
        from gitlab_mcp.calls.recovery import run_recovering

        def run(gitlab: GitLab) -> Awaitable[Answer | Result]:
            session = replace(server.session, gitlab=gitlab)
            return action.run_with(replace(server, session=session, session_of_steps=server.session))

        return await run_recovering(action, server.gitlab, run, self._action_of, self.claims, server.caller)

    async def _check_success(self, action: Action, answer: Answer | Result, ask: Ask) -> Sequence[Notice]:
        from gitlab_mcp.success_checks.all_checks import run_all_checks

        return await run_all_checks(action, answer, ask, self.tiers)

    async def _translate(self, problem: Exception, action: Action | None, session: Session | None) -> Failure:
        from gitlab_mcp.refusals.translate import translate

        return await translate(problem, action, session.ask if session else NobodyToAsk(), self.tiers)

    def _most_bytes_of(self, arguments: Mapping[str, Any]) -> int:
        """What the caller asked for, as far as it can be understood although the call failed."""
        asked = arguments.get("max_bytes")
        understood = isinstance(asked, int) and FEWEST_BYTES <= asked <= MOST_BYTES
        return asked if understood and isinstance(asked, int) else self.max_bytes

    def _action_of(self, named: str, arguments: Mapping[str, Any]) -> Action:
        """The action that is named so, such as `browse_branches get`, with these arguments."""
        tool, _, name = named.partition(" ")
        return validate(self.registry, tool, {"action": name, **arguments}, self.defaults).action

    def _declared(
        self, tool: str, arguments: Mapping[str, Any], action: Action | None
    ) -> type[Action] | None:
        """The action that is meant, whether or not its arguments are right."""
        return type(action) if action is not None else self.registry.action(tool, arguments.get("action"))

    def _operation(self, tool: str, arguments: Mapping[str, Any], action: Action | None) -> str:
        declared = self._declared(tool, arguments, action)
        if declared is not None:
            return operation_name(declared.spec.tool.name, declared.spec.name)
        return operation_name(tool if tool in self.registry else UNKNOWN, None)

    def _failed_call(self, tool: str, arguments: Mapping[str, Any], action: Action | None) -> FailedCall:
        operation = self._operation(tool, arguments, action)
        declared = self._declared(tool, arguments, action)
        if declared is None:
            return FailedCall(
                operation, available=() if tool in self.registry else tuple(self.registry.names())
            )
        empty: Mapping[str, Any] = {"items": [], "total": 0} if declared.spec.lists else {"empty": True}
        return FailedCall(
            operation,
            ids=redact_strings(ids_among(declared, action.given() if action else arguments)),
            empty_result={} if declared.spec.writes else empty,
            reads_one_thing=not declared.spec.writes and not declared.spec.lists,
            field_types={name: shape.type for name, shape in shapes(declared).items()},
            confirmation_token=_token(arguments.get("confirmation_token")),
        )


@dataclass(frozen=True, slots=True)
class _Server:
    """What one call may use of this server: an `actions.server.Server`."""

    dispatch: Dispatch
    call: Call
    caller: CallerKey
    session: Session
    consent: Consent
    session_of_steps: Session | None = None
    """Without the recovery of this call: each step looks for its own lost answer."""

    @property
    def can_ask_person(self) -> bool:
        return self.consent.can_ask

    @property
    def gitlab(self) -> GitLab:
        return self.session.gitlab

    @property
    def ask(self) -> Ask:
        return self.session.ask

    @property
    def registry(self) -> Registry:
        return self.dispatch.registry

    @property
    def max_bytes(self) -> int:
        """What the action may give. It leaves room for what is said before it."""
        said = _how_taken(self.call)
        return self.dispatch._max_bytes(self.call) - (len(compact_json(said).encode()) if said else 0)

    def tier_map(self) -> TierMap:
        return self.dispatch.tiers()

    def switch_on_with(self, tool: str) -> str | None:
        offered = self.dispatch.offered
        return None if offered.is_listed(tool) else offered.switch_on_with(tool)

    def may_be_called(self, tool: str) -> bool:
        return self.dispatch.offered.may_be_called(tool)

    async def may_reach(self, project_id: int) -> bool:
        where = self.caller.gitlab_url
        return all(
            [await fence.allows(str(project_id), where, self.ask) for fence in fences(self.dispatch.guards)]
        )

    def refusal(self, action: type[Action]) -> tuple[Code, str] | None:
        return self.dispatch.offered.refusal(action)

    def render(self, failure: Failure) -> Mapping[str, Any]:
        return self.dispatch.render(failure)

    async def make_call(self, tool: str, arguments: Mapping[str, Any], *, max_bytes: int) -> Result:
        """Shares the deadline, the slot and the detail of the call it is made for, and gives no more bytes. In a dry
        run it is one, whatever its arguments say."""
        detail, asked = self.call.options.detail, arguments.get("max_bytes")
        given = {**({"detail": detail} if detail else {}), **arguments}
        if isinstance(asked, int) and asked > max_bytes:
            given["max_bytes"] = max_bytes
        if self.call.options.dry_run:
            given["dry_run"] = True
        same_slot = replace(self.session, slot=nullcontext())
        dispatch = replace(self.dispatch, max_bytes=max_bytes)
        return await dispatch(tool, given, self.caller, lambda: same_slot, self.consent)

    async def make_step(
        self, tool: str, arguments: Mapping[str, Any], known: Mapping[str, Answer] | None = None
    ) -> Result:
        if self.call.options.dry_run:
            # The dry run of the whole ends here, with this request.
            await self.gitlab.send((await self.dispatch._validate(tool, arguments)).action.request())
        guards = tuple(
            AskForMoreDanger(guard, self.call.danger) if isinstance(guard, AskForConfirmation) else guard
            for guard in self.dispatch.last_guards
        )
        dispatch = replace(self.dispatch, last_guards=guards, tells_undo=False)
        session = _knowing(self.session_of_steps or self.session, known or {})
        server = replace(self, dispatch=dispatch, session=session)
        wanted = {"quick_actions": True} if self.call.options.quick_actions else {}
        return await server.make_call(tool, {**wanted, **arguments}, max_bytes=MOST_BYTES)

    def not_made(self, tool: str, arguments: Mapping[str, Any], failure: Failure) -> Failure:
        return self.dispatch.not_made(tool, arguments, self.caller, failure)

    async def rehearse(self, tool: str, arguments: Mapping[str, Any]) -> Failure | None:
        if self.call.options.dry_run:
            return None
        return await self.dispatch.rehearse(tool, arguments, self.caller, self.session, self.consent)


def _knowing(session: Session, known: Mapping[str, Answer]) -> Session:
    return replace(session, gitlab=KnowingGitLab(session.gitlab, dict(known))) if known else session


@dataclass(frozen=True, slots=True)
class _Noting:
    """Looks, and notes what it saw."""

    ask: Ask
    seen: dict[str, Answer] = field(default_factory=dict)

    async def look(self, path: str, **query: str) -> Any | None:
        found = await self.ask.look(path, **query)
        if found is not None:
            self.seen[path] = Answer(200, body=found)
        return found


async def _pinned(call: Call, ask: Ask) -> Call:
    noting = _Noting(ask)
    action = await call.action.pinned(noting)
    added = action.model_fields_set - call.action.model_fields_set
    pinned = {name: str(getattr(action, name)) for name in sorted(added)}
    return replace(call, action=action, pinned=pinned, looked_at=noting.seen)


def _how_taken(call: Call) -> Mapping[str, Any]:
    """What the answer begins with where the caller used other names: the call that was made."""
    return {"taken_as": redact_strings(call.taken_as)} if call.taken_as else {}


def _naming_what_is_missing(failure: Failure, action: Action | None) -> Failure:
    """The failure whose sentence says what the caller sent for the fields that are not found."""
    if failure.code != Code.NOT_FOUND or action is None:
        return failure
    sent = as_sent(action.given(), str(failure.facts.get("missing", "")).split(", "))
    return replace(failure, message=f"{failure.message} Not found: {redact_text(sent)}.") if sent else failure


async def _aside(work: Callable[[], T]) -> T:
    """In a thread of its own, so that others are served meanwhile."""
    return await anyio.to_thread.run_sync(work, abandon_on_cancel=True)


def _is_much(arguments: Mapping[str, Any]) -> bool:
    """Whether there may be much to validate. Only the surface is looked at."""
    return len(arguments) > _MANY or any(
        len(value) > (_LONG_TEXT if isinstance(value, str) else _MANY) or _holds_containers(value)
        for value in arguments.values()
        if isinstance(value, (str, list, tuple, Mapping))
    )


def _holds_containers(value: Any) -> bool:
    if isinstance(value, str):
        return False
    members = value.values() if isinstance(value, Mapping) else value
    return any(isinstance(member, (list, tuple, Mapping)) for member in islice(members, _MANY))


def _token(value: Any) -> str | None:
    return redact_text(value) if isinstance(value, str) and is_short(value, LONGEST_TOKEN) else None


def _action_name(action: Action | None, arguments: Mapping[str, Any]) -> str | None:
    if action is not None:
        return action.spec.name
    name = arguments.get("action")
    fits = isinstance(name, str) and name.isidentifier() and len(name) <= LONGEST_ACTION_NAME
    return redact_text(str(name)) if fits else None

"""Many calls made as one: reads side by side, each write alone and in its turn.

A call may take values from the results of those before it (`batch_references.py`). It is judged with these in place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any

import anyio
from pydantic import BaseModel, ConfigDict, model_validator

from gitlab_mcp.actions.arguments.wrapped_calls import looks_like
from gitlab_mcp.actions.call import FEWEST_BYTES
from gitlab_mcp.actions.fields import FromJson, NonEmpty, ReachesNothing
from gitlab_mcp.actions.result import Notice, Omission, Result, TailText, Text
from gitlab_mcp.actions.server import Server
from gitlab_mcp.failures.codes import Code, NoticeCode, Recovery
from gitlab_mcp.failures.counted import counted
from gitlab_mcp.failures.failure import CallFailed, Confirmation, Declined, Failure
from gitlab_mcp.results.content_blocks import compact_json
from gitlab_mcp.results.metadata import warning_entry
from gitlab_mcp.results.secret_redaction import redact_strings
from gitlab_mcp.results.untrusted_text import wrap_untrusted
from gitlab_mcp.workflows.batch_references import calls_referred_to, filled_in, refers

_READS_AT_ONCE = 8
_CUT_A_LITTLE_MORE = 0.95
"""Cutting text to a share of its length keeps too much where escaped characters are unevenly spread."""


class BatchedCall(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    tool: NonEmpty
    arguments: Annotated[dict[str, Any], FromJson, ReachesNothing()]

    @model_validator(mode="before")
    @classmethod
    def _arguments_beside_the_tool(cls, value: Any) -> Any:
        """Models also write the arguments beside the tool."""
        if isinstance(value, Mapping) and "tool" in value and "arguments" not in value:
            return {"tool": value["tool"], "arguments": {k: v for k, v in value.items() if k != "tool"}}
        return value


Outcome = Mapping[str, Any]
"""What came of a call: `result`, `error`, or `not_made` with the reason."""


async def run_calls(calls: Sequence[BatchedCall], server: Server, *, stop_on_error: bool) -> Result:
    if server.can_ask_person:
        await _ask_first(calls, server)
    share = max(server.max_bytes // len(calls), FEWEST_BYTES)
    outcomes: dict[int, Outcome] = {}
    gate = anyio.Semaphore(_READS_AT_ONCE)
    server.gitlab.report(0, len(calls), "calls")

    async def run(index: int) -> None:
        async with gate:
            outcomes[index] = await _outcome(calls[index], index, outcomes, share, server)
        server.gitlab.report(len(outcomes), len(calls), calls[index].tool)

    for turn in _turns(calls, server):
        if stop_on_error and (failed := _failed(outcomes)):
            outcomes.update((index, {"not_made": f"call {failed[0]} failed"}) for index in turn)
            continue
        async with anyio.create_task_group() as tasks:
            for index in turn:
                tasks.start_soon(run, index)
    return _result([outcomes[index] for index in range(len(calls))], server)


def _failed(outcomes: Mapping[int, Outcome]) -> list[int]:
    return sorted(index for index, outcome in outcomes.items() if "error" in outcome)


async def _ask_first(calls: Sequence[BatchedCall], server: Server) -> None:
    """Before anything is done, the person is asked once for all calls that need a yes. After a no nothing is done.

    A call that takes values from others is not among them: nobody can say yes to what is not known yet. When it is its
    turn it is refused, and can be sent by itself with the values that are known then.
    """
    found: dict[int, Failure] = {}
    declined: list[Declined] = []
    gate = anyio.Semaphore(_READS_AT_ONCE)

    async def rehearse(index: int) -> None:
        async with gate:
            try:
                failure = await server.rehearse(calls[index].tool, calls[index].arguments)
            except Declined as no:
                declined.append(no)
            else:
                if failure is not None:
                    found[index] = failure

    async with anyio.create_task_group() as tasks:
        for index, call in enumerate(calls):
            if not refers(call.arguments):
                tasks.start_soon(rehearse, index)
    if declined:
        raise declined[0]
    if found:
        raise CallFailed(_one_question([(index, found[index]) for index in sorted(found)], len(calls)))


def _one_question(asked: Sequence[tuple[int, Failure]], total: int) -> Failure:
    by_text: dict[str, list[int]] = {}
    tokens: list[str] = []
    for index, failure in asked:
        assert failure.confirmation is not None
        by_text.setdefault(failure.confirmation.text, []).append(index + 1)
        tokens += failure.confirmation.tokens
    lines = [f"{', '.join(map(str, numbers))}. {text}" for text, numbers in by_text.items()]
    text = "\n".join([f"Of {total} calls in this batch these need your yes:", *lines])
    failure = Failure(
        Code.CONFIRMATION_REQUIRED, f"{len(asked)} of {total} calls need a yes of the person first."
    )
    failure = replace(failure, confirmation=Confirmation(text, tuple(tokens)))
    return failure.knowing(
        what_will_happen=text, suggested_fix="Send the batch again: the person at the client is then asked."
    )


def _turns(calls: Sequence[BatchedCall], server: Server) -> Iterator[Sequence[int]]:
    """The numbers of the calls that are made at once. What follows a write in the batch sees what it did, and what
    takes a value from another call waits for it."""
    turn: list[int] = []
    alone = False
    for index, call in enumerate(calls):
        tool, arguments = looks_like(call.tool, call.arguments, server.registry)
        writes = server.registry.writes(tool, arguments.get("action"))
        if turn and (alone or writes or calls_referred_to(call.arguments) & set(turn)):
            yield turn
            turn = []
        turn.append(index)
        alone = writes
    yield turn


async def _outcome(
    call: BatchedCall, index: int, outcomes: Mapping[int, Outcome], share: int, server: Server
) -> Outcome:
    try:
        arguments = filled_in(call.tool, call.arguments, index, outcomes)
    except CallFailed as unfilled:
        return {"error": server.not_made(call.tool, call.arguments, unfilled.failure)}
    try:
        result = await server.make_call(call.tool, arguments, max_bytes=share)
    except CallFailed as failed:
        failure = failed.failure
        needs_yes = failure.recovery is Recovery.WITH_TOKEN
        return {"error": _by_itself(failure, call, arguments) if needs_yes else failure}
    return _as_item(result, share)


def _by_itself(failure: Failure, call: BatchedCall, arguments: Mapping[str, Any]) -> Failure:
    """A yes is to the values that were found, so the call is sent again with these: the batch would make new ones."""
    found = {name: arguments[name] for name, value in call.arguments.items() if refers({name: value})}
    if not found:
        return failure
    send = {"tool": call.tool, "arguments": redact_strings({**_named(arguments), **found})}
    fix = f"{failure.facts.get('suggested_fix', '')} Send it by itself, with the arguments under send."
    return failure.knowing(send=send, suggested_fix=fix.strip())


def _named(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"action": arguments["action"]} if "action" in arguments else {}


def _as_item(result: Result, share: int) -> Mapping[str, Any]:
    data = dict(result.data)
    if result.image is not None:
        data["image"] = "left out: make this call alone to see it"
    if result.text is None:
        return {"result": data}
    text = _cut(result.text, share - len(compact_json(data).encode()))
    if text is not result.text:
        omitted = len(result.text.content) - len(text.content)
        omission = Omission("text", omitted, "make this call alone")
        data["truncated"] = [*data.get("truncated", ()), omission.as_json()]
    return {"result": data, "text": wrap_untrusted(text.content, text.source)}


def _cut(text: Text, room: int) -> Text:
    """The text as long as it may be inside JSON, where a line end and a quote take two bytes."""
    while text.content and (size := len(compact_json(text.content).encode())) > max(room, 0):
        length = int(len(text.content) * max(room, 0) / size * _CUT_A_LITTLE_MORE)
        kept = text.content[-length:] if isinstance(text, TailText) and length else text.content[:length]
        text = replace(text, content=kept)
    return text


def _result(outcomes: Sequence[Outcome], server: Server) -> Result:
    failed = _failed(dict(enumerate(outcomes)))
    unmade = [index for index, outcome in enumerate(outcomes) if "not_made" in outcome]
    others = f" {counted(len(unmade), 'call')} after it not made." if unmade else ""
    if len(failed) + len(unmade) == len(outcomes):
        message = f"All {len(failed)} calls failed." if len(failed) > 1 else "The call failed."
        raise CallFailed(
            Failure(Code.BATCH_PARTIAL_FAILURE, f"{message}{others}").knowing(
                results=outcomes,
                retryable=None if _may_be_sent_again(outcomes) else False,
                suggested_fix="Correct each call as its own error says; nothing else went wrong.",
            )
        )
    shown = [{"error": server.render(each["error"])} if "error" in each else each for each in outcomes]
    data: dict[str, Any] = {"results": shown}
    if failed:
        warning = Notice(
            NoticeCode.PARTIAL,
            f"{len(failed)} of {counted(len(outcomes), 'call')} failed.{others}",
            {
                "error_code": Code.BATCH_PARTIAL_FAILURE,
                "failed": failed,
                **({"not_made": unmade} if unmade else {}),
            },
        )
        data["warnings"] = [warning_entry(warning)]
    return Result(data=data, is_presented=True)


def _may_be_sent_again(outcomes: Sequence[Outcome]) -> bool:
    """Not where a write in it may have happened, nor where no call of it can work."""
    failures = [each["error"] for each in outcomes if "error" in each]
    unknown = any("check_with" in failure.facts for failure in failures)
    return not unknown and any(failure.retryable for failure in failures)

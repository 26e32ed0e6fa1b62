"""Many calls carried out as one: reads side by side, each write alone and in its turn."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

import anyio

from gitlab_mcp.actions.batch import BatchedCall
from gitlab_mcp.actions.call import FEWEST_BYTES
from gitlab_mcp.actions.exchange import Report
from gitlab_mcp.actions.result import Notice, Omission, Result, Text
from gitlab_mcp.failures.codes import Code, NoticeCode
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.results.content_blocks import compact_json
from gitlab_mcp.results.metadata import warning_entry
from gitlab_mcp.results.text_kinds import TailText
from gitlab_mcp.results.untrusted_text import wrap_untrusted

_READS_AT_ONCE = 8
_ESCAPES = 0.95


@dataclass(frozen=True, slots=True)
class BatchRunner:
    """What carrying out a batch needs of whoever carries out single calls."""

    writes: Callable[[BatchedCall], bool]
    call: Callable[[BatchedCall, int], Awaitable[Result]]
    """Makes one call within so many bytes."""
    show: Callable[[Failure], Mapping[str, Any]]
    report: Report


async def carry_out(calls: Sequence[BatchedCall], max_bytes: int, means: BatchRunner) -> Result:
    share = max(max_bytes // len(calls), FEWEST_BYTES)
    outcomes: dict[int, Mapping[str, Any]] = {}
    gate = anyio.Semaphore(_READS_AT_ONCE)

    async def carry(index: int) -> None:
        async with gate:
            outcomes[index] = await _outcome(calls[index], share, means)
        means.report(len(outcomes), len(calls), calls[index].tool)

    for turn in _turns([means.writes(call) for call in calls]):
        async with anyio.create_task_group() as tasks:
            for index in turn:
                tasks.start_soon(carry, index)
    return _told([outcomes[index] for index in range(len(calls))])


def _turns(writes: Sequence[bool]) -> Iterator[Sequence[int]]:
    """The numbers of the calls that are made together. What follows a write in the batch sees what it did."""
    for is_write, group in groupby(range(len(writes)), key=writes.__getitem__):
        concurrently = list(group)
        yield from ([index] for index in concurrently) if is_write else (concurrently,)


async def _outcome(call: BatchedCall, share: int, means: BatchRunner) -> Mapping[str, Any]:
    try:
        return _shown(await means.call(call, share), share)
    except CallFailed as failed:
        return {"error": means.show(failed.failure)}


def _shown(result: Result, share: int) -> Mapping[str, Any]:
    data = dict(result.data)
    if result.image is not None:
        data["image"] = "left out: make this call alone to see it"
    if result.text is None:
        return {"result": data}
    text = _fitting(result.text, share - len(compact_json(data).encode()))
    if text is not result.text:
        omitted = len(result.text.content) - len(text.content)
        omission = Omission("text", omitted, "make this call alone")
        data["truncated"] = [*data.get("truncated", ()), omission.as_json()]
    return {"result": data, "text": wrap_untrusted(text.content, text.source)}


def _fitting(text: Text, room: int) -> Text:
    """The text as long as it may be inside JSON, where a line end and a quote take two bytes."""
    while text.content and (size := len(compact_json(text.content).encode())) > max(room, 0):
        length = int(len(text.content) * max(room, 0) / size * _ESCAPES)
        kept = text.content[-length:] if isinstance(text, TailText) and length else text.content[:length]
        text = replace(text, content=kept)
    return text


def _told(outcomes: list[Mapping[str, Any]]) -> Result:
    failed = [index for index, outcome in enumerate(outcomes) if "error" in outcome]
    if len(failed) == len(outcomes):
        raise CallFailed(
            Failure(Code.BATCH_PARTIAL_FAILURE, f"Every one of the {len(outcomes)} calls failed.").knowing(
                results=outcomes,
                suggested_fix="Mend each call as its own error says; nothing else went wrong.",
            )
        )
    data: dict[str, Any] = {"results": outcomes}
    if failed:
        warning = Notice(
            NoticeCode.PARTIAL,
            f"{len(failed)} of {len(outcomes)} calls failed.",
            {"error_code": Code.BATCH_PARTIAL_FAILURE, "failed": failed},
        )
        data["warnings"] = [warning_entry(warning)]
    return Result(data=data)

"""The same kind of write for many things: a few at once, each for itself, and what became of each."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Generic, TypeVar

import anyio

from gitlab_mcp.actions.exchange import GitLab
from gitlab_mcp.actions.result import Notice
from gitlab_mcp.failures.codes import Code, NoticeCode
from gitlab_mcp.failures.counted import counted
from gitlab_mcp.failures.failure import CallFailed, Failure

T = TypeVar("T", int, str)

_AT_ONCE: Final = 4
STOPS: Final = (
    Code.QUOTA_PAUSED,
    Code.QUOTA_EXHAUSTED,
    Code.RATE_LIMITED,
    Code.NETWORK_ERROR,
    Code.UPSTREAM_PAUSED,
    Code.BUSY,
    Code.AUTHENTICATION_FAILED,
    Code.SCOPE_INSUFFICIENT,
    Code.STORE_UNAVAILABLE,
)
"""After these the others would fail the same way."""


class Stopped(Exception):
    """The write is done, and the others are not to be tried."""


@dataclass(slots=True)
class Outcomes(Generic[T]):
    wanted: Sequence[T]
    """The numbers or names of the things."""
    done: list[T] = field(default_factory=list)
    failed: dict[T, Failure] = field(default_factory=dict)

    @property
    def not_tried(self) -> list[T]:
        return [each for each in self.wanted if each not in self.failed and each not in self.done]

    def refuse_where_all_failed(self, noun: str, verb: str) -> None:
        """`noun` is what one of the things is called, `verb` what was to be done to it: `changed`."""
        if not self.failed or self.done:
            return
        nothing = f"none of {counted(len(self.failed), noun)} was {verb}"
        failures: list[Failure] = list(self.failed.values())
        if len({failure.code for failure in failures}) > 1:
            raise CallFailed(
                Failure(Code.BATCH_PARTIAL_FAILURE, f"{nothing.capitalize()}.").knowing(
                    results=[{"error": failure} for _, failure in sorted(self.failed.items())]
                )
            )
        told = f"{nothing}, and {len(self.not_tried)} were not tried"
        raise CallFailed(failures[0].knowing(evidence=[*failures[0].facts.get("evidence", ()), told]))

    def warnings(self, noun: str, verb: str, member: str, then: str = "") -> list[Notice]:
        """What is told of those that failed or were not tried; `member` names one of them. `then` says how to go on
        where the same call, sent again, does not leave out what is done."""
        not_done = len(self.failed) + len(self.not_tried)
        if not not_done:
            return []
        message = f"{counted(not_done, noun)} of {len(self.wanted)} not {verb}."
        facts: dict[str, Any] = {"failed": told_of(member, self.failed)}
        if self.not_tried:
            facts["not_tried"] = self.not_tried
        then = then or f"Send the same call again once that is mended: what is {verb} is left out."
        return [Notice(NoticeCode.PARTIAL, message, {**facts, "then": then})]


async def each_of(
    gitlab: GitLab, wanted: Sequence[T], write: Callable[[T], Awaitable[None]], what: str
) -> Outcomes[T]:
    """`write` raises CallFailed where one could not be written. `what` is said with the progress."""
    outcomes, gate, stopped = Outcomes(wanted), anyio.Semaphore(_AT_ONCE), anyio.Event()
    gitlab.report(0, len(wanted), what)

    async def one(each: T) -> None:
        async with gate:
            if stopped.is_set():
                return
            try:
                await write(each)
            except CallFailed as failed:
                outcomes.failed[each] = failed.failure
                if failed.failure.code in STOPS:
                    stopped.set()
            except Stopped:
                outcomes.done.append(each)
                stopped.set()
            else:
                outcomes.done.append(each)
            gitlab.report(len(outcomes.done) + len(outcomes.failed), len(wanted), f"{what}: {each}")

    async with anyio.create_task_group() as tasks:
        for each in wanted:
            tasks.start_soon(one, each)
    return outcomes


def told_of(member: str, failures: Mapping[T, Failure]) -> list[dict[str, Any]]:
    return [
        {member: each, "error_code": failure.code, "why": failure.message}
        for each, failure in sorted(failures.items())
    ]

"""Runs several calls to GitLab at once. A call that fails does not stop the others."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TypeVar

import anyio

from gitlab_mcp.gitlab.faults import FAULTS, Fault

T = TypeVar("T")

MAX_CONCURRENT = 8


async def concurrently(
    calls: Sequence[Callable[[], Awaitable[T]]], max_concurrent: int = MAX_CONCURRENT
) -> list[T | Fault]:
    """The result of each call, in order: its value, or the fault it raised."""
    results: list[T | Fault | None] = [None] * len(calls)
    unexpected: list[Exception] = []
    semaphore = anyio.Semaphore(max_concurrent)

    async def run(index: int) -> None:
        async with semaphore:
            try:
                results[index] = await calls[index]()
            except FAULTS as fault:
                results[index] = fault
            except Exception as error:
                # Raised after the task group, which would wrap it in an ExceptionGroup.
                unexpected.append(error)

    async with anyio.create_task_group() as tasks:
        for index in range(len(calls)):
            tasks.start_soon(run, index)
    if unexpected:
        raise unexpected[0]
    return results  # type: ignore[return-value]


async def all_at_once(calls: Sequence[Callable[[], Awaitable[T]]]) -> list[T]:
    """The value of each call, in order, where all are needed. Raises the first fault in that order."""
    return [answered(result) for result in await concurrently(calls)]


def answered(result: T | Fault) -> T:
    """What the call answered; raises the fault that stands in its place."""
    if isinstance(result, FAULTS):
        raise result
    return result


def unread(results: Mapping[str, object]) -> list[str]:
    """The names of the results that are faults."""
    return [name for name, result in results.items() if isinstance(result, FAULTS)]

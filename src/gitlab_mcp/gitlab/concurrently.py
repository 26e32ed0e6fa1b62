"""Several questions at once, where one that fails must not take the others with it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar

import anyio

from gitlab_mcp.actions.exchange import Answer, GitLab, Request
from gitlab_mcp.gitlab.faults import (
    BadAnswer,
    GraphQLRefused,
    Paused,
    Refused,
    ReplayMiss,
    Unreachable,
    Wrong,
)

T = TypeVar("T")

Fault = Refused | GraphQLRefused | Unreachable | BadAnswer | ReplayMiss | Paused
FAULTS = (Refused, GraphQLRefused, Unreachable, BadAnswer, ReplayMiss, Paused)

AT_ONCE = 8
MOST_PAGES = 10


async def concurrently(asks: Sequence[Callable[[], Awaitable[T]]], at_once: int = AT_ONCE) -> list[T | Fault]:
    """What each was answered, in order: a value, or the fault that kept it from one."""
    answers: list[T | Fault | None] = [None] * len(asks)
    surprises: list[Exception] = []
    gate = anyio.Semaphore(at_once)

    async def ask(index: int) -> None:
        async with gate:
            try:
                answers[index] = await asks[index]()
            except FAULTS as fault:
                answers[index] = fault
            except Exception as surprise:
                # Raised below as it is: a task group would wrap it, and nobody could tell what it was.
                surprises.append(surprise)

    async with anyio.create_task_group() as tasks:
        for index in range(len(asks)):
            tasks.start_soon(ask, index)
    if surprises:
        raise surprises[0]
    return answers  # type: ignore[return-value]


async def every_page(gitlab: GitLab, path: str, **query: object) -> Answer:
    """The pages of a list as one answer, up to `MOST_PAGES`: see `is_cut`."""
    answer = await gitlab.get(path, **query)
    items = list(listed(answer, path))
    for _ in range(MOST_PAGES - 1):
        if not is_cut(answer):
            break
        answer = await gitlab.get(path, **{**query, "page": answer.headers["x-next-page"]})
        items += listed(answer, path)
    return Answer(answer.status, answer.headers, items)


def listed(answer: Answer, path: str) -> list[Any]:
    """The items of a list; what is none is no answer of GitLab's."""
    if not isinstance(answer.body, list):
        raise BadAnswer(Request("GET", path), Wrong.SHAPE, answer.status)
    return answer.body


def is_cut(answer: Answer) -> bool:
    """Whether the list goes on."""
    return bool(answer.headers.get("x-next-page"))


async def find(
    gitlab: GitLab, path: str, wanted: Callable[[Mapping[str, Any]], bool]
) -> Mapping[str, Any] | None:
    """The first item of a list that is wanted, however far down."""
    query: dict[str, Any] = {}
    while True:
        answer = await gitlab.get(path, **query)
        for item in listed(answer, path):
            if wanted(item):
                found: Mapping[str, Any] = item
                return found
        if not is_cut(answer):
            return None
        query["page"] = answer.headers["x-next-page"]

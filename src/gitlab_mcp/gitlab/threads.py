"""Threads for what blocks: sending a request and reading its answer. They are kept for the next.

How many are at work is limited elsewhere. Those of anyio hand work over through locks that wake a thread several times,
which costs as much as the sending itself where many calls are under way.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from contextvars import Context, copy_context
from dataclasses import dataclass
from functools import partial
from queue import SimpleQueue
from threading import Thread
from typing import Any, TypeVar

from anyio.lowlevel import checkpoint_if_cancelled

T = TypeVar("T")


class Threads:
    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self._work: SimpleQueue[_Work | None] = SimpleQueue()
        self._started = 0
        self._idle = 0

    async def run(self, work: Callable[[], T]) -> T:
        """What the work returns or raises. Where the caller is cancelled, nobody waits for its end; where that was so
        before, it is not begun."""
        await checkpoint_if_cancelled()
        loop = asyncio.get_running_loop()
        outcome: asyncio.Future[T] = loop.create_future()
        if self._idle:
            self._idle -= 1
        else:
            self._started += 1
            Thread(target=self._run, args=(self._work,), name="gitlab", daemon=True).start()
        self._work.put(_Work(work, copy_context(), loop, outcome))
        return await outcome

    def close(self) -> None:
        """Those that are idle end, and the others after their work."""
        for _ in range(self._started):
            self._work.put(None)
        self._begin()

    def _run(self, all_work: SimpleQueue[_Work | None]) -> None:
        while (work := all_work.get()) is not None:
            work.do(partial(self._note_idle, all_work))
            # Not held until there is more to do: the answer may be large.
            del work

    def _note_idle(self, all_work: SimpleQueue[_Work | None]) -> None:
        if all_work is self._work:
            self._idle += 1


@dataclass(frozen=True, slots=True)
class _Work:
    work: Callable[[], Any]
    context: Context
    loop: asyncio.AbstractEventLoop
    outcome: asyncio.Future[Any]

    def do(self, then: Callable[[], None]) -> None:
        result: Any = None
        problem: BaseException | None = None
        try:
            result = self.context.run(self.work)
        except StopIteration:
            problem = RuntimeError("no future can hold a StopIteration")
        except BaseException as raised:
            problem = raised
        # The loop is closed where everything ends.
        with suppress(RuntimeError):
            self.loop.call_soon_threadsafe(self._tell, result, problem, then)

    def _tell(self, result: Any, problem: BaseException | None, then: Callable[[], None]) -> None:
        then()
        if self.outcome.cancelled():
            return
        if problem is not None:
            self.outcome.set_exception(problem)
        else:
            self.outcome.set_result(result)

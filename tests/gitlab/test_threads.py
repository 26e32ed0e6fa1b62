"""Threads that requests are sent in."""

from __future__ import annotations

import gc
import threading
import weakref
from contextvars import ContextVar

import anyio
import pytest

from gitlab_mcp.gitlab.threads import Threads

pytestmark = pytest.mark.anyio
SAID: ContextVar[str] = ContextVar("said")


def names() -> set[int]:
    return {each.ident or 0 for each in threading.enumerate() if each.name == "gitlab"}


async def test_work_is_done_elsewhere_in_the_context_of_who_asks() -> None:
    threads = Threads()
    SAID.set("hello")
    assert await threads.run(SAID.get) == "hello"
    assert await threads.run(threading.get_ident) != threading.get_ident()
    threads.close()


@pytest.mark.parametrize("problem", [ValueError, KeyboardInterrupt, SystemExit])
async def test_what_it_raises_is_raised(problem: type[BaseException]) -> None:
    threads = Threads()

    def work() -> None:
        raise problem

    with pytest.raises(problem):
        await threads.run(work)
    assert await threads.run(lambda: 1) == 1
    threads.close()


async def test_the_end_of_an_iterator_is_an_error_and_no_silence() -> None:
    threads = Threads()
    with anyio.fail_after(5), pytest.raises(RuntimeError):
        await threads.run(lambda: next(iter(())))
    threads.close()


async def test_a_thread_is_used_again_and_others_are_started_only_where_all_are_at_work() -> None:
    threads = Threads()
    first = {await threads.run(threading.get_ident) for _ in range(20)}
    assert len(first) == 1
    together = threading.Barrier(8)
    used: set[int] = set()

    async def at_once() -> None:
        used.add(await threads.run(lambda: (together.wait(5), threading.get_ident())[1]))

    async with anyio.create_task_group() as tasks:
        for _ in range(8):
            tasks.start_soon(at_once)
    assert len(used) == 8 and first < used
    threads.close()


async def test_who_is_cancelled_does_not_wait_and_the_others_go_on() -> None:
    threads, stuck = Threads(), threading.Event()
    with anyio.move_on_after(0.05) as scope:
        await threads.run(lambda: stuck.wait(10))
    assert scope.cancelled_caught
    assert await threads.run(lambda: 2) == 2
    stuck.set()
    threads.close()


async def test_after_closing_there_are_none_left_and_new_work_is_done_by_new_ones() -> None:
    before, threads, stuck = names(), Threads(), threading.Event()
    await threads.run(lambda: None)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(threads.run, lambda: stuck.wait(10))
        await anyio.sleep(0.05)
        threads.close()
        stuck.set()
    with anyio.fail_after(5):
        while names() - before:
            await anyio.sleep(0.01)
        assert await threads.run(lambda: 3) == 3
    threads.close()


async def test_an_answer_is_not_held_until_there_is_more_to_do() -> None:
    class Large:
        pass

    threads = Threads()
    answer = await threads.run(Large)
    seen = weakref.ref(answer)
    del answer
    with anyio.fail_after(5):
        while seen() is not None:
            gc.collect()
            await anyio.sleep(0.01)
    threads.close()


async def test_what_a_cancelled_caller_wants_is_not_begun() -> None:
    """A write that comes after the deadline must not reach GitLab."""
    begun: list[int] = []
    threads = Threads()
    for number in range(50):
        with anyio.move_on_after(-1):
            await threads.run(lambda number=number: begun.append(number))  # type: ignore[misc]
    await threads.run(lambda: None)
    threads.close()
    assert begun == []

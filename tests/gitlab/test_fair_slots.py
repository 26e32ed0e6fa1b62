"""One caller's many requests delay that caller, not others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anyio
import anyio.to_thread
import pytest

from gitlab_mcp.app import App
from gitlab_mcp.gitlab.fair_slots import FairSlots, Shares
from tests.support.guarded import request_by, with_labels
from tests.support.standin import Held, StandIn

pytestmark = pytest.mark.anyio


class Occupied:
    """Requests of callers, each under way until it is ended. `began` has them in the order in which they began."""

    def __init__(self, slots: FairSlots, tasks: anyio.abc.TaskGroup) -> None:
        self._slots = slots
        self._tasks = tasks
        self._ends: list[tuple[str, anyio.Event]] = []
        self.began: list[str] = []

    async def begin(self, caller: str, times: int = 1) -> None:
        for _ in range(times):
            self._tasks.start_soon(self._hold, caller)
        await anyio.wait_all_tasks_blocked()

    async def _hold(self, caller: str) -> None:
        async with self._slots.slot(caller):
            self.began.append(caller)
            end = anyio.Event()
            self._ends.append((caller, end))
            await end.wait()

    async def end_one(self, of: str) -> None:
        index = next(number for number, (caller, _) in enumerate(self._ends) if caller == of)
        self._ends.pop(index)[1].set()
        await anyio.wait_all_tasks_blocked()

    def end_all(self) -> None:
        self._tasks.cancel_scope.cancel()


class Time:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def slots(
    total: int = 8, *, kept_free: int = 2, beside_others: int = 3, time: Time | None = None
) -> FairSlots:
    return FairSlots(Shares(total, kept_free, least=1, beside_others=beside_others), time or Time())


async def test_a_caller_alone_has_all_slots_but_those_kept_for_others() -> None:
    async with anyio.create_task_group() as tasks:
        occupied = Occupied(slots(), tasks)
        await occupied.begin("mallory", 100)
        assert occupied.began == ["mallory"] * 6
        await occupied.begin("alice")
        await occupied.begin("bob")
        assert occupied.began[6:] == ["alice", "bob"]
        occupied.end_all()


async def test_callers_who_wait_take_turns() -> None:
    async with anyio.create_task_group() as tasks:
        occupied = Occupied(slots(4, kept_free=0, beside_others=4), tasks)
        await occupied.begin("mallory", 100)
        await occupied.begin("alice", 3)
        await occupied.begin("bob", 3)
        before = len(occupied.began)
        for _ in range(6):
            await occupied.end_one("mallory")
        assert sorted(occupied.began[before:]) == ["alice"] * 2 + ["bob"] * 2 + ["mallory"] * 2
        occupied.end_all()


async def test_while_others_are_at_work_a_caller_has_a_small_share_and_afterwards_all_again() -> None:
    time = Time()
    async with anyio.create_task_group() as tasks:
        occupied = Occupied(slots(time=time), tasks)
        await occupied.begin("alice")
        await occupied.begin("mallory", 100)
        assert occupied.began == ["alice"] + ["mallory"] * 3
        await occupied.end_one("alice")
        assert len(occupied.began) == 4
        time.now = 10.0
        await occupied.end_one("mallory")
        assert occupied.began[4:] == ["mallory"] * 4
        occupied.end_all()


async def test_who_stops_waiting_leaves_the_queue_and_takes_no_slot_along() -> None:
    fair = slots(1, kept_free=0)
    async with anyio.create_task_group() as tasks:
        occupied = Occupied(fair, tasks)
        await occupied.begin("alice")
        async with anyio.create_task_group() as impatient:
            waiting = Occupied(fair, impatient)
            await waiting.begin("bob", 5)
            waiting.end_all()
        await occupied.begin("carol")
        await occupied.end_one("alice")
        assert occupied.began == ["alice", "carol"]
        await occupied.end_one("carol")
        await occupied.begin("alice")
        assert occupied.began[2:] == ["alice"]
        occupied.end_all()


async def test_the_batches_of_one_caller_leave_room_for_others(
    standin: StandIn, against: Callable[..., App]
) -> None:
    """Mallory's requests are held at GitLab, more of them than there are slots; alice is answered all the same."""
    with_labels(standin, "bug")
    standin.project("acme/slow", 9002)
    held = Held()
    standin.fault("GET", "/projects/acme%2Fslow/labels", held, times=None)
    app = against(calls_per_caller=16, deadline=30.0)

    def slow(page: int) -> dict[str, Any]:
        # Each another one: equal ones would be sent once.
        arguments = {"action": "list", "project_id": "acme/slow", "page": page}
        return {"tool": "browse_labels", "arguments": arguments}

    read = {"action": "list", "project_id": "acme/website"}

    def under_way(gitlab: StandIn) -> bool:
        return sum("slow" in request.path for request in gitlab.requests) >= 48

    async with anyio.create_task_group() as tasks:
        for first in range(1, 129, 8):
            batch = {"action": "run", "calls": [slow(page) for page in range(first, first + 8)]}
            tasks.start_soon(_answered, app, "run_batch", batch, "mallory")
        assert await anyio.to_thread.run_sync(lambda: standin.wait_for(under_way))
        with anyio.fail_after(10):
            for _ in range(3):
                assert (await _answered(app, "browse_labels", read, "alice"))["total"] == 1
        held.let_go()


async def _answered(app: App, tool: str, arguments: dict[str, Any], caller: str) -> dict[str, Any]:
    return dict((await app.call(tool, arguments, request_context=request_by(caller))).data)

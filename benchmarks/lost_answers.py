"""A thousand creates whose answers are lost, 32 at a time: how long it takes to find out what became of them.

python benchmarks/lost_answers.py

In 650 cases GitLab has done what was asked. None may be made twice, and all must be told as found or as unknown. Of the
650 not all are sent: after ten gateway errors in a row a route is left alone for a while.
"""

from __future__ import annotations

import logging
import random
import statistics
import sys
import time
from collections import Counter

import anyio

from gitlab_mcp.app import App
from gitlab_mcp.failures.failure import CallFailed
from gitlab_mcp.settings import Secret, Settings
from tests.support.creates import DONE, KINDS, NOT_DONE, with_branches_for
from tests.support.standin import StandIn

CREATES = 1000
OF_WHICH_DONE = 650
AT_ONCE = 32


async def measured(gitlab: StandIn) -> bool:
    world = gitlab.project("acme/fresh")
    gitlab.answer("GET", "/user", 200, {"id": 2, "username": "alice", "name": "Alice"})
    dice = random.Random(5)
    faults = [*dice.choices(DONE, k=OF_WHICH_DONE), *dice.choices(NOT_DONE, k=CREATES - OF_WHICH_DONE)]
    dice.shuffle(faults)
    for fault in faults:
        gitlab.fault("POST", "*", fault)
    calls = [(kind, f"{kind} {number}") for number in range(CREATES) for kind in KINDS][:CREATES]
    with_branches_for(world, [name for kind, name in calls if kind == "merge request"])
    app = App(Settings(url=gitlab.url, token=Secret("alice"), trust="dangerous", confirm="never", quota=()))
    turns, ends, seconds = anyio.Semaphore(AT_ONCE), Counter[str](), list[float]()

    async def create(kind: str, name: str) -> None:
        tool, arguments = KINDS[kind].call(name)
        async with turns:
            began = time.perf_counter()
            try:
                result = await app.call(tool, {"project_id": "acme/fresh", **arguments})
                ends["found" if result.data.get("recovered") else "answered"] += 1
            except CallFailed as failed:
                ends[failed.failure.code] += 1
            seconds.append(time.perf_counter() - began)

    began = time.perf_counter()
    async with anyio.create_task_group() as tasks:
        for kind, name in calls:
            tasks.start_soon(create, kind, name)
    whole = time.perf_counter() - began
    app.close()
    made = Counter(KINDS[kind].count(world, name) for kind, name in calls)
    print(f"{CREATES} creates in {whole:.1f} s, {AT_ONCE} at a time")
    print(f"one create   p50 {statistics.median(seconds):.3f} s   longest {max(seconds):.3f} s")
    print(f"made once {made[1]}, not made {made[0]}, made twice {CREATES - made[0] - made[1]}")
    print(f"found again {ends['found']}, told as unknown {ends['OUTCOME_UNKNOWN']}")
    # What the open circuit kept from being sent was not made either.
    told = ends["found"] + ends["OUTCOME_UNKNOWN"] + ends["UPSTREAM_PAUSED"]
    return made.keys() <= {0, 1} and ends["found"] <= made[1] and told == CREATES


def main() -> int:
    logging.disable(logging.CRITICAL)
    with StandIn() as gitlab:
        return 0 if anyio.run(measured, gitlab) else 1


if __name__ == "__main__":
    sys.exit(main())

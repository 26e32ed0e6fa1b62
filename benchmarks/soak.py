"""Minutes of load with faults in every phase of a call: is anything lost, is anything done twice, does memory grow?

    make soak                            ten minutes, writes docs/reference/reliability.md
    python benchmarks/soak.py --minutes 1

Two servers share a Redis and stand before one GitLab on loopback that keeps what is created. Sixteen clients take turns
between the servers: they list, create things of twelve kinds under names that are used once, and delete with a person's
yes that both servers are given at the same time. Meanwhile GitLab fails in every way below, one server is killed or
stopped and started again, and Redis is restarted. The other server is never restarted; its memory is watched.
"""

from __future__ import annotations

import argparse
import os
import platform
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import httpx2

from tests.support.creates import DONE, KINDS, NOT_DONE, with_branches_for
from tests.support.redis_server import RedisServer
from tests.support.served import ACCEPT, Served, call, environment
from tests.support.standin import CutShort, Delay, Reply, ReplyWith, StandIn, World
from tests.support.standin.faults import Connection, Fault

PAGE = Path(__file__).resolve().parent.parent / "docs/reference/reliability.md"
CLIENTS, CREATES_OF_A_PROJECT, DELETIONS, FAULTY = 16, 60, 10, 0.15
FAULTS: dict[str, tuple[Fault, ...]] = {
    "breaks before the request is read, or says 502": NOT_DONE,
    "does it, and the answer is lost or cut short": DONE,
    "says 429, 500, 503 or shows a page to sign in": (
        ReplyWith(Reply.of(429, {"message": "429 Too Many Requests"}, {"Retry-After": "1"})),
        ReplyWith(Reply.of(500, {"message": "500 Internal Server Error"})),
        ReplyWith(Reply.of(503, {"message": "503 Service Unavailable"})),
        ReplyWith(Reply.of(200, "<html>Sign in</html>", {"Content-Type": "text/html"})),
    ),
    "answers late, or with half of a JSON": (Delay(0.5), Delay(2.0), CutShort()),
}


@dataclass(slots=True)
class NowAndThen:
    """Mostly GitLab answers."""

    dice: random.Random
    met: Counter[str]

    def play(self, connection: Connection) -> None:
        if self.dice.random() >= FAULTY:
            connection.send(connection.answer())
            return
        kind = self.dice.choice(list(FAULTS))
        self.met[kind] += 1
        self.dice.choice(FAULTS[kind]).play(connection)


class Replica:
    """A server that can be started again at the same port."""

    def __init__(self, gitlab: str, redis: str) -> None:
        self._gitlab, self._redis = gitlab, redis
        self._address = "127.0.0.1:0"
        self.served = self._started()
        self._address = f"127.0.0.1:{self.served.port}"
        self.url = self.served.url
        self.log = ""
        """Of the processes that have ended."""

    def _started(self) -> Served:
        flags = [
            "serve",
            "--http",
            self._address,
            "--toolsets",
            "all",
            "--quota",
            "none",
            "--redis",
            self._redis,
        ]
        process = subprocess.Popen(
            [sys.executable, "-m", "gitlab_mcp.cli", *flags],
            stdin=subprocess.DEVNULL,
            # The audit.
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=environment(self._gitlab),
        )
        return Served(process)

    def start_again(self) -> None:
        self.served = self._started()

    def end(self, *, kill: bool) -> int:
        if kill:
            self.served.process.kill()
        else:
            self.served.stop()
        code = self.served.ended(60)
        self.log += self.served.log
        return code

    def megabytes(self) -> float:
        pages = Path(f"/proc/{self.served.process.pid}/statm").read_text().split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE") / 1e6


@dataclass(slots=True)
class Told:
    """What the clients were told."""

    ends: Counter[str] = field(default_factory=Counter)
    done: list[tuple[World, str, str]] = field(default_factory=list)
    not_done: list[tuple[World, str, str]] = field(default_factory=list)
    unknown: list[tuple[World, str, str]] = field(default_factory=list)
    deleted_twice: int = 0
    deleted: int = 0
    reads: int = 0
    wrong: list[str] = field(default_factory=list)
    """Answers that are none of the contract."""


class Client:
    def __init__(self, http: httpx2.AsyncClient, replicas: list[Replica], told: Told, number: int) -> None:
        self._http, self._replicas, self._told = http, replicas, told
        self.token = f"client-{number}"

    async def ask(self, replica: Replica, tool: str, arguments: dict[str, Any]) -> dict[str, Any] | None:
        """None where the connection broke: the client knows nothing then."""
        try:
            answer = await self._http.post(
                replica.url, json=call(tool, arguments), headers={**ACCEPT, "Private-Token": self.token}
            )
            body = answer.json()
        except (httpx2.TransportError, ValueError):
            return None
        if "error" in body:
            failure: dict[str, Any] = body["error"].get("data") or {}
            if "error_code" not in failure:
                self._told.wrong.append(answer.text[:200])
            return failure or {"error_code": "?"}
        result = body["result"]
        data = result.get("structuredContent") or {}
        if result.get("isError") and not (data.get("error_code") and data.get("message")):
            self._told.wrong.append(answer.text[:200])
        return dict(data) if result.get("isError") else {}

    async def create(self, replica: Replica, world: World, kind: str, name: str) -> None:
        tool, arguments = KINDS[kind].call(name)
        failure = await self.ask(replica, tool, {"project_id": world.path, **arguments})
        thing = (world, kind, name)
        if failure is None:
            self._told.ends["the server went away"] += 1
            self._told.unknown.append(thing)
        elif not failure:
            self._told.ends["done"] += 1
            self._told.done.append(thing)
        else:
            code = str(failure.get("error_code"))
            self._told.ends[f"`{code}`"] += 1
            unsure = code == "OUTCOME_UNKNOWN" or "check_with" in failure
            (self._told.unknown if unsure else self._told.not_done).append(thing)

    async def delete(self, world: World, name: str) -> None:
        """One yes, sent to both servers at once."""
        where = {"action": "delete", "project_id": world.path, "label_id": name}
        asked = await self.ask(self._replicas[0], "manage_label", where)
        token = (asked or {}).get("confirmation_token")
        if token is None:
            return
        ends: list[dict[str, Any] | None] = []

        async def redeem(replica: Replica) -> None:
            ends.append(await self.ask(replica, "manage_label", {**where, "confirmation_token": token}))

        async with anyio.create_task_group() as tasks:
            for replica in self._replicas:
                tasks.start_soon(redeem, replica)
        done = sum(end == {} for end in ends)
        self._told.deleted += done > 0
        self._told.deleted_twice += done > 1

    async def read(self, replica: Replica, world: World) -> None:
        await self.ask(replica, "browse_labels", {"action": "list", "project_id": world.path, "per_page": 20})
        self._told.reads += 1


async def soaked(minutes: float) -> int:
    dice = random.Random(7)
    told, met, happened = Told(), Counter[str](), Counter[str]()
    memory: list[tuple[float, float]] = []
    worlds: list[World] = []
    with StandIn() as gitlab, tempfile.TemporaryDirectory() as folder:
        keeps = ("--appendonly", "yes", "--appendfsync", "always", "--dir", folder)
        with RedisServer(*keeps) as redis:
            gitlab.fault("*", "*", NowAndThen(dice, met), times=None)
            gitlab.answer("GET", "/user", 200, {"id": 2, "username": "alice", "name": "Alice"})
            replicas = [Replica(gitlab.url, redis.url) for _ in range(2)]
            steady, restarted = replicas
            began = time.monotonic()
            ends = began + 60 * minutes

            async def work(http: httpx2.AsyncClient, number: int) -> None:
                client, made = Client(http, replicas, told, number), 0
                world = worlds[0]
                names: list[str] = []
                to_go: list[str] = []
                while time.monotonic() < ends:
                    if not names:
                        names = [f"{number} of {len(worlds)}, {n}" for n in range(CREATES_OF_A_PROJECT)]
                        world = gitlab.project(f"acme/soak-{number}-{len(worlds)}", 10_000 + len(worlds))
                        with_branches_for(world, names)
                        world.things["labels"] = [
                            {"id": n, "name": f"to go {n}", "color": "#111111"}
                            for n in range(1, DELETIONS + 1)
                        ]
                        to_go = [f"to go {n}" for n in range(1, DELETIONS + 1)]
                        worlds.append(world)
                    made += 1
                    replica = replicas[made % 2]
                    match dice.random():
                        case share if share < 0.5:
                            await client.create(replica, world, dice.choice(list(KINDS)), names.pop())
                        case share if share < 0.55 and to_go:
                            await client.delete(world, to_go.pop())
                        case _:
                            await client.read(replica, world)

            async def disturb() -> None:
                while time.monotonic() < ends:
                    await anyio.sleep(min(20, 60 * minutes / 6))
                    if time.monotonic() >= ends:
                        return
                    what = dice.choice(["a server is killed", "a server is stopped", "Redis is restarted"])
                    happened[what] += 1
                    if what == "Redis is restarted":
                        await anyio.to_thread.run_sync(redis.stop)
                        await anyio.sleep(2)
                        await anyio.to_thread.run_sync(redis.start)
                    else:
                        kill = what == "a server is killed"
                        code = await anyio.to_thread.run_sync(partial(restarted.end, kill=kill))
                        if not kill and code != 0:
                            told.wrong.append(f"stopped with exit code {code}")
                        await anyio.to_thread.run_sync(restarted.start_again)

            async def watch() -> None:
                while time.monotonic() < ends:
                    await anyio.sleep(min(5, 3 * minutes))
                    memory.append((time.monotonic() - began, steady.megabytes()))

            worlds.append(gitlab.project("acme/first", 10_000))
            limits = httpx2.Limits(max_connections=CLIENTS * 2)
            async with (
                httpx2.AsyncClient(timeout=90, limits=limits) as http,
                anyio.create_task_group() as tasks,
            ):
                tasks.start_soon(disturb)
                tasks.start_soon(watch)
                for number in range(CLIENTS):
                    tasks.start_soon(work, http, number)
            for replica in replicas:
                replica.end(kill=False)
            logs = "".join(replica.log for replica in replicas)
            requests = len(gitlab.requests)
    return _report(minutes, told, met, happened, memory, requests, logs)


def _report(
    minutes: float,
    told: Told,
    met: Counter[str],
    happened: Counter[str],
    memory: list[tuple[float, float]],
    requests: int,
    logs: str,
) -> int:
    def exist(things: list[tuple[World, str, str]]) -> Counter[int]:
        return Counter(KINDS[kind].count(world, name) for world, kind, name in things)

    done, not_done, unknown = exist(told.done), exist(told.not_done), exist(told.unknown)
    twice = sum(count for each in (done, not_done, unknown) for times, count in each.items() if times > 1)
    lost, hidden = done[0], sum(not_done.values()) - not_done[0]
    warm = [megabytes for seconds, megabytes in memory if seconds > 6 * minutes]
    quarter = max(1, len(warm) // 4)
    first, last = statistics.median(warm[:quarter]), statistics.median(warm[-quarter:])
    creates = sum(map(len, (told.done, told.not_done, told.unknown)))
    lines = [
        "<!-- Written by `make soak`. -->",
        "# Reliability",
        "",
        f"Measured on {datetime.now(UTC):%Y-%m-%d}, {platform.system()} on {platform.machine()} with "
        f"{os.cpu_count()} processors, Python {platform.python_version()}: {minutes:g} minutes, {CLIENTS} "
        f"clients, two servers that share a Redis, and a stand-in of GitLab that fails {FAULTY:.0%} of the time.",
        "",
        "| what was looked for | found |",
        "| --- | --: |",
        f"| things that exist twice, of {creates} creates | {twice} |",
        f"| things that a client was told are made, and do not exist, of {len(told.done)} | {lost} |",
        f"| things that a client was told are not made, and exist, of {len(told.not_done)} | {hidden} |",
        f"| deletions that one yes did twice, of {told.deleted} | {told.deleted_twice} |",
        f"| answers, and exits of a stopped server, that are not as promised | {len(told.wrong)} |",
        f"| stack traces in the logs | {logs.count('Traceback') + logs.count('INTERNAL_ERROR')} |",
        f"| memory of the server that was never restarted: first and last quarter after the warm-up | "
        f"{first:.0f} → {last:.0f} MB |",
        "",
        f"Beside the creates, {told.reads} lists were read; GitLab got {requests} requests. What GitLab did to them:",
        "",
        "| GitLab | times |",
        "| --- | --: |",
        *(f"| {what} | {times} |" for what, times in met.most_common()),
        "",
        "What else happened: " + "; ".join(f"{what} {times} times" for what, times in happened.items()) + ".",
        "",
        "How the creates ended, as told to the client. Where it was told to look first, or the server went "
        f"away, it does not know: of these {len(told.unknown)}, {unknown[1]} exist.",
        "",
        "| told | times |",
        "| --- | --: |",
        *(f"| {what} | {times} |" for what, times in told.ends.most_common()),
        "",
    ]  # fmt: skip
    page = "\n".join(lines)
    sys.stdout.write(page)
    if told.wrong:
        sys.stdout.write("\n".join(["", *told.wrong[:10], ""]))
    if minutes >= 10:
        PAGE.write_text(page)
    return 1 if twice or lost or hidden or told.deleted_twice or told.wrong or last > first + 10 else 0


def main() -> int:
    parser = argparse.ArgumentParser(description="Load with faults; figures of what was lost or done twice.")
    parser.add_argument("--minutes", type=float, default=10.0)
    return anyio.run(soaked, parser.parse_args().minutes)


if __name__ == "__main__":
    sys.exit(main())

"""Plays jobs through the server as a client starts it, over stdio, on the recorded shop that keeps what is written."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, field
from typing import Any

from mcp import Client
from mcp.client.stdio import stdio_client

from tests.journeys.everyday_jobs import Data, Job
from tests.support.chains import answer_slowly
from tests.support.process import parameters
from tests.support.standin import Received, Reply, StandIn
from tests.support.standin.shop import Shop
from tests.support.versions import OLDEST, cassettes_of


@dataclass(slots=True)
class Done:
    """A job, what it took, and what went wrong."""

    job: Job
    asked: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    requests: list[Received] = field(default_factory=list)
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Hands:
    """Makes the calls of one job."""

    client: Client
    done: Done
    gitlab: str
    beside: Any

    async def __call__(self, tool: str, action: str, /, **arguments: Any) -> Data:
        is_error, data = await self._call(tool, action, arguments)
        assert not is_error, data
        return data

    async def batch(self, *calls: tuple[str, str, Data]) -> list[Data]:
        made = [{"tool": tool, "arguments": {"action": action, **given}} for tool, action, given in calls]
        answered = (await self("run_batch", "run", calls=made))["results"]
        failed = [each for each in answered if "error" in each]
        assert not failed, failed
        return [{**each["result"], "text": each.get("text", "")} for each in answered]

    async def refused(self, tool: str, action: str, /, **arguments: Any) -> Data:
        is_error, data = await self._call(tool, action, arguments)
        assert is_error, data
        return data

    async def _call(self, tool: str, action: str, arguments: Data) -> tuple[bool, Data]:
        call = {"action": action, **arguments}
        answer = await self.client.call_tool(tool, call)
        texts = [block.text for block in answer.content if block.type == "text"]
        self.done.asked.append(json.dumps({"name": tool, "arguments": call}))
        self.done.said.append("\n".join(texts))
        return bool(answer.is_error), {**json.loads(texts[0]), "text": "\n".join(texts[1:])}


@dataclass(slots=True)
class Beside:
    """What the job at hand has beside the shop."""

    part: Any = None

    def owns(self, received: Received) -> bool:
        return self.part is not None and self.part.owns(received)

    def reply_to(self, received: Received) -> Reply:
        reply: Reply = self.part.reply_to(received)
        return reply


async def played(jobs: Iterable[Job], *, slowly: bool = False) -> AsyncIterator[Done]:
    """Each job on the shop as it was recorded, one after the other through one server a caller."""
    by_caller: dict[str, list[Job]] = {}
    for job in jobs:
        by_caller.setdefault(job.caller, []).append(job)
    with StandIn() as gitlab:
        shop, beside = Shop(cassettes_of(OLDEST)), Beside()
        gitlab.add(beside)
        gitlab.add(shop)
        if slowly:
            answer_slowly(gitlab)
        for caller, theirs in by_caller.items():
            flags = ("--toolsets", "all", "--trust", "dangerous", "--confirm", "never")
            served = stdio_client(parameters(gitlab.url, *flags, GITLAB_TOKEN=caller))
            async with Client(served) as client:
                for job in theirs:
                    shop.start_over()
                    beside.part = job.beside() if job.beside else None
                    hands = Hands(client, Done(job), gitlab.url, beside.part)
                    yield await _done(hands, gitlab, shop)


async def _done(hands: Hands, gitlab: StandIn, shop: Shop) -> Done:
    done, before = hands.done, len(gitlab.requests)
    try:
        await done.job.play(hands, shop)
        done.job.check(shop, "\n".join(done.said))
        assert not shop.unknown, f"nobody answers {shop.unknown}"
    except (AssertionError, KeyError, IndexError, TypeError, StopIteration) as problem:
        done.problem = f"{type(problem).__name__} {str(problem)[:600]}"
    done.requests = gitlab.requests[before:]
    return done

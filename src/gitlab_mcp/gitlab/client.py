"""GitLab as one caller sees it: `Upstream` is shared by all, `GitLabClient` is one caller in one call."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from threading import Lock
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import anyio
import anyio.to_thread

from gitlab_mcp.actions.exchange import Answer, Report, Request
from gitlab_mcp.callers import TokenKind
from gitlab_mcp.gitlab.address import GRAPHQL_PATH, Address, check_path, parse_address
from gitlab_mcp.gitlab.faults import (
    BadAnswer,
    GraphQLRefused,
    NoToken,
    Refused,
    Unreachable,
    Why,
    Wrong,
    may_have_happened,
)
from gitlab_mcp.gitlab.in_flight import InFlightRequest
from gitlab_mcp.gitlab.retry import Moment, pause_before_next
from gitlab_mcp.gitlab.throttling import CircuitBreaker, RateLimits

if TYPE_CHECKING:
    from requests.adapters import BaseAdapter

    from gitlab_mcp.gitlab.attempt import Attempt
    from gitlab_mcp.gitlab.python_gitlab import Dial

T = TypeVar("T")

_CONCURRENT = 64


@dataclass(frozen=True, slots=True)
class Limits:
    connect: float = 5.0
    read: float = 30.0
    """The longest silence while an answer is under way."""
    deadline: float = 50.0
    """For everything one client does together, pauses included."""
    answer: int = 8 * 1024 * 1024
    """Bytes of a JSON answer, decoded."""


@dataclass(frozen=True, slots=True)
class Timing:
    """The doors to the clock and to chance."""

    monotonic: Callable[[], float] = time.monotonic
    wall: Callable[[], float] = time.time
    sleep: Callable[[float], Awaitable[None]] = anyio.sleep
    chance: Callable[[], float] = random.random


_LIMITS = Limits()
_TIMING = Timing()


class Upstream:
    """One GitLab and the connections to it. Knows no caller."""

    def __init__(
        self,
        base_url: str,
        *,
        verify: bool | str = True,
        limits: Limits = _LIMITS,
        timing: Timing = _TIMING,
        adapter: Callable[[], BaseAdapter] | None = None,
        needs_token: bool = True,
    ) -> None:
        """`verify` may be the path of a CA file. `adapter` makes what carries requests, if not the net."""
        self.address: Address = parse_address(base_url)
        self.limits = limits
        self.timing = timing
        self.circuit = CircuitBreaker(timing.monotonic)
        self.turns = RateLimits(timing.monotonic, timing.wall)
        self._needs_token = needs_token
        self._verify = verify
        self._adapter = adapter
        self._opening = Lock()
        self._dial: Dial | None = None
        self._limiter: anyio.CapacityLimiter | None = None

    def as_caller(
        self,
        token: str | None,
        *,
        kind: TokenKind = "private",
        report: Report | None = None,
        deadline: float | None = None,
    ) -> GitLabClient:
        """A client for one call: everything it does must be done `deadline` seconds from now."""
        if self._needs_token and not token:
            raise NoToken
        if token and not re.fullmatch(r"[!-~]+", token):
            raise ValueError("a token holds characters that no header can carry")
        return GitLabClient(self, Credentials(token or None, kind), report, deadline or self.limits.deadline)

    @property
    def limiter(self) -> anyio.CapacityLimiter:
        if self._limiter is None:
            self._limiter = anyio.CapacityLimiter(_CONCURRENT)
        return self._limiter

    def dial(self) -> Dial:
        """For a worker thread: the HTTP libraries are slow to import, and listing the tools needs none."""
        with self._opening:
            if self._dial is None:
                from gitlab_mcp.gitlab.python_gitlab import Dial
                from gitlab_mcp.gitlab.transport import LiveAdapter, open_session

                session = open_session((self._adapter or LiveAdapter)(), self._verify)
                self._dial = Dial(self.address, session, self._verify, self.limits.connect, self.limits.read)
            return self._dial

    def close(self) -> None:
        with self._opening:
            if self._dial is not None:
                self._dial.session.close()
                self._dial = None


@dataclass(frozen=True, slots=True)
class Credentials:
    token: str | None
    kind: TokenKind


@dataclass(frozen=True, slots=True)
class _Plan(Generic[T]):
    """A request and how its answer is read; `gone`: what a 404 means once it may have been carried out."""

    request: Request
    reads: bool
    perform: Callable[[Attempt], T]
    gone: Callable[[Refused], T] | None = None


class GitLabClient:
    """Implements `core.exchange.GitLab`."""

    def __init__(
        self, upstream: Upstream, caller: Credentials, report: Report | None, deadline: float
    ) -> None:
        self._upstream = upstream
        self._caller = caller
        self._report = report
        self._ends = upstream.timing.monotonic() + deadline
        self.abandoned: tuple[Request, ...] = ()
        """Writes that were under way when the waiting ended: what they did is not known."""

    @property
    def base_url(self) -> str:
        return self._upstream.address.root

    def report(self, done: float, total: float | None = None, what: str = "") -> None:
        if self._report is not None:
            self._report(done, total, what)

    def afresh(self, seconds: float) -> GitLabClient:
        return GitLabClient(self._upstream, self._caller, self._report, seconds)

    async def send(self, request: Request) -> Answer:
        check_path(request.path)
        gone = _already_gone if request.method == "DELETE" else None
        return await self._persist(_Plan(request, request.reads, lambda attempt: attempt.answer(), gone))

    async def get(self, path: str, **query: Any) -> Answer:
        return await self.send(Request("GET", path, query))

    async def stream(self, request: Request, read: Callable[[Iterator[bytes], Mapping[str, str]], T]) -> T:
        """`read` begins anew when the connection breaks half-way: it must keep nothing outside itself."""
        check_path(request.path)
        return await self._persist(_Plan(request, request.reads, lambda attempt: attempt.stream(read)))

    async def graphql(self, document: str, variables: Mapping[str, Any] | None = None) -> Mapping[str, Any]:
        # The word anywhere is enough: a query that mentions it is merely not asked twice.
        reads = re.search(r"\bmutation\b", document) is None
        body = {"query": document, "variables": dict(variables or {})}
        request = Request("POST", GRAPHQL_PATH, body=body, repeatable=reads)
        answer = await self._persist(_Plan(request, reads, lambda attempt: attempt.answer()))
        told = answer.body if isinstance(answer.body, dict) else {}
        if told.get("errors"):
            raise GraphQLRefused(request, tuple(told["errors"]))
        data = told.get("data")
        if not isinstance(data, dict):
            raise BadAnswer(request, Wrong.NOT_JSON, answer.status)
        return data

    async def _persist(self, plan: _Plan[T]) -> T:
        """Try until there is an answer, a final fault, or no time."""
        timing = self._upstream.timing
        await self._wait_for_turn(plan.request)
        happened = False
        attempt = 0
        while True:
            attempt += 1
            try:
                return self._noted(await self._attempt(plan))
            except (Refused, Unreachable, BadAnswer) as fault:
                self._note(fault)
                if plan.gone is not None and happened and isinstance(fault, Refused) and fault.status == 404:
                    return plan.gone(fault)
                happened = happened or may_have_happened(fault)
                left = self._ends - timing.monotonic()
                moment = Moment(plan.reads, attempt, left, timing.wall(), timing.chance())
                pause = pause_before_next(fault, moment)
                if pause is None:
                    if isinstance(fault, Unreachable):
                        raise replace(fault, sent=happened, attempts=attempt) from fault.__cause__
                    raise
            await timing.sleep(pause)

    async def _wait_for_turn(self, request: Request) -> None:
        upstream = self._upstream
        upstream.circuit.admit(upstream.address.host)
        left = self._ends - upstream.timing.monotonic()
        if wait := upstream.turns.wait(self._caller.token, request, left):
            await upstream.timing.sleep(wait)

    def _noted(self, answer: T) -> T:
        self._upstream.circuit.answered()
        if isinstance(answer, Answer):
            self._upstream.turns.answered(self._caller.token, answer.headers)
        return answer

    def _note(self, fault: Refused | Unreachable | BadAnswer) -> None:
        self._upstream.circuit.failed(fault)
        if isinstance(fault, Refused):
            self._upstream.turns.refused(self._caller.token, fault)

    async def _attempt(self, plan: _Plan[T]) -> T:
        exchange = InFlightRequest()

        def work() -> T:
            from gitlab_mcp.gitlab.attempt import Attempt

            caller, largest = self._caller, self._upstream.limits.answer
            return plan.perform(
                Attempt(self._upstream.dial(), caller.token, caller.kind, plan.request, exchange, largest)
            )

        left = self._ends - self._upstream.timing.monotonic()
        with anyio.move_on_after(left):
            try:
                return await anyio.to_thread.run_sync(
                    work, abandon_on_cancel=True, limiter=self._upstream.limiter
                )
            except anyio.get_cancelled_exc_class():
                exchange.abort()
                if exchange.sent and not plan.reads:
                    self.abandoned = (*self.abandoned, plan.request)
                raise
        raise Unreachable(plan.request, Why.DEADLINE, self._upstream.address.host, exchange.sent)


def _already_gone(refused: Refused) -> Answer:
    return Answer(204, refused.headers, recovered=True)

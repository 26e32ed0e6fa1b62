"""The client of GitLab. All callers share an `Upstream`; a `GitLabClient` serves one caller in one call."""

from __future__ import annotations

import random
import re
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from threading import Lock
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import anyio
import anyio.to_thread

from gitlab_mcp.actions.exchange import Answer, Report, Request
from gitlab_mcp.callers import TokenKind
from gitlab_mcp.gitlab.address import GRAPHQL_PATH, Address, check_path, parse_address
from gitlab_mcp.gitlab.fair_slots import FairSlots, Shares
from gitlab_mcp.gitlab.faults import (
    AttemptFault,
    BadAnswer,
    BadAnswerReason,
    GraphQLRefused,
    NoToken,
    Refused,
    Unreachable,
    UnreachableReason,
    may_have_happened,
)
from gitlab_mcp.gitlab.graphql import is_mutation
from gitlab_mcp.gitlab.in_flight import InFlightRequest
from gitlab_mcp.gitlab.progress import Progress
from gitlab_mcp.gitlab.request_spans import answered, request_span
from gitlab_mcp.gitlab.retry import RetryState, seconds_before_retry
from gitlab_mcp.gitlab.throttling import CircuitBreaker, RateLimits, caller_key
from gitlab_mcp.spans import Spans, unheard

if TYPE_CHECKING:
    from requests.adapters import BaseAdapter

    from gitlab_mcp.gitlab.attempt import Attempt
    from gitlab_mcp.gitlab.python_gitlab import HttpSession

T = TypeVar("T")

_REQUESTS_AT_ONCE = Shares(total=64, kept_free=16, least=4, beside_others=4)
_SHOWS_THE_USER = {"/user": "id", "/personal_access_tokens/self": "user_id"}
"""The member of these answers that is the number of the caller."""
_MAX_USERS = 1000
_MAX_ANSWER_BYTES = 8 * 1024 * 1024
"""Of a JSON answer, decompressed."""


@dataclass(frozen=True, slots=True)
class Timeouts:
    """In seconds. No defaults: the settings state them."""

    connect: float
    read: float
    """The longest time without a byte while an answer is read."""
    deadline: float
    """For all requests of one client together, pauses included."""


@dataclass(frozen=True, slots=True)
class Clock:
    """Time and randomness, so that tests can replace them."""

    monotonic: Callable[[], float] = time.monotonic
    wall: Callable[[], float] = time.time
    sleep: Callable[[float], Awaitable[None]] = anyio.sleep
    random: Callable[[], float] = random.random


_CLOCK = Clock()


class Upstream:
    """One GitLab and the connections to it. Holds nothing of any caller but limits, and its number in GitLab."""

    def __init__(
        self,
        base_url: str,
        timeouts: Timeouts,
        *,
        verify: bool | str = True,
        clock: Clock = _CLOCK,
        adapter: Callable[[], BaseAdapter] | None = None,
        needs_token: bool = True,
        max_answer_bytes: int = _MAX_ANSWER_BYTES,
        spans: Spans = unheard,
    ) -> None:
        """`verify` may be the path of a CA file. `adapter` makes the adapter that sends requests, if it is not to be
        the network."""
        self.address: Address = parse_address(base_url)
        self.timeouts = timeouts
        self.spans = spans
        self.max_answer_bytes = max_answer_bytes
        self.clock = clock
        self.circuit_breaker = CircuitBreaker(clock.monotonic)
        self.rate_limits = RateLimits(clock.monotonic, clock.wall)
        self.user_ids: OrderedDict[str, int] = OrderedDict()
        """By caller, as far as an answer has shown it."""
        self._needs_token = needs_token
        self._verify = verify
        self._adapter = adapter
        self._http_lock = Lock()
        self._http: HttpSession | None = None
        self.slots = FairSlots(_REQUESTS_AT_ONCE, clock.monotonic)
        self._threads: anyio.CapacityLimiter | None = None

    def as_caller(
        self,
        token: str | None,
        *,
        kind: TokenKind = "private",
        report: Report | None = None,
        deadline: float | None = None,
    ) -> GitLabClient:
        """A client for one call. All its requests must be answered within `deadline` seconds from now."""
        if self._needs_token and not token:
            raise NoToken
        if token and not re.fullmatch(r"[!-~]+", token):
            raise ValueError("a token holds characters that no header can carry")
        credentials = Credentials(token or None, kind)
        return GitLabClient(self, credentials, Progress(report), deadline or self.timeouts.deadline)

    @property
    def threads(self) -> anyio.CapacityLimiter:
        """One for each slot: nobody waits here."""
        if self._threads is None:
            self._threads = anyio.CapacityLimiter(_REQUESTS_AT_ONCE.total)
        return self._threads

    def http(self) -> HttpSession:
        """The shared session, opened on first use. To be called in a worker thread: importing the HTTP libraries is
        slow, and listing the tools does not need them."""
        with self._http_lock:
            if self._http is None:
                from gitlab_mcp.gitlab.python_gitlab import HttpSession
                from gitlab_mcp.gitlab.transport import LiveAdapter, open_session

                session = open_session((self._adapter or LiveAdapter)(), self._verify)
                timeouts = self.timeouts
                self._http = HttpSession(self.address, session, self._verify, timeouts.connect, timeouts.read)
            return self._http

    def close(self) -> None:
        with self._http_lock:
            if self._http is not None:
                self._http.requests_session.close()
                self._http = None


@dataclass(frozen=True, slots=True)
class Credentials:
    token: str | None
    kind: TokenKind


@dataclass(frozen=True, slots=True)
class _Operation(Generic[T]):
    """A request and how its answer is read."""

    request: Request
    only_reads: bool
    perform: Callable[[Attempt], T]
    if_already_done: Callable[[Refused], T] | None = None
    """What to answer when a retry gets a 404 because an earlier attempt may have succeeded."""


class GitLabClient:
    """Implements `actions.exchange.GitLab`."""

    def __init__(
        self, upstream: Upstream, credentials: Credentials, progress: Progress, deadline: float
    ) -> None:
        self._upstream = upstream
        self._credentials = credentials
        self._caller = caller_key(credentials.token)
        self._progress = progress
        self._ends = upstream.clock.monotonic() + deadline

    @property
    def user_id(self) -> int | None:
        """GitLab's number of the caller. None where no answer has shown it yet."""
        return self._upstream.user_ids.get(self._caller)

    @property
    def base_url(self) -> str:
        return self._upstream.address.root

    def report(self, done: float, total: float | None = None, what: str = "") -> None:
        self._progress.steps(done, total, what)

    def with_deadline(self, seconds: float) -> GitLabClient:
        return GitLabClient(self._upstream, self._credentials, self._progress, seconds)

    @property
    def today(self) -> date:
        return datetime.fromtimestamp(self._upstream.clock.wall(), UTC).date()

    @property
    def seconds_left(self) -> float:
        return self._ends - self._upstream.clock.monotonic()

    async def pause(self, seconds: float) -> bool:
        if self.seconds_left < seconds + self._upstream.timeouts.connect:
            return False
        await self._upstream.clock.sleep(seconds)
        return True

    async def send(self, request: Request) -> Answer:
        check_path(request.path)
        return await self._send_with_retries(
            _Operation(
                request,
                request.reads,
                lambda attempt: attempt.answer(),
                _already_deleted if request.method == "DELETE" else None,
            )
        )

    async def get(self, path: str, **query: Any) -> Answer:
        return await self.send(Request("GET", path, query))

    async def stream(self, request: Request, read: Callable[[Iterator[bytes], Mapping[str, str]], T]) -> T:
        """`read` is called again when the connection breaks in the middle, so it must not keep state outside itself."""
        check_path(request.path)

        def read_counted(chunks: Iterator[bytes], headers: Mapping[str, str]) -> T:
            return read(self._progress.counted(chunks, headers), headers)

        return await self._send_with_retries(
            _Operation(request, request.reads, lambda attempt: attempt.stream(read_counted))
        )

    async def graphql(self, document: str, variables: Mapping[str, Any] | None = None) -> Mapping[str, Any]:
        only_reads = not is_mutation(document)
        body = {"query": document, "variables": dict(variables or {})}
        request = Request("POST", GRAPHQL_PATH, body=body, repeatable=only_reads)
        answer = await self._send_with_retries(
            _Operation(request, only_reads, lambda attempt: attempt.answer())
        )
        payload = answer.body if isinstance(answer.body, dict) else {}
        if errors := payload.get("errors"):
            if not isinstance(errors, list) or not all(isinstance(error, dict) for error in errors):
                raise BadAnswer(request, BadAnswerReason.UNEXPECTED_SHAPE, answer.status)
            raise GraphQLRefused(request, tuple(errors))
        data = payload.get("data")
        if not isinstance(data, dict):
            raise BadAnswer(request, BadAnswerReason.NOT_JSON, answer.status)
        return data

    async def _send_with_retries(self, operation: _Operation[T]) -> T:
        self._progress.request_begins()
        try:
            return await self._retry(operation)
        finally:
            self._progress.request_ends(operation.request)

    async def _retry(self, operation: _Operation[T]) -> T:
        upstream = self._upstream
        clock = upstream.clock
        await self._wait_until_allowed(operation.request)
        may_be_done = False
        attempt = 0
        while True:
            attempt += 1
            try:
                with request_span(upstream.spans, upstream.address, operation.request, attempt) as span:
                    answer = await self._attempt(operation)
                    span.note(answered(answer))
                return self._record_answer(operation.request, answer)
            except (Refused, Unreachable, BadAnswer) as fault:
                self._record_fault(fault)
                already_done = operation.if_already_done if may_be_done else None
                if already_done is not None and isinstance(fault, Refused) and fault.status == 404:
                    return already_done(fault)
                may_be_done = may_be_done or may_have_happened(fault)
                state = RetryState(
                    operation.only_reads, attempt, self.seconds_left, clock.wall(), clock.random()
                )
                pause = seconds_before_retry(fault, state)
                if pause is None:
                    if isinstance(fault, Unreachable):
                        raise replace(fault, sent=may_be_done, attempts=attempt) from fault.__cause__
                    raise
            await clock.sleep(pause)

    async def _wait_until_allowed(self, request: Request) -> None:
        upstream = self._upstream
        upstream.circuit_breaker.raise_if_open(upstream.address.host, self._caller, request)
        seconds = upstream.rate_limits.seconds_to_wait(self._caller, request, self.seconds_left)
        if seconds:
            await upstream.clock.sleep(seconds)

    def _record_answer(self, request: Request, answer: T) -> T:
        self._upstream.circuit_breaker.record_answer(self._caller, request)
        if isinstance(answer, Answer):
            self._upstream.rate_limits.record_answer(self._caller, answer.headers)
            self._learn_user_id(request, answer.body)
        return answer

    def _learn_user_id(self, request: Request, body: Any) -> None:
        member = _SHOWS_THE_USER.get(request.path)
        id = body.get(member) if member and isinstance(body, dict) else None
        if request.reads and isinstance(id, int):
            known = self._upstream.user_ids
            known[self._caller] = id
            known.move_to_end(self._caller)
            if len(known) > _MAX_USERS:
                known.popitem(last=False)

    def _record_fault(self, fault: AttemptFault) -> None:
        self._upstream.circuit_breaker.record_fault(self._caller, fault)
        if isinstance(fault, Refused):
            self._upstream.rate_limits.record_refusal(self._caller, fault)

    async def _attempt(self, operation: _Operation[T]) -> T:
        upstream, credentials = self._upstream, self._credentials
        in_flight = InFlightRequest()

        def perform() -> T:
            from gitlab_mcp.gitlab.attempt import Attempt

            return operation.perform(
                Attempt(
                    upstream.http(),
                    credentials.token,
                    credentials.kind,
                    operation.request,
                    in_flight,
                    upstream.max_answer_bytes,
                )
            )

        with anyio.move_on_after(self.seconds_left):
            try:
                async with upstream.slots.slot(self._caller):
                    return await anyio.to_thread.run_sync(
                        perform, abandon_on_cancel=True, limiter=upstream.threads
                    )
            except anyio.get_cancelled_exc_class():
                in_flight.abort()
                raise
        raise Unreachable(
            operation.request, UnreachableReason.DEADLINE, upstream.address.host, in_flight.sent
        )


def _already_deleted(refused: Refused) -> Answer:
    return Answer(204, refused.headers, recovered=True)

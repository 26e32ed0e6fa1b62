"""The client of GitLab. All callers share an `Upstream`; a `GitLabClient` serves one caller in one call."""

from __future__ import annotations

import asyncio
import random
import re
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from threading import Lock
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from urllib.parse import urlencode

import anyio

from gitlab_mcp.actions.exchange import Answer, Report, Request
from gitlab_mcp.actions.memory import held_answers
from gitlab_mcp.callers import Token, TokenKind
from gitlab_mcp.failures.secret_text import hide_too
from gitlab_mcp.gitlab.address import GRAPHQL_PATH, Address, check_path, parse_address, query_pairs
from gitlab_mcp.gitlab.equal_reads import KeptAnswers, ReadsUnderWay
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
from gitlab_mcp.gitlab.threads import Threads
from gitlab_mcp.gitlab.throttling import CircuitBreaker, RateLimits, caller_key
from gitlab_mcp.spans import Spans, unheard

if TYPE_CHECKING:
    from gitlab_mcp.gitlab.attempt import Attempt
    from gitlab_mcp.gitlab.python_gitlab import HttpSession
    from gitlab_mcp.gitlab.transport import Adapter

T = TypeVar("T")
Renew = Callable[[str], Awaitable[Token | None]]
"""Gives another token than this one, which GitLab has refused; None where there is none."""

_REQUESTS_AT_ONCE = Shares(total=64, kept_free=16, least=4, beside_others=4)
_SHOWS_THE_USER = {"/user": "id", "/personal_access_tokens/self": "user_id"}
"""The member of these answers that is the number of the caller."""
_MAX_USERS = 1000
_KEPT_SECONDS = 60.0
"""How long an answer is kept to ask whether it is still the same: longer than the pauses of a call that waits."""
_SECRETS = re.compile(r"/(variables|triggers|\w+_tokens)\b")
"""What is at these paths is not kept for a minute to save some bytes."""
_MOST_KEPT = 500
_MOST_KEPT_BYTES = 4 * 1024 * 1024
_NOT_MODIFIED = 304
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
    """One GitLab and the connections to it. Holds nothing of any caller but limits, its number in GitLab, and for a
    while what it has read, by a hash of its token."""

    def __init__(
        self,
        base_url: str,
        timeouts: Timeouts,
        *,
        verify: bool | str = True,
        clock: Clock = _CLOCK,
        adapter: Callable[[], Adapter] | None = None,
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
        self.under_way = ReadsUnderWay()
        # A recording holds each answer by itself, whatever was read before or at the same time.
        self.kept_answers = None if adapter else KeptAnswers(_MOST_KEPT, _MOST_KEPT_BYTES, clock.monotonic)
        self._needs_token = needs_token
        self._verify = verify
        self._adapter = adapter
        self._http_lock = Lock()
        self._http: HttpSession | None = None
        self.slots = FairSlots(_REQUESTS_AT_ONCE, clock.monotonic)
        self._threads = Threads()

    def as_caller(
        self,
        token: str | None,
        *,
        kind: TokenKind = "private",
        report: Report | None = None,
        deadline: float | None = None,
        renew: Renew | None = None,
    ) -> GitLabClient:
        """A client for one call. All its requests must be answered within `deadline` seconds from now. Where GitLab
        says that the token has ended, the request is sent once more with what `renew` gives."""
        if self._needs_token and not token:
            raise NoToken
        if token and not re.fullmatch(r"[!-~]+", token):
            raise ValueError("a token holds characters that no header can carry")
        credentials = Credentials(token or None, kind, renew)
        return GitLabClient(self, credentials, Progress(report), deadline or self.timeouts.deadline)

    def http(self) -> HttpSession:
        """The shared session, opened on first use. To be called in a worker thread: importing the HTTP libraries is
        slow, and listing the tools does not need them."""
        with self._http_lock:
            if self._http is None:
                from urllib3 import Timeout

                from gitlab_mcp.gitlab.python_gitlab import HttpSession
                from gitlab_mcp.gitlab.transport import LiveAdapter

                timeout = Timeout(connect=self.timeouts.connect, read=self.timeouts.read)
                adapter = (self._adapter or LiveAdapter)()
                self._http = HttpSession(self.address, adapter, timeout, self._verify)
            return self._http

    async def in_a_slot(self, caller: str, work: Callable[[], T]) -> T:
        """Do what blocks, as soon as the caller may have one more request under way."""
        async with self.slots.slot(caller):
            return await self._threads.run(work)

    def close(self) -> None:
        self._threads.close()
        with self._http_lock:
            if self._http is not None:
                self._http.adapter.close()
                self._http = None


@dataclass(frozen=True, slots=True)
class Credentials:
    token: str | None
    kind: TokenKind
    renew: Renew | None = None


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
        if request.reads:
            return await self._read(request)
        already_deleted = _already_deleted if request.method == "DELETE" else None
        operation = _Operation(request, False, lambda attempt: attempt.answer(), already_deleted)
        return await self._write(operation)

    async def _read(self, request: Request) -> Answer:
        """An equal read of the same caller is sent once while it is under way, and on condition for a while after."""
        kept_answers = self._upstream.kept_answers
        if kept_answers is None:
            return await self._send_with_retries(_Operation(request, True, lambda attempt: attempt.answer()))
        query = urlencode(query_pairs(request.query))
        key = (self._caller, self._credentials.kind, request.method, request.path, query)
        answer: Answer = await self._upstream.under_way.once(
            key, lambda: self._read_on_condition(request, key, kept_answers), self.seconds_left
        )
        with held_answers() as held:
            # Also where another call has read it.
            held.note(request, answer.status)
        return answer

    async def _read_on_condition(
        self, request: Request, key: tuple[str, ...], kept_answers: KeptAnswers
    ) -> Answer:
        kept: Answer | None = kept_answers.get(key)
        unless = kept.headers["etag"] if kept is not None else None
        operation = _Operation(request, True, lambda attempt: attempt.answer(unless))
        answer = await self._send_with_retries(operation)
        if kept is not None and answer.status == _NOT_MODIFIED:
            answer = replace(kept, headers={**kept.headers, **answer.headers})
        if "etag" in answer.headers and not _SECRETS.search(request.path):
            kept_answers.keep(key, _KEPT_SECONDS, answer)
        return answer

    async def _write(self, operation: _Operation[T]) -> T:
        try:
            return await self._send_with_retries(operation)
        finally:
            self._upstream.under_way.join_no_more(self._caller)

    async def get(self, path: str, **query: Any) -> Answer:
        return await self.send(Request("GET", path, query))

    async def stream(self, request: Request, read: Callable[[Iterator[bytes], Mapping[str, str]], T]) -> T:
        """`read` is called again when the connection breaks in the middle, so it must not keep state outside itself."""
        check_path(request.path)

        in_loop = asyncio.get_running_loop().call_soon_threadsafe

        def read_counted(chunks: Iterator[bytes], headers: Mapping[str, str]) -> T:
            return read(self._progress.counted(chunks, headers, in_loop), headers)

        operation = _Operation(request, request.reads, lambda attempt: attempt.stream(read_counted))
        return await (self._send_with_retries(operation) if request.reads else self._write(operation))

    async def graphql(self, document: str, variables: Mapping[str, Any] | None = None) -> Mapping[str, Any]:
        only_reads = not is_mutation(document)
        body = {"query": document, "variables": dict(variables or {})}
        request = Request("POST", GRAPHQL_PATH, body=body, repeatable=only_reads)
        operation = _Operation(request, only_reads, lambda attempt: attempt.answer())
        answer = await (self._send_with_retries(operation) if only_reads else self._write(operation))
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
        is_renewed = False
        while True:
            attempt += 1
            try:
                with request_span(upstream.spans, upstream.address, operation.request, attempt) as span:
                    answer = await self._attempt(operation)
                    span.note(answered(answer))
                return self._record_answer(operation.request, answer)
            except (Refused, Unreachable, BadAnswer) as fault:
                self._record_fault(fault)
                if not is_renewed and isinstance(fault, Refused) and await self._renewed(fault):
                    # Whom GitLab does not know, nothing was done for.
                    is_renewed = True
                    continue
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

    async def _renewed(self, refused: Refused) -> bool:
        """Whether there is another token now."""
        used = self._credentials
        if used.renew is None or used.token is None or not refused.ends_the_token:
            return False
        token = await used.renew(used.token)
        if token is None:
            return False
        hide_too(token.value.reveal())
        self._credentials = Credentials(token.value.reveal(), token.kind, used.renew)
        self._caller = caller_key(self._credentials.token)
        return True

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
                return await upstream.in_a_slot(self._caller, perform)
            except anyio.get_cancelled_exc_class():
                in_flight.abort()
                raise
        raise Unreachable(
            operation.request, UnreachableReason.DEADLINE, upstream.address.host, in_flight.sent
        )


def _already_deleted(refused: Refused) -> Answer:
    return Answer(204, refused.headers, recovered=True)

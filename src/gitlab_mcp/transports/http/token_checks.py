"""Which tokens GitLab knows; and how many that it does not know one address may bring.

A bearer is checked with GitLab before its request is read, so that a client whose token is dead signs in again. Other
tokens are not: the first call says what is wrong with them. Nobody may make GitLab busy with tokens that are made up,
of either kind: each costs the address that brings it something of an allowance, and without any left it is refused
before GitLab hears of it. Tokens that GitLab accepted are not concerned.

Only hashes of tokens are kept, and of each kind a limited number.
"""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Final, Generic, TypeVar

import anyio

from gitlab_mcp.callers import CallerKey, RequestContext
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import Failure
from gitlab_mcp.observability.outcome import Outcome
from gitlab_mcp.transports.http.authentication import token_not_accepted
from gitlab_mcp.transports.http.rejection import Rejected

_BELIEVED_SECONDS: Final = 60.0
"""How long GitLab's word on a token is believed."""
_ALLOWANCE: Final = 100
_SECONDS_FOR_ONE: Final = 1.0
"""After which an address may bring one more."""
_REMEMBERED: Final = 10_000
_CHECKS_AT_ONCE: Final = 16
_PATIENCE_SECONDS: Final = 5.0

T = TypeVar("T")


class TokenChecks:
    def __init__(
        self,
        is_accepted: Callable[[RequestContext], Awaitable[bool | None]],
        url: str,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`is_accepted` asks GitLab, and gives None where it does not say. `url` is the GitLab of most requests."""
        self._is_accepted = is_accepted
        self._url = url
        self._clock = clock
        self._answers: _Recent[tuple[bool, float]] = _Recent()
        """GitLab's word on a token in the header it came in, and until when it is believed."""
        self._seen: _Recent[bool] = _Recent()
        """The tokens that were here before. False: GitLab did not accept it when it was last used."""
        self._allowances: _Recent[tuple[float, float]] = _Recent()
        """What was left to an address, and when."""
        self._locks: dict[str, anyio.Lock] = {}
        self._room = anyio.CapacityLimiter(_CHECKS_AT_ONCE)

    async def check(self, request_context: RequestContext, address: str, challenge: str) -> None:
        """Raises Rejected for a token that GitLab does not accept, or that the address may not bring now."""
        token = request_context.token
        if token is None:
            return
        key = CallerKey(token.holder, request_context.gitlab_url or self._url).digest
        asked = f"{token.kind} {key}"
        accepted = self._answer(asked)
        if accepted is None and not self._seen.get(key):
            self._spend(address)
            self._seen.put(key, True)
        if accepted is None and token.kind == "bearer":
            accepted = await self._ask(asked, request_context)
            self._seen.put(key, accepted is not False)
            if accepted:
                self._refund(address)
        if accepted is False:
            raise token_not_accepted(challenge)

    def hear(self, outcome: Outcome) -> None:
        """How a call ended. A token that GitLab refused must be paid for again."""
        key = outcome.caller.digest if outcome.caller is not None else ""
        if self._seen.get(key) is not None:
            refused = outcome.failure is not None and outcome.failure.code is Code.AUTHENTICATION_FAILED
            self._seen.put(key, not refused)

    def _answer(self, key: str) -> bool | None:
        accepted, until = self._answers.get(key) or (None, 0.0)
        return accepted if self._clock() < until else None

    async def _ask(self, key: str, request_context: RequestContext) -> bool | None:
        lock = self._locks.setdefault(key, anyio.Lock())
        accepted: bool | None = None
        try:
            with anyio.move_on_after(_PATIENCE_SECONDS):
                # Requests with the same token wait for one answer.
                async with lock:
                    accepted = self._answer(key)
                    if accepted is None:
                        async with self._room:
                            accepted = await self._is_accepted(request_context)
                        if accepted is not None:
                            self._answers.put(key, (accepted, self._clock() + _BELIEVED_SECONDS))
        finally:
            if not lock.locked():
                self._locks.pop(key, None)
        return accepted

    def _spend(self, address: str) -> None:
        left = self._left(address)
        if left < 1:
            raise Rejected(_too_many_tokens(math.ceil((1 - left) * _SECONDS_FOR_ONE)), 429)
        self._allowances.put(address, (left - 1, self._clock()))

    def _refund(self, address: str) -> None:
        self._allowances.put(address, (min(self._left(address) + 1, _ALLOWANCE), self._clock()))

    def _left(self, address: str) -> float:
        left, when = self._allowances.get(address) or (_ALLOWANCE, self._clock())
        return min(left + (self._clock() - when) / _SECONDS_FOR_ONE, _ALLOWANCE)


class _Recent(Generic[T]):
    """The last so many entries."""

    def __init__(self) -> None:
        self._entries: OrderedDict[str, T] = OrderedDict()

    def get(self, key: str) -> T | None:
        return self._entries.get(key)

    def put(self, key: str, value: T) -> None:
        self._entries[key] = value
        self._entries.move_to_end(key)
        if len(self._entries) > _REMEMBERED:
            self._entries.popitem(last=False)


def _too_many_tokens(seconds: int) -> Failure:
    return Failure(
        Code.BUSY,
        "Your address has brought too many tokens that are new here or that GitLab does not accept.",
    ).knowing(
        limit=_ALLOWANCE,
        limit_type="unknown_tokens_per_address",
        retry_after_seconds=seconds,
        suggested_fix="Send a token that GitLab accepts, after the time in retry_after_seconds.",
    )

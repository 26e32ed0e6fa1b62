"""Rate limits and circuit breaker: when a request to GitLab has to wait, and when none is sent at all."""

from __future__ import annotations

import hashlib
import math
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from gitlab_mcp.actions.exchange import Request
from gitlab_mcp.gitlab.faults import AttemptFault, CircuitOpen, Refused, Unreachable, UnreachableReason
from gitlab_mcp.gitlab.retry import retry_after_seconds

_MAX_RETRY_AFTER: Final = 3600.0
"""A longer Retry-After is ignored: it is a mistake, or a block that only a person can lift."""
_MAX_RESET_WAIT: Final = 60.0
"""A RateLimit-Reset further away is ignored."""
_MAX_TOKENS: Final = 1000
_UNAVAILABLE_STATUSES: Final = frozenset({502, 503, 504})


class RateLimits:
    """Until when each token is rate limited. GitLab counts by token, so all calls with one token wait together."""

    def __init__(self, monotonic: Callable[[], float], wall: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._wall = wall
        self._limited: OrderedDict[str, tuple[float, Refused | None]] = OrderedDict()
        """By token: when the limit ends, and the 429 that announced it."""

    def seconds_to_wait(self, token: str | None, request: Request, seconds_left: float) -> float:
        """How long this request has to wait. Raises the 429 that GitLab sent if there is not enough time left."""
        ends, refusal = self._limited.get(_key(token), (0.0, None))
        seconds = ends - self._monotonic()
        if seconds <= 0:
            return 0.0
        if seconds + 1 <= seconds_left:
            return seconds
        if refusal is None:
            # GitLab has only announced the limit. It may still let this request through.
            return 0.0
        headers = {**refusal.headers, "retry-after": str(math.ceil(seconds))}
        raise replace(refusal, request=request, headers=headers)

    def record_refusal(self, token: str | None, refusal: Refused) -> None:
        if refusal.status == 429:
            self._limit(token, retry_after_seconds(refusal.headers, self._wall()), refusal)

    def record_answer(self, token: str | None, headers: Mapping[str, str]) -> None:
        """If this was the last request of the window, the next one has to wait."""
        reset = headers.get("ratelimit-reset", "")
        if headers.get("ratelimit-remaining") == "0" and reset.isascii() and reset.isdigit():
            seconds = int(reset[:12]) - self._wall()
            self._limit(token, seconds if seconds <= _MAX_RESET_WAIT else None, None)

    def _limit(self, token: str | None, seconds: float | None, refusal: Refused | None) -> None:
        if seconds is None or not 0 < seconds <= _MAX_RETRY_AFTER:
            return
        key = _key(token)
        ends = max(self._monotonic() + seconds, self._limited.get(key, (0.0, None))[0])
        self._limited[key] = (ends, refusal.with_traceback(None) if refusal else None)
        self._limited.move_to_end(key)
        if len(self._limited) > _MAX_TOKENS:
            self._limited.popitem(last=False)


class CircuitBreaker:
    """Opens when GitLab was unavailable several times in a row. While it is open, one request in `open_seconds` is
    let through to try."""

    def __init__(
        self, monotonic: Callable[[], float], *, max_failures: int = 10, open_seconds: float = 15.0
    ) -> None:
        self._monotonic = monotonic
        self._max_failures = max_failures
        self._open_seconds = open_seconds
        self._failures = 0
        self._open_until = 0.0
        self._last_failure = ""

    def raise_if_open(self, host: str) -> None:
        if self._failures < self._max_failures:
            return
        now = self._monotonic()
        if now < self._open_until:
            raise CircuitOpen(host, self._open_until - now, self._failures, self._last_failure)
        # This request is the trial. The others are refused until its outcome is known.
        self._open_until = now + self._open_seconds

    def record_answer(self) -> None:
        self._failures = 0

    def record_fault(self, fault: AttemptFault) -> None:
        match fault:
            case Refused() if fault.status not in _UNAVAILABLE_STATUSES:
                self.record_answer()
            case Refused():
                self._count(f"status {fault.status}")
            case Unreachable() if fault.reason not in (UnreachableReason.DEADLINE, UnreachableReason.LOST):
                self._count(str(fault.reason))
            case _:
                # A proxy's page, a broken connection or our own deadline do not show that GitLab is unavailable.
                pass

    def _count(self, failure: str) -> None:
        self._failures += 1
        self._last_failure = failure
        if self._failures >= self._max_failures:
            self._open_until = self._monotonic() + self._open_seconds


def _key(token: str | None) -> str:
    return hashlib.sha256((token or "").encode()).hexdigest()

"""What GitLab asked for, granted by all who speak to it: to wait a while, or to be left alone until it recovers."""

from __future__ import annotations

import hashlib
import math
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from gitlab_mcp.actions.exchange import Request
from gitlab_mcp.gitlab.faults import BadAnswer, Paused, Refused, Unreachable, Why
from gitlab_mcp.gitlab.retry import asked_to_wait

_LONGEST: Final = 3600.0
"""What asks for more than an hour is broken, or wants a person."""
_SOON: Final = 60.0
_CALLERS: Final = 1000
_AWAY: Final = frozenset({502, 503, 504})


class RateLimits:
    """When each token may speak again. GitLab counts by token, so what one caller was told holds for all of them."""

    def __init__(self, monotonic: Callable[[], float], wall: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._wall = wall
        self._until: OrderedDict[str, tuple[float, Refused | None]] = OrderedDict()

    def wait(self, token: str | None, request: Request, left: float) -> float:
        """The seconds to wait first. Raises GitLab's own refusal where they do not fit into what is left."""
        ends, told = self._until.get(_key(token), (0.0, None))
        seconds = ends - self._monotonic()
        if seconds <= 0:
            return 0.0
        if seconds + 1 <= left:
            return seconds
        if told is None:
            # It was not refused yet; it may even be let through.
            return 0.0
        raise replace(told, request=request, headers={**told.headers, "retry-after": str(math.ceil(seconds))})

    def refused(self, token: str | None, refused: Refused) -> None:
        if refused.status == 429:
            self._hold(token, asked_to_wait(refused.headers, self._wall()), refused)

    def answered(self, token: str | None, headers: Mapping[str, str]) -> None:
        """The last one that was let through: the next would be refused."""
        reset = headers.get("ratelimit-reset", "")
        if headers.get("ratelimit-remaining") == "0" and reset.isascii() and reset.isdigit():
            seconds = int(reset[:12]) - self._wall()
            self._hold(token, seconds if seconds <= _SOON else None, None)

    def _hold(self, token: str | None, seconds: float | None, told: Refused | None) -> None:
        if seconds is None or not 0 < seconds <= _LONGEST:
            return
        key = _key(token)
        ends = max(self._monotonic() + seconds, self._until.get(key, (0.0, None))[0])
        self._until[key] = (ends, told.with_traceback(None) if told else None)
        self._until.move_to_end(key)
        if len(self._until) > _CALLERS:
            self._until.popitem(last=False)


class CircuitBreaker:
    """Open when GitLab was not there many times in a row: then one request in a while tries, and no other waits."""

    def __init__(self, monotonic: Callable[[], float], *, failures: int = 10, rest: float = 15.0) -> None:
        self._monotonic = monotonic
        self._most = failures
        self._rest = rest
        self._failures = 0
        self._until = 0.0
        self._why = ""

    def admit(self, host: str) -> None:
        """Raises Paused."""
        if self._failures < self._most:
            return
        now = self._monotonic()
        if now < self._until:
            raise Paused(host, self._until - now, self._failures, self._why)
        # Whoever comes now tries for all; the others stay away until it is known how that ended.
        self._until = now + self._rest

    def answered(self) -> None:
        self._failures = 0

    def failed(self, fault: Refused | Unreachable | BadAnswer) -> None:
        match fault:
            case Refused() if fault.status not in _AWAY:
                self.answered()
            case Refused():
                self._count(f"status {fault.status}")
            case Unreachable() if fault.why not in (Why.DEADLINE, Why.LOST):
                self._count(str(fault.why))
            case _:
                # A page of a proxy, a connection that broke, our own impatience: GitLab may well be there.
                pass

    def _count(self, why: str) -> None:
        self._failures += 1
        self._why = why
        if self._failures >= self._most:
            self._until = self._monotonic() + self._rest


def _key(token: str | None) -> str:
    return hashlib.sha256((token or "").encode()).hexdigest()

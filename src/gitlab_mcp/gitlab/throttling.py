"""Rate limits and circuit breakers: when a request to GitLab has to wait, and when none is sent at all.

What one caller runs into does not hold up another, unless GitLab itself is away.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from gitlab_mcp.actions.exchange import Request
from gitlab_mcp.gitlab.faults import AttemptFault, CircuitOpen, Refused, Unreachable, UnreachableReason
from gitlab_mcp.gitlab.retry import retry_after_seconds

_MAX_RETRY_AFTER: Final = 3600.0
"""A longer Retry-After is ignored: it is a mistake, or a block that only a person can lift."""
_MAX_RESET_WAIT: Final = 60.0
"""A RateLimit-Reset further away is ignored."""
_MAX_KEPT: Final = 1000
"""Limits, and circuits of one route. The oldest are forgotten: then GitLab is asked once more."""
_UNAVAILABLE_STATUSES: Final = frozenset({502, 503, 504})
_ABOUT_THE_CONNECTION: Final = frozenset(
    {
        UnreachableReason.DNS,
        UnreachableReason.REFUSED,
        UnreachableReason.TLS,
        UnreachableReason.CONNECT_TIMEOUT,
        UnreachableReason.PROXY,
    }
)
_INDEPENDENT: Final = 3
"""So many callers and so many places must have failed before an answer of GitLab counts as GitLab being away."""
_PLACE = re.compile(r"/(?:projects|groups)/[^/]+|/[^/]+")
_ID = re.compile(r"/(?=[^/]*[^a-z_/])[^/]+")
EVERY_ROUTE: Final = ""


def caller_key(token: str | None) -> str:
    """Tells callers apart without holding their token."""
    return hashlib.sha256((token or "").encode()).hexdigest()


def route_of(request: Request) -> str:
    """Which kind of request it is, whatever it is about: `GET /users/{user_id}`."""
    return f"{request.method} {request.route or _ID.sub('/:id', request.path)}"


def _place_of(request: Request) -> str:
    """The project or group it is about, or the kind of thing where it is about none."""
    found = _PLACE.match(request.path)
    return found[0] if found else request.path


class RateLimits:
    """Until when GitLab takes no more of a caller's requests.

    GitLab counts all requests of a token, and says so with RateLimit headers. Some endpoints have a limit of their own,
    which says nothing about others: it holds that route alone.
    """

    def __init__(self, monotonic: Callable[[], float], wall: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._wall = wall
        self._limited: OrderedDict[tuple[str, str], tuple[float, Refused | None]] = OrderedDict()
        """By caller and route: when the limit ends, and the 429 that announced it."""

    def seconds_to_wait(self, caller: str, request: Request, seconds_left: float) -> float:
        """How long this request has to wait. Raises the 429 that GitLab sent if there is not enough time left."""
        return max(
            self._seconds_to_wait((caller, route), request, seconds_left)
            for route in (EVERY_ROUTE, route_of(request))
        )

    def _seconds_to_wait(self, key: tuple[str, str], request: Request, seconds_left: float) -> float:
        ends, refusal = self._limited.get(key, (0.0, None))
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

    def record_refusal(self, caller: str, refusal: Refused) -> None:
        if refusal.status == 429:
            route = EVERY_ROUTE if refusal.limits_the_token else route_of(refusal.request)
            self._limit((caller, route), retry_after_seconds(refusal.headers, self._wall()), refusal)

    def record_answer(self, caller: str, headers: Mapping[str, str]) -> None:
        """If this was the last request of the window, the next one has to wait."""
        reset = headers.get("ratelimit-reset", "")
        if headers.get("ratelimit-remaining") == "0" and reset.isascii() and reset.isdigit():
            seconds = int(reset[:12]) - self._wall()
            self._limit((caller, EVERY_ROUTE), seconds if seconds <= _MAX_RESET_WAIT else None, None)

    def _limit(self, key: tuple[str, str], seconds: float | None, refusal: Refused | None) -> None:
        if seconds is None or not 0 < seconds <= _MAX_RETRY_AFTER:
            return
        ends = max(self._monotonic() + seconds, self._limited.get(key, (0.0, None))[0])
        self._limited[key] = (ends, refusal.with_traceback(None) if refusal else None)
        self._limited.move_to_end(key)
        if len(self._limited) > _MAX_KEPT:
            self._limited.popitem(last=False)


@dataclass(slots=True)
class _Circuit:
    """Opens after several failures in a row. While it is open, one request in `open_seconds` is let through to try."""

    failures: int = 0
    open_until: float = 0.0
    last_failure: str = ""


class CircuitBreaker:
    """Keeps requests from a GitLab that is not there.

    A project whose requests fail says nothing about others: its failures hold only that route of that project, for that
    caller. All are held where no connection can be made, or where several callers fail in several places and nobody
    gets an answer.
    """

    def __init__(
        self, monotonic: Callable[[], float], *, max_failures: int = 10, open_seconds: float = 15.0
    ) -> None:
        self._monotonic = monotonic
        self._max_failures = max_failures
        self._open_seconds = open_seconds
        self._of_all = _Circuit()
        self._by_route: OrderedDict[tuple[str, str, str], _Circuit] = OrderedDict()
        """By caller, place and route. Only those that failed."""
        self._failed_since_an_answer: set[tuple[str, str]] = set()
        """Callers, and where."""

    def raise_if_open(self, host: str, caller: str, request: Request) -> None:
        now = self._monotonic()
        route = route_of(request)
        circuits = {EVERY_ROUTE: self._of_all, route: self._by_route.get(_key(caller, request))}
        failing = {
            name: circuit
            for name, circuit in circuits.items()
            if circuit is not None and circuit.failures >= self._max_failures
        }
        for name, circuit in failing.items():
            if now < circuit.open_until:
                raise CircuitOpen(
                    host, circuit.open_until - now, circuit.failures, circuit.last_failure, name, request
                )
        for circuit in failing.values():
            # This request is the trial. The others are refused until its outcome is known.
            circuit.open_until = now + self._open_seconds

    def record_answer(self, caller: str, request: Request) -> None:
        self._of_all.failures = 0
        self._failed_since_an_answer.clear()
        self._by_route.pop(_key(caller, request), None)

    def record_fault(self, caller: str, fault: AttemptFault) -> None:
        match fault:
            case Refused() if fault.status not in _UNAVAILABLE_STATUSES:
                self.record_answer(caller, fault.request)
            case Refused():
                self._count_at_route(caller, fault.request, f"status {fault.status}")
            case Unreachable(reason=UnreachableReason.READ_TIMEOUT):
                self._count_at_route(caller, fault.request, str(fault.reason))
            case Unreachable() if fault.reason in _ABOUT_THE_CONNECTION:
                self._count(self._of_all, str(fault.reason))
            case _:
                # A proxy's page, a broken connection or our own deadline do not show that GitLab is unavailable.
                pass

    def _count_at_route(self, caller: str, request: Request, failure: str) -> None:
        key = _key(caller, request)
        self._count(self._by_route.setdefault(key, _Circuit()), failure)
        self._by_route.move_to_end(key)
        if len(self._by_route) > _MAX_KEPT:
            self._by_route.popitem(last=False)
        failed = self._failed_since_an_answer
        if len(failed) < _MAX_KEPT:
            failed.add((caller, _place_of(request)))
        if min(len({each for each, _ in failed}), len({place for _, place in failed})) >= _INDEPENDENT:
            self._count(self._of_all, failure)

    def _count(self, circuit: _Circuit, failure: str) -> None:
        circuit.failures += 1
        circuit.last_failure = failure
        if circuit.failures >= self._max_failures:
            circuit.open_until = self._monotonic() + self._open_seconds


def _key(caller: str, request: Request) -> tuple[str, str, str]:
    return (caller, _place_of(request), route_of(request))

"""Whether a request is sent again, and when. Pure: the clock and the dice are the caller's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

from gitlab_mcp.gitlab.faults import BadAnswer, Refused, Unreachable, Why, Wrong

Fault = Refused | Unreachable | BadAnswer

_TRANSIENT = frozenset({500, 502, 503, 504})
_ROOM_FOR_AN_ANSWER = 1.0
_ATTEMPTS = 3
_FIRST_WAIT = 0.5
"""The longest the first pause may be; each further one may be twice as long."""


@dataclass(frozen=True, slots=True)
class Moment:
    """How far a request is: the attempt that failed, the seconds left, the wall clock, a number in 0…1."""

    reads: bool
    """Whether the request only asks. A GraphQL query does, although it is a POST."""
    attempt: int
    left: float
    now: float
    chance: float


def pause_before_next(fault: Fault, moment: Moment) -> float | None:
    """The seconds to wait before sending again, or None when the fault is final."""
    if moment.attempt >= _ATTEMPTS or not _worth_another(fault, moment.reads):
        return None
    pause = _FIRST_WAIT * 2 ** (moment.attempt - 1) * moment.chance
    if isinstance(fault, Refused):
        asked = asked_to_wait(fault.headers, moment.now)
        if asked is not None:
            # A little more than asked: a window that ends exactly then has often not ended yet.
            pause = asked + pause
        elif fault.status == 429:
            return None
    return pause if pause + _ROOM_FOR_AN_ANSWER <= moment.left else None


def asked_to_wait(headers: Mapping[str, str], now: float) -> float | None:
    """Retry-After in seconds: a number or a date. None when it is missing or makes no sense."""
    value = headers.get("retry-after", "").strip()
    if value.isascii() and value.isdigit():
        return float(value[:9])
    try:
        wait = parsedate_to_datetime(value).timestamp() - now
    except (ValueError, OverflowError):
        return None
    return max(wait, 0.0)


def _worth_another(fault: Fault, reads: bool) -> bool:
    harmless = reads or fault.request.repeatable
    match fault:
        case Refused():
            # 429 says that nothing was done. A 5xx to a write says nothing at all.
            return fault.status == 429 or (fault.status in _TRANSIENT and reads)
        case BadAnswer():
            return fault.what is Wrong.CUT_OFF and harmless
        case Unreachable():
            return fault.why not in (Why.TLS, Why.DEADLINE) and (harmless or not fault.sent)

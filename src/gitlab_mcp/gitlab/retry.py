"""Decides whether a request is sent again, and when. Pure: time and randomness come in as arguments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

from gitlab_mcp.gitlab.faults import (
    AttemptFault,
    BadAnswer,
    BadAnswerReason,
    Refused,
    Unreachable,
    UnreachableReason,
)

_TRANSIENT_STATUSES = frozenset({500, 502, 503, 504})
_MAX_ATTEMPTS = 3
_FIRST_PAUSE = 0.5
"""The longest first pause, in seconds. The longest pause doubles with each attempt."""
_SECONDS_FOR_AN_ANSWER = 1.0
"""A request is only sent again if this much time is left after the pause."""


@dataclass(frozen=True, slots=True)
class RetryState:
    only_reads: bool
    """Whether the request changes nothing. True of a GraphQL query, although it is a POST."""
    attempt: int
    """The number of the attempt that failed; the first is 1."""
    seconds_left: float
    now: float
    """The wall clock, in seconds since 1970."""
    jitter: float
    """A random number between 0 and 1."""


def seconds_before_retry(fault: AttemptFault, state: RetryState) -> float | None:
    """The seconds to wait before the request is sent again, or None if it must not be."""
    if state.attempt >= _MAX_ATTEMPTS or not _may_retry(fault, state.only_reads):
        return None
    pause = _FIRST_PAUSE * 2 ** (state.attempt - 1) * state.jitter
    if isinstance(fault, Refused):
        retry_after = retry_after_seconds(fault.headers, state.now)
        if retry_after is not None:
            # A little more than GitLab asks for: the window often ends slightly later than announced.
            pause = retry_after + pause
        elif fault.status == 429:
            return None
    return pause if pause + _SECONDS_FOR_AN_ANSWER <= state.seconds_left else None


def retry_after_seconds(headers: Mapping[str, str], now: float) -> float | None:
    """The Retry-After header, a number or a date, in seconds. None where it is missing or malformed."""
    value = headers.get("retry-after", "").strip()
    if value.isascii() and value.isdigit():
        return float(value[:9])
    try:
        seconds = parsedate_to_datetime(value).timestamp() - now
    except (ValueError, OverflowError):
        return None
    return max(seconds, 0.0)


def _may_retry(fault: AttemptFault, only_reads: bool) -> bool:
    repeatable = only_reads or fault.request.repeatable
    match fault:
        case Refused():
            # 429 means that nothing was done. A 5xx leaves open whether a write was.
            return fault.status == 429 or (fault.status in _TRANSIENT_STATUSES and only_reads)
        case BadAnswer():
            return fault.reason is BadAnswerReason.CUT_OFF and repeatable
        case Unreachable():
            final = fault.reason in (UnreachableReason.TLS, UnreachableReason.DEADLINE)
            return not final and (repeatable or not fault.sent)

"""How many requests had to wait for one another: what a call costs in round trips, however many it makes at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tests.support.standin import Delay, Received, StandIn

ANSWER_SECONDS: Final = 0.08
"""About what a GitLab takes for an answer."""


def answer_slowly(gitlab: StandIn) -> None:
    gitlab.fault("*", "*", Delay(ANSWER_SECONDS), times=None)


def longest_chain(requests: Sequence[Received]) -> int:
    """Of requests that were answered slowly: the most of which each was sent when the one before was answered."""
    ends: list[tuple[float, int]] = []
    for request in sorted(requests, key=lambda each: each.at):
        before = max((length for end, length in ends if end <= request.at), default=0)
        ends.append((request.at + ANSWER_SECONDS, before + 1))
    return max((length for _, length in ends), default=0)

"""Waits for something that GitLab is at work on, by asking now and then: seldom, and less and less often."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from gitlab_mcp.actions.exchange import GitLab, whole_number
from gitlab_mcp.failures import allowed_words as words
from gitlab_mcp.gitlab.faults import BadAnswer, CircuitOpen, Refused, Unreachable

UNDER_WAY: Final = frozenset(
    (
        "created",
        "waiting_for_resource",
        "preparing",
        "waiting_for_callback",
        "pending",
        "running",
        "canceling",
        "scheduled",
    )
)
"""Statuses of a pipeline, a job or a deployment that ends by itself."""
SHORTEST_PAUSE: Final = 2.0
LONGEST_PAUSE: Final = 30.0
_LONGER_EACH_TIME: Final = 1.5
_MOST_KEPT: Final = 12.0
_SHARE_KEPT: Final = 0.25
"""Of the call's seconds, for what is read when the wait is over: why it failed."""

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Waited:
    thing: Json
    """As it was seen last."""
    is_over: bool
    seconds: float
    unanswered: bool = False
    """GitLab could not be asked any more; it may have ended since."""
    retry_after: float | None = None
    """In how many seconds GitLab wants to be asked again, where it said so."""


async def wait_until(
    gitlab: GitLab, path: str, is_over: Callable[[Json], bool], seconds: float | None
) -> Waited:
    """At most that many seconds, and never longer than the call may take. Between two questions nothing is held:
    neither a connection nor a place among those who ask GitLab."""
    started = gitlab.seconds_left
    longest = started - min(_MOST_KEPT, _SHARE_KEPT * started)
    planned = longest if seconds is None else min(seconds, longest)
    gitlab.report(0, round(planned, 1), "seconds waited")
    thing, pause = await _read(gitlab, path), SHORTEST_PAUSE

    def waited(is_over: bool, **more: Any) -> Waited:
        return Waited(thing, is_over, round(started - gitlab.seconds_left, 1), **more)

    while not is_over(thing):
        left = planned - (started - gitlab.seconds_left)
        # No rest is left over that would be too short for another pause.
        step = min(left, LONGEST_PAUSE) if left - pause < SHORTEST_PAUSE else pause
        if step < SHORTEST_PAUSE or not await gitlab.pause(step):
            return waited(False)
        pause = min(pause * _LONGER_EACH_TIME, LONGEST_PAUSE)
        try:
            thing = await _read(gitlab, path)
        except (Unreachable, BadAnswer, CircuitOpen) as fault:
            return waited(False, unanswered=True, retry_after=getattr(fault, "seconds", None))
        except Refused as refused:
            if refused.status != 429 and refused.status < 500:
                raise
            wait = whole_number(refused.headers.get("retry-after", ""))
            return waited(False, unanswered=True, retry_after=wait)
        status = words.ci_status(thing.get("status")) or "not ended"
        so_far = round(started - gitlab.seconds_left, 1)
        gitlab.report(so_far, round(planned, 1), f"seconds waited: it is {status}")
    return waited(True)


async def _read(gitlab: GitLab, path: str) -> Json:
    thing: Json = (await gitlab.get(path)).body
    return thing

"""What is left of a call that is over: a count, one line in the log where it failed, and an id to find it by.

Nothing here may fail a call: an answer is worth more than its record.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace

from gitlab_mcp.failures.failure import Failure
from gitlab_mcp.observability.outcome import Outcome

log = logging.getLogger("gitlab_mcp.calls")


@dataclass(frozen=True, slots=True)
class CallLog:
    observe: Callable[[Outcome], None]
    capture: Callable[[Outcome, Exception | None], str | None]
    """Keeps a failure that is nobody's mistake, and gives the id under which it is found again."""

    def close(self, outcome: Outcome, bug: Exception | None = None) -> Failure | None:
        """Record the outcome; its failure, where it has one, with the id under which it was recorded."""
        outcome = self._with_event(outcome, bug)
        _log(outcome, bug)
        try:
            self.observe(outcome)
        except Exception:
            with suppress(Exception):
                log.exception("the outcome of %s was not counted", outcome.operation)
        return outcome.failure

    def _with_event(self, outcome: Outcome, bug: Exception | None) -> Outcome:
        """What is nobody's mistake gets an id, under which whoever runs this server finds the details."""
        failure = outcome.failure
        if failure is None or not failure.is_nobodys_mistake:
            return outcome
        captured: str | None = None
        try:
            captured = self.capture(outcome, bug)
        except Exception:
            with suppress(Exception):
                log.exception("the failure of %s was not reported", outcome.operation)
        known = failure.facts.get("event_id")
        event = captured or known or uuid.uuid4().hex
        theirs = known if captured and bug is None else None
        return replace(outcome, failure=failure.knowing(event_id=event, gitlab_request_id=theirs))


def _log(outcome: Outcome, bug: Exception | None) -> None:
    """One line per failure, at the level of its cause. No arguments, no bodies, no tokens."""
    failure = outcome.failure
    if failure is None:
        return
    known = {
        "component": "calls",
        "operation": outcome.operation,
        "error_code": failure.code,
        "http_status": outcome.http_status,
        "exception_type": type(bug).__name__ if bug else None,
        "event_id": failure.facts.get("event_id"),
        "duration_ms": round(outcome.seconds * 1000, 1),
    }
    level = logging.ERROR if failure.is_nobodys_mistake else logging.WARNING
    with suppress(Exception):
        log.log(level, "%s failed with %s", outcome.operation, failure.code, exc_info=bug, extra=known)

"""Records how each call ended: it is counted, and a failure gets a line in the log and, where it is nobody's mistake,
an event id.

Nothing here may make a call fail.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace

from gitlab_mcp.failures.failure import Failure
from gitlab_mcp.observability.log_redaction import CAUSE_FIELDS
from gitlab_mcp.observability.outcome import Outcome

log = logging.getLogger("gitlab_mcp.calls")


@dataclass(frozen=True, slots=True)
class CallLog:
    observe: Callable[[Outcome], None]
    capture: Callable[[Outcome, Exception | None], str | None]
    """Reports a failure with a status of 500 or more, and returns its event id."""

    def record(self, outcome: Outcome, bug: Exception | None = None) -> Failure | None:
        """The outcome's failure, if any, with its event id."""
        outcome = self._with_event_id(outcome, bug)
        _log(outcome, bug)
        try:
            self.observe(outcome)
        except Exception:
            with suppress(Exception):
                log.exception("the outcome of %s was not counted", outcome.operation)
        return outcome.failure

    def _with_event_id(self, outcome: Outcome, bug: Exception | None) -> Outcome:
        """The operator finds the details of a failure under this id."""
        failure = outcome.failure
        if failure is None or not failure.is_nobodys_mistake:
            return outcome
        captured: str | None = None
        try:
            captured = self.capture(outcome, bug)
        except Exception:
            with suppress(Exception):
                log.exception("the failure of %s was not reported", outcome.operation)
        known = dict(failure.facts)
        event_id = captured or known.get("event_id") or known.get("gitlab_request_id") or uuid.uuid4().hex
        if known.get("gitlab_request_id") == event_id:
            del known["gitlab_request_id"]
        return replace(outcome, failure=replace(failure, facts=known).knowing(event_id=event_id))


def _log(outcome: Outcome, bug: Exception | None) -> None:
    """One line per failure: a warning for what the caller or GitLab's rules caused, an error for all else."""
    failure = outcome.failure
    if failure is None:
        return
    fields = {
        "component": "calls",
        "operation": outcome.operation,
        "error_code": failure.code,
        "http_status": outcome.http_status,
        "exception_type": type(bug).__name__ if bug else None,
        "event_id": failure.facts.get("event_id"),
        **{name: failure.facts.get(name) for name in CAUSE_FIELDS},
        "duration_ms": round(outcome.seconds * 1000, 1),
    }
    level = logging.ERROR if failure.is_nobodys_mistake else logging.WARNING
    with suppress(Exception):
        log.log(level, "%s failed with %s", outcome.operation, failure.code, exc_info=bug, extra=fields)

"""How a call ended, as the call log, the audit, metrics and Sentry get it."""

from __future__ import annotations

from dataclasses import dataclass

from gitlab_mcp.actions.action import Action
from gitlab_mcp.callers import CallerKey
from gitlab_mcp.failures.failure import Failure


@dataclass(frozen=True, slots=True)
class Outcome:
    operation: str
    """`labels:list`. Never a name that a caller made up."""
    seconds: float
    failure: Failure | None = None
    explaining_seconds: float = 0.0
    """Spent on finding out why the call failed."""
    caller: CallerKey | None = None
    action: Action | None = None
    cancelled: bool = False
    """The client left before the end. The action may have been carried out."""

    @property
    def http_status(self) -> int:
        return 200 if self.failure is None else self.failure.status

    @property
    def conclusion(self) -> str:
        """`ok`, `cancelled`, or the code of the failure."""
        if self.failure is not None:
            return self.failure.code
        return "cancelled" if self.cancelled else "ok"

"""How a call ended, as the call log, the audit, metrics and Sentry get it."""

from __future__ import annotations

from dataclasses import dataclass

from gitlab_mcp.actions.action import Action
from gitlab_mcp.callers import CallerKey
from gitlab_mcp.failures.codes import Recovery
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
    write_id: str | None = None
    """Of a write that was sent: joins the two lines of the audit."""
    user_id: int | None = None
    """GitLab's number of the caller, where it is known."""

    @property
    def http_status(self) -> int:
        return 200 if self.failure is None else self.failure.status

    @property
    def may_have_happened(self) -> bool:
        """Of a write: whether it was sent and nobody knows what came of it."""
        unknown = self.failure is not None and self.failure.recovery is Recovery.CHECK_FIRST
        return unknown or (self.cancelled and self.write_id is not None)

    @property
    def conclusion(self) -> str:
        """`ok`, `cancelled`, or the code of the failure."""
        if self.failure is not None:
            return self.failure.code
        return "cancelled" if self.cancelled else "ok"

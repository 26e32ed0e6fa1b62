"""How a call ended, for those who count."""

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
    explaining: float = 0.0
    """Seconds spent on finding out why it failed."""
    caller: CallerKey | None = None
    action: Action | None = None
    cancelled: bool = False
    """Whoever called did not wait for the end; what was under way may have happened."""

    @property
    def http_status(self) -> int:
        return 200 if self.failure is None else self.failure.status

    @property
    def ended(self) -> str:
        """`ok`, `cancelled`, or the code of the failure."""
        if self.failure is not None:
            return self.failure.code
        return "cancelled" if self.cancelled else "ok"

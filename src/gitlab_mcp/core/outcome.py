"""How a call ended, for those who count."""

from __future__ import annotations

from dataclasses import dataclass

from gitlab_mcp.errors.failure import Failure


@dataclass(frozen=True, slots=True)
class Outcome:
    operation: str
    """`tool:action`, or less where the call did not get that far. Never a name that a caller made up."""
    seconds: float
    failure: Failure | None = None
    http_status: int = 200
    explaining: float = 0.0
    """Seconds spent on finding out why it failed."""

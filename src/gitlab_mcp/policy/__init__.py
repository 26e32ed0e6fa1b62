"""May this call happen? Each guard looks at a validated call and says nothing, warns, or raises the refusal.

A guard can only refuse, so a list of guards allows what all of them allow: whoever adds one narrows.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from gitlab_mcp.actions.ask import Ask
from gitlab_mcp.actions.call import Call
from gitlab_mcp.actions.result import Notice
from gitlab_mcp.callers import CallerKey


@dataclass(frozen=True, slots=True)
class Intent:
    """A call that somebody wants to make."""

    call: Call
    caller: CallerKey
    ask: Ask

    @property
    def name(self) -> str:
        """`manage_label.delete`."""
        return f"{self.call.tool.name}.{self.call.action.spec.name}"


Guard = Callable[[Intent], Awaitable[Notice | None]]

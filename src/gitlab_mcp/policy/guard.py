"""What a guard is: it looks at a proposed call and returns nothing, returns a notice, or raises the refusal.

A guard cannot allow anything, so adding one can only forbid more.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gitlab_mcp.callers import NOBODY_TO_ASK, CallerKey, Consent

if TYPE_CHECKING:
    from gitlab_mcp.actions.ask import Ask
    from gitlab_mcp.actions.call import Call
    from gitlab_mcp.actions.result import Notice


@dataclass(frozen=True, slots=True)
class ProposedCall:
    """A validated call that has not been made yet."""

    call: Call
    caller: CallerKey
    ask: Ask
    """For what a guard has to look up in GitLab, with the caller's rights."""
    consent: Consent = NOBODY_TO_ASK
    rehearsal: bool = False
    """It is only asked whether the call could be made: nothing may be used up or counted."""

    @property
    def name(self) -> str:
        """`manage_label.delete`."""
        return f"{self.call.tool.name}.{self.call.action.spec.name}"


Guard = Callable[[ProposedCall], Awaitable["Notice | None"]]

"""May this call happen? Each guard looks at a validated call and says nothing, warns, or raises the refusal.

A guard can only refuse, so a list of guards allows what all of them allow: whoever adds one narrows.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from gitlab_mcp.core.call import Call
from gitlab_mcp.core.caller import Who
from gitlab_mcp.core.result import Warning


class Ask(Protocol):
    """What a guard may learn from GitLab, with the caller's own rights. Nothing here raises: unknown is None."""

    async def project(self, id: str) -> Mapping[str, Any] | None:
        """By number or path, also by a path it had before it was renamed. Remembered for a few minutes."""
        ...

    async def group(self, id: str) -> Mapping[str, Any] | None: ...

    async def look(self, path: str, **query: str) -> Any | None:
        """What is at this path now. Not remembered."""
        ...


@dataclass(frozen=True, slots=True)
class Intent:
    """A call that somebody wants to make."""

    call: Call
    who: Who
    ask: Ask

    @property
    def name(self) -> str:
        """`manage_label.delete`."""
        return f"{self.call.tool.name}.{self.call.action.spec.name}"


Guard = Callable[[Intent], Awaitable[Warning | None]]

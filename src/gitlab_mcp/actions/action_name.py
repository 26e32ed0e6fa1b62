"""What an action is called, by those who name actions in settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from gitlab_mcp.actions.toolsets import CORE

if TYPE_CHECKING:
    from gitlab_mcp.actions.action import Spec


class ActionName(NamedTuple):
    tool: str
    action: str
    toolset: str

    def __str__(self) -> str:
        return f"{self.tool}.{self.action}"


def names_of(spec: Spec) -> tuple[ActionName, ...]:
    """The present name first, then those it had before it moved."""
    own = ActionName(spec.tool.name, spec.name, spec.tool.toolset)
    return own, *(ActionName(tool, action, CORE) for tool, action in spec.moved_from)

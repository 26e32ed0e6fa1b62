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


def row_names(noun: str, verb: str, toolset: str, writes: bool) -> tuple[ActionName, ...]:
    """A row's own name, and the one it would have in a tool: who forbids `manage_*` forbids every write."""
    prefix = "manage" if writes else "browse"
    return ActionName(noun, verb, toolset), ActionName(f"{prefix}_{noun}", verb, toolset)


def names_of(spec: Spec) -> tuple[ActionName, ...]:
    """The present name first, then those it had before it moved."""
    if spec.tool.of_rows:
        return row_names(spec.tool.name, spec.name, spec.tool.toolset, spec.writes)
    own = ActionName(spec.tool.name, spec.name, spec.tool.toolset)
    return own, *(ActionName(tool, action, CORE) for tool, action in spec.moved_from)

"""What one caller is offered: which tools are listed, how the others are switched on, which actions are forbidden."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from gitlab_mcp.actions.action import Action, Danger
from gitlab_mcp.actions.registry import Registry
from gitlab_mcp.actions.schema import required_fields
from gitlab_mcp.actions.toolsets import is_callable, is_listed
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.policy.action_patterns import ActionPatterns
from gitlab_mcp.policy.danger import exceeds


@dataclass(frozen=True, slots=True)
class OfferedTools:
    """By the operator's settings and, over HTTP, by what the request forbids itself."""

    registry: Registry
    toolsets: tuple[str, ...]
    """The operator's."""
    requested: tuple[str, ...] | None
    """Those to which the request narrowed itself."""
    calls_unlisted: bool
    """Whether a tool outside the operator's toolsets can be called though it is not listed."""
    read_only: bool
    trust: Danger
    patterns: ActionPatterns

    def is_listed(self, tool: str) -> bool:
        """As `tools/list` does it: what a request asks for is listed, whatever the operator lists."""
        chosen = self.toolsets if self.requested is None else self.requested
        return is_listed(self.registry.toolset_of(tool), chosen)

    def may_be_called(self, tool: str) -> bool:
        return (self.calls_unlisted or self._is_switched_on(tool)) and self._is_requested(tool)

    def switch_on_with(self, tool: str) -> str:
        """The setting, or the header of the request, that lists the tool."""
        toolset = self.registry.toolset_of(tool)
        if self.requested is not None and (self.calls_unlisted or self._is_switched_on(tool)):
            return f"X-MCP-Toolsets: {','.join([*(self.requested or ()), toolset])}"
        return f"--toolsets {','.join([*self.toolsets, toolset])}"

    def refusal(self, action: type[Action]) -> tuple[Code, str] | None:
        """The code and the reason with which this server itself refuses every call of the action."""
        spec, tool = action.spec, action.spec.tool
        if self.read_only and spec.writes:
            return Code.READ_ONLY_MODE, "This server only reads."
        if not self.patterns.allows(tool.name, tool.toolset, f"{tool.name}.{spec.name}"):
            return Code.OUT_OF_SCOPE, "The operator does not allow it here."
        if exceeds(spec.danger, self.trust):
            return Code.TRUST_INSUFFICIENT, f"It is {spec.danger}; here at most {self.trust} is allowed."
        if not self.may_be_called(tool.name):
            return Code.OUT_OF_SCOPE, f"Its toolset, {tool.toolset}, is not switched on."
        return None

    def switched_on(self, tool: str) -> OfferedTools:
        """What would be offered with the toolset of this tool."""
        toolset = self.registry.toolset_of(tool)
        requested = None if self.requested is None else (*self.requested, toolset)
        return replace(self, toolsets=(*self.toolsets, toolset), requested=requested)

    def is_complete(self, action: type[Action], arguments: Mapping[str, Any]) -> bool:
        """Whether the call has every argument it requires."""
        # `project_id|group_id`: one of them; `a+b`: both.
        return all(
            any(arguments.keys() >= set(choice.split("+")) for choice in field.split("|"))
            for field in required_fields(action)
        )

    def _is_switched_on(self, tool: str) -> bool:
        return is_callable(self.registry.toolset_of(tool), self.toolsets)

    def _is_requested(self, tool: str) -> bool:
        return self.requested is None or is_callable(self.registry.toolset_of(tool), self.requested)

"""Which tools are listed: those of the operator's toolsets, without writing tools in read-only mode, and without
tools of which every action is forbidden. A request can narrow the list with its headers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from gitlab_mcp.actions.registry import Registry
from gitlab_mcp.callers import RequestContext
from gitlab_mcp.policy.action_patterns import ActionPatterns


@dataclass(frozen=True)
class ListedTools:
    registry: Registry
    toolsets: tuple[str, ...]
    read_only: bool
    patterns: ActionPatterns

    @cached_property
    def listing(self) -> Sequence[Mapping[str, Any]]:
        """What `tools/list` answers to a request that narrows nothing. Worked out once."""
        allowed = {
            tool for tool, *action in self.registry.every_name() if self.patterns.allows(tool, *action)
        }
        tools = self.registry.listing(self.toolsets)
        return [tool for tool in tools if tool["name"] in allowed and (_reads(tool) or not self.read_only)]

    @cached_property
    def action_names(self) -> frozenset[str]:
        """The actions of the listed tools, as `browse_issues list`."""
        return frozenset(
            f"{tool['name']} {action}"
            for tool in self.listing
            for action in tool["inputSchema"]["properties"]["action"]["enum"]
        )

    def narrowed(self, request: RequestContext) -> Sequence[Mapping[str, Any]]:
        """The listing for a request that asks for fewer toolsets, or to be read-only."""
        toolsets = self.toolsets if request.toolsets is None else request.toolsets
        names = {tool["name"] for tool in self.registry.listing(toolsets)}
        return [
            tool for tool in self.listing if tool["name"] in names and (_reads(tool) or not request.read_only)
        ]


def _reads(tool: Mapping[str, Any]) -> bool:
    return bool(tool["annotations"]["readOnlyHint"])

"""Which tools are listed by `tools/list`: those of the chosen toolsets of which some action is allowed here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gitlab_mcp.actions.registry import Registry
from gitlab_mcp.actions.schema import required_fields
from gitlab_mcp.callers import RequestContext
from gitlab_mcp.policy.action_patterns import ActionPatterns


class ListedTools:
    def __init__(
        self, registry: Registry, *, toolsets: tuple[str, ...], read_only: bool, patterns: ActionPatterns
    ) -> None:
        self._registry = registry
        self._toolsets = toolsets
        self._read_only = read_only
        self._patterns = patterns
        self._allowed: Mapping[str, str] | None = None
        self._listings: dict[tuple[frozenset[str], bool], Sequence[Mapping[str, Any]]] = {}

    def __call__(self, context: RequestContext | None = None) -> Sequence[Mapping[str, Any]]:
        """As `tools/list` answers them. A request can ask for fewer: for some toolsets, or for reading tools only."""
        toolsets, read_only = self._toolsets, self._read_only
        if context is not None:
            toolsets = toolsets if context.toolsets is None else context.toolsets
            read_only = read_only or context.read_only
        key = (frozenset(toolsets), read_only)
        if key not in self._listings:
            self._listings[key] = self._list(*key)
        return self._listings[key]

    def as_offered(self, alternatives: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
        """Alternatives without those that may not be called here, and without those that lack a required argument.

        One whose tool is not listed names its toolset."""
        listed, allowed = {tool["name"] for tool in self()}, self._toolset_of_allowed()
        offered: list[Mapping[str, Any]] = []
        for each in alternatives:
            action = each.get("action")
            if action is None:
                offered.append(each)
            elif action in allowed and self._is_complete(action, each.get("arguments", {})):
                is_listed = action.partition(" ")[0] in listed
                offered.append(each if is_listed else {**each, "toolset": allowed[action]})
        return offered

    def _is_complete(self, action: str, arguments: Mapping[str, Any]) -> bool:
        tool, _, name = action.partition(" ")
        needed = required_fields(self._registry.tool(tool).actions[name])
        # `project_id|group_id`: one of them; `a+b`: both.
        return all(
            any(arguments.keys() >= set(choice.split("+")) for choice in field.split("|")) for field in needed
        )

    def _toolset_of_allowed(self) -> Mapping[str, str]:
        """The toolset of every action that policy allows, as `browse_issues list`, whether listed or not."""
        if self._allowed is None:
            readable = {tool["name"] for tool in self._list(frozenset(("all",)), self._read_only)}
            self._allowed = {
                f"{tool} {name.partition('.')[2]}": toolset
                for tool, toolset, name in self._registry.every_name()
                if tool in readable and self._patterns.allows(tool, toolset, name)
            }
        return self._allowed

    def _list(self, toolsets: frozenset[str], read_only: bool) -> Sequence[Mapping[str, Any]]:
        allowed = {
            tool for tool, *action in self._registry.every_name() if self._patterns.allows(tool, *action)
        }
        return [
            tool
            for tool in self._registry.listing(toolsets)
            if tool["name"] in allowed and (tool["annotations"]["readOnlyHint"] or not read_only)
        ]

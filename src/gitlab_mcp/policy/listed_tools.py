"""Which tools are listed by `tools/list`: those of the chosen toolsets of which some action is allowed here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gitlab_mcp.actions.danger import Danger
from gitlab_mcp.actions.registry import Registry
from gitlab_mcp.callers import RequestContext
from gitlab_mcp.policy.action_patterns import ActionPatterns
from gitlab_mcp.policy.danger import exceeds
from gitlab_mcp.policy.offered_tools import OfferedTools


class ListedTools:
    def __init__(
        self,
        registry: Registry,
        *,
        toolsets: tuple[str, ...],
        read_only: bool,
        patterns: ActionPatterns,
        trust: Danger | None,
        calls_unlisted: bool,
    ) -> None:
        self._registry = registry
        self._toolsets = toolsets
        self._read_only = read_only
        self._patterns = patterns
        self._trust = trust
        self._calls_unlisted = calls_unlisted
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

    def offered(self, context: RequestContext | None = None, *, can_ask: bool = False) -> OfferedTools:
        """What the caller of a request can use of this server, listed or not. `can_ask`: a person can be asked."""
        narrowed = context or RequestContext("")
        trust = self._trust or (Danger.DANGEROUS if can_ask else Danger.DESTRUCTIVE)
        if narrowed.trust is not None and exceeds(trust, narrowed.trust):
            trust = narrowed.trust
        return OfferedTools(
            self._registry,
            toolsets=self._toolsets,
            requested=narrowed.toolsets,
            calls_unlisted=self._calls_unlisted,
            read_only=self._read_only or narrowed.read_only,
            trust=trust,
            patterns=self._patterns,
        )

    def _list(self, toolsets: frozenset[str], read_only: bool) -> Sequence[Mapping[str, Any]]:
        allowed = {names[0].tool for names in self._registry.every_name() if self._patterns.allows(names)}
        return [
            tool
            for tool in self._registry.listing(toolsets)
            if tool["name"] in allowed and (tool["annotations"]["readOnlyHint"] or not read_only)
        ]

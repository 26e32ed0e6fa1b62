"""Which tools are listed by `tools/list`: those of the chosen toolsets of which some action is allowed here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from gitlab_mcp.actions.danger import Danger
from gitlab_mcp.actions.registry import Registry
from gitlab_mcp.callers import RequestContext
from gitlab_mcp.policy.action_patterns import ActionPatterns
from gitlab_mcp.policy.limits import Limits
from gitlab_mcp.policy.offered_tools import OfferedTools

if TYPE_CHECKING:
    from gitlab_mcp.policy.personal_rules import PersonalRule

_NO_LIMITS: Final = Limits()


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

    def under_rule(
        self, rule: PersonalRule, context: RequestContext | None = None
    ) -> Sequence[Mapping[str, Any]]:
        """Of the tools of the caller's toolsets those of which the rule and all other settings leave some action."""
        offered = self.offered(context, can_ask=True, rule=rule)
        named = {
            names[0].tool
            for names in self._registry.every_name()
            if all(patterns.allows(names) for patterns in offered.patterns)
        }
        return [
            tool
            for tool in self._list(frozenset(offered.chosen), offered.read_only)
            if tool["name"] in named and self._is_within_trust(tool, offered)
        ]

    def offered(
        self,
        context: RequestContext | None = None,
        *,
        can_ask: bool = False,
        rule: PersonalRule | None = None,
    ) -> OfferedTools:
        """What a caller can use of this server, listed or not: by the request, and by the caller's rule. `can_ask`: a
        person can be asked."""
        narrowed = context or RequestContext("")
        limits = rule.limits if rule else _NO_LIMITS
        allowed = self._trust or (Danger.DANGEROUS if can_ask else Danger.DESTRUCTIVE)
        trusts = [allowed, *(each for each in (narrowed.trust, limits.trust) if each is not None)]
        return OfferedTools(
            self._registry,
            toolsets=self._toolsets,
            requested=narrowed.toolsets,
            calls_unlisted=self._calls_unlisted,
            read_only=self._read_only or narrowed.read_only or limits.read_only,
            trust=min(trusts, key=lambda danger: danger.rank),
            patterns=(self._patterns, ActionPatterns(limits.only_actions, limits.never_actions)),
            rule=rule,
        )

    def _is_within_trust(self, tool: Mapping[str, Any], offered: OfferedTools) -> bool:
        if tool["annotations"]["readOnlyHint"] or offered.trust is Danger.DANGEROUS:
            # Nothing has to be imported to know that.
            return True
        actions = self._registry.tool(tool["name"]).actions.values()
        return any(offered.refusal(action) is None for action in actions)

    def _list(self, toolsets: frozenset[str], read_only: bool) -> Sequence[Mapping[str, Any]]:
        allowed = {names[0].tool for names in self._registry.every_name() if self._patterns.allows(names)}
        return [
            tool
            for tool in self._registry.listing(toolsets)
            if tool["name"] in allowed and (tool["annotations"]["readOnlyHint"] or not read_only)
        ]

"""What one caller is offered: which tools are listed, how the others are switched on, which actions are forbidden."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from gitlab_mcp.actions.action_name import names_of
from gitlab_mcp.actions.danger import Danger
from gitlab_mcp.actions.registry import Registry
from gitlab_mcp.actions.toolsets import is_callable, is_listed
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.policy.action_patterns import ActionPatterns
from gitlab_mcp.policy.danger import exceeds

if TYPE_CHECKING:
    from gitlab_mcp.actions.action import Action
    from gitlab_mcp.policy.personal_rules import PersonalRule


@dataclass(frozen=True, slots=True)
class OfferedTools:
    """By the operator's settings, by the caller's personal rule and, over HTTP, by what the request forbids itself."""

    registry: Registry
    toolsets: tuple[str, ...]
    """The operator's."""
    requested: tuple[str, ...] | None
    """Those to which the request narrowed itself."""
    calls_unlisted: bool
    """Whether a tool outside the operator's toolsets can be called though it is not listed."""
    read_only: bool
    trust: Danger
    patterns: tuple[ActionPatterns, ...]
    rule: PersonalRule | None = None
    """The caller's, by the policy. What it limits beside toolsets is in the other fields already."""

    def is_listed(self, tool: str) -> bool:
        """As `tools/list` does it: what a request asks for is listed, whatever the operator lists."""
        return is_listed(self.registry.toolset_of(tool), self.chosen)

    @property
    def chosen(self) -> tuple[str, ...]:
        """The toolsets that are listed: those of the request or else of the rule, or the operator's."""
        of_rule = self._of_rule
        if self.requested is None:
            wanted = self.toolsets if of_rule is None else of_rule
        else:
            wanted = tuple(each for each in self.requested if of_rule is None or is_callable(each, of_rule))
        if wanted is self.toolsets or self.calls_unlisted:
            return wanted
        return tuple(each for each in wanted if is_callable(each, self.toolsets))

    def may_be_called(self, tool: str) -> bool:
        """Whether some action of the tool may be."""
        return self._is_in_reach(self._toolsets_of(tool))

    def switch_on_with(self, tool: str) -> str:
        """The setting, or the header of the request, that lists the tool."""
        toolset = self.registry.toolset_of(tool)
        if self.rule is not None and not self._is_of_rule([toolset]):
            return f"a change of the rule {self.rule.name} by {self.rule.contact}"
        is_offered = self.calls_unlisted or is_callable(toolset, self.toolsets)
        if self.requested is not None and is_offered:
            return f"X-MCP-Toolsets: {','.join([*(self.requested or ()), toolset])}"
        return f"--toolsets {','.join([*self.toolsets, toolset])}"

    def refusal(self, action: type[Action]) -> tuple[Code, str] | None:
        """The code and the reason with which this server itself refuses every call of the action."""
        spec, tool = action.spec, action.spec.tool
        if self.read_only and spec.writes:
            return Code.READ_ONLY_MODE, "This server only reads."
        if not all(patterns.allows(names_of(spec)) for patterns in self.patterns):
            return Code.OUT_OF_SCOPE, "The operator does not allow it here."
        if exceeds(spec.danger, self.trust):
            return Code.TRUST_INSUFFICIENT, f"It is {spec.danger}; here at most {self.trust} is allowed."
        toolsets = [name.toolset for name in names_of(spec)]
        if self.rule is not None and not self._is_of_rule(toolsets):
            return Code.OUT_OF_SCOPE, f"The rule {self.rule.name} leaves out its toolset, {tool.toolset}."
        if not self._is_in_reach(toolsets):
            return Code.OUT_OF_SCOPE, f"Its toolset, {tool.toolset}, is not switched on."
        return None

    def switched_on(self, tool: str) -> OfferedTools:
        """What would be offered with the toolset of this tool."""
        toolset = self.registry.toolset_of(tool)
        requested = None if self.requested is None else (*self.requested, toolset)
        return replace(self, toolsets=(*self.toolsets, toolset), requested=requested)

    def is_complete(self, action: type[Action], arguments: Mapping[str, Any]) -> bool:
        """Whether the call has every argument it requires."""
        from gitlab_mcp.actions.schema import required_fields

        # `project_id|group_id`: one of them; `a+b`: both.
        return all(
            any(arguments.keys() >= set(choice.split("+")) for choice in field.split("|"))
            for field in required_fields(action)
        )

    def _is_in_reach(self, toolsets: Collection[str]) -> bool:
        """Whether what is, or was, in one of these toolsets can be called."""
        switched_on = self.calls_unlisted or any(is_callable(each, self.toolsets) for each in toolsets)
        requested = self.requested
        if not self._is_of_rule(toolsets):
            return False
        return switched_on and (requested is None or any(is_callable(each, requested) for each in toolsets))

    @property
    def _of_rule(self) -> tuple[str, ...] | None:
        return None if self.rule is None else self.rule.limits.toolsets

    def _is_of_rule(self, toolsets: Collection[str]) -> bool:
        of_rule = self._of_rule
        return of_rule is None or any(is_callable(each, of_rule) for each in toolsets)

    def _toolsets_of(self, tool: str) -> set[str]:
        """Its own, and those that its actions were in before they moved."""
        return {name.toolset for name in self.registry.names_of_actions(tool)}

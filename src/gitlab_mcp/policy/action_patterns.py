"""Which actions the operator allows: `--only-actions` and `--never-actions`.

A pattern names tools (`manage_*`), actions (`browse_issues.list`) or a toolset (`toolset:admin`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final

from gitlab_mcp.actions.toolsets import DISCOVER
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.policy.guard import ProposedCall

_TOOLSET_PREFIX: Final = "toolset:"


@dataclass(frozen=True, slots=True)
class ActionPatterns:
    """As a guard: refuses an action that no pattern of `only` matches, or that one of `never` does."""

    only: tuple[str, ...] = ()
    """Empty: every action."""
    never: tuple[str, ...] = ()

    async def __call__(self, proposed: ProposedCall) -> None:
        tool, toolset, name = proposed.call.tool.name, proposed.call.tool.toolset, proposed.name
        if self.allows(tool, toolset, name):
            return
        raise CallFailed(
            Failure(
                Code.OUT_OF_SCOPE, f"The operator does not allow {tool} {name.partition('.')[2]} here."
            ).knowing(
                allowed={"actions": list(self.only)} if self.only else None,
                confidence="certain",
                suggested_fix="Do it another way, or tell the person that the operator would have to allow it.",
                retryable=False,
            )
        )

    def allows(self, tool: str, toolset: str, name: str) -> bool:
        """`name` is `tool.action`. What only finds and makes other calls needs no leave of its own: they do."""
        included = (
            not self.only
            or toolset == DISCOVER
            or any(_matches(pattern, tool, toolset, name) for pattern in self.only)
        )
        return included and not any(_matches(pattern, tool, toolset, name) for pattern in self.never)


def unmatched_patterns(patterns: tuple[str, ...], actions: Iterable[tuple[str, str, str]]) -> list[str]:
    """The patterns that match none of the actions. An action is given as tool, toolset and `tool.action`."""
    known = list(actions)
    return [pattern for pattern in patterns if not any(_matches(pattern, *action) for action in known)]


def _matches(pattern: str, tool: str, toolset: str, name: str) -> bool:
    if pattern.startswith(_TOOLSET_PREFIX):
        return fnmatchcase(toolset, pattern.removeprefix(_TOOLSET_PREFIX))
    return fnmatchcase(name if "." in pattern else tool, pattern)

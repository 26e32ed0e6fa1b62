"""Which actions there are for callers: by patterns such as `manage_*`, `browse_issues.list` or `toolset:admin`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final

from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.policy import Intent

TOOLSET: Final = "toolset:"


@dataclass(frozen=True, slots=True)
class Actions:
    """As a guard: refuses what is not among `only` (where something is) or is among `never`."""

    only: tuple[str, ...] = ()
    never: tuple[str, ...] = ()

    async def __call__(self, intent: Intent) -> None:
        tool, toolset, name = intent.call.tool.name, intent.call.tool.toolset, intent.name
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
        wanted = not self.only or any(_fits(pattern, tool, toolset, name) for pattern in self.only)
        return wanted and not any(_fits(pattern, tool, toolset, name) for pattern in self.never)


def unknown(patterns: tuple[str, ...], actions: Iterable[tuple[str, str, str]]) -> list[str]:
    """The patterns that fit none of the actions, each given as tool, toolset and `tool.action`."""
    every = list(actions)
    return [pattern for pattern in patterns if not any(_fits(pattern, *action) for action in every)]


def _fits(pattern: str, tool: str, toolset: str, name: str) -> bool:
    if pattern.startswith(TOOLSET):
        return fnmatchcase(toolset, pattern.removeprefix(TOOLSET))
    return fnmatchcase(name if "." in pattern else tool, pattern)

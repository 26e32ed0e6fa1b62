"""Which actions the operator allows: `--only-actions` and `--never-actions`.

A pattern names tools (`manage_*`), actions (`browse_issues.list`) or a toolset (`toolset:admin`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final

from gitlab_mcp.actions.action_name import ActionName, names_of
from gitlab_mcp.actions.toolsets import DISCOVER
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.policy.guard import ProposedCall

_TOOLSET_PREFIX: Final = "toolset:"

Names = Sequence[ActionName]
"""Of one action: a pattern that names it as it was called before it moved still means it."""


@dataclass(frozen=True, slots=True)
class ActionPatterns:
    """As a guard: refuses an action that no pattern of `only` matches, or that one of `never` does."""

    only: tuple[str, ...] = ()
    """Empty: every action."""
    never: tuple[str, ...] = ()

    async def __call__(self, proposed: ProposedCall) -> None:
        spec = proposed.call.action.spec
        if self.allows(names_of(spec)):
            return
        raise CallFailed(
            Failure(
                Code.OUT_OF_SCOPE, f"The operator does not allow {spec.tool.name} {spec.name} here."
            ).knowing(
                allowed={"actions": list(self.only)} if self.only else None,
                confidence="certain",
                suggested_fix="Do it another way, or tell the person that the operator would have to allow it.",
                retryable=False,
            )
        )

    def allows(self, names: Names) -> bool:
        """What only finds and makes other calls needs no leave of its own: they do."""
        included = (
            not self.only or names[0].toolset == DISCOVER or any(_matches(each, names) for each in self.only)
        )
        return included and not any(_matches(each, names) for each in self.never)


def unmatched_patterns(patterns: Iterable[str], actions: Iterable[Names]) -> list[str]:
    """The patterns that match none of the actions."""
    known = list(actions)
    return [pattern for pattern in patterns if not any(_matches(pattern, names) for names in known)]


def _matches(pattern: str, names: Names) -> bool:
    if pattern.startswith(_TOOLSET_PREFIX):
        return any(fnmatchcase(name.toolset, pattern.removeprefix(_TOOLSET_PREFIX)) for name in names)
    return any(fnmatchcase(str(name) if "." in pattern else name.tool, pattern) for name in names)

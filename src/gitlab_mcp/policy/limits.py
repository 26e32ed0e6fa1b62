"""What a personal rule leaves. In a file of its own, which the listing needs and every start therefore reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gitlab_mcp.actions.danger import Danger


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a rule leaves of what the operator allows; by default all of it."""

    read_only: bool = False
    toolsets: tuple[str, ...] | None = None
    """Those whose tools alone can be called, and are listed; None: as the operator set it."""
    only_in: tuple[str, ...] = ()
    never_in: tuple[str, ...] = ()
    only_actions: tuple[str, ...] = ()
    never_actions: tuple[str, ...] = ()
    trust: Danger | None = None
    """The most dangerous kind of action."""
    confirm: Danger | None = None
    """The least dangerous kind of action that a person must confirm."""
    quotas: Mapping[str, int] = field(default_factory=dict)

"""The toolsets: what choosing some of them lists, and what it lets be called."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal, get_args

ToolsetOrAll = Literal[
    "discover",
    "core",
    "planning",
    "ci",
    "delivery",
    "knowledge",
    "access",
    "security",
    "insight",
    "admin",
    "all",
]
TOOLSETS = tuple(name for name in get_args(ToolsetOrAll) if name != "all")

DISCOVER = "discover"
"""Its tools find and make calls of all others, so they are in every listing."""

_LISTED_BY_NAME_ONLY = "admin"
"""Only an administrator's token can use it, so `all` does not list it: who wants it names it."""


def is_listed(toolset: str, chosen: Collection[str]) -> bool:
    """Whether tools of this toolset are listed where these are chosen."""
    by_all = "all" in chosen and toolset != _LISTED_BY_NAME_ONLY
    return toolset == DISCOVER or toolset in chosen or by_all


def is_callable(toolset: str, chosen: Collection[str]) -> bool:
    """Whether tools of this toolset can be called where calls are limited to these. `discover` alone says how tools
    are to be found, not which: it limits nothing."""
    return toolset == DISCOVER or toolset in chosen or "all" in chosen or set(chosen) == {DISCOVER}

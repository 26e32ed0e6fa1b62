"""What the name of a tool says: `manage_branch` and `browse_branches` are both about branches."""

from __future__ import annotations

import re
from typing import Final

UNKNOWN: Final = "unknown"
"""In place of a tool or an action that does not exist: a name that a caller made up is never recorded."""


def subject(tool: str) -> str:
    """What the tool is about, in the plural: `merge_requests` for `manage_merge_request`."""
    return _plural(re.sub("^(?:browse|find|manage|run)_", "", tool))


def browse_tool(manage_tool: str) -> str:
    """The tool that reads what this one writes."""
    return f"browse_{subject(manage_tool)}"


def operation_name(tool: str, action: str | None) -> str:
    """`merge_requests:create` for `manage_merge_request` and `create`: the one name that all records have for it."""
    return f"{subject(tool)}:{action or UNKNOWN}"


def _plural(noun: str) -> str:
    if noun in (
        "registry",
        "instance",
        "search",
        "batch",
        "ci_config",
        "time_tracking",
        UNKNOWN,
    ) or noun.endswith("s"):
        return noun
    if noun.endswith(("ch", "x")):
        return noun + "es"
    return noun[:-1] + "ies" if noun.endswith("y") and not noun.endswith("ey") else noun + "s"

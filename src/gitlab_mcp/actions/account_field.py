"""The field that names the account of a call, where a server has several. No action has a field of this name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

FIELD: Final = "profile"


def with_account_field(tool: Mapping[str, Any], accounts: Sequence[str], usual: str | None) -> dict[str, Any]:
    """The listed tool with the field; without a usual account the call must have it, or a URL."""
    schema = tool["inputSchema"]
    description = "GitLab account; a URL says it too"
    if usual is not None:
        description = f"{description}, else {usual}"
    field = {"type": "string", "enum": list(accounts), "description": description}
    return {**tool, "inputSchema": {**schema, "properties": {**schema["properties"], FIELD: field}}}

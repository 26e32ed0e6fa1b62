"""A custom role as an agent reads it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def custom_role(role: Mapping[str, Any]) -> dict[str, Any]:
    """GitLab answers some thirty flags. The permissions are those that are on."""
    shown = {
        name: role[name] for name in ("id", "name", "description", "base_access_level") if role.get(name)
    }
    return {**shown, "permissions": [name for name, value in role.items() if value is True]}

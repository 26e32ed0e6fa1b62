"""Names the place where a setting is changed, for the fixes that the doctor proposes."""

from __future__ import annotations

from gitlab_mcp.settings import DEFAULT, Settings


def where_set(settings: Settings, name: str, usual: str) -> str:
    """Where the setting came from, or its usual place where it was not set."""
    source = settings.sources.get(name, DEFAULT)
    return usual if source == DEFAULT else source

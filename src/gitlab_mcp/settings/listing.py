"""What the settings list: they are held against the catalogue before anything is served."""

from __future__ import annotations

from gitlab_mcp.actions.danger import Danger
from gitlab_mcp.actions.places import is_elsewhere
from gitlab_mcp.actions.registry import Registry
from gitlab_mcp.actions.toolsets import TOOLSETS
from gitlab_mcp.policy.action_patterns import ActionPatterns, unmatched_patterns
from gitlab_mcp.policy.listed_tools import ListedTools
from gitlab_mcp.settings.errors import SettingsError, no_such_action, no_such_toolset, not_a_gitlab
from gitlab_mcp.settings.settings import Settings


def listed_tools(settings: Settings, registry: Registry) -> ListedTools:
    """Raises SettingsError where a toolset, an action or a GitLab is named that is not there."""
    _check_toolsets(settings)
    _check_patterns(settings, registry)
    _check_places(settings)
    return ListedTools(
        registry,
        toolsets=settings.toolsets,
        read_only=settings.read_only,
        patterns=ActionPatterns(settings.only_actions, settings.never_actions),
        trust=Danger(settings.trust) if settings.trust else None,
        calls_unlisted=settings.callable_toolsets() is None,
    )


def _check_toolsets(settings: Settings) -> None:
    there = list(TOOLSETS)
    if missing := [name for name in settings.toolsets if name not in (*there, "all")]:
        raise SettingsError(no_such_toolset(settings.sources.get("toolsets", "toolsets"), missing[0], there))


def _check_patterns(settings: Settings, registry: Registry) -> None:
    for name in ("only_actions", "never_actions"):
        # Rows are read only for a pattern that names no action of a tool.
        of_rows = unmatched_patterns(getattr(settings, name), registry.every_name())
        for pattern in unmatched_patterns(of_rows, registry.row_names()) if of_rows else ():
            raise SettingsError(no_such_action(name, settings.sources.get(name, name), pattern))


def _check_places(settings: Settings) -> None:
    for name in ("only_in", "never_in"):
        for place in getattr(settings, name):
            if is_elsewhere(place, settings.gitlabs()):
                raise SettingsError(not_a_gitlab(name, settings.sources.get(name, name), place))

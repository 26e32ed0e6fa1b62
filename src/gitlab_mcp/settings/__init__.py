"""What the operator chose. Only this package reads the environment, the settings file, the token file and the git
remote.

A new setting is a field of `Settings`, in settings.py, and nothing else.
"""

from __future__ import annotations

from gitlab_mcp.callers import Secret, Token
from gitlab_mcp.settings.as_variables import as_variables
from gitlab_mcp.settings.errors import SettingsError
from gitlab_mcp.settings.loading import DEFAULT, environment, load
from gitlab_mcp.settings.metadata import Setting
from gitlab_mcp.settings.settings import SETTINGS, Settings

__all__ = [
    "DEFAULT",
    "SETTINGS",
    "Secret",
    "Setting",
    "Settings",
    "SettingsError",
    "Token",
    "as_variables",
    "environment",
    "load",
]

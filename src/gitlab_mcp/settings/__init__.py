"""What the operator decided, and where: the only reader of the environment, the settings file, the token file
and the git remote.

Everything about a setting is said once, in `SETTINGS`: its flag, its variables, its key in the file and its
line in docs/guides/settings.md all come from there.
"""

from __future__ import annotations

from gitlab_mcp.callers import Secret, Token
from gitlab_mcp.settings.declaration import SETTINGS, Setting
from gitlab_mcp.settings.effective import Settings
from gitlab_mcp.settings.loading import DEFAULT, load
from gitlab_mcp.settings.problems import SettingsError

__all__ = ["DEFAULT", "SETTINGS", "Secret", "Setting", "Settings", "SettingsError", "Token", "load"]

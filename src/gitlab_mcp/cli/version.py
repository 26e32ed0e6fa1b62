"""`gitlab-mcp version`."""

from __future__ import annotations

import platform

from gitlab_mcp import __version__
from gitlab_mcp.cli import exits
from gitlab_mcp.cli.screen import say


def show_version() -> int:
    say(f"gitlab-mcp-server {__version__} (Python {platform.python_version()})")
    return exits.OK

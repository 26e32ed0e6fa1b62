"""`gitlab-mcp version`."""

from __future__ import annotations

import platform

from gitlab_mcp import __version__
from gitlab_mcp.cli import exit_codes
from gitlab_mcp.cli.terminal import write_line


def show_version() -> int:
    write_line(f"gitlab-mcp-server {__version__} (Python {platform.python_version()})")
    return exit_codes.OK

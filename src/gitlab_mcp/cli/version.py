"""`gitlab-mcp version`."""

from __future__ import annotations

import sys

from gitlab_mcp import __version__


def show_version() -> int:
    python = sys.version.partition(" ")[0]
    sys.stdout.write(f"gitlab-mcp-server {__version__} (Python {python})\n")
    return 0

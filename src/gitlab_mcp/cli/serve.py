"""`gitlab-mcp serve`: the server itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gitlab_mcp.settings import load


def serve(flags: Mapping[str, Any]) -> int:
    settings = load(flags)
    from gitlab_mcp import logs
    from gitlab_mcp.app import App

    logs.configure(settings.log_level, settings.log_format)
    return App(settings).serve_stdio()

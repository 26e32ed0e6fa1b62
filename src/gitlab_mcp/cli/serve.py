"""`gitlab-mcp serve`: the server itself, over standard input and output or over HTTP."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gitlab_mcp.settings import load


def serve(flags: Mapping[str, Any]) -> int:
    settings = load(flags)
    from gitlab_mcp import logs
    from gitlab_mcp.app import App

    logs.configure(settings.log_level, settings.log_format)
    app = App(settings)
    return app.serve_http() if settings.http else app.serve_stdio()

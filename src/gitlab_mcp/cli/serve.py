"""`gitlab-mcp serve`: serves MCP over stdio, or over HTTP."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from gitlab_mcp.settings import load

_TO_A_PERSON = (
    "gitlab-mcp speaks MCP on standard input and output, and waits for a client. `gitlab-mcp --help` shows "
    "what else there is; Ctrl-C ends it.\n"
)


def serve(flags: Mapping[str, Any]) -> int:
    settings = load(flags)
    from gitlab_mcp.app import App
    from gitlab_mcp.observability import logs

    logs.configure(settings.log_level, settings.log_format)
    app = App(settings)
    if settings.http:
        return app.serve_http()
    if sys.stdin.isatty():
        sys.stderr.write(_TO_A_PERSON)
    return app.serve_stdio()

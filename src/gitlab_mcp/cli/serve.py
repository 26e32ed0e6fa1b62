"""`gitlab-mcp serve`: the server itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gitlab_mcp.settings import load


def serve(flags: Mapping[str, Any]) -> int:
    settings = load(flags)
    from gitlab_mcp.app import App

    return App(settings).serve_stdio()

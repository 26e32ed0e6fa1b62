"""`gitlab-mcp serve`: serves MCP over stdio, or over HTTP."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Mapping
from contextlib import suppress
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
    give_memory_back()
    app = App(settings)
    if settings.http:
        return app.serve_http()
    if sys.stdin.isatty():
        sys.stderr.write(_TO_A_PERSON)
    return app.serve_stdio()


_M_MMAP_THRESHOLD, _M_ARENA_MAX = -3, -8
_LARGE_BLOCK = 256 * 1024


def give_memory_back() -> None:
    """Have glibc return large blocks to the system. Else each thread keeps those of the largest answer it has read."""
    with suppress(OSError, AttributeError, TypeError):
        libc = ctypes.CDLL(None)
        libc.mallopt(_M_MMAP_THRESHOLD, _LARGE_BLOCK)
        libc.mallopt(_M_ARENA_MAX, 2)

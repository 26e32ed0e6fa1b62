"""`gitlab-mcp serve`: serves MCP over stdio, or over HTTP."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from gitlab_mcp.cli.garbage import collect_as_usual
from gitlab_mcp.settings import load

if TYPE_CHECKING:
    from gitlab_mcp.actions.registry import Registry
    from gitlab_mcp.app import App
    from gitlab_mcp.settings import Settings

_CAN_FAIL: Final = ("audit_log", "audit_required", "policy", "redis", "sentry_dsn", "tier_features")
"""The settings that only their part can check: it is made before anything is answered."""
_TO_A_PERSON = (
    "gitlab-mcp speaks MCP on standard input and output, and waits for a client. `gitlab-mcp --help` shows "
    "what else there is; Ctrl-C ends it.\n"
)


def serve(flags: Mapping[str, Any]) -> int:
    settings = load(flags)
    if settings.http:
        over_http = _app(settings)
        _be_ready_for_calls("gitlab_mcp.transports.http")
        return over_http.serve_http()
    from gitlab_mcp.actions.registry import Registry
    from gitlab_mcp.settings.listing import listed_tools
    from gitlab_mcp.transports.front import Serve, serve_with_front

    registry = Registry()
    tools = listed_tools(settings, registry)() if settings.policy is None else None
    app = _app(settings, registry) if any(getattr(settings, name) for name in _CAN_FAIL) else None
    if sys.stdin.isatty():
        sys.stderr.write(_TO_A_PERSON)

    def make() -> Serve:
        over_stdio = (app or _app(settings, registry)).over_stdio()
        _be_ready_for_calls()
        return over_stdio

    return serve_with_front(tools, make)


def _be_ready_for_calls(*more: str) -> None:
    from gitlab_mcp.gitlab.lean_requests import import_requests

    import_requests()
    for module in (*_EVERY_CALL_NEEDS, *more):
        import_module(module)
    collect_as_usual()


def _app(settings: Settings, registry: Registry | None = None) -> App:
    from gitlab_mcp.observability import logs

    logs.configure(settings.log_level, settings.log_format)
    give_memory_back()
    from gitlab_mcp.app import App

    return App(settings, registry)


_EVERY_CALL_NEEDS: Final = (
    "anyio._backends._asyncio",
    "gitlab_mcp.actions.scopes",
    "gitlab_mcp.failures.render",
    "gitlab_mcp.gitlab.attempt",
    "gitlab_mcp.gitlab.client",
    "gitlab_mcp.gitlab.instance",
    "gitlab_mcp.gitlab.python_gitlab",
    "gitlab_mcp.protocol.server",
    "gitlab_mcp.results.present_answer",
    "gitlab_mcp.results.markdown",
    "gitlab_mcp.success_checks.all_checks",
    "hashlib",
)
"""Else the first call waits for it."""

_M_MMAP_THRESHOLD, _M_ARENA_MAX = -3, -8
_LARGE_BLOCK = 256 * 1024


def give_memory_back() -> None:
    """Have glibc return large blocks to the system. Else each thread keeps those of the largest answer it has read."""
    import ctypes

    with suppress(OSError, AttributeError, TypeError):
        libc = ctypes.CDLL(None)
        libc.mallopt(_M_MMAP_THRESHOLD, _LARGE_BLOCK)
        libc.mallopt(_M_ARENA_MAX, 2)

"""Servers with the operator's rules in force, in front of a small world."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gitlab_mcp.actions.result import Result
from gitlab_mcp.app import App
from gitlab_mcp.callers import RequestContext, Secret, Token, TokenKind
from gitlab_mcp.failures.failure import CallFailed, Failure
from tests.support.standin import StandIn, World

Server = Callable[..., App]

DEFAULTS: dict[str, Any] = {"trust": None, "confirm": "destructive"}
UNGUARDED: dict[str, Any] = {"trust": "dangerous", "confirm": "never", "quota": ()}
"""What actions do is tested without anybody being asked; tests/policy is about the asking."""


def request_by(
    token: str, request_id: str = "request-1", kind: TokenKind = "private", **options: Any
) -> RequestContext:
    return RequestContext(request_id=request_id, token=Token(Secret(token), kind), **options)


async def refused(
    app: App, tool: str, arguments: dict[str, Any], request_context: RequestContext | None = None
) -> Failure:
    """The failure that a call ends with."""
    try:
        result = await app.call(tool, arguments, request_context=request_context)
    except CallFailed as failed:
        return failed.failure
    raise AssertionError(f"it went through: {dict(result.data)}")


async def code_of(
    app: App, tool: str, arguments: dict[str, Any], request_context: RequestContext | None = None
) -> str:
    return (await refused(app, tool, arguments, request_context)).code


async def outcome(
    app: App, tool: str, arguments: dict[str, Any], request_context: RequestContext | None = None
) -> Result | Failure:
    try:
        return await app.call(tool, arguments, request_context=request_context)
    except CallFailed as failed:
        return failed.failure


def with_labels(standin: StandIn, *names: str) -> World:
    """The project acme/website (number 9001) with these labels."""
    world = standin.project("acme/website")
    world.things["labels"] = [
        {"id": number, "name": name, "color": "#111111"} for number, name in enumerate(names, 1)
    ]
    return world


def writes(standin: StandIn) -> list[str]:
    return [f"{each.method} {each.route}" for each in standin.requests if each.method not in ("GET", "HEAD")]


def delete_label(name: str = "bug", **more: Any) -> dict[str, Any]:
    return {"action": "delete", "project_id": "acme/website", "label_id": name, **more}

"""The way of one HTTP request: name, caller, size, then MCP; and one line in the log about it."""

from __future__ import annotations

import logging
import re
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gitlab_mcp.callers import RequestContext
from gitlab_mcp.failures.failure import CallFailed
from gitlab_mcp.observability import logs
from gitlab_mcp.observability.metrics import Metrics
from gitlab_mcp.protocol.server import GitLabServer
from gitlab_mcp.transports.http import identity
from gitlab_mcp.transports.http.addresses import METADATA, Names
from gitlab_mcp.transports.http.health import Health
from gitlab_mcp.transports.http.identity import Authenticator
from gitlab_mcp.transports.http.options import HttpOptions
from gitlab_mcp.transports.http.reading import Gone, read_away, read_body, while_connected
from gitlab_mcp.transports.http.refusals import Rejected, answer

PATH = "/mcp"

log = logging.getLogger("gitlab_mcp.http")


class Endpoint:
    """The ASGI application below uvicorn."""

    def __init__(
        self,
        server: GitLabServer,
        options: HttpOptions,
        *,
        knows: Callable[[RequestContext], Awaitable[bool | None]],
        health: Health,
        metrics: Metrics,
    ) -> None:
        self._options = options
        self._names = Names(options.public_url, PATH)
        self._doorkeeper = Authenticator(options)
        self._knows = knows
        self._health = health
        self._metrics = metrics
        self._plain = server.http_sessions(events=False, largest=options.max_request_bytes)
        self._events = server.http_sessions(events=True, largest=options.max_request_bytes)
        self._around = Starlette(
            routes=[
                Route("/healthz", health.alive, methods=["GET"]),
                Route("/readyz", health.ready, methods=["GET"]),
                Route("/metrics", health.metrics, methods=["GET"]),
                Route(METADATA + "{path:path}", self._metadata, methods=["GET"]),
            ],
            lifespan=self._lifespan,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._around(scope, receive, send)
            return
        started = time.perf_counter()
        headers = Headers(scope=scope)
        request_id = _request_id(headers)
        logs.REQUEST_ID.set(request_id)
        status = 0

        async def signed(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                said = MutableHeaders(raw=message.setdefault("headers", []))
                said["X-Request-Id"] = request_id
                if self._health.stopping:
                    # So that the client's next request goes to another replica.
                    said["Connection"] = "close"
            await send(message)

        if scope["path"] != PATH:
            await self._around(scope, receive, signed)
            return
        try:
            await self._mcp(scope, headers, request_id, receive, signed)
        except (Rejected, CallFailed) as refusal:
            # A secret that can no longer be read opens nothing.
            turned = refusal if isinstance(refusal, Rejected) else Rejected(refusal.failure, 500)
            self._record(turned)
            await self._turn_away(turned, headers, request_id)(scope, receive, signed)
        except Gone:
            pass
        self._metrics.request(status)
        log.info(
            "%s %s answered with %s",
            scope["method"],
            PATH,
            status or "nothing: the client is gone",
            extra={
                "component": "http",
                "method": scope["method"],
                "path": PATH,
                "http_status": status,
                "duration_ms": round((time.perf_counter() - started) * 1000, 1),
            },
        )

    def _record(self, turned: Rejected) -> None:
        """A refusal is counted and logged as a failed call is."""
        code, operation = turned.failure.code, turned.failure.call.operation
        self._metrics.refusal(code, operation, turned.status)
        known = {
            "component": "http",
            "operation": operation,
            "error_code": code,
            "http_status": turned.status,
        }
        log.warning("%s refused with %s", operation, code, extra=known)

    async def _mcp(
        self, scope: Scope, headers: Headers, request_id: str, receive: Receive, send: Send
    ) -> None:
        self._names.check(headers)
        if scope["method"] != "POST":
            # No session and no stream of its own: every request stands for itself.
            await Response(status_code=405, headers={"Allow": "POST"})(scope, receive, send)
            return
        challenge = self._challenge(headers)
        request_context = self._doorkeeper.request_context(headers, request_id, challenge)
        if (
            request_context.token is not None
            and request_context.token.kind == "bearer"
            and await self._knows(request_context) is False
        ):
            raise identity.dead(challenge)
        options = self._options
        body = await read_body(
            headers.get("content-length"), receive, options.max_request_bytes, options.client_timeout
        )
        scope.setdefault("state", {})["visit"] = request_context
        # Progress needs a stream of events, and who wants progress says so; all others get plain JSON.
        wanted = b'"progressToken"' in body and "text/event-stream" in headers.get("accept", "")
        sessions = self._events if wanted else self._plain
        await while_connected(sessions.handle_request, scope, body, receive, send)

    def _turn_away(self, turned: Rejected, headers: Headers, request_id: str) -> ASGIApp:
        try:
            style = self._doorkeeper.style(headers) or self._options.error_style
        except Rejected:
            style = self._options.error_style
        response = answer(turned, style, request_id)

        async def turn(scope: Scope, receive: Receive, send: Send) -> None:
            if not await read_away(receive):
                response.headers["Connection"] = "close"
            await response(scope, receive, send)

        return turn

    def _challenge(self, headers: Headers) -> str:
        url = self._names.metadata_url(headers["host"])
        return f'Bearer resource_metadata="{url}", scope="{self._options.oauth_scope}"'

    async def _metadata(self, request: Request) -> Response:
        """RFC 9728: which authorization server gives out tokens for this resource."""
        try:
            self._names.check(Headers(raw=[pair for pair in request.headers.raw if pair[0] != b"origin"]))
        except Rejected as turned:
            return answer(turned, self._options.error_style, _request_id(request.headers))
        resource = self._names.resource(request.headers["host"])
        if self._options.bearer is not None:
            return Response(status_code=404)
        metadata = {
            "resource": resource,
            "resource_name": "GitLab MCP server",
            "authorization_servers": [self._options.url],
            "scopes_supported": [self._options.oauth_scope],
            "bearer_methods_supported": ["header"],
        }
        # Public by its nature: clients in web pages must be able to read where to sign in.
        return JSONResponse(metadata, headers={"Access-Control-Allow-Origin": "*"})

    @asynccontextmanager
    async def _lifespan(self, app: Starlette) -> AsyncIterator[None]:
        async with self._plain.run(), self._events.run():
            yield


def _request_id(headers: Headers) -> str:
    """The caller's, where it is harmless in a log line; else a new one."""
    given = headers.get(identity.REQUEST_ID, "")
    return given if re.fullmatch(r"[\w.:-]{8,64}", given, re.ASCII) else uuid.uuid4().hex

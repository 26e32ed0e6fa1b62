"""The ASGI application: checks host, caller and size of each request, then hands it to MCP, and logs it."""

from __future__ import annotations

import logging
import re
import time
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from gitlab_mcp.callers import RequestContext
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.observability import logs
from gitlab_mcp.observability.metrics import Metrics
from gitlab_mcp.protocol.messages import NoMessage, read_message
from gitlab_mcp.protocol.server import ICON, GitLabServer
from gitlab_mcp.spans import CLIENT_TRACE, trace_headers
from gitlab_mcp.transports.http.allowed_hosts import METADATA_PATH, AllowedHosts
from gitlab_mcp.transports.http.authentication import Authenticator
from gitlab_mcp.transports.http.body_budget import BodyBudget
from gitlab_mcp.transports.http.cancel_on_disconnect import cancel_on_disconnect
from gitlab_mcp.transports.http.front_page import front_page, wants_page
from gitlab_mcp.transports.http.health import Health, ServingState
from gitlab_mcp.transports.http.options import HttpOptions
from gitlab_mcp.transports.http.rejection import Rejected, rejection_response
from gitlab_mcp.transports.http.request_body import ClientGone, read_body
from gitlab_mcp.transports.http.request_headers import REQUEST_ID, requested_error_style
from gitlab_mcp.transports.http.token_checks import TokenChecks

PATH = "/mcp"

log = logging.getLogger("gitlab_mcp.http")


class HttpApplication:
    def __init__(
        self,
        server: GitLabServer,
        options: HttpOptions,
        *,
        token_checks: TokenChecks,
        health: Health,
        serving: ServingState,
        metrics: Metrics,
    ) -> None:
        self._options = options
        self._server = server
        self._allowed_hosts = AllowedHosts(options.public_url, PATH)
        self._authenticator = Authenticator(options)
        self._token_checks = token_checks
        self._bodies = BodyBudget(options.max_request_bytes)
        self._health = health
        self._serving = serving
        self._metrics = metrics
        self._json_sessions = server.http_session_manager(
            events=False, max_body_bytes=options.max_request_bytes
        )
        self._event_sessions = server.http_session_manager(
            events=True, max_body_bytes=options.max_request_bytes
        )
        self._other_routes = Starlette(
            routes=[
                *health.routes(),
                Route("/", self._front_page, methods=["GET"]),
                Route(METADATA_PATH + "{path:path}", self._metadata, methods=["GET"]),
            ],
            exception_handlers={404: self._no_such_path, 405: self._only_get},
            lifespan=self._lifespan,
        )
        self._other_routes.router.redirect_slashes = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._other_routes(scope, receive, send)
            return
        started = time.perf_counter()
        headers = Headers(scope=scope)
        request_id = _request_id(headers)
        logs.REQUEST_ID.set(request_id)
        CLIENT_TRACE.set(trace_headers(headers))
        status = 0
        refused = False

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                response_headers = MutableHeaders(raw=message.setdefault("headers", []))
                response_headers["X-Request-Id"] = request_id
                if self._serving.stopping:
                    # So that the client's next request goes to another replica.
                    response_headers["Connection"] = "close"
            await send(message)

        if scope["path"] != PATH:
            await self._other_routes(scope, receive, send_with_headers)
            return
        try:
            await self._serve_mcp(scope, headers, request_id, receive, send_with_headers)
        except (Rejected, CallFailed) as refusal:
            # CallFailed: the file with the secret that requests must bring can no longer be read.
            rejected = refusal if isinstance(refusal, Rejected) else Rejected(refusal.failure, 500)
            refused = True
            await self.refusal(rejected, headers)(scope, receive, send_with_headers)
        except ClientGone:
            pass
        self._metrics.count_request(status)
        # A request that was refused here has its warning already. What the SDK refused has none yet.
        log.log(
            logging.WARNING if status >= 400 and not refused else logging.INFO,
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

    async def _serve_mcp(
        self, scope: Scope, headers: Headers, request_id: str, receive: Receive, send: Send
    ) -> None:
        self._allowed_hosts.check(headers)
        if scope["method"] != "POST":
            raise Rejected(_only_post(), 405, {"Allow": "POST"})
        challenge = self._challenge(headers)
        request_context = self._authenticator.request_context(headers, request_id, challenge)
        address = scope["state"]["client_address"]
        await self._token_checks.check(request_context, address, challenge)
        with self._bodies.share_of(address) as share:
            body = await read_body(
                headers.get("content-length"), receive, self._options.max_request_bytes, share
            )
            await self._serve_message(scope, headers, request_context, body, receive, send)

    async def _serve_message(
        self,
        scope: Scope,
        headers: Headers,
        request_context: RequestContext,
        body: bytes,
        receive: Receive,
        send: Send,
    ) -> None:
        try:
            message = read_message(body)
        except NoMessage as unreadable:
            raise Rejected(
                unreadable.failure, 400, json_rpc_code=unreadable.json_rpc_code, id=unreadable.id
            ) from None
        scope["state"].update(request_context=request_context, message=message)
        # Progress needs a stream of events. A client that did not ask for progress gets plain JSON.
        wants_events = b'"progressToken"' in body and "text/event-stream" in headers.get("accept", "")
        sessions = self._event_sessions if wants_events else self._json_sessions
        await cancel_on_disconnect(sessions.handle_request, scope, message.content, receive, send)

    def health_alone(self, health: Health) -> Starlette:
        """What is served at a port for health."""
        app = Starlette(
            routes=health.routes(), exception_handlers={404: self._no_such_path, 405: self._only_get}
        )
        app.router.redirect_slashes = False
        return app

    def refusal(self, rejected: Rejected, headers: Headers) -> Response:
        """Log and count the refusal of a request with these headers; the answer to it."""
        try:
            error_style = requested_error_style(headers) or self._options.error_style
        except Rejected:
            error_style = self._options.error_style
        failure = self._server.record_refusal(rejected.failure)
        return rejection_response(
            rejected, failure, error_style, logs.REQUEST_ID.get() or _request_id(headers)
        )

    def _challenge(self, headers: Headers) -> str:
        url = self._allowed_hosts.metadata_url(headers["host"])
        return f'Bearer resource_metadata="{url}", scope="{self._options.oauth_scope}"'

    async def _metadata(self, request: Request) -> Response:
        """RFC 9728: tells clients that GitLab is the authorization server."""
        try:
            self._allowed_hosts.check(
                Headers(raw=[pair for pair in request.headers.raw if pair[0] != b"origin"])
            )
        except Rejected as rejected:
            return self.refusal(rejected, request.headers)
        resource = self._allowed_hosts.resource(request.headers["host"])
        if self._options.bearer is not None:
            return Response(status_code=404)
        metadata = {
            "resource": resource,
            "resource_name": "GitLab MCP server",
            "authorization_servers": [self._options.url],
            "scopes_supported": [self._options.oauth_scope],
            "bearer_methods_supported": ["header"],
        }
        # Clients in web pages must be able to read it too.
        return JSONResponse(metadata, headers={"Access-Control-Allow-Origin": "*"})

    async def _front_page(self, request: Request) -> Response:
        """For people who open the address in a browser. For programs there is nothing here."""
        if not wants_page(request.headers.get("accept", "")):
            return self._nothing_here(request.headers)
        try:
            self._allowed_hosts.check(request.headers)
        except Rejected as rejected:
            return self.refusal(rejected, request.headers)
        checks = await self._health.checks()
        if not self._health.is_operator(request):
            checks = {name: passed for name, passed in checks.items() if name != "store"}
        url = self._allowed_hosts.address(request.headers["host"])
        return front_page(url, self._options, ICON, checks)

    async def _no_such_path(self, request: Request, error: Exception) -> Response:
        return self._nothing_here(request.headers)

    def _nothing_here(self, headers: Headers) -> Response:
        failure = Failure(Code.NOT_FOUND, "There is nothing at this path.")
        return self.refusal(Rejected(failure.knowing(suggested_fix=f"MCP is at {PATH}."), 404), headers)

    async def _only_get(self, request: Request, error: Exception) -> Response:
        failure = Failure(Code.INVALID_VALUE, "Only GET is served at this path.")
        rejected = Rejected(failure.knowing(suggested_fix="Send a GET."), 405, {"Allow": "GET"})
        return self.refusal(rejected, request.headers)

    @asynccontextmanager
    async def _lifespan(self, app: Starlette) -> AsyncIterator[None]:
        async with self._json_sessions.run(), self._event_sessions.run():
            yield


def _only_post() -> Failure:
    return Failure(Code.INVALID_VALUE, "Only POST is served at this path.").knowing(
        suggested_fix="Send each message as a POST: there is no session to end and no stream to open."
    )


def _request_id(headers: Headers) -> str:
    """The client's own, where it is harmless in a log line; else a new one."""
    given = headers.get(REQUEST_ID, "")
    return given if re.fullmatch(r"[\w.:-]{8,64}", given, re.ASCII) else uuid.uuid4().hex

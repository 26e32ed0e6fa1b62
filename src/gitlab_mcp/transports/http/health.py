"""What the operator and the machinery around the server may see: alive, ready, how many."""

from __future__ import annotations

import hmac
import time
from collections.abc import Awaitable, Callable, Mapping
from ipaddress import ip_address
from typing import Final

import anyio
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from gitlab_mcp.callers import Secret
from gitlab_mcp.failures.failure import CallFailed
from gitlab_mcp.observability.metrics import CONTENT_TYPE, Metrics
from gitlab_mcp.transports.http.addresses import is_this_machine

Check = Callable[[], Awaitable[bool]]

_BELIEVED: Final = 5.0
"""Seconds for which a check counts, so that whoever asks often does not make us ask often."""
_FORWARDED: Final = ("forwarded", "x-forwarded-for", "x-real-ip", "via", "origin")


class Health:
    def __init__(
        self, metrics: Metrics, checks: Mapping[str, Check], operator: Callable[[], Secret] | None
    ) -> None:
        self.stopping = False
        self._metrics = metrics
        self._checks = checks
        self._operator = operator
        self._known: dict[str, bool] = {}
        self._until = 0.0
        self._asking = anyio.Lock()

    async def alive(self, request: Request) -> Response:
        return PlainTextResponse("alive\n")

    async def ready(self, request: Request) -> Response:
        checks = {"stopping": False} if self.stopping else await self._checked()
        ready = all(checks.values())
        body: dict[str, object] = {"status": "ready" if ready else "not ready"}
        if self._is_operator(request):
            body["checks"] = {name: "ok" if good else "failed" for name, good in checks.items()}
        return JSONResponse(body, 200 if ready else 503, {"Cache-Control": "no-store"})

    async def metrics(self, request: Request) -> Response:
        if not self._is_operator(request):
            return PlainTextResponse(
                "Only for the operator: bring the secret of --operator-secret-file as Authorization: Bearer.\n",
                401,
                {"WWW-Authenticate": "Bearer"},
            )
        return PlainTextResponse(self._metrics.text(), media_type=CONTENT_TYPE)

    async def _checked(self) -> Mapping[str, bool]:
        async with self._asking:
            if time.monotonic() >= self._until:
                self._known = {name: await check() for name, check in self._checks.items()}
                self._until = time.monotonic() + _BELIEVED
        return self._known

    def _is_operator(self, request: Request) -> bool:
        if self._operator is not None:
            scheme, _, given = request.headers.get("authorization", "").partition(" ")
            try:
                secret = self._operator().reveal()
            except CallFailed:
                return False
            return hmac.compare_digest(given.strip().encode(), secret.encode()) and scheme.lower() == "bearer"
        # Behind a proxy on this machine everybody comes from here; a proxy says so in one of these headers.
        return (
            request.client is not None
            and ip_address(request.client.host).is_loopback
            and is_this_machine(request.headers.get("host", ""))
            and not any(name in request.headers for name in _FORWARDED)
        )

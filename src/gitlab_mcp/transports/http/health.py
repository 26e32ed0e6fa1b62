"""`/healthz`, `/readyz` and `/metrics`. Details are for the operator only."""

from __future__ import annotations

import hmac
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Final

import anyio
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from gitlab_mcp.callers import Secret
from gitlab_mcp.failures.failure import CallFailed
from gitlab_mcp.observability.metrics import CONTENT_TYPE, Metrics
from gitlab_mcp.transports.http.allowed_hosts import is_localhost
from gitlab_mcp.transports.http.client_address import is_forwarded

_STUCK_SECONDS: Final = 15.0
"""After so long without a sign of life the serving of calls is stuck."""

ReadinessCheck = Callable[[], Awaitable[bool]]

_REMEMBERED_SECONDS: Final = 5.0
"""How long a check is remembered, so that frequent requests to us do not become frequent requests to GitLab."""


@dataclass(slots=True)
class ServingState:
    """What is known of the serving of calls, also where health has a port and a thread of its own."""

    stopping: bool = False
    last_sign_of_life: float = field(default_factory=time.monotonic)

    @property
    def stuck(self) -> bool:
        return time.monotonic() - self.last_sign_of_life > _STUCK_SECONDS

    async def give_signs_of_life(self) -> None:
        while True:
            self.last_sign_of_life = time.monotonic()
            await anyio.sleep(1)


class Health:
    def __init__(
        self,
        metrics: Metrics,
        checks: Mapping[str, ReadinessCheck],
        operator_secret: Callable[[], Secret] | None,
        serving: ServingState,
    ) -> None:
        self._serving = serving
        self._metrics = metrics
        self._checks = checks
        self._operator_secret = operator_secret
        self._results: dict[str, bool] = {}
        self._valid_until = 0.0
        self._checking = anyio.Lock()

    def routes(self) -> list[Route]:
        return [
            Route("/healthz", self._alive, methods=["GET"]),
            Route("/readyz", self._ready, methods=["GET"]),
            Route("/metrics", self._show_metrics, methods=["GET"]),
        ]

    async def _alive(self, request: Request) -> Response:
        if self._serving.stuck:
            return PlainTextResponse("stuck\n", 503)
        return PlainTextResponse("alive\n")

    async def _ready(self, request: Request) -> Response:
        checks = await self.checks()
        ready = all(checks.values())
        body: dict[str, object] = {"status": "ready" if ready else "not ready"}
        if self.is_operator(request):
            body["checks"] = {name: "ok" if passed else "failed" for name, passed in checks.items()}
        return JSONResponse(body, 200 if ready else 503, {"Cache-Control": "no-store"})

    async def _show_metrics(self, request: Request) -> Response:
        if not self.is_operator(request):
            return PlainTextResponse(
                "Only for the operator: bring the secret of --operator-secret-file as Authorization: Bearer.\n",
                401,
                {"WWW-Authenticate": "Bearer"},
            )
        return PlainTextResponse(self._metrics.text(), media_type=CONTENT_TYPE)

    async def checks(self) -> Mapping[str, bool]:
        """What is checked, and whether it passed."""
        if self._serving.stopping:
            return {"stopping": False}
        async with self._checking:
            if time.monotonic() >= self._valid_until:
                self._results = {name: await check() for name, check in self._checks.items()}
                self._valid_until = time.monotonic() + _REMEMBERED_SECONDS
        return self._results

    def is_operator(self, request: Request) -> bool:
        if self._operator_secret is not None:
            scheme, _, given = request.headers.get("authorization", "").partition(" ")
            try:
                secret = self._operator_secret().reveal()
            except CallFailed:
                return False
            return hmac.compare_digest(given.strip().encode(), secret.encode()) and scheme.lower() == "bearer"
        # Behind a proxy on this machine every connection comes from localhost. Only a web page sends an origin.
        return (
            request.client is not None
            and ip_address(request.client.host).is_loopback
            and is_localhost(request.headers.get("host", ""))
            and not is_forwarded(request.headers)
            and "origin" not in request.headers
        )

"""From the start to an end that loses no call."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import socket
from collections.abc import Awaitable, Callable, Iterator, Mapping

import anyio
import uvicorn

from gitlab_mcp.callers import RequestContext
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.observability.metrics import Metrics
from gitlab_mcp.protocol.server import GitLabServer
from gitlab_mcp.transports.http.connections import impatient
from gitlab_mcp.transports.http.endpoint import PATH, Endpoint
from gitlab_mcp.transports.http.health import Check, Health
from gitlab_mcp.transports.http.options import HttpOptions

_FAREWELL = 1.0
"""Seconds between the wish to stop and closing the port: readiness says no, answers say that the connection ends,
and who still comes is served."""
_MARGIN = 5.0
_LARGEST_HEAD = 32 * 1024
_CONNECTIONS = 1000
_KEPT_ALIVE = 75
"""Longer than proxies keep idle connections: who closes first must not be us."""

log = logging.getLogger("gitlab_mcp.serving")


def listen(host: str, number: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, number), family=family, backlog=2048)
    except OSError as problem:
        failure = Failure(
            Code.CONFIGURATION_ERROR, "The server cannot listen on the address it was given."
        ).knowing(
            setting="http",
            evidence=[problem.strerror or "the system gave no reason"],
            suggested_fix="Choose another address or port with --http, or stop what listens there.",
        )
        raise CallFailed(failure) from None


def serve(
    server: GitLabServer,
    port: socket.socket,
    options: HttpOptions,
    *,
    metrics: Metrics,
    knows: Callable[[RequestContext], Awaitable[bool | None]],
    ready: Mapping[str, Check],
) -> int:
    health = Health(metrics, ready, options.operator_secret)
    endpoint = Endpoint(server, options, knows=knows, health=health, metrics=metrics)
    config = uvicorn.Config(
        endpoint,
        http=impatient(options.client_timeout),  # type: ignore[arg-type]
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        limit_concurrency=_CONNECTIONS,
        h11_max_incomplete_event_size=_LARGEST_HEAD,
        timeout_keep_alive=_KEPT_ALIVE,
        timeout_graceful_shutdown=int(options.deadline + _MARGIN),
    )
    log.setLevel(logging.INFO)
    host, number = port.getsockname()[:2]
    log.info("serving MCP at http://%s%s", f"[{host}]:{number}" if ":" in host else f"{host}:{number}", PATH)
    anyio.run(_serve, _Server(config), health, port)
    log.info("stopped")
    return 0


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Signals are ours: uvicorn would raise them again at its end, and the exit code would tell of a failure."""
        yield

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        # Clients that the system let in and nobody has greeted yet would be cut off when the port closes.
        late = [client for port in sockets or () for client in _at_the_door(port)]
        for server in self.servers:
            server.close()
        for client in late:
            await asyncio.get_running_loop().connect_accepted_socket(self._connection, client)
        await super().shutdown(sockets)

    def _connection(self) -> asyncio.Protocol:
        state = self.lifespan.state
        return self.config.http_protocol_class(self.config, self.server_state, state)  # type: ignore[call-arg]


def _at_the_door(port: socket.socket) -> Iterator[socket.socket]:
    with contextlib.suppress(OSError):
        while True:
            client, _ = port.accept()
            client.setblocking(False)
            yield client


async def _serve(server: uvicorn.Server, health: Health, port: socket.socket) -> None:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_stop_on_signal, server, health)
        await server.serve(sockets=[port])
        tasks.cancel_scope.cancel()


async def _stop_on_signal(server: uvicorn.Server, health: Health) -> None:
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        async with anyio.create_task_group() as tasks:
            async for _ in signals:
                if health.stopping:
                    log.info("stopped in the middle of calls, as asked twice")
                    os._exit(0)
                health.stopping = True
                log.info("stopping: calls in flight are finished first")
                tasks.start_soon(_say_farewell, server)


async def _say_farewell(server: uvicorn.Server) -> None:
    await anyio.sleep(_FAREWELL)
    server.should_exit = True

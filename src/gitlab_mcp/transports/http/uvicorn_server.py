"""Listens, serves with uvicorn, and stops without losing a call."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
import threading
from collections.abc import Iterator, Mapping
from functools import partial

import anyio
import uvicorn

from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.observability.metrics import Metrics
from gitlab_mcp.protocol.server import GitLabServer
from gitlab_mcp.transports.http.admission import Admission
from gitlab_mcp.transports.http.asgi_application import PATH, HttpApplication
from gitlab_mcp.transports.http.connection import Connection, ConnectionRules
from gitlab_mcp.transports.http.health import Health, ReadinessCheck, ServingState
from gitlab_mcp.transports.http.options import HttpOptions
from gitlab_mcp.transports.http.token_checks import TokenChecks
from gitlab_mcp.transports.stop_signals import StopSignals

_SECONDS_BEFORE_CLOSING = 1.0
"""Between the signal to stop and closing the port. In this time `/readyz` fails and answers say
`Connection: close`, so that clients go elsewhere; new requests are still served."""
_EXTRA_SECONDS_TO_FINISH = 5.0
_HEALTH_CONNECTIONS = 64
_BACKLOG = 2048
_ACCEPTED_AT_ONCE = 16
"""asyncio accepts as many connections in a row as the backlog is long, and works on nothing else meanwhile."""
_KEEP_ALIVE_SECONDS = 75
"""Longer than proxies keep idle connections, so that they close first and we lose no request."""

log = logging.getLogger("gitlab_mcp.serving")


def listen(host: str, number: int, setting: str = "http") -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        port = socket.create_server((host, number), family=family, backlog=_BACKLOG)
    except OSError as problem:
        failure = Failure(
            Code.CONFIGURATION_ERROR, "The server cannot listen on the address it was given."
        ).knowing(
            setting=setting,
            evidence=[problem.strerror or "the system gave no reason"],
            suggested_fix=f"Choose another address or port with --{setting}, or stop what listens there.",
        )
        raise CallFailed(failure) from None
    # Connections inherit it. asyncio sets it itself only where a socket was made for TCP by name, and without it the
    # second packet of an answer waits about 40 ms for the first to be acknowledged.
    port.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return port


def local_url(port: socket.socket) -> str:
    host, number = port.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{number}"


def serve(
    server: GitLabServer,
    port: socket.socket,
    options: HttpOptions,
    *,
    metrics: Metrics,
    token_checks: TokenChecks,
    readiness_checks: Mapping[str, ReadinessCheck],
    health_port: socket.socket | None = None,
) -> int:
    serving = ServingState()
    health = Health(metrics, readiness_checks, options.operator_secret, serving)
    application = HttpApplication(
        server, options, token_checks=token_checks, health=health, serving=serving, metrics=metrics
    )
    admission = Admission(
        connections=options.max_connections,
        per_address=options.connections_per_address,
        proxies=options.trusted_proxies,
    )
    rules = ConnectionRules(options.client_timeout, admission, application.refusal)
    config = uvicorn.Config(
        application,
        http=partial(Connection, rules),  # type: ignore[arg-type]
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        backlog=_ACCEPTED_AT_ONCE,
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=int(options.deadline + _EXTRA_SECONDS_TO_FINISH),
    )
    log.setLevel(logging.INFO)
    log.info("serving MCP at %s", local_url(port) + PATH)
    if health_port is not None:
        own = Health(metrics, readiness_checks, options.operator_secret, serving)
        _serve_health(application, own, health_port, options.client_timeout)
    anyio.run(_serve, _UvicornServer(config), serving, port)
    log.info("stopped")
    return 0


def _serve_health(
    application: HttpApplication, health: Health, port: socket.socket, client_timeout: float
) -> None:
    """In a thread and with connections of its own, so that no load on the other port keeps it from answering."""
    admission = Admission(connections=_HEALTH_CONNECTIONS, per_address=_HEALTH_CONNECTIONS, proxies=())
    config = uvicorn.Config(
        application.health_alone(health),
        http=partial(Connection, ConnectionRules(client_timeout, admission, application.refusal)),  # type: ignore[arg-type]
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
    )
    server = _UvicornServer(config)
    threading.Thread(target=anyio.run, args=(server.serve, [port]), name="health", daemon=True).start()
    log.info("serving health at %s", local_url(port))


class _UvicornServer(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """We handle signals. Uvicorn would raise them again when it ends, and the exit code would not be 0."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for port in sockets or ():
            port.listen(_BACKLOG)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        # Connections that are in the queue of the port and not yet accepted would be cut off when it closes.
        waiting = [client for port in sockets or () for client in _accept_waiting(port)]
        for server in self.servers:
            server.close()
        for client in waiting:
            await asyncio.get_running_loop().connect_accepted_socket(self._new_connection, client)
        await super().shutdown(sockets)

    def _new_connection(self) -> asyncio.Protocol:
        state = self.lifespan.state
        return self.config.http_protocol_class(self.config, self.server_state, state)  # type: ignore[call-arg]


def _accept_waiting(port: socket.socket) -> Iterator[socket.socket]:
    with contextlib.suppress(OSError):
        while True:
            client, _ = port.accept()
            client.setblocking(False)
            yield client


async def _serve(server: uvicorn.Server, serving: ServingState, port: socket.socket) -> None:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_stop_on_signal, server, serving)
        tasks.start_soon(serving.give_signs_of_life)
        await server.serve(sockets=[port])
        tasks.cancel_scope.cancel()


async def _stop_on_signal(server: uvicorn.Server, serving: ServingState) -> None:
    asked = anyio.Event()

    def told() -> None:
        if serving.stopping:
            log.info("stopped in the middle of calls, as asked twice")
            os._exit(0)
        serving.stopping = True
        log.info("stopping: calls in flight are finished first")
        asked.set()

    with StopSignals(told):
        await asked.wait()
        await anyio.sleep(_SECONDS_BEFORE_CLOSING)
        server.should_exit = True
        # Until the end of the server a second signal still counts.
        await anyio.sleep_forever()

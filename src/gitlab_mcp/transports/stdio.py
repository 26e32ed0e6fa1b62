"""MCP over standard input and output. At the end, calls in flight get a moment to finish."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import Any

import anyio
from mcp.server.stdio import stdio_server

from gitlab_mcp.protocol.server import GitLabServer

_GRACE_SECONDS = 1.0
"""Time that calls in flight get after the client has gone or a signal came."""
_SETTLE_SECONDS = 0.05
"""Time until a request that was just read counts as a call in flight, and until a result is written."""


def serve(server: GitLabServer, close: Callable[[], None]) -> int:
    try:
        anyio.run(_serve, server, close)
    except* BrokenPipeError:
        # The client went away in the middle of an answer.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


async def _serve(server: GitLabServer, close: Callable[[], None]) -> None:
    stopping = anyio.Event()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_on_signal, stopping)
        async with stdio_server() as (read, write):
            await server.serve_streams(_InputWithGrace(read, server, stopping), write)
            if stopping.is_set():
                # A thread of the SDK still waits for a line on standard input, and cannot be woken.
                close()
                os._exit(0)
        tasks.cancel_scope.cancel()


async def _on_signal(stopping: anyio.Event) -> None:
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        async for _ in signals:
            stopping.set()
            return


class _InputWithGrace:
    """Ends later than the real input, because the SDK cancels calls in flight when its input ends."""

    def __init__(self, stream: Any, server: GitLabServer, stopping: anyio.Event) -> None:
        self._stream = stream
        self._server = server
        self._stopping = stopping

    @property
    def last_context(self) -> Any:
        return self._stream.last_context

    async def receive(self) -> Any:
        message: Any = None
        ended = True
        async with anyio.create_task_group() as tasks:

            async def cancel_when_stopping() -> None:
                await self._stopping.wait()
                tasks.cancel_scope.cancel()

            tasks.start_soon(cancel_when_stopping)
            with suppress(anyio.EndOfStream, anyio.ClosedResourceError):
                message = await self._stream.receive()
                ended = False
            tasks.cancel_scope.cancel()
        if ended:
            await anyio.sleep(_SETTLE_SECONDS)
            with anyio.move_on_after(_GRACE_SECONDS):
                await self._server.in_flight.wait_until_none()
                # The result still has to be written.
                await anyio.sleep(_SETTLE_SECONDS)
            raise anyio.EndOfStream
        return message

    async def __aiter__(self) -> AsyncIterator[Any]:
        with suppress(anyio.EndOfStream):
            while True:
                yield await self.receive()

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def __aenter__(self) -> _InputWithGrace:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

"""MCP over standard input and output, with an end that loses no finished work and leaves no traceback."""

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

GRACE = 1.0
"""Seconds that calls in flight get when the client is gone or somebody wants us to stop."""
SETTLE = 0.05
"""Seconds in which a request that was just read becomes a call in flight."""


def serve(server: GitLabServer, close: Callable[[], None]) -> int:
    try:
        anyio.run(_serve, server, close)
    except* BrokenPipeError:
        # The client went away in the middle of an answer: nobody is left to tell.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


async def _serve(server: GitLabServer, close: Callable[[], None]) -> None:
    stopping = anyio.Event()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_on_signal, stopping)
        async with stdio_server() as (read, write):
            await server.serve_streams(_Lingering(read, server, stopping), write)
            if stopping.is_set():
                # The SDK's thread still waits for a line on standard input, and only the client could wake it.
                close()
                os._exit(0)
        tasks.cancel_scope.cancel()


async def _on_signal(stopping: anyio.Event) -> None:
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        async for _ in signals:
            stopping.set()
            return


class _Lingering:
    """The SDK cancels what is in flight when its input ends; so this input ends a moment later than the real one."""

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

            async def stop() -> None:
                await self._stopping.wait()
                tasks.cancel_scope.cancel()

            tasks.start_soon(stop)
            with suppress(anyio.EndOfStream, anyio.ClosedResourceError):
                message = await self._stream.receive()
                ended = False
            tasks.cancel_scope.cancel()
        if ended:
            await anyio.sleep(SETTLE)
            with anyio.move_on_after(GRACE):
                await self._server.in_flight.wait_until_none()
                # What a call returned still has to be written.
                await anyio.sleep(SETTLE)
            raise anyio.EndOfStream
        return message

    async def __aiter__(self) -> AsyncIterator[Any]:
        with suppress(anyio.EndOfStream):
            while True:
                yield await self.receive()

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def __aenter__(self) -> _Lingering:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

"""MCP over standard input and output. At the end, calls in flight get a moment to finish."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager, suppress
from io import StringIO
from typing import Any, BinaryIO

import anyio
from mcp.server.stdio import stdio_server
from mcp.shared.message import ServerMessageMetadata, SessionMessage

from gitlab_mcp.protocol.messages import NoMessage, read_message
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
        # The SDK would replace what is no UTF-8, and leave unanswered what it cannot parse. So it gets no input.
        no_input = anyio.wrap_file(StringIO())
        with _standard_input() as lines:
            async with stdio_server(stdin=no_input) as (unused, write):
                await unused.aclose()
                send, receive = anyio.create_memory_object_stream[SessionMessage](0)
                tasks.start_soon(_read, lines, server, send, write)
                await server.serve_streams(_InputWithGrace(receive, server, stopping), write)
                if stopping.is_set():
                    # A thread still waits for a line on standard input, and cannot be woken.
                    close()
                    os._exit(0)
        tasks.cancel_scope.cancel()


@contextmanager
def _standard_input() -> Iterator[BinaryIO]:
    """Standard input for the protocol alone: whatever else reads it meanwhile finds it empty."""
    private = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    try:
        # Not closed: a thread may still wait for a line.
        yield os.fdopen(private, "rb", closefd=False)
    finally:
        os.dup2(private, 0)


async def _read(lines: BinaryIO, server: GitLabServer, received: Any, write: Any) -> None:
    """Hands each message on. A line that is none is answered here."""
    async with received:
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            async for line in anyio.wrap_file(lines):
                if not (content := line.rstrip(b"\r\n")):
                    continue
                try:
                    message = read_message(content)
                except NoMessage as unreadable:
                    await write.send(SessionMessage(server.answer_to(unreadable)))
                else:
                    unreadable_part = (
                        ServerMessageMetadata(request_context=message) if message.failure else None
                    )
                    await received.send(SessionMessage(message.parsed, unreadable_part))


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

"""MCP over standard input and output. At the end, calls in flight get a moment to finish."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import suppress
from itertools import chain
from typing import Any

import anyio
from anyio.from_thread import run as run_in_loop
from anyio.to_thread import run_sync as run_in_thread
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from mcp.types import JSONRPCError, JSONRPCResponse

from gitlab_mcp.protocol.messages import NoMessage, read_message
from gitlab_mcp.protocol.server import GitLabServer
from gitlab_mcp.transports.front import Opening
from gitlab_mcp.transports.standard_streams import StandardStreams
from gitlab_mcp.transports.stop_signals import StopSignals

_GRACE_SECONDS = 1.0
"""Time that calls in flight get after the client has gone or a signal came."""
_SETTLE_SECONDS = 0.05
"""Time until a request that was just read counts as a call in flight, and until a result is written."""


def serve(server: GitLabServer, close: Callable[[], None], streams: StandardStreams, opening: Opening) -> int:
    try:
        anyio.run(_serve, server, close, streams, opening)
    except* BrokenPipeError:
        # The client went away in the middle of an answer.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


async def _serve(
    server: GitLabServer, close: Callable[[], None], streams: StandardStreams, opening: Opening
) -> None:
    stopping = anyio.Event()
    # The SDK's own streams would replace what is no UTF-8, and leave unanswered what cannot be parsed.
    messages, receive = anyio.create_memory_object_stream[SessionMessage](0)
    answers, written = anyio.create_memory_object_stream[SessionMessage](0)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_on_signal, stopping)
        async with anyio.create_task_group() as until_written:
            until_written.start_soon(_write, written, streams, opening.answered)
            tasks.start_soon(_read, chain(opening.lines, streams.lines), server, messages, answers)
            await server.serve_streams(_InputWithGrace(receive, server, stopping), answers)
        if stopping.is_set():
            # A thread still waits for a line on standard input, and cannot be woken.
            close()
            os._exit(0)
        tasks.cancel_scope.cancel()


async def _read(lines: Iterable[bytes], server: GitLabServer, messages: Any, answers: Any) -> None:
    """Hands each message on, from the one thread that waits for the client."""

    def read() -> None:
        for line in lines:
            if content := line.rstrip(b"\r\n"):
                run_in_loop(_hand_on, content, server, messages, answers)

    async with messages:
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            await run_in_thread(read, abandon_on_cancel=True)


async def _hand_on(content: bytes, server: GitLabServer, messages: Any, answers: Any) -> None:
    """A line that is no message is answered here."""
    try:
        message = read_message(content)
    except NoMessage as unreadable:
        await answers.send(SessionMessage(server.answer_to(unreadable)))
    else:
        unreadable_part = ServerMessageMetadata(request_context=message) if message.failure else None
        await messages.send(SessionMessage(message.parsed, unreadable_part))


async def _write(written: Any, streams: StandardStreams, answered: Iterable[str | int]) -> None:
    to_drop = set(answered)
    async with written:
        async for each in written:
            message = each.message
            if isinstance(message, JSONRPCResponse | JSONRPCError) and message.id in to_drop:
                to_drop.discard(message.id)
                continue
            line = message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
            if rest := streams.write_at_once(line):
                await run_in_thread(streams.write, rest)


async def _on_signal(stopping: anyio.Event) -> None:
    with StopSignals(stopping.set):
        await stopping.wait()


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

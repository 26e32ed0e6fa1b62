"""MCP over standard input and output. At the end, calls in flight get a moment to finish."""

from __future__ import annotations

import asyncio
import os
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import chain
from threading import Semaphore, Thread
from types import TracebackType

import anyio
from anyio.to_thread import run_sync as run_in_thread
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from mcp.types import JSONRPCError, JSONRPCResponse

from gitlab_mcp.protocol.messages import Message, NoMessage, read_message
from gitlab_mcp.protocol.server import GitLabServer
from gitlab_mcp.transports.front import Opening
from gitlab_mcp.transports.standard_streams import StandardStreams
from gitlab_mcp.transports.stop_signals import StopSignals

_GRACE_SECONDS = 1.0
"""Time that calls in flight get after the client has gone or a signal came."""
_SETTLE_SECONDS = 0.05
"""Time until a request that was just read counts as a call in flight, and until a result is written."""
_READ_AHEAD = 64
"""Messages that may wait to be looked at. While so many do, nothing more is read from the client."""


def serve(server: GitLabServer, close: Callable[[], None], streams: StandardStreams, opening: Opening) -> int:
    if anyio.run(_serve, server, streams, opening):
        # A thread still waits for a line on standard input, and cannot be woken.
        close()
        os._exit(0)
    return 0


async def _serve(server: GitLabServer, streams: StandardStreams, opening: Opening) -> bool:
    """Whether the client may still write."""
    messages = _Input(server, streams, opening.answered)
    reading = Thread(
        target=_read,
        args=(chain(opening.lines, streams.lines), messages, asyncio.get_running_loop()),
        daemon=True,
    )
    reading.start()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_on_signal, messages)
        await server.serve_streams(messages, messages.output)
        tasks.cancel_scope.cancel()
    return reading.is_alive()


def _read(lines: Iterable[bytes], messages: _Input, loop: asyncio.AbstractEventLoop) -> None:
    # The loop is closed when the server has stopped meanwhile.
    with suppress(RuntimeError):
        for line in lines:
            if content := line.rstrip(b"\r\n"):
                messages.room.acquire()
                loop.call_soon_threadsafe(messages.take, content)
        loop.call_soon_threadsafe(messages.end)


async def _on_signal(messages: _Input) -> None:
    with StopSignals(messages.end):
        await anyio.sleep_forever()


class _Stream:
    """What the SDK expects of a stream besides what comes or goes."""

    async def aclose(self) -> None:
        return

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return


class _Input(_Stream):
    """The messages of the client. A line that is no message is answered here: the SDK's own streams would replace what
    is no UTF-8, and leave unanswered what cannot be parsed.

    Ends later than the real input, because the SDK cancels calls in flight when its input ends."""

    def __init__(self, server: GitLabServer, streams: StandardStreams, answered: Iterable[str | int]) -> None:
        self.output = _Output(streams, answered, when_broken=self.end)
        self.room = Semaphore(_READ_AHEAD)
        self._server = server
        self._come: deque[Message | NoMessage] = deque()
        self._has_ended = False
        self._something_new = anyio.Event()

    def take(self, content: bytes) -> None:
        try:
            self._come.append(read_message(content))
        except NoMessage as unreadable:
            self._come.append(unreadable)
        self._something_new.set()

    def end(self) -> None:
        self._has_ended = True
        self._something_new.set()

    async def receive(self) -> SessionMessage:
        while True:
            while self._come:
                message = self._come.popleft()
                self.room.release()
                if isinstance(message, Message):
                    return SessionMessage(
                        message.parsed,
                        ServerMessageMetadata(request_context=message) if message.failure else None,
                    )
                await self.output.send(SessionMessage(self._server.answer_to(message)))
            if self._has_ended:
                await self._wait_for_calls()
                raise anyio.EndOfStream
            self._something_new = anyio.Event()
            await self._something_new.wait()

    async def _wait_for_calls(self) -> None:
        await anyio.sleep(_SETTLE_SECONDS)
        with anyio.move_on_after(_GRACE_SECONDS):
            await self._server.in_flight.wait_until_none()
            # The result still has to be written.
            await anyio.sleep(_SETTLE_SECONDS)

    def __aiter__(self) -> _Input:
        return self

    async def __anext__(self) -> SessionMessage:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> _Input:
        return self


class _Output(_Stream):
    """What is written to the client, one message after the other."""

    def __init__(
        self, streams: StandardStreams, answered: Iterable[str | int], *, when_broken: Callable[[], None]
    ) -> None:
        self._streams = streams
        self._to_drop = set(answered)
        self._one_at_a_time = anyio.Lock(fast_acquire=True)
        self._when_broken = when_broken

    async def send(self, item: SessionMessage) -> None:
        message = item.message
        if isinstance(message, JSONRPCResponse | JSONRPCError) and message.id in self._to_drop:
            self._to_drop.discard(message.id)
            return
        line = message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
        async with self._one_at_a_time:
            try:
                if rest := self._streams.write_at_once(line):
                    await run_in_thread(self._streams.write, rest)
            except BrokenPipeError:
                # The client went away in the middle of an answer.
                self._when_broken()
                raise anyio.BrokenResourceError from None

    async def __aenter__(self) -> _Output:
        return self

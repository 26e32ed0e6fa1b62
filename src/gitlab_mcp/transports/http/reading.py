"""Taking a request in and giving an answer out, with clients that are slow, greedy or gone."""

from __future__ import annotations

import anyio
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import Failure
from gitlab_mcp.transports.http.refusals import Rejected

_POLITE_BYTES = 256 * 1024
_POLITE_SECONDS = 1.0


class Gone(Exception):
    """The client hung up before it had asked."""


async def read_body(declared: str | None, receive: Receive, largest: int, seconds: float) -> bytes:
    """Raises Turned for what is too much or too slow."""
    if declared is not None and declared.isdigit() and int(declared) > largest:
        raise Rejected(_too_large(largest).knowing(actual=int(declared)), 413)
    body = bytearray()
    with anyio.move_on_after(seconds):
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise Gone
            body += message.get("body", b"")
            if len(body) > largest:
                raise Rejected(_too_large(largest), 413)
            if not message.get("more_body", False):
                return bytes(body)
    raise Rejected(_too_slow(seconds), 408)


async def read_away(receive: Receive) -> bool:
    """Take what a request that is refused still sends, so that the refusal is not lost when the connection ends.

    False when there is more than politeness asks for.
    """
    read = 0
    with anyio.move_on_after(_POLITE_SECONDS):
        while read <= _POLITE_BYTES:
            message = await receive()
            if message["type"] == "http.disconnect" or not message.get("more_body", False):
                return True
            read += len(message.get("body", b""))
    return False


async def while_connected(app: ASGIApp, scope: Scope, body: bytes, receive: Receive, send: Send) -> None:
    """Run `app` until it has answered, or until nobody listens any more: then what it does is cancelled."""
    gone = anyio.Event()
    given = False

    async def replay() -> Message:
        nonlocal given
        if not given:
            given = True
            return {"type": "http.request", "body": body, "more_body": False}
        await gone.wait()
        return {"type": "http.disconnect"}

    async with anyio.create_task_group() as tasks:

        async def watch() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass
            gone.set()
            tasks.cancel_scope.cancel()

        tasks.start_soon(watch)
        await app(scope, replay, send)
        tasks.cancel_scope.cancel()


def _too_large(largest: int) -> Failure:
    return Failure(Code.PAYLOAD_TOO_LARGE, "The request is larger than this server takes.").knowing(
        limit=largest,
        limit_type="request_size",
        unit="bytes",
        suggested_fix=f"Send at most {largest} bytes in one request.",
    )


def _too_slow(seconds: float) -> Failure:
    return Failure(Code.NETWORK_ERROR, "The request did not arrive in time.").knowing(
        limit=seconds, unit="seconds", suggested_fix="Send the request again, without pauses in it."
    )

"""Reads the body of a request, within limits of size and time."""

from __future__ import annotations

import anyio
from starlette.types import Receive

from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import Failure
from gitlab_mcp.transports.http.rejection import Rejected

_MAX_DISCARDED_BYTES = 256 * 1024
_MAX_DISCARD_SECONDS = 1.0


class ClientGone(Exception):
    """The client hung up before it had sent the whole request."""


async def read_body(content_length: str | None, receive: Receive, max_bytes: int, seconds: float) -> bytes:
    """Raises Rejected where the body is too large or comes too slowly."""
    if content_length is not None and content_length.isdigit() and int(content_length) > max_bytes:
        raise Rejected(_too_large(max_bytes).knowing(actual=int(content_length)), 413)
    body = bytearray()
    with anyio.move_on_after(seconds):
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise ClientGone
            body += message.get("body", b"")
            if len(body) > max_bytes:
                raise Rejected(_too_large(max_bytes), 413)
            if not message.get("more_body", False):
                return bytes(body)
    raise Rejected(_too_slow(seconds), 408)


async def discard_body(receive: Receive) -> bool:
    """Read the rest of a rejected request, so that the client gets to read the answer: closing a connection with
    unread data resets it.

    False where there was more than we are willing to read.
    """
    read = 0
    with anyio.move_on_after(_MAX_DISCARD_SECONDS):
        while read <= _MAX_DISCARDED_BYTES:
            message = await receive()
            if message["type"] == "http.disconnect" or not message.get("more_body", False):
                return True
            read += len(message.get("body", b""))
    return False


def _too_large(max_bytes: int) -> Failure:
    return Failure(Code.PAYLOAD_TOO_LARGE, "The request is larger than this server takes.").knowing(
        limit=max_bytes,
        limit_type="request_size",
        unit="bytes",
        suggested_fix=f"Send at most {max_bytes} bytes in one request.",
    )


def _too_slow(seconds: float) -> Failure:
    return Failure(Code.NETWORK_ERROR, "The request did not arrive in time.").knowing(
        limit=seconds, unit="seconds", suggested_fix="Send the request again, without pauses in it."
    )

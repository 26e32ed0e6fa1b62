"""Reads the body of a request, up to a limit. How long it may take is limited in `connection.py`."""

from __future__ import annotations

from starlette.types import Receive

from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import Failure
from gitlab_mcp.transports.http.rejection import Rejected


class ClientGone(Exception):
    """The client hung up before it had sent the whole request."""


async def read_body(content_length: str | None, receive: Receive, max_bytes: int) -> bytes:
    """Raises Rejected where the body is too large."""
    if content_length is not None and int(content_length) > max_bytes:
        raise Rejected(_too_large(max_bytes).knowing(actual=int(content_length)), 413)
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGone
        body += message.get("body", b"")
        if len(body) > max_bytes:
            raise Rejected(_too_large(max_bytes), 413)
        if not message.get("more_body", False):
            return bytes(body)


def _too_large(max_bytes: int) -> Failure:
    return Failure(Code.PAYLOAD_TOO_LARGE, "The request is larger than this server takes.").knowing(
        limit=max_bytes,
        limit_type="request_size",
        unit="bytes",
        suggested_fix=f"Send at most {max_bytes} bytes in one request.",
    )

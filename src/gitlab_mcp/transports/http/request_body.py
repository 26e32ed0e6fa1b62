"""Reads the body of a request, up to a limit. How long it may take is limited in `connection.py`."""

from __future__ import annotations

from starlette.types import Receive

from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import Failure
from gitlab_mcp.transports.http.body_budget import Share
from gitlab_mcp.transports.http.rejection import Rejected


class ClientGone(Exception):
    """The client hung up before it had sent the whole request."""


async def read_body(content_length: str | None, receive: Receive, max_bytes: int, share: Share) -> bytes:
    """Raises Rejected where the body is too large, or where there is no room for it now."""
    if content_length is not None and int(content_length) > max_bytes:
        raise Rejected(_too_large(max_bytes).knowing(actual=int(content_length)), 413)
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGone
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > max_bytes:
            raise Rejected(_too_large(max_bytes), 413)
        await share.grow_to(size)
        if not message.get("more_body", False):
            return b"".join(parts)


def _too_large(max_bytes: int) -> Failure:
    return Failure(Code.PAYLOAD_TOO_LARGE, "The request is larger than this server takes.").knowing(
        limit=max_bytes,
        limit_type="request_size",
        unit="bytes",
        suggested_fix=f"Send at most {max_bytes} bytes in one request.",
    )

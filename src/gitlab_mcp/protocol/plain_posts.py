"""One request in a POST, and one answer to it: the SDK's server is asked directly.

The SDK's transport starts three tasks and three pairs of streams for each request, so that it could also send events.
That takes longer than the server itself. Requests that may need it are left to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import anyio
from mcp.server.connection import Connection
from mcp.server.lowlevel import Server
from mcp.server.runner import modern_error_data, serve_one
from mcp.shared.dispatcher import CallOptions
from mcp.shared.exceptions import NoBackChannelError
from mcp.shared.message import ServerMessageMetadata
from mcp.shared.transport_context import TransportContext
from mcp.types import DEFAULT_NEGOTIATED_VERSION, JSONRPCError, JSONRPCRequest, JSONRPCResponse
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from gitlab_mcp.callers import RequestContext
from gitlab_mcp.protocol.messages import Message

_TRANSPORT: Final = TransportContext(kind="streamable-http", can_send_request=False)
_JSON: Final = "application/json"


@dataclass(frozen=True, slots=True)
class Posted:
    """A message that came in a POST. The handlers find it as the request of their context."""

    message: Message
    request_context: RequestContext


def is_plain(message: Message, headers: Mapping[str, str]) -> bool:
    """Whether the SDK's transport would do nothing with it but pass it on, and write the answer as JSON."""
    request = message.parsed
    version = headers.get("mcp-protocol-version")
    return (
        isinstance(request, JSONRPCRequest)
        and request.method != "initialize"
        and (version is None or version in HANDSHAKE_PROTOCOL_VERSIONS)
        and headers.get("content-type", "").partition(";")[0] == _JSON
        and _JSON in (kind.strip() for kind in headers.get("accept", "").split(","))
    )


async def answer(server: Server[Any], posted: Posted, version: str | None) -> bytes:
    """The answer as JSON."""
    request = posted.message.parsed
    assert isinstance(request, JSONRPCRequest)
    exchange = _Exchange(request.id, ServerMessageMetadata(request_context=posted))
    connection = Connection.from_envelope(version or DEFAULT_NEGOTIATED_VERSION, None, None)
    reply: JSONRPCResponse | JSONRPCError
    try:
        result = await serve_one(
            server, exchange, request.method, request.params, connection=connection, lifespan_state={}
        )
        reply = JSONRPCResponse(jsonrpc="2.0", id=request.id, result=result)
    except Exception as problem:
        reply = JSONRPCError(jsonrpc="2.0", id=request.id, error=modern_error_data(problem))
    return reply.model_dump_json(by_alias=True, exclude_unset=True).encode()


@dataclass(frozen=True, slots=True)
class _Exchange:
    """What the SDK's server knows of the way a request came: the client hears its answer and nothing before it."""

    request_id: str | int
    message_metadata: ServerMessageMetadata
    transport: TransportContext = _TRANSPORT
    can_send_request: bool = False
    cancel_requested: anyio.Event = field(default_factory=anyio.Event)

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> dict[str, Any]:
        raise NoBackChannelError(method)

    async def notify(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> None:
        return

    async def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        return

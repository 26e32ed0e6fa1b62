"""An HTTP request that is refused before it reaches MCP, and the answer to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from starlette.responses import JSONResponse

from gitlab_mcp.failures.failure import Failure
from gitlab_mcp.protocol.messages import error_object

_JSON_RPC_CODES: Final = {400: -32600, 413: -32600}
_OTHER_JSON_RPC_CODE: Final = -32000


class Rejected(Exception):
    def __init__(
        self,
        failure: Failure,
        status: int,
        headers: Mapping[str, str] | None = None,
        *,
        json_rpc_code: int | None = None,
        id: str | int | None = None,
    ) -> None:
        """`id` is that of the JSON-RPC request, where it was read."""
        super().__init__(failure.code)
        self.failure = failure.knowing(http_status=status)
        self.status = status
        self.headers = headers or {}
        self.json_rpc_code = json_rpc_code or _JSON_RPC_CODES.get(status, _OTHER_JSON_RPC_CODE)
        self.id = id


def rejection_response(
    rejected: Rejected, failure: Failure, error_style: str, request_id: str
) -> JSONResponse:
    """A JSON-RPC error, since MCP clients read nothing else. `failure` is that of `rejected`, as it was recorded."""
    failure = failure.knowing(request_id=request_id)
    body: dict[str, Any] = {
        "jsonrpc": "2.0",
        "id": rejected.id,
        "error": error_object(failure, rejected.json_rpc_code, error_style),
    }
    headers = {"X-Request-Id": request_id, **rejected.headers}
    if "retry_after_seconds" in failure.facts:
        headers["Retry-After"] = str(failure.facts["retry_after_seconds"])
    return JSONResponse(body, rejected.status, headers)

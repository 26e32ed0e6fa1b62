"""An HTTP request that is refused before it reaches MCP, and the answer to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from starlette.responses import JSONResponse

from gitlab_mcp.failures.failure import Failure

_JSON_RPC_CODES: Final = {400: -32600, 413: -32600}
_OTHER_JSON_RPC_CODE: Final = -32000


class Rejected(Exception):
    def __init__(self, failure: Failure, status: int, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(failure.code)
        self.failure = failure
        self.status = status
        self.headers = headers or {}


def rejection_response(rejected: Rejected, error_style: str, request_id: str) -> JSONResponse:
    """A JSON-RPC error, since MCP clients read nothing else. The rendered failure is its `data`."""
    from gitlab_mcp.failures.render import render

    failure = rejected.failure.knowing(http_status=rejected.status, request_id=request_id)
    body: dict[str, Any] = {
        "jsonrpc": "2.0",
        "id": None,
        "error": {
            "code": _JSON_RPC_CODES.get(rejected.status, _OTHER_JSON_RPC_CODE),
            "message": " ".join(filter(None, [failure.message, failure.facts.get("suggested_fix")])),
            "data": render(failure, error_style),
        },
    }
    return JSONResponse(body, rejected.status, dict(rejected.headers))

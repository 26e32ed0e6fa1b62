"""A request that does not get as far as MCP: the same failure as everywhere, in an HTTP answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from starlette.responses import JSONResponse

from gitlab_mcp.failures.failure import Failure

_JSON_RPC_CODES: Final = {400: -32600, 413: -32600}
_REFUSED: Final = -32000


class Rejected(Exception):
    """Turned away at the door."""

    def __init__(self, failure: Failure, status: int, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(failure.code)
        self.failure = failure
        self.status = status
        self.headers = headers or {}


def answer(turned: Rejected, style: str, request_id: str) -> JSONResponse:
    """A JSON-RPC error, since MCP clients read nothing else; what teaches is in its `data`."""
    from gitlab_mcp.failures.render import render

    failure = turned.failure.knowing(http_status=turned.status, request_id=request_id)
    body: dict[str, Any] = {
        "jsonrpc": "2.0",
        "id": None,
        "error": {
            "code": _JSON_RPC_CODES.get(turned.status, _REFUSED),
            "message": " ".join(filter(None, [failure.message, failure.facts.get("suggested_fix")])),
            "data": render(failure, style),
        },
    }
    return JSONResponse(body, turned.status, dict(turned.headers))

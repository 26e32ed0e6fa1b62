"""RFC 9457 beside the fields a result would have had, which stay empty."""

from __future__ import annotations

from typing import Any

from gitlab_mcp.failures.failure import Failure
from gitlab_mcp.failures.render.facts import code_of, facts, status_of
from gitlab_mcp.failures.tool_names import operation_name


def render(failure: Failure) -> dict[str, Any]:
    code = code_of(failure)
    known = facts(failure)
    tool, action = str(known.get("tool", "server")), str(known.get("action", "call"))
    empty: dict[str, Any] = (
        {"items": [], "total": 0} if action in ("list", "search") or tool == "search" else {}
    )
    return {
        **empty,
        "error": failure.message,
        "problem": {
            "type": f"urn:gitlab-mcp:problem:{code.slug}",
            "title": code.title,
            "status": status_of(failure),
            "detail": failure.message,
            "instance": f"urn:gitlab-mcp:{operation_name(tool, action)}",
            "code": code.slug,
            "extensions": known,
        },
    }

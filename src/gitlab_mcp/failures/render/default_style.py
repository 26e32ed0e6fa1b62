"""The default: one flat object that says what, why, how sure, and what to do next."""

from __future__ import annotations

from typing import Any

from gitlab_mcp.failures.failure import Failure
from gitlab_mcp.failures.render.facts import facts


def render(failure: Failure) -> dict[str, Any]:
    known = facts(failure, render)
    head: dict[str, Any] = {
        name: known.pop(name) for name in ("tool", "action", "http_status") if name in known
    }
    return {"error": True, "error_code": failure.code, **head, "message": failure.message, **known}

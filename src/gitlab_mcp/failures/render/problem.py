"""RFC 9457 beside the fields a result would have had, which stay empty. `problem.schema.json` is its schema."""

from __future__ import annotations

from typing import Any

from gitlab_mcp.failures.failure import Failure
from gitlab_mcp.failures.render.facts import code_of, facts


def render(failure: Failure) -> dict[str, Any]:
    code = code_of(failure)
    return {
        **failure.call.empty_result,
        "error": failure.message,
        "problem": {
            "type": f"urn:gitlab-mcp:problem:{code.slug}",
            "title": code.title,
            "status": failure.status,
            "detail": failure.message,
            "instance": f"urn:gitlab-mcp:{failure.call.operation}",
            "code": code.slug,
            "extensions": {**failure.call.ids, **facts(failure, render)},
        },
    }

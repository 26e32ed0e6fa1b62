"""One sentence that says whose turn it is: the caller's, who can try again, or somebody else's."""

from __future__ import annotations

from typing import Any

from gitlab_mcp.failures.failure import Failure
from gitlab_mcp.failures.render.facts import code_of, facts, status_of


def sentence(failure: Failure) -> str:
    if code_of(failure).status < 500:
        return (
            f"Input Error: {failure.message} {failure.facts.get('suggested_fix', '')}".rstrip()
            + " You may be able to resolve this by changing the call and trying again."
        )
    event = failure.facts.get("event_id")
    return (
        f"Server Error ({max(status_of(failure), 500)}): {failure.message}"
        + (f" Event ID: {event}." if event else "")
        + " This is a system error and cannot be resolved by retrying."
    )


def render(failure: Failure) -> dict[str, Any]:
    return {"error": sentence(failure), "error_code": failure.code, **facts(failure)}

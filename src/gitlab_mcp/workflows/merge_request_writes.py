"""What GitLab says yes to and does not do, when it writes a merge request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import Failure


def not_cancelled(body: Any) -> Failure | None:
    """Cancelling auto-merge is answered 201 in any case; whether it was done is inside."""
    if not isinstance(body, Mapping) or not (body.get("status") == "error" or body.get("http_status") == 406):
        return None
    said = body.get("message")
    return Failure(
        Code.CONFLICT, "It was not set to merge by itself, so there is nothing to cancel."
    ).knowing(
        http_status=body.get("http_status"),
        confidence="likely",
        evidence=["GitLab answered 201 with an error inside"],
        gitlab_message=said if isinstance(said, str) else None,
        suggested_fix="Read merge_when_pipeline_succeeds and state: browse_merge_requests get.",
    )

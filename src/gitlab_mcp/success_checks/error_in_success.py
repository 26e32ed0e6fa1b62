"""Answers of 200 or 201 with `"status": "error"` inside: GitLab answers so when it adds members."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gitlab_mcp.actions.result import Notice
from gitlab_mcp.success_checks.not_applied_notice import not_applied, quoted
from gitlab_mcp.success_checks.success import Success


def error_in_success(success: Success) -> Iterator[Notice]:
    body = success.body
    if success.writes and isinstance(body, Mapping) and body.get("status") == "error" and "message" in body:
        message = "GitLab said yes and refused inside its answer; nothing of what it names was done."
        yield not_applied(message, gitlab_message=quoted(body["message"]))

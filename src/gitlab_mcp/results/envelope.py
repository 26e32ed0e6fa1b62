"""What is said beside the payload: whose words it holds, what was cut, what GitLab did not do."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gitlab_mcp.actions.result import Notice, Result
from gitlab_mcp.results.untrusted import written_by_people


def seal(result: Result) -> Result:
    """Everything that is to be said goes into `data`, once, after nothing changes any more."""
    data: dict[str, Any] = {}
    if people := written_by_people(result.data):
        data["untrusted"] = people
    data.update(result.data)
    if result.truncated:
        data["truncated"] = [dict(entry) for entry in result.truncated]
    if result.warnings:
        # The answer of a CI lint has warnings of its own.
        theirs = data.get("warnings")
        data["warnings"] = [
            *(theirs if isinstance(theirs, list) else ()),
            *map(warning_entry, result.warnings),
        ]
    return replace(result, data=data, truncated=(), warnings=())


def warning_entry(warning: Notice) -> dict[str, Any]:
    return {"code": warning.code, "message": warning.message, **warning.facts}

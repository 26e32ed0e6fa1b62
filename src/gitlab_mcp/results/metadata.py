"""What a result says beside its data: `untrusted`, `undo`, `truncated` and `warnings`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gitlab_mcp.actions.result import Notice, Result
from gitlab_mcp.results.untrusted_text import untrusted_members


def add_metadata(result: Result) -> Result:
    """The result with `untrusted`, `undo`, `truncated` and `warnings` as members of its data."""
    data: dict[str, Any] = {}
    if untrusted := dict.fromkeys((*untrusted_members(_of_others(result)), *result.undo_of_others)):
        data["untrusted"] = list(untrusted)
    data.update(result.data)
    if result.undo:
        data["undo"] = result.undo
    if result.truncated:
        data["truncated"] = [omission.as_json() for omission in result.truncated]
    if result.warnings:
        data["warnings"] = [warning_entry(warning) for warning in result.warnings]
    return replace(result, data=data, truncated=(), warnings=(), undo=None, undo_of_others=())


def _of_others(result: Result) -> Mapping[str, Any]:
    return {name: member for name, member in result.data.items() if name not in result.own_members}


def warning_entry(notice: Notice) -> dict[str, Any]:
    return {"code": notice.code, "message": notice.message, **notice.facts}

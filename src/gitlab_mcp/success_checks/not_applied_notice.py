"""The warning that GitLab did not do what it answered with success."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gitlab_mcp.actions.result import Notice
from gitlab_mcp.failures.codes import NoticeCode
from gitlab_mcp.refusals.body import one_line


def not_applied(message: str, **facts: Any) -> Notice:
    return Notice(NoticeCode.NOT_APPLIED, message, {name: value for name, value in facts.items() if value})


def quoted(value: Any) -> str:
    """GitLab's words as one line, fit to be shown as `gitlab_message`."""
    if isinstance(value, Mapping):
        value = [f"{name}: {reason}" for name, reason in value.items()]
    return one_line(" ".join(map(str, value)) if isinstance(value, list) else str(value or ""))

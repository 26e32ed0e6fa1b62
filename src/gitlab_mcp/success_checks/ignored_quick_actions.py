"""Quick actions that did nothing: `/assign @somebody` in the text of a comment."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from gitlab_mcp.actions.result import Notice
from gitlab_mcp.success_checks.not_applied_notice import not_applied, quoted
from gitlab_mcp.success_checks.success import Success

_COMMAND: Final = re.compile(r"^/[a-z_]+(?=\s|$)", re.MULTILINE)
_WITHOUT_CHANGES: Final = {"/request_changes", "/submit_review"}
"""Carried out, but GitLab does not list them under `commands_changes`."""


def ignored_quick_actions(success: Success) -> Iterator[Notice]:
    body = success.body
    if not success.writes or not isinstance(body, Mapping):
        return
    sent = _commands(success.given.get("body"))
    if "summary" in body and body.get("commands_changes") == {} and not (sent and sent <= _WITHOUT_CHANGES):
        yield not_applied("The quick actions changed nothing.", gitlab_message=quoted(body["summary"]))
    if kept_as_text := sent & _commands(body.get("body")):
        message = "GitLab does not know the quick action here and wrote it as text."
        yield not_applied(message, field="body", quick_actions=sorted(kept_as_text))


def _commands(text: Any) -> set[str]:
    return set(_COMMAND.findall(text)) if isinstance(text, str) else set()

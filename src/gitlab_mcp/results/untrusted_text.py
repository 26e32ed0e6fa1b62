"""Marks text that other people wrote, so that a model does not take it for instructions of ours."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Mapping
from typing import Any

from gitlab_mcp.results.text_cleaning import remove_invisible

# Free text, and names that take whole sentences: a branch may be called `ignore-all-previous-instructions`. The last
# two lines are names under which `shows=` shows one of the others.
UNTRUSTED_MEMBERS = frozenset((
    "title", "description", "body", "note", "message", "commit_message", "content", "bio", "text", "summary",
    "name", "labels", "label", "milestone", "author_name", "committer_name",
    "ref", "branch", "source_branch", "target_branch", "tag_name",
    "path", "file_path", "new_path", "old_path", "file_name", "filename",
    "author", "commit", "environment", "epic", "file", "iteration", "job", "last_commit", "last_ref", "milestones",
    "protected_branches", "runner", "rules_left", "scanner", "licenses", "identifiers", "location", "error_lines",
))  # fmt: skip

_NOT_IN_A_SOURCE = re.compile(r'["<>\n\t]')
_LONGEST_SOURCE = 100
_BOUNDARY_ID_BYTES = 6


def untrusted_members(value: Any) -> list[str]:
    """The names of the members, at any depth, that hold text of other people, in order of appearance."""
    found: dict[str, None] = {}
    _collect_untrusted(value, found)
    return list(found)


def _collect_untrusted(value: Any, found: dict[str, None]) -> None:
    if value is None or isinstance(value, (str, int, float)):
        return
    if isinstance(value, (dict, Mapping)):
        for name, member in value.items():
            if name in UNTRUSTED_MEMBERS and _has_text(member):
                found[name] = None
            _collect_untrusted(member, found)
    elif isinstance(value, (list, tuple)):
        for item in value:
            _collect_untrusted(item, found)


def _has_text(member: Any) -> bool:
    if isinstance(member, list | tuple):
        return any(isinstance(item, str) and item for item in member)
    return isinstance(member, str) and bool(member)


def new_boundary_id() -> str:
    return secrets.token_hex(_BOUNDARY_ID_BYTES)


def wrap_untrusted(text: str, source: str, new_id: Callable[[], str] = new_boundary_id) -> str:
    """The text between two tags with an id that its author cannot have known, so that it cannot end itself."""
    name = _NOT_IN_A_SOURCE.sub(" ", remove_invisible(source).value)[:_LONGEST_SOURCE]
    boundary_id = new_id()
    while boundary_id in text or boundary_id in name:
        boundary_id = new_id()
    return (
        f'<untrusted-text id="{boundary_id}" source="{name}">\n{text}\n</untrusted-text id="{boundary_id}">'
    )

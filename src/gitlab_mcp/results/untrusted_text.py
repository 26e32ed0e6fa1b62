"""Marks text that other people wrote, so that a model does not take it for instructions of ours.

Text is other people's unless it cannot be: a number, a date, a hash, a word of GitLab's own under a name whose words
GitLab chooses, or a member that this server wrote itself.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Mapping
from typing import Any, Final

from gitlab_mcp.results.envelope import HOLD_ANSWERS, OURS
from gitlab_mcp.results.text_cleaning import remove_invisible

_OF_GITLAB: Final = frozenset((
    "access_level_description", "action", "action_name", "alert_status", "availability", "branch_filter_strategy",
    "broadcast_type", "check", "confidence", "deployment_status", "detailed_merge_status", "downstream_status",
    "dismissal_reason", "edition", "event", "event_type", "events", "export_status", "failure_reason", "file_format",
    "file_type", "format", "group_runners_setting", "head_pipeline", "health_status", "import_status", "issue_type",
    "kind", "last_status", "link_type", "level", "line_is", "merge_method", "merge_status", "noteable_type",
    "package_type", "permissions", "pipeline_status", "report_type", "resource_type", "role", "scope", "scopes",
    "severity", "source", "source_type", "squash_option", "state", "status", "target_type", "tier", "type",
    "update_status", "usage_type", "variable_type", "verification_status", "visibility", "current_tier",
    "tier_required", "encoding", "merge", "push", "create", "deploy", "unprotect", "is", "unread", "dry_run", "is_a",
))  # fmt: skip
"""Members whose words GitLab chooses. Those that end in `_access_level` are too."""
_WORD: Final = re.compile(r"[A-Za-z][A-Za-z0-9_:]{0,39}(?: (?:[a-z]{1,12}|\+ [A-Z][a-z]{1,12})){0,2}")
_TELLS_NOTHING: Final = re.compile(
    # A number, a date or time, a hash, a colour, a version, a duration, a cron line, how many tasks are done.
    r"[-+]?\d+(?:\.\d+)?\+?%?|\d{4}-\d\d-\d\d(?:[T ][\d:.]+(?:Z| ?UTC|[+-]\d\d:?\d\d)?)?|[0-9a-f]{7,64}"
    r"|#[0-9a-fA-F]{3,8}|v?\d+(?:\.\d+){1,3}(?:-[a-z]{2,4}\d?)?|(?:\d+(?:mo|w|d|h|m|s) ?){1,6}|[\d*/, -]{1,60}"
    r"|\d+ of \d+ checklist items completed|true|false|\[redacted\]"
)
_ADDRESS: Final = re.compile(
    # Of one thing, by its number or hash: nobody can write a sentence behind `/-/`. A row's own member may stand there.
    r"https?://[\w.:-]+(?:/[\w.-]+){1,21}/-/[a-z_]+(?:/[a-z_]+)?/(?:\d+|[0-9a-f]{7,64}|\{\w+\})(?:#note_\d+)?"
)
_ADDRESSES: Final = frozenset({"web_url", "downstream_url"})

_SAID_BY_US: Final = OURS - HOLD_ANSWERS

_NOT_IN_A_SOURCE = re.compile(r'["<>\n\t]')
_LONGEST_SOURCE = 100
_BOUNDARY_ID_BYTES = 6


def untrusted_members(value: Mapping[str, Any]) -> list[str]:
    """The names of the members, at any depth, that hold text of other people, in order of appearance."""
    found: dict[str, None] = {}
    _collect("", value, found)
    return list(found)


def _collect(name: str, value: Any, found: dict[str, None]) -> None:
    """`name` is the member that holds the value, also where a list is between."""
    if isinstance(value, str):
        if name not in found and not is_trusted(name, value):
            found[name] = None
    elif isinstance(value, (dict, Mapping)):
        for inner, member in value.items():
            if member is None or isinstance(member, (int, float)) or inner in _SAID_BY_US:
                continue
            if not isinstance(member, str) or inner not in found:
                _collect(inner, member, found)
    elif isinstance(value, (list, tuple)):
        for item in value:
            _collect(name, item, found)


def is_trusted(name: str, text: str) -> bool:
    """Whether nobody but GitLab or this server can have written the text of this member."""
    if not text or _TELLS_NOTHING.fullmatch(text):
        return True
    if name in _OF_GITLAB or name.endswith("_access_level"):
        return _WORD.fullmatch(text) is not None
    return name in _ADDRESSES and _ADDRESS.fullmatch(text) is not None


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

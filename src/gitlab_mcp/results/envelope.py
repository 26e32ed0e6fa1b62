"""The members of an answer that this server speaks with, and how GitLab's are kept from looking like them.

GitLab's answer and what we say about it share one JSON object. A member of GitLab's that has one of our names is shown
as `gitlab_…`: `warnings` of a CI lint are `gitlab_warnings`. So what stands under a name of ours is ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from gitlab_mcp.failures.secret_text import LONGEST_REMEMBERED, MOST_REMEMBERED
from gitlab_mcp.results.text_cleaning import remove_invisible

ABOUT_THE_CALL: Final = frozenset((
    "untrusted", "truncated", "warnings", "invisible_characters_removed", "taken_as", "unknown_fields",
    "error", "error_code", "is_error", "suggested_fix", "cause", "evidence", "retryable", "loop", "check_with",
    "confirmation_token", "what_will_happen", "alternatives", "send", "next", "next_steps", "next_call", "hint",
    "hints", "notice", "notices", "instructions", "system", "how_to_get_it", "outcome", "did_you_mean", "undo",
))  # fmt: skip
"""Said about any call, and never by a workflow about what it found."""
OURS: Final = ABOUT_THE_CALL.union((
    "items", "every_item", "total", "filters_not_asked_for", "next_page", "next_cursor", "done", "empty", "already",
    "recovered", "accepted", "started", "verdict", "why", "why_empty", "means", "lifted_by", "how_it_went", "then",
    "remark", "remarks", "known_by", "problem", "what", "result", "results", "readable",
))  # fmt: skip
"""All of them."""
HOLD_ANSWERS: Final = frozenset({"items", "every_item", "result", "results"})
"""Those of ours in which what GitLab sent stands."""
PREFIX: Final = "gitlab_"


def kept_apart(value: Any, names: frozenset[str] = OURS) -> Any:
    """What GitLab sent, at any depth, with other names for members that have one of these. A number says nothing, so
    it keeps its name."""
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, (dict, Mapping)):
        return {
            _name(name, member, names): member if isinstance(member, str) else kept_apart(member, names)
            for name, member in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [kept_apart(item, names) for item in value]
    return value


def _name(name: str, member: Any, names: frozenset[str]) -> str:
    if isinstance(member, int | float) and not isinstance(member, bool):
        return name
    seen = as_seen(name) if len(name) <= LONGEST_REMEMBERED else as_seen.__wrapped__(name)
    return f"{PREFIX}{name}" if seen in names or not seen.isascii() else name


@lru_cache(maxsize=MOST_REMEMBERED)
def as_seen(name: str) -> str:
    """As a reader sees it: case, and characters that are invisible or removed later, make no other name. Letters of
    another alphabet can look like any of ours."""
    seen: str = remove_invisible(name).value
    return seen.strip().casefold()

"""What became of one field of a write: what was sent, compared with what the answer shows.

Only what can be compared is: an answer that does not show a field, or shows it in another form, proves nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from enum import Enum
from typing import Any, Final

from gitlab_mcp.actions.quick_actions import without_commands
from gitlab_mcp.results.written_fields import RETURNED_AS


class FieldOutcome(Enum):
    SAVED = "saved"
    PARTLY_SAVED = "partly saved"
    """Some entries of a list are there, others are not."""
    NOT_SAVED = "not saved"
    NOT_SHOWN = "not shown"
    """The answer does not show the field, or not in a form that can be compared."""


Compare = Callable[[Any, Any], FieldOutcome]


def field_outcome(name: str, sent: Any, body: Mapping[str, Any]) -> FieldOutcome:
    """`name` is GitLab's name for the field."""
    if name in _NOT_COMPARED:
        return FieldOutcome.NOT_SHOWN
    key = RETURNED_AS.get(name, name)
    if _names_by_path(name, sent) and isinstance(body.get(key), int):
        return FieldOutcome.NOT_SHOWN
    if key in body:
        return _COMPARED_BY.get(name, _compare_values)(sent, body[key])
    return FieldOutcome.SAVED if _is_empty(sent) and not isinstance(sent, bool) else FieldOutcome.NOT_SHOWN


def _names_by_path(name: str, sent: Any) -> bool:
    """Whether a group, project or user was named by its path, where GitLab answers with its number."""
    return name.endswith("_id") and isinstance(sent, str) and not sent.isdigit()


def is_always_shown(name: str) -> bool:
    """Whether GitLab is known to show the field wherever it saves it."""
    return name in _COMPARED_BY or name in RETURNED_AS or name in _ALWAYS_SHOWN


def _compare_values(sent: Any, shown: Any) -> FieldOutcome:
    if isinstance(sent, str) and sent != shown:
        sent = without_commands(sent)
    if _is_empty(sent) or _is_empty(shown):
        return _saved_if(_is_empty(sent) and _is_empty(shown))
    if isinstance(sent, list | tuple) and isinstance(shown, list):
        return _compare_lists(sent, shown)
    if isinstance(sent, bool) and isinstance(shown, bool):
        return _saved_if(sent is shown)
    if isinstance(sent, bool) or isinstance(shown, bool):
        return FieldOutcome.NOT_SHOWN
    if isinstance(sent, int | float | str) and isinstance(shown, int | float | str):
        return _saved_if(_same_text(str(sent), str(shown)))
    return FieldOutcome.NOT_SHOWN


def _compare_lists(sent: Any, shown: Any) -> FieldOutcome:
    if not all(isinstance(each, int | float | str) for each in (*sent, *shown)):
        return FieldOutcome.NOT_SHOWN
    return _compare_sets(
        {_normalised(str(each)) for each in sent}, {_normalised(str(each)) for each in shown}
    )


def _compare_sets(wanted: set[Any], found: set[Any]) -> FieldOutcome:
    if wanted <= found:
        return FieldOutcome.SAVED
    return FieldOutcome.PARTLY_SAVED if wanted & found else FieldOutcome.NOT_SAVED


def _same_text(sent: str, shown: str) -> bool:
    sent_time, shown_time = _parsed_time(sent), _parsed_time(shown)
    if sent_time and shown_time:
        return sent_time == shown_time
    sent, shown = _normalised(sent), _normalised(shown)
    # `main` may come back as `refs/heads/main`, and `guides/Set up` as `Set up`.
    return sent in shown or shown in sent


def _normalised(text: str) -> str:
    return " ".join(text.split()).casefold()


_MOST_COMPARED: Final = 100_000
_TIME: Final = re.compile(r"\d{4}-\d{2}-\d{2}([T ].+)?")


def _parsed_time(text: str) -> datetime | None:
    if not _TIME.fullmatch(text):
        return None
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _is_empty(value: Any) -> bool:
    # Zero removes a milestone or a weight, and GitLab often does not store what is off.
    return value is None or value is False or value in ("", 0, [], {}, [0])


def _saved_if(truth: bool) -> FieldOutcome:
    return FieldOutcome.SAVED if truth else FieldOutcome.NOT_SAVED


def _compare_users(sent: Any, shown: Any) -> FieldOutcome:
    return _compare_sets(set(sent) - {0}, {each.get("id") for each in shown or ()})


def _compare_labels(sent: Any, shown: Any) -> FieldOutcome:
    named = {each["name"] if isinstance(each, Mapping) else each for each in shown or ()}
    return _compare_sets(_names(sent), {_normalised(str(each)) for each in named})


def _compare_removed_labels(sent: Any, shown: Any) -> FieldOutcome:
    left = _names(sent) & {_normalised(str(each)) for each in shown or ()}
    return FieldOutcome.NOT_SAVED if left else FieldOutcome.SAVED


def _names(sent: Any) -> set[str]:
    names = sent.split(",") if isinstance(sent, str) else sent
    return {_normalised(str(each)) for each in names} - {""}


def _compare_id(sent: Any, shown: Any) -> FieldOutcome:
    return _compare_values(sent, shown.get("id") if isinstance(shown, Mapping) else None)


def _compare_titles(sent: Any, shown: Any) -> FieldOutcome:
    return _compare_sets(_names(sent), {_normalised(str(each.get("title"))) for each in shown or ()})


def _compare_state(sent: Any, shown: Any) -> FieldOutcome:
    closing = sent in ("close", "closed")
    return _saved_if(closing is (shown == "closed"))


def _compare_access_levels(sent: Any, shown: Any) -> FieldOutcome:
    """Who may push, merge and so on: each entry that was sent is among those that came back."""
    entries = [each for each in sent if isinstance(each, Mapping) and not each.get("_destroy")]
    if len(entries) * len(shown or ()) > _MOST_COMPARED:
        return FieldOutcome.NOT_SHOWN
    found = [
        any(all(level.get(key) == value for key, value in entry.items()) for level in shown or ())
        for entry in entries
    ]
    if all(found):
        return FieldOutcome.SAVED
    return FieldOutcome.PARTLY_SAVED if any(found) else FieldOutcome.NOT_SAVED


_COMPARED_BY: Final[Mapping[str, Compare]] = {
    "assignee_id": _compare_id,
    "assignee_ids": _compare_users,
    "reviewer_ids": _compare_users,
    "milestone_id": _compare_id,
    "epic_id": _compare_id,
    "iteration_id": _compare_id,
    "member_role_id": _compare_id,
    "milestones": _compare_titles,
    "labels": _compare_labels,
    "add_labels": _compare_labels,
    "remove_labels": _compare_removed_labels,
    "state_event": _compare_state,
    "allowed_to_push": _compare_access_levels,
    "allowed_to_merge": _compare_access_levels,
    "allowed_to_unprotect": _compare_access_levels,
    "allowed_to_create": _compare_access_levels,
}
"""The fields that an answer shows in another form."""

_ALWAYS_SHOWN: Final = frozenset(
    {"weight", "health_status", "environment_scope", "code_owner_approval_required"}
)
_NOT_COMPARED: Final = frozenset(
    {"key", "url", "import_url", "content", "commit_message", "dry_run", "stats"}
)
"""GitLab rewrites some on purpose: a key gets another comment, an address loses its password. The others have the
name of a key of the answer that means something else."""

"""What was sent beside what came back: GitLab says yes to much that it then leaves out.

Compared is only what can be compared: an answer that does not show a field, or shows it in another form, says
nothing about it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from enum import Enum
from typing import Any, Final

from gitlab_mcp.actions.quick_actions import without_commands


class Fate(Enum):
    KEPT = "kept"
    PARTLY = "partly"
    """Some entries of a list are there, others are not."""
    CHANGED = "changed"
    UNSEEN = "unseen"
    """The answer does not show it."""


Judge = Callable[[Any, Any], Fate]


def fate(name: str, sent: Any, body: Mapping[str, Any]) -> Fate:
    """What became of one field, by the name GitLab has for it."""
    if name in _REWRITTEN:
        return Fate.UNSEEN
    shown_as, judge = SHOWN_AS.get(name, (name, compared))
    if shown_as in body:
        return judge(sent, body[shown_as])
    return Fate.KEPT if _is_nothing(sent) and not isinstance(sent, bool) else Fate.UNSEEN


def is_told(name: str) -> bool:
    """Whether a GitLab that keeps the field is known to show it."""
    return name in SHOWN_AS or name in _TOLD


def compared(sent: Any, shown: Any) -> Fate:
    if isinstance(sent, str) and sent != shown:
        sent = without_commands(sent)
    if _is_nothing(sent) or _is_nothing(shown):
        return _kept(_is_nothing(sent) and _is_nothing(shown))
    if isinstance(sent, list | tuple) and isinstance(shown, list):
        return _listed(sent, shown)
    if isinstance(sent, bool) or isinstance(shown, bool):
        return _kept(sent is shown) if isinstance(sent, bool) and isinstance(shown, bool) else Fate.UNSEEN
    if isinstance(sent, int | float | str) and isinstance(shown, int | float | str):
        return _kept(_alike(str(sent), str(shown)))
    return Fate.UNSEEN


def _listed(sent: Any, shown: Any) -> Fate:
    if not all(isinstance(each, int | float | str) for each in (*sent, *shown)):
        return Fate.UNSEEN
    return _among({_plain(str(each)) for each in sent}, {_plain(str(each)) for each in shown})


def _among(wanted: set[Any], found: set[Any]) -> Fate:
    if wanted <= found:
        return Fate.KEPT
    return Fate.PARTLY if wanted & found else Fate.CHANGED


def _alike(sent: str, shown: str) -> bool:
    ours, theirs = _instant(sent), _instant(shown)
    if ours and theirs:
        return ours == theirs
    said, kept = _plain(sent), _plain(shown)
    # `main` may come back as `refs/heads/main`, and `guides/Set up` as `Set up`.
    return said in kept or kept in said


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


_INSTANT: Final = re.compile(r"\d{4}-\d{2}-\d{2}([T ].+)?")


def _instant(text: str) -> datetime | None:
    if not _INSTANT.fullmatch(text):
        return None
    try:
        instant = datetime.fromisoformat(text)
    except ValueError:
        return None
    return instant if instant.tzinfo else instant.replace(tzinfo=UTC)


def _is_nothing(value: Any) -> bool:
    # Zero takes a milestone or a weight away, and off is what GitLab often does not store.
    return value is None or value is False or value in ("", 0, [], {}, [0])


def _kept(truth: bool) -> Fate:
    return Fate.KEPT if truth else Fate.CHANGED


def _people(sent: Any, shown: Any) -> Fate:
    return _among(set(sent) - {0}, {each.get("id") for each in shown or ()})


def _labels(sent: Any, shown: Any) -> Fate:
    named = {each["name"] if isinstance(each, Mapping) else each for each in shown or ()}
    return _among(_names(sent), {_plain(str(each)) for each in named})


def _no_labels(sent: Any, shown: Any) -> Fate:
    left = _names(sent) & {_plain(str(each)) for each in shown or ()}
    return Fate.CHANGED if left else Fate.KEPT


def _names(sent: Any) -> set[str]:
    names = sent.split(",") if isinstance(sent, str) else sent
    return {_plain(str(each)) for each in names} - {""}


def _the_one(sent: Any, shown: Any) -> Fate:
    return compared(sent, shown.get("id") if isinstance(shown, Mapping) else None)


def _titles(sent: Any, shown: Any) -> Fate:
    return _among(_names(sent), {_plain(str(each.get("title"))) for each in shown or ()})


def _state(sent: Any, shown: Any) -> Fate:
    closing = sent in ("close", "closed")
    return _kept(closing is (shown == "closed"))


def _levels(sent: Any, shown: Any) -> Fate:
    """Who may push, merge and so on: each entry that was sent is among those that came back."""
    entries = [each for each in sent if isinstance(each, Mapping) and not each.get("_destroy")]
    found = [
        any(all(level.get(key) == value for key, value in entry.items()) for level in shown or ())
        for entry in entries
    ]
    if all(found):
        return Fate.KEPT
    return Fate.PARTLY if any(found) else Fate.CHANGED


SHOWN_AS: Final[Mapping[str, tuple[str, Judge]]] = {
    "assignee_id": ("assignee", _the_one),
    "assignee_ids": ("assignees", _people),
    "reviewer_ids": ("reviewers", _people),
    "milestone_id": ("milestone", _the_one),
    "epic_id": ("epic", _the_one),
    "iteration_id": ("iteration", _the_one),
    "member_role_id": ("member_role", _the_one),
    "milestones": ("milestones", _titles),
    "labels": ("labels", _labels),
    "add_labels": ("labels", _labels),
    "remove_labels": ("labels", _no_labels),
    "state_event": ("state", _state),
    "remove_source_branch": ("force_remove_source_branch", compared),
    "allowed_to_push": ("push_access_levels", _levels),
    "allowed_to_merge": ("merge_access_levels", _levels),
    "allowed_to_unprotect": ("unprotect_access_levels", _levels),
    "allowed_to_create": ("create_access_levels", _levels),
}
"""Where an answer shows a field that has another name or form there."""

_TOLD: Final = frozenset({"weight", "health_status", "environment_scope", "code_owner_approval_required"})
_REWRITTEN: Final = frozenset({"key", "url", "import_url", "content", "commit_message", "dry_run", "stats"})
"""What GitLab rewrites on purpose (keys get another comment, addresses lose their password), and what only looks
like a field of the answer."""

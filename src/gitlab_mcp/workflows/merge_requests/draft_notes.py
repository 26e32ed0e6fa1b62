"""Checks draft notes: GitLab accepts drafts that it cannot publish, and may publish a draft twice."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gitlab_mcp.actions.quick_actions import without_commands

Json = Mapping[str, Any]


def why_not_publishable(draft: Json) -> str | None:
    """Why a draft must not be published, or None."""
    if not str(draft.get("note") or "").strip():
        return "it is empty: GitLab would drop it without a word"
    if has_unknown_line(draft):
        return "its line is not in the diff: GitLab would drop it, or fail and publish the others twice"
    return None


def find_published(draft: Json, notes: Iterable[Json]) -> Json | None:
    """The note with the same author, text and place."""
    return next((note for note in notes if _is_published_as(draft, note)), None)


def is_same_comment(wanted: Json, draft: Json) -> bool:
    """Whether a draft has this text and place."""
    place, there = (each.get("position") or {} for each in (wanted, draft))
    same_place = all(place.get(name) == there.get(name) for name in ("new_path", "old_line", "new_line"))
    return same_place and _without_quick_actions(wanted["note"]) == _without_quick_actions(draft.get("note"))


def has_unknown_line(draft: Json) -> bool:
    """Whether the draft is on a line that GitLab does not find. Such a draft has no line code."""
    position = draft.get("position") or {}
    on_a_line = position.get("position_type") == "text" and _lines(position) != (None, None)
    return on_a_line and not draft.get("line_code")


def unpublished(drafts: Sequence[Json], notes: Iterable[Json]) -> list[Json]:
    """The drafts that are not among the notes."""
    left: dict[Any, list[Json]] = {}
    for note in notes:
        left.setdefault((_author(note), _without_quick_actions(note.get("body"))), []).append(note)
    missing = []
    for draft in drafts:
        text = _without_quick_actions(draft["note"])
        if not text:
            # Quick actions alone leave no note.
            continue
        alike = left.get((draft.get("author_id"), text), [])
        found = find_published(draft, alike)
        if found is None:
            missing.append(draft)
        else:
            alike.remove(found)
    return missing


def _author(note: Json) -> Any:
    return (note.get("author") or {}).get("id")


def _is_published_as(draft: Json, note: Json) -> bool:
    if _author(note) != draft.get("author_id") or note.get("system"):
        return False
    if _without_quick_actions(note.get("body")) != _without_quick_actions(draft.get("note")):
        return False
    position = draft.get("position") or {}
    if not position.get("new_path"):
        return True
    published = note.get("position") or {}
    return (position["new_path"], _lines(position)) == (published.get("new_path"), _lines(published))


def _lines(position: Json) -> tuple[Any, Any]:
    return position.get("old_line"), position.get("new_line")


def _without_quick_actions(text: Any) -> str:
    return without_commands(str(text or "").replace("\r\n", "\n"))

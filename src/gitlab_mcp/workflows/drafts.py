"""Draft notes, looked at before they are published: GitLab takes what it then loses, doubles or breaks on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gitlab_mcp.actions.quick_actions import without_commands

Json = Mapping[str, Any]


def flaw(draft: Json) -> str | None:
    """Why a draft must not be published."""
    if not str(draft.get("note") or "").strip():
        return "it is empty: GitLab would drop it without a word"
    if is_astray(draft):
        return "its line is not in the diff: GitLab would drop it, or fail and publish the others twice"
    return None


def published_as(draft: Json, notes: Iterable[Json]) -> Json | None:
    """The note that says the same, by the same person and at the same place."""
    return next((note for note in notes if _is_said_by(draft, note)), None)


def is_astray(draft: Json) -> bool:
    """Whether it is on a line that GitLab does not find: such a draft has no line code."""
    position = draft.get("position") or {}
    on_a_line = position.get("position_type") == "text" and _line(position) != (None, None)
    return on_a_line and not draft.get("line_code")


def unpublished(drafts: Sequence[Json], notes: Iterable[Json]) -> list[Json]:
    """Those of the drafts that are not among the notes."""
    left = list(notes)
    missing = []
    for draft in drafts:
        if not _said(draft["note"]):
            # Nothing but quick actions: they leave no note.
            continue
        note = published_as(draft, left)
        if note is None:
            missing.append(draft)
        else:
            left.remove(note)
    return missing


def _is_said_by(draft: Json, note: Json) -> bool:
    if (note.get("author") or {}).get("id") != draft.get("author_id") or note.get("system"):
        return False
    if _said(note.get("body")) != _said(draft.get("note")):
        return False
    position = draft.get("position") or {}
    if not position.get("new_path"):
        return True
    shown = note.get("position") or {}
    return (position["new_path"], _line(position)) == (shown.get("new_path"), _line(shown))


def _line(position: Json) -> tuple[Any, Any]:
    return position.get("old_line"), position.get("new_line")


def _said(text: Any) -> str:
    return without_commands(str(text or "").replace("\r\n", "\n"))

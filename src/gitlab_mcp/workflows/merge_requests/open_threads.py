"""The open threads of a merge request: where each is, and its first comment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

LONGEST_BODY = 300


def open_threads(
    discussions: Iterable[Mapping[str, Any]], longest: int = LONGEST_BODY
) -> list[dict[str, Any]]:
    return [_thread(each, longest) for each in discussions if is_open(each)]


def is_open(discussion: Mapping[str, Any]) -> bool:
    notes = discussion.get("notes") or ()
    return any(note.get("resolvable") and not note.get("resolved") for note in notes)


def _thread(discussion: Mapping[str, Any], longest: int) -> dict[str, Any]:
    notes = discussion["notes"]
    first = notes[0]
    position = first.get("position") or {}
    body = str(first.get("body") or "")
    shown = {
        "discussion_id": discussion["id"],
        "author": (first.get("author") or {}).get("username"),
        "file": position.get("new_path") or position.get("old_path"),
        "line": position.get("new_line"),
        "old_line": position.get("old_line"),
        "body": body if len(body) <= longest else f"{body[:longest]}…",
        "replies": len(notes) - 1,
    }
    return {name: value for name, value in shown.items() if value}

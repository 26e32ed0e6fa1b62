"""Lists of threads and notes without what nobody asked for; and where in a commit its threads are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.actions.result import Omission
from gitlab_mcp.gitlab.faults import FAULTS
from gitlab_mcp.gitlab.paging import every_page, has_next_page, next_page_number
from gitlab_mcp.workflows.merge_requests.open_threads import is_open


def without_system_notes(answer: Answer) -> Answer:
    """Threads, or notes, without what GitLab noted itself: `assigned to @bob`."""
    kept = [item for item in answer.body if not _is_system(item)]
    left_out = len(answer.body) - len(kept)
    if not left_out:
        return answer
    omission = Omission("system notes", left_out, "system_notes=true")
    return replace(answer, body=kept, left_out=(*answer.left_out, omission))


def only_unresolved(answer: Answer) -> Answer:
    kept = [thread for thread in answer.body if is_open(thread)]
    others = len(answer.body) - len(kept)
    left_out = [Omission("resolved threads and comments", others, "leave out unresolved")] if others else []
    if has_next_page(answer):
        left_out.append(Omission("later threads", None, f"page={next_page_number(answer)}, per_page=100"))
    return replace(answer, body=kept, left_out=(*answer.left_out, *left_out))


def _is_system(item: Mapping[str, Any]) -> bool:
    notes = item.get("notes", [item])
    return bool(notes) and all(note.get("system") for note in notes)


async def with_places_in_commit(gitlab: GitLab, path: str, answer: Answer) -> Answer:
    """The threads of a commit with file and line. GitLab says them of a comment only in another list."""
    placeless = [
        note for thread in answer.body for note in thread["notes"] if note["type"] == "LegacyDiffNote"
    ]
    if not placeless:
        return answer
    try:
        comments = await every_page(gitlab, path.removesuffix("/discussions") + "/comments")
    except FAULTS:
        return answer
    places = {_key(each, each.get("note")): _position(each) for each in comments.body if each.get("path")}
    threads = [
        {
            **thread,
            "notes": [{"position": places.get(_key(note, note["body"])), **note} for note in thread["notes"]],
        }
        for thread in answer.body
    ]
    return replace(answer, body=threads)


def _key(comment: Mapping[str, Any], body: Any) -> tuple[Any, Any]:
    return comment.get("created_at"), body


def _position(comment: Mapping[str, Any]) -> dict[str, Any]:
    side = "old_line" if comment.get("line_type") == "old" else "new_line"
    return {"new_path": comment["path"], side: comment.get("line")}

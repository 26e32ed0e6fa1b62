"""What a write answers: the fields its action shows, and every field that was sent, as GitLab now has it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from gitlab_mcp.failures.counted import counted
from gitlab_mcp.results.shown_fields import pick_fields, shown_fields, slim

RETURNED_AS: Final[Mapping[str, str]] = {
    "assignee_id": "assignee",
    "assignee_ids": "assignees",
    "reviewer_ids": "reviewers",
    "milestone_id": "milestone",
    "epic_id": "epic",
    "iteration_id": "iteration",
    "member_role_id": "member_role",
    "add_labels": "labels",
    "remove_labels": "labels",
    "state_event": "state",
    "remove_source_branch": "force_remove_source_branch",
    "allowed_to_push": "push_access_levels",
    "allowed_to_merge": "merge_access_levels",
    "allowed_to_unprotect": "unprotect_access_levels",
    "allowed_to_create": "create_access_levels",
}
"""The fields that GitLab shows under another name than it takes them."""

_IDENTIFYING = (
    "id iid key name title path path_with_namespace full_path username tag_name ref sha state status "
    "merge_status web_url url slug file_path branch expires_at job_id pipeline_id merge_error"
)
"""Shown of a write whose action does not say what it shows."""
_LONG_TEXT = 200
_BEGINNING = 100


def written_fields(
    body: Mapping[str, Any], shows: str, sent: Iterable[tuple[str, str, Any]]
) -> dict[str, Any]:
    """`sent` has for each field our name, GitLab's name and the value. One that GitLab emptied is shown as empty."""
    fields = shown_fields(shows or _IDENTIFYING).in_a_list
    shown = {field.path[0]: field.name for field in fields}
    answer: dict[str, Any] = pick_fields(body, fields, slim_instead=False)
    for name, gitlab_name, value in sent:
        names = (RETURNED_AS.get(gitlab_name, gitlab_name), name)
        key = next((each for each in names if each in body), None)
        if key is None:
            continue
        if key not in shown:
            # A name that GitLab gives to another form of it, such as the people of their ids, is the better one.
            is_other_form = key == RETURNED_AS.get(gitlab_name) and not isinstance(body[key], bool)
            answer[key if is_other_form else name] = _as_it_is_now(body[key], value)
        else:
            answer.setdefault(shown[key], slim(body[key], depth=1))
    return answer


def _as_it_is_now(value: Any, sent: Any) -> Any:
    if isinstance(value, str) and len(value) > _LONG_TEXT and value.strip() == str(sent).strip():
        return f"{value[:_BEGINNING]}… ({counted(len(value), 'character')}, as sent)"
    return slim(value, depth=1)

"""What became of a deleted project or group. From GitLab 18 on it is only marked and renamed, on every tier."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from gitlab_mcp.actions.action import fill
from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.actions.result import Notice, Result
from gitlab_mcp.failures.codes import Code, NoticeCode
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.gitlab.faults import FAULTS, Refused
from gitlab_mcp.refusals.alternatives import call

_MARKED_PATH: Final = re.compile(r"^(.*-deletion_scheduled-\d+)/")
"""GitLab renames what it marks."""
_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True, slots=True)
class Deletable:
    noun: str
    tool: str
    path_field: str
    """What GitLab calls its full path."""
    asks_when: str
    """GraphQL for the day it will be gone."""
    then: str
    """What is so until it is gone."""

    @property
    def id_field(self) -> str:
        return f"{self.noun}_id"

    @property
    def new_place(self) -> re.Pattern[str]:
        return re.compile(rf"/api/v4(/{self.noun}s/\d+)$")


PROJECT: Final = Deletable(
    "project",
    "manage_project",
    "path_with_namespace",
    "query($p: ID!) { project(fullPath: $p) { permanentDeletionDate } }",
    "Until it is gone nothing in it can be changed.",
)
GROUP: Final = Deletable(
    "group",
    "manage_group",
    "full_path",
    "query($p: ID!) { group(fullPath: $p) { permanentDeletionDate } }",
    "Until it is gone its projects can still be written to.",
)


async def read_marked(gitlab: GitLab, kind: Deletable, path: str) -> Mapping[str, Any]:
    """The project or group, also by the path it had before it was renamed."""
    try:
        return dict((await gitlab.get(path)).body)
    except Refused as refused:
        moved = kind.new_place.search(refused.headers.get("location", ""))
        if moved is None:
            raise
    return dict((await gitlab.get(moved[1])).body)


async def how_deleted(gitlab: GitLab, kind: Deletable, path: str) -> Result:
    """GitLab only answers "accepted". Reading the thing tells whether it is gone or waits for its deletion."""
    try:
        found = await read_marked(gitlab, kind, path)
    except Refused as refused:
        return Result(data={"deleted": True} if refused.status == 404 else {"accepted": True})
    except FAULTS:
        return Result(data={"accepted": True})
    if not found.get("marked_for_deletion_on"):
        return Result(data={"accepted": True, "then": "GitLab deletes it in the background."})
    return Result(
        data={
            "deleted": False,
            "marked_for_deletion_on": found["marked_for_deletion_on"],
            **await _gone_on(gitlab, kind, found),
            "id": found["id"],
            kind.path_field: found[kind.path_field],
            "then": f"It is only marked, and renamed: take it back with {kind.tool} restore and the id. {kind.then}",
        }
    )


async def _gone_on(gitlab: GitLab, kind: Deletable, found: Mapping[str, Any]) -> dict[str, str]:
    """REST does not say when."""
    try:
        data = await gitlab.graphql(kind.asks_when, {"p": found[kind.path_field]})
    except FAULTS:
        return {}
    date = (data.get(kind.noun) or {}).get("permanentDeletionDate")
    return {"gone_on": date} if isinstance(date, str) and _DATE.fullmatch(date) else {}


def refuse_deletion(kind: Deletable, found: Any, *, permanently: bool) -> None:
    """Raises CallFailed where the thing is known not to be in the state for it."""
    if not isinstance(found, Mapping):
        return
    marked, number = found.get("marked_for_deletion_on"), str(found.get("id"))
    if marked and not permanently:
        raise CallFailed(
            Failure(Code.CONFLICT, f"The {kind.noun} is marked for deletion already.").knowing(
                state="marked for deletion",
                confidence="certain",
                evidence=[f"the {kind.noun} says marked_for_deletion_on"],
                suggested_fix="Wait until GitLab deletes it, or take it back.",
                alternatives=[
                    call(f"{kind.tool} restore", {kind.id_field: number}, "Takes the deletion back.")
                ],
            )
        )
    if permanently and not marked:
        raise CallFailed(
            Failure(
                Code.CONFLICT, f"Only a {kind.noun} that is marked for deletion can be removed for good."
            ).knowing(
                state="not marked for deletion",
                confidence="certain",
                evidence=[f"the {kind.noun} says marked_for_deletion_on: null"],
                suggested_fix=f"In this order: 1. {kind.tool} delete without permanently_remove, which marks it. "
                f"2. {kind.tool} delete again, with permanently_remove.",
                alternatives=[
                    call(f"{kind.tool} delete", {kind.id_field: number}, "Step 1: marks it for deletion."),
                    call(
                        f"{kind.tool} delete",
                        {kind.id_field: number, "permanently_remove": True},
                        "Step 2, after step 1: removes it for good.",
                    ),
                ],
            )
        )


async def with_doomed_parent(gitlab: GitLab, answer: Answer) -> Answer:
    """GitLab lets a group be created below one that is marked for deletion, and deletes it with that."""
    above = _MARKED_PATH.match(str(answer.body.get("full_path")))
    if above is None:
        return answer
    try:
        parent = (await gitlab.get(fill("/groups/{id}", id=above[1]), with_projects="false")).body
    except FAULTS:
        return answer
    if not parent.get("marked_for_deletion_on"):
        return answer
    message = (
        "A group above it is marked for deletion and takes it along: manage_group restore takes that back."
    )
    notice = Notice(NoticeCode.NOT_APPLIED, message, {"group_id": parent["id"]})
    return replace(answer, warnings=(*answer.warnings, notice))

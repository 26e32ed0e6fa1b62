"""What became of a project that was deleted. From GitLab 18 on it is only marked on every tier, and renamed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from gitlab_mcp.actions.exchange import GitLab
from gitlab_mcp.actions.result import Result
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.gitlab.faults import FAULTS, Refused
from gitlab_mcp.refusals.alternatives import call

_NEW_PLACE: Final = re.compile(r"/api/v4(/projects/\d+)$")
_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
_WHEN = "query($p: ID!) { project(fullPath: $p) { permanentDeletionDate } }"


async def read_project(gitlab: GitLab, path: str) -> Mapping[str, Any]:
    """The project, also by the path it had before it was renamed."""
    try:
        return dict((await gitlab.get(path)).body)
    except Refused as refused:
        moved = _NEW_PLACE.search(refused.headers.get("location", ""))
        if moved is None:
            raise
    return dict((await gitlab.get(moved[1])).body)


async def how_deleted(gitlab: GitLab, path: str) -> Result:
    """GitLab only answers "accepted". Reading the project tells whether it is gone or waits for its deletion."""
    try:
        project = await read_project(gitlab, path)
    except Refused as refused:
        return Result(data={"deleted": True} if refused.status == 404 else {"accepted": True})
    except FAULTS:
        return Result(data={"accepted": True})
    if not project.get("marked_for_deletion_on"):
        return Result(data={"accepted": True, "then": "GitLab deletes it in the background."})
    return Result(
        data={
            "deleted": False,
            "marked_for_deletion_on": project["marked_for_deletion_on"],
            **await _gone_on(gitlab, project),
            "id": project["id"],
            "path_with_namespace": project["path_with_namespace"],
            "then": "It is only marked, and renamed: take it back with manage_project restore and the id. Until it is "
            "gone nothing in it can be changed.",
        }
    )


async def _gone_on(gitlab: GitLab, project: Mapping[str, Any]) -> dict[str, str]:
    """REST does not say when."""
    try:
        data = await gitlab.graphql(_WHEN, {"p": project["path_with_namespace"]})
    except FAULTS:
        return {}
    date = (data.get("project") or {}).get("permanentDeletionDate")
    return {"gone_on": date} if isinstance(date, str) and _DATE.fullmatch(date) else {}


def refuse_deletion(project: Any, *, permanently: bool) -> None:
    """Raises CallFailed where the project is known not to be in the state for it."""
    if not isinstance(project, Mapping):
        return
    marked, number = project.get("marked_for_deletion_on"), str(project.get("id"))
    if marked and not permanently:
        raise CallFailed(
            Failure(Code.CONFLICT, "The project is marked for deletion already.").knowing(
                state="marked for deletion",
                confidence="certain",
                evidence=["the project says marked_for_deletion_on"],
                suggested_fix="Wait until GitLab deletes it, or take it back.",
                alternatives=[
                    call("manage_project restore", {"project_id": number}, "Takes the deletion back.")
                ],
            )
        )
    if permanently and not marked:
        raise CallFailed(
            Failure(
                Code.CONFLICT, "Only a project that is marked for deletion can be removed for good."
            ).knowing(
                state="not marked for deletion",
                confidence="certain",
                evidence=["the project says marked_for_deletion_on: null"],
                suggested_fix="Delete it without permanently_remove first.",
                alternatives=[
                    call("manage_project delete", {"project_id": number}, "Marks it for deletion.")
                ],
            )
        )

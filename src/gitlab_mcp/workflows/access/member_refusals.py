"""Writes about members that GitLab refuses without naming the cause, or inside of a success."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gitlab_mcp.actions.action import fill
from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.actions.fields import role_name
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.gitlab.faults import FAULTS
from gitlab_mcp.refusals.alternatives import call
from gitlab_mcp.refusals.body import one_line
from gitlab_mcp.workflows.access.membership import read_place, source_of_one


def refuse_error_inside(answer: Answer) -> None:
    """GitLab answers 201 with `"status": "error"` inside where it added or invited nobody."""
    body = answer.body
    if not (isinstance(body, Mapping) and body.get("status") == "error"):
        return
    said = _as_line(body.get("message"))
    inherited = "inherited membership" in said
    raise CallFailed(
        Failure(
            Code.REJECTED,
            "The person has a higher role from a group above: a lower one here does nothing."
            if inherited
            else "GitLab said yes and refused inside its answer: nothing was done.",
        ).knowing(
            gitlab_message=said,
            confidence="certain",
            evidence=["GitLab answered with status error inside of a success"],
            suggested_fix="Give at least that role, or change it where browse_members get says it is from."
            if inherited
            else "Correct what gitlab_message names.",
            retryable=False,
        )
    )


def _as_line(message: Any) -> str:
    if isinstance(message, Mapping):
        message = [f"{name}: {reason}" for name, reason in message.items()]
    return one_line(" ".join(map(str, message)) if isinstance(message, list) else str(message or ""))


async def refuse_present(gitlab: GitLab, path: str, arguments: Mapping[str, Any], user_id: int) -> None:
    """Raises CallFailed with the role that the person has here already, and the call that changes it."""
    try:
        member = (await gitlab.get(f"{path}/{user_id}")).body
    except FAULTS:
        return
    until = f" until {member['expires_at']}" if member.get("expires_at") else ""
    raise CallFailed(
        Failure(
            Code.CONFLICT, f"The person is a member already, as {role_name(member['access_level'])}{until}."
        ).knowing(
            state="exists",
            confidence="certain",
            evidence=["GitLab shows the person among the direct members"],
            suggested_fix="Change the role or the last day with manage_member update: send holds the call.",
            send={"tool": "manage_member", "arguments": {"action": "update", **arguments}},
            retryable=False,
        )
    )


async def refuse_inherited(
    gitlab: GitLab, project_id: str | None, group_id: str | None, user_id: int, tool_and_action: str
) -> None:
    """Raises CallFailed where the role of a person who was not added here comes from another place."""
    root = fill("/projects/{id}", id=project_id) if project_id else fill("/groups/{id}", id=group_id)
    try:
        member = (await gitlab.get(f"{root}/members/all/{user_id}")).body
        source = await source_of_one(gitlab, member, await read_place(gitlab, project_id, group_id))
    except FAULTS:
        return
    there = (
        [call(tool_and_action, {"group_id": source.path, "user_id": user_id}, "Where the role comes from.")]
        if source
        else []
    )
    raise CallFailed(
        Failure(
            Code.NOT_FOUND, "The person is a member only by another place: nothing to change here."
        ).knowing(
            missing="user_id",
            confidence="certain",
            evidence=["the person is among all members and not among the direct ones"],
            suggested_fix="Change it in the group in alternatives; manage_member add gives a higher role here."
            if source
            else "Change it in the group that gives the role; manage_member add gives a higher role here.",
            alternatives=there,
            retryable=False,
        )
    )


async def refuse_request(gitlab: GitLab, project_id: str | None, group_id: str | None) -> None:
    """Raises CallFailed where it is known why nobody can ask for access here: GitLab says no more than 403."""
    root = fill("/projects/{id}", id=project_id) if project_id else fill("/groups/{id}", id=group_id)
    try:
        me = (await gitlab.get("/user")).body["id"]
        member = (await gitlab.get(f"{root}/members/all/{me}")).body
    except FAULTS:
        member = None
    if member is not None:
        raise CallFailed(
            Failure(Code.CONFLICT, "You are a member already.").knowing(
                state="exists",
                confidence="certain",
                evidence=["the caller is among all members"],
                suggested_fix="Ask an owner for a higher role where that is wanted.",
                retryable=False,
            )
        )
    try:
        place = (await gitlab.get(root)).body
    except FAULTS:
        return
    if place.get("request_access_enabled") is False:
        raise CallFailed(
            Failure(Code.FEATURE_UNAVAILABLE, "Nobody can ask for access here: it is switched off.").knowing(
                confidence="certain",
                evidence=["it says request_access_enabled: false"],
                suggested_fix="Ask a maintainer or owner to add you (manage_member add).",
                retryable=False,
            )
        )

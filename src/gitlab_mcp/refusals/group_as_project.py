"""A project that is not found may be a group: its path was given in the wrong field."""

from __future__ import annotations

from gitlab_mcp.actions.action import Action
from gitlab_mcp.actions.ask import Ask
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import Failure
from gitlab_mcp.refusals.findings import Confidence


async def name_the_group(failure: Failure, action: Action | None, ask: Ask) -> Failure:
    """The failure, saying that project_id names a group where it does."""
    path = getattr(action, "project_id", None)
    is_about_it = failure.code == Code.NOT_FOUND and failure.facts.get("missing") == "project_id"
    if action is None or not is_about_it or not isinstance(path, str) or path.isdecimal():
        return failure
    if await ask.group(path) is None:
        return failure
    known = Failure(failure.code, "project_id names a group, not a project.", failure.facts).knowing(
        confidence=Confidence.CERTAIN, evidence=["a group of this path can be read"], also=[]
    )
    if "group_id" in type(action).model_fields:
        return known.knowing(
            suggested_fix="Send the path as group_id in place of project_id.",
            did_you_mean={"project_id": "group_id"},
        )
    return known.knowing(
        suggested_fix="Give a project of the group: browse_projects list with group_id names them.",
        send={"tool": "browse_projects", "arguments": {"action": "list", "group_id": path}},
    )

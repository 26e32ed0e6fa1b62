"""A push that a protected branch refuses, and the way round it: a branch of one's own and a merge request."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from gitlab_mcp.actions.shape import shapes
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.refusals.alternatives import call
from gitlab_mcp.refusals.case import Case
from gitlab_mcp.refusals.findings import Confidence, Finding

_REFUSED_PUSH: Final = "not allowed to push into this branch"
_LONGEST_CALL: Final = 2000
"""A longer call is not sent back to who sent it."""


def push_refused(case: Case) -> Finding | None:
    """None where GitLab says something else, or where the role is too low to push anywhere."""
    if _REFUSED_PUSH not in case.body.message or case.role_suffices is False:
        return None
    branch = case.given.get("branch")
    offered = (
        list(_way_round(case, branch)) if isinstance(branch, str) and "start_branch" not in case.given else []
    )
    return Finding(
        Code.PERMISSION_DENIED,
        Confidence.LIKELY,
        "The branch is protected: this user may not push to it.",
        (
            "GitLab says so in gitlab_message",
            *(("the role suffices for other branches",) if case.role_suffices else ()),
        ),
        "Push to a new branch that starts from it and open a merge request, as in alternatives; or ask a maintainer."
        if offered
        else "Push to another branch and open a merge request; or ask a maintainer.",
        {"state": "protected", **({"alternatives": offered} if offered else {})},
    )


def _way_round(case: Case, branch: str) -> Iterator[dict[str, Any]]:
    action = case.action
    if action is None:
        return
    project, new = case.given.get("project_id"), f"change-{branch}"
    name = f"{action.spec.tool.name} {action.spec.name}"
    same = action.model_dump(mode="json", exclude_unset=True, warnings=False) | {"branch": new}
    starts = "start_branch" in shapes(type(action))
    if starts and len(json.dumps(same)) <= _LONGEST_CALL:
        yield call(name, {**same, "start_branch": branch}, "Makes the same change on a new branch.")
    else:
        yield call(
            "manage_branch create",
            {"project_id": project, "branch": new, "ref": branch},
            f"A branch of your own. Then send the same call with branch {new}.",
        )
    title = case.given.get("commit_message") or case.given.get("message") or f"Change {branch}"
    yield call(
        "manage_merge_request create",
        {"project_id": project, "source_branch": new, "target_branch": branch, "title": title},
        "Then asks for the change to be merged.",
    )

"""Whether branches exist, for the writes that GitLab accepts without asking itself."""

from __future__ import annotations

from gitlab_mcp.actions.action import fill
from gitlab_mcp.actions.exchange import GitLab
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.gitlab.concurrently import concurrently
from gitlab_mcp.gitlab.faults import Refused

_BRANCH = "/projects/{project_id}/repository/branches/{branch}"


async def branches_exist(gitlab: GitLab, **branches: tuple[str | int, str]) -> None:
    """Raise NOT_FOUND for the fields whose branch (project, name) is missing.

    Only GitLab's clear word that a branch is missing counts: whatever else the look meets, the write meets too.
    """
    paths = [fill(_BRANCH, project_id=project, branch=branch) for project, branch in branches.values()]
    looks = await concurrently([lambda path=path: gitlab.get(path) for path in paths])  # type: ignore[misc]
    missing = [name for name, look in zip(branches, looks, strict=True) if _says_missing(look)]
    if missing:
        fields = " and ".join(missing)
        failure = Failure(Code.NOT_FOUND, f"There is no such branch: {fields}.").knowing(
            missing=missing[0] if len(missing) == 1 else missing,
            http_status=404,
            confidence="certain",
            evidence=["GitLab was asked for the branch and answered 404 Branch Not Found"],
            suggested_fix=f"Push the branch first, or give as {fields} one that browse_branches list shows.",
        )
        raise CallFailed(failure)


def _says_missing(look: object) -> bool:
    if not isinstance(look, Refused) or look.status != 404:
        return False
    body = look.body()
    return isinstance(body, dict) and body.get("message") == "404 Branch Not Found"

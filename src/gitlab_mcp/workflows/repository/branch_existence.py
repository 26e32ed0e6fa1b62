"""Checks that branches exist before a write: GitLab accepts merge requests for missing ones."""

from __future__ import annotations

from collections.abc import Mapping

from gitlab_mcp.actions.action import fill
from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.gitlab.concurrently import concurrently
from gitlab_mcp.gitlab.faults import Refused

_BRANCH = "/projects/{project_id}/repository/branches/{branch}"


def that_are_there(project: str | int, *branches: str) -> dict[str, Answer]:
    """For a step that requires branches which the call before it has made or seen."""
    return {fill(_BRANCH, project_id=project, branch=branch): Answer(200) for branch in branches}


async def require_branches(gitlab: GitLab, **branches: tuple[str | int, str]) -> tuple[str | None, ...]:
    """The last commit of each. Raises NOT_FOUND for the fields whose branch (project, name) is missing.

    Any other refusal is ignored here: the write that follows meets it too.
    """
    paths = [fill(_BRANCH, project_id=project, branch=branch) for project, branch in branches.values()]
    answers = await concurrently([lambda path=path: gitlab.get(path) for path in paths])  # type: ignore[misc]
    missing = [name for name, answer in zip(branches, answers, strict=True) if _says_missing(answer)]
    if missing:
        fields = " and ".join(missing)
        failure = Failure(Code.NOT_FOUND, "There is no such branch.").knowing(
            missing=", ".join(missing),
            http_status=404,
            confidence="certain",
            evidence=["GitLab was asked for the branch and answered 404 Branch Not Found"],
            suggested_fix=f"Push the branch first, or give as {fields} one that browse_branches list shows.",
        )
        raise CallFailed(failure)
    return tuple(_last_commit(answer) for answer in answers)


def _last_commit(answer: object) -> str | None:
    commit = (
        answer.body.get("commit") if isinstance(answer, Answer) and isinstance(answer.body, Mapping) else None
    )
    return str(commit["id"]) if isinstance(commit, Mapping) and "id" in commit else None


def _says_missing(answer: object) -> bool:
    if not isinstance(answer, Refused) or answer.status != 404:
        return False
    body = answer.body()
    return isinstance(body, dict) and body.get("message") == "404 Branch Not Found"

"""Merge requests, written: from their creation to their merge."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from gitlab_mcp.core.action import POST, PUT, Action, Danger, Role, fill
from gitlab_mcp.core.exchange import Answer, GitLab
from gitlab_mcp.core.fields import (
    Branch,
    Flag,
    Id,
    Labels,
    Line,
    MergeRequestIid,
    MilestoneOrZero,
    ProjectId,
    Sent,
    Sha,
    UserIds,
)
from gitlab_mcp.core.result import Result, Warning
from gitlab_mcp.core.tool import Tool
from gitlab_mcp.errors.failure import CallFailed, Failure
from gitlab_mcp.gitlab.faults import Refused
from gitlab_mcp.gitlab.together import together
from gitlab_mcp.results.views import written

manage = Tool(
    "manage_merge_request", "Create, change, approve and merge merge requests.", switch="merge_requests"
)

WRITTEN = "iid title state draft detailed_merge_status web_url"
MERGED = "iid state merge_when_pipeline_succeeds merge_commit_sha squash_commit_sha merge_error web_url"

Title = Annotated[str, Field(min_length=1, max_length=255)]


class InMergeRequest(Action):
    project_id: ProjectId
    merge_request_iid: MergeRequestIid


@manage.action(
    "create",
    POST("/projects/{project_id}/merge_requests"),
    danger=Danger.REVERSIBLE,
    docs="api/merge_requests/#create-mr",
    example={
        "project_id": "acme/website",
        "source_branch": "feature/conflict",
        "target_branch": "main",
        "title": "Change the README",
    },
    shows=WRITTEN,
    role=Role.DEVELOPER,
)
class CreateMergeRequest(Action):
    """Create a merge request between two branches that exist; a title with Draft: in front makes a draft."""

    project_id: ProjectId
    source_branch: Branch
    target_branch: Branch
    title: Title
    description: str | None = None
    target_project_id: Annotated[Id, Field(description="Where a fork's changes go")] | None = None
    assignee_ids: UserIds | None = None
    reviewer_ids: UserIds | None = None
    labels: Labels | None = None
    milestone_id: MilestoneOrZero | None = None
    remove_source_branch: Flag | None = None
    squash: Flag | None = None
    allow_collaboration: Flag | None = None

    async def run(self, gitlab: GitLab) -> Answer | Result:
        target_project = self.target_project_id or self.project_id
        await must_exist(
            gitlab,
            source_branch=(self.project_id, self.source_branch),
            target_branch=(target_project, self.target_branch),
        )
        return await gitlab.send(self.request())


@manage.action(
    "merge",
    PUT("/projects/{project_id}/merge_requests/{merge_request_iid}/merge"),
    danger=Danger.DESTRUCTIVE,
    docs="api/merge_requests/#merge-a-merge-request",
    example={
        "project_id": "acme/website",
        "merge_request_iid": 4,
        "squash": False,
        "should_remove_source_branch": True,
    },
    shows=MERGED,
    role=Role.DEVELOPER,
    repeatable=False,
)
class Merge(InMergeRequest):
    """Merge, now or (auto_merge) as soon as its pipeline has succeeded."""

    sha: Annotated[Sha, Field(description="Refuse if the source branch's head is another")] | None = None
    auto_merge: Annotated[Flag, Sent("merge_when_pipeline_succeeds")] | None = None
    squash: Flag | None = None
    should_remove_source_branch: Flag | None = None
    merge_commit_message: Line | None = None
    squash_commit_message: Line | None = None

    async def run(self, gitlab: GitLab) -> Answer | Result:
        answer = await gitlab.send(self.request())
        body = answer.body
        if not (self.squash and body.get("state") == "merged" and body.get("squash_on_merge") is False):
            return answer
        # A project that forbids squashing merges all the same, and says nothing.
        warning = Warning("NOT_APPLIED", "It was merged without squashing: the project does not allow it.")
        return Result(data=written(body, MERGED, self.given()), warnings=[warning])


async def must_exist(gitlab: GitLab, **branches: tuple[str | int, str]) -> None:
    """GitLab makes a merge request from or to a branch that does not exist, and says 201.

    Only its clear word that a branch is missing counts: whatever else the look meets, the write meets too.
    """
    path = "/projects/{project_id}/repository/branches/{branch}"
    paths = [fill(path, project_id=project, branch=branch) for project, branch in branches.values()]
    looks = await together([lambda path=path: gitlab.get(path) for path in paths])  # type: ignore[misc]
    missing = [name for name, look in zip(branches, looks, strict=True) if _says_missing(look)]
    if missing:
        fields = " and ".join(missing)
        failure = Failure("NOT_FOUND", f"There is no such branch: {fields}.").knowing(
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

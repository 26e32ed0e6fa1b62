"""Branches of a repository."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator

from gitlab_mcp.actions.action import DELETE, GET, POST, Action, Danger, Role, fill
from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.actions.fields import Branch, Expects, Line, Page, PerPage, ProjectId, Ref, Search
from gitlab_mcp.actions.recovery_lookup import RecoveryLookup
from gitlab_mcp.actions.result import Result
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.gitlab.faults import FAULTS
from gitlab_mcp.gitlab.pages import items_of

browse = Tool("browse_branches", "Read the branches of a repository.", switch="repository")
manage = Tool("manage_branch", "Create and delete branches of a repository.", switch="repository")

BRANCH = (
    "name default protected merged last_commit=commit.title committed=commit.committed_date"
    " | sha=commit.id author=commit.author_name can_push developers_can_push developers_can_merge web_url"
)


def _a_regex(value: str) -> str:
    # GitLab answers 500 to a pattern it cannot compile. It uses RE2, which knows escapes that Python does not.
    try:
        re.compile(value)
    except re.error as error:
        if not error.msg.startswith("bad escape"):
            raise ValueError("a regular expression is expected") from None
    return value


Regex = Annotated[Line, AfterValidator(_a_regex), Expects("regular expression (RE2)")]


@browse.action(
    "list",
    GET("/projects/{project_id}/repository/branches"),
    docs="api/branches/#list-all-repository-branches",
    example={"project_id": "acme/website"},
    shows=BRANCH,
    role=Role.REPORTER,
)
class ListBranches(Action):
    """List branches; `^` and `$` in search bind to the ends of the name."""

    project_id: ProjectId
    search: Search | None = None
    regex: Regex | None = None
    sort: Literal["name_asc", "updated_asc", "updated_desc"] | None = None
    page: Page | None = None
    per_page: PerPage | None = None


@browse.action(
    "get",
    GET("/projects/{project_id}/repository/branches/{branch}"),
    docs="api/branches/#retrieve-a-repository-branch",
    example={"project_id": "acme/website", "branch": "feature/login"},
    shows=BRANCH,
    role=Role.REPORTER,
)
class GetBranch(Action):
    """Read one branch with its last commit."""

    project_id: ProjectId
    branch: Branch


@manage.action(
    "create",
    POST("/projects/{project_id}/repository/branches"),
    danger=Danger.REVERSIBLE,
    docs="api/branches/#create-repository-branch",
    example={"project_id": "acme/website", "branch": "feature/login", "ref": "main"},
    shows="name sha=commit.id protected web_url",
    role=Role.DEVELOPER,
    recover_with=RecoveryLookup("browse_branches get", "project_id branch", points_at="ref"),
)
class CreateBranch(Action):
    """Create a branch from a branch, tag or commit."""

    project_id: ProjectId
    branch: Branch
    ref: Ref


@manage.action(
    "delete",
    DELETE("/projects/{project_id}/repository/branches/{branch}"),
    danger=Danger.DESTRUCTIVE,
    docs="api/branches/#delete-repository-branch",
    example={"project_id": "writes/app", "branch": "to-delete"},
    role=Role.DEVELOPER,
)
class DeleteBranch(Action):
    """Delete a branch; open merge requests from it are closed."""

    project_id: ProjectId
    branch: Branch

    async def run(self, gitlab: GitLab) -> Answer | Result:
        path = fill("/projects/{project_id}/merge_requests", project_id=self.project_id)
        try:
            closed = items_of(await gitlab.get(path, source_branch=self.branch, state="opened"), path)
        except FAULTS:
            # Who may delete a branch may still not see merge requests, or they are switched off.
            closed = []
        answer = await gitlab.send(self.request())
        if not closed:
            return answer
        return Result(data={"done": True, "closes_merge_requests": [each["iid"] for each in closed]})


@manage.action(
    "delete_merged",
    DELETE("/projects/{project_id}/repository/merged_branches"),
    danger=Danger.DANGEROUS,
    docs="api/branches/#delete-all-merged-branches",
    example={"project_id": "writes/app"},
    role=Role.DEVELOPER,
)
class DeleteMergedBranches(Action):
    """Delete, in the background, every unprotected branch that is merged into the default branch."""

    project_id: ProjectId

    async def run(self, gitlab: GitLab) -> Result:
        await gitlab.send(self.request())
        return Result(data={"started": True})

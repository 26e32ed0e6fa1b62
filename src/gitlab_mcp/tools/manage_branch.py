"""Create, rename and delete branches."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import model_validator

from gitlab_mcp.actions.action import DELETE, POST, Danger, fill
from gitlab_mcp.actions.ask import Ask
from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.actions.fields import AlsoCalled, Branch, Ref, broken_rule
from gitlab_mcp.actions.other_names import Instead
from gitlab_mcp.actions.recovery_lookup import RecoveryLookup
from gitlab_mcp.actions.result import Result
from gitlab_mcp.actions.scopes import InProject
from gitlab_mcp.actions.server import Server
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.actions.undo import Undo
from gitlab_mcp.gitlab.faults import FAULTS
from gitlab_mcp.gitlab.paging import items_of
from gitlab_mcp.workflows.repository.branch_renaming import BranchRenaming, refuse_to_rename

manage = Tool(
    "manage_branch",
    "Create, rename and delete branches of a repository.",
    instead={
        "move mv": "rename",
        "protect": "manage_protected_branch create",
        "unprotect": "manage_protected_branch delete",
        "merge": Instead(
            "manage_merge_request create",
            advice="A branch is merged by a merge request: manage_merge_request create, then merge.",
        ),
        "delete_all_merged cleanup prune": "delete_merged",
        "checkout": Instead(
            "",
            advice="Use action create with branch and ref; files are read with browse_files and its ref.",
        ),
    },
)


@manage.action(
    "create",
    POST("/projects/{project_id}/repository/branches"),
    danger=Danger.REVERSIBLE,
    example={"project_id": "acme/website", "branch": "feature/login", "ref": "main"},
    shows="name sha=commit.id protected web_url",
    recover_with=RecoveryLookup("browse_branches get", "project_id branch", points_at="ref"),
    undo=Undo("delete", "project_id branch"),
)
class CreateBranch(InProject):
    """Create a branch from a branch, tag or commit."""

    branch: Annotated[Branch, AlsoCalled("name", "new_branch", "branch_name")]
    ref: Annotated[
        Ref,
        AlsoCalled(
            "from", "source_branch", "base", "base_branch", "source", "from_branch", "start_point", "from_ref"
        ),
    ]


@manage.action(
    "rename",
    POST("/projects/{project_id}/repository/branches"),
    danger=Danger.DESTRUCTIVE,
    example={"project_id": "writes/app", "branch": "feature/a", "new_branch": "feature/one"},
    recover_with=RecoveryLookup("browse_branches get", "project_id branch=new_branch", points_at="branch"),
    undo=Undo("rename", "project_id branch=new_branch", "new_branch=deleted"),
)
class RenameBranch(InProject):
    """Give a branch another name: create it at the same commit, then delete the old one, unless that moved meanwhile.

    The default branch, a protected one and one with open merge requests keep their names.
    """

    branch: Annotated[Branch, AlsoCalled("old_branch", "old_name", "from", "source_branch", "name")]
    new_branch: Annotated[Branch, AlsoCalled("new_name", "to", "new_branch_name", "target_branch")]

    @model_validator(mode="after")
    def _another_name(self) -> Self:
        if self.branch == self.new_branch:
            raise broken_rule("another name than branch", field="new_branch")
        return self

    async def refuse_before_asking(self, ask: Ask) -> None:
        renaming = self._renaming()
        refuse_to_rename(
            await ask.look(renaming.path_of(self.branch)),
            await ask.look(renaming.merge_requests, source_branch=self.branch, state="opened"),
            await ask.look(renaming.merge_requests, target_branch=self.branch, state="opened"),
        )

    async def run_with(self, server: Server) -> Result:
        return await self._renaming().run(server)

    def _renaming(self) -> BranchRenaming:
        return BranchRenaming(self.project_id, self.branch, self.new_branch)


@manage.action(
    "delete",
    DELETE("/projects/{project_id}/repository/branches/{branch}"),
    danger=Danger.DESTRUCTIVE,
    example={"project_id": "writes/app", "branch": "to-delete"},
)
class DeleteBranch(InProject):
    """Delete a branch; open merge requests from it are closed."""

    branch: Branch

    async def run(self, gitlab: GitLab) -> Answer | Result:
        path = fill("/projects/{project_id}/merge_requests", project_id=self.project_id)
        try:
            closed = items_of(await gitlab.get(path, source_branch=self.branch, state="opened"), path)
        except FAULTS:
            # The caller may be unable to see merge requests, or they are switched off.
            closed = []
        answer = await gitlab.send(self.request())
        if not closed:
            return answer
        return Result(data={"done": True, "closes_merge_requests": [each["iid"] for each in closed]})


@manage.action(
    "delete_merged",
    DELETE("/projects/{project_id}/repository/merged_branches"),
    danger=Danger.DANGEROUS,
    example={"project_id": "writes/app"},
    has_line=True,
)
class DeleteMergedBranches(InProject):
    """Delete, in the background, every unprotected branch that is merged into the default branch."""

    async def run(self, gitlab: GitLab) -> Result:
        await gitlab.send(self.request())
        return Result(data={"started": True})

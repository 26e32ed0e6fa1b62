"""Comment on commits, cherry-pick and revert them, set their status."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from gitlab_mcp.actions.action import POST, Danger
from gitlab_mcp.actions.ask import Ask
from gitlab_mcp.actions.exchange import Answer
from gitlab_mcp.actions.fields import (
    AlsoCalled,
    Branch,
    FilePath,
    Flag,
    Integer,
    NonEmpty,
    NotSent,
    Ref,
    broken_rule,
)
from gitlab_mcp.actions.other_names import Instead
from gitlab_mcp.actions.quick_actions import CommentText
from gitlab_mcp.actions.recovery_lookup import LostWrite, RecoveryLookup, said
from gitlab_mcp.actions.result import Result
from gitlab_mcp.actions.scopes import InProject
from gitlab_mcp.actions.server import Server
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.actions.undo import Undo
from gitlab_mcp.workflows.merge_requests.merged_commit import (
    commit_of,
    merge_request_named,
    own_commit_of,
    path_of,
)
from gitlab_mcp.workflows.repository.cherry_picking import PickOnNewBranch

manage = Tool(
    "manage_commit",
    "Comment, cherry-pick and revert commits.",
    instead={
        "create commit push": Instead(
            "manage_file commit",
            advice="Call manage_file with action commit, branch, commit_message and actions.",
        ),
        "pick": "cherry_pick",
        "undo": "revert",
        "add_comment note create_comment": "comment",
        "status update_status create_status": "manage_commit_status set",
        "tag": Instead("manage_tag create", needs=("tag_name",)),
    },
)

_BY_MERGE_REQUEST = {"merge_request_iid": lambda iid, given: None if "sha" in given else {"sha": f"!{iid}"}}


class OfNamedCommit(InProject):
    """`!5` is the commit that brought that merge request into its target."""

    sha: Annotated[NonEmpty, Field(description="Commit, branch, tag or !5")]

    async def pinned(self, ask: Ask) -> Self:
        iid = merge_request_named(self.sha)
        request = await ask.merge_request(self.project_id, str(iid)) if iid is not None else None
        sha = own_commit_of(request) if request is not None else None
        return self if sha is None else self.model_copy(update={"sha": sha})


class OfPickedCommit(OfNamedCommit):
    branch: Branch

    async def run_with(self, server: Server) -> Answer | Result:
        iid = merge_request_named(self.sha)
        if iid is None:
            return await self.run_on(server)
        request = (await server.gitlab.get(path_of(self.project_id, iid))).body
        sha = await commit_of(server.gitlab, self.project_id, iid, request)
        return await self.model_copy(update={"sha": sha}).run_on(server)

    async def run_on(self, server: Server) -> Answer | Result:
        """What it does with a commit that is named by itself."""
        return await self.run(server.gitlab)


@manage.action(
    "comment",
    POST("/projects/{project_id}/repository/commits/{sha}/comments"),
    danger=Danger.REVERSIBLE,
    example={
        "project_id": "acme/website",
        "sha": "dbc35632b7b69fd93edcc32d714d59617c7b5790",
        "note": "Nice",
        "path": "src/app.py",
        "line": 1,
        "line_type": "new",
    },
    shows="created_at",
    recover_with=RecoveryLookup(
        "browse_commit_details comments", "project_id sha", proof=said("note"), every_page=True
    ),
    seldom_given="path line line_type",
)
class CommentCommit(OfNamedCommit):
    """Comment on a commit, or on one line of its diff."""

    note: CommentText
    path: FilePath | None = None
    line: Annotated[Integer, Field(ge=1, le=2**31 - 1)] | None = None
    line_type: Literal["new", "old"] | None = None

    @model_validator(mode="after")
    def _all_of_a_position(self) -> Self:
        place = {"path": self.path, "line": self.line, "line_type": self.line_type}
        missing = [name for name, value in place.items() if value is None]
        if 0 < len(missing) < len(place):
            raise broken_rule("given, or none of path, line and line_type", field=missing[0])
        return self


def _names_the_commit(write: LostWrite, found: Mapping[str, Any]) -> bool:
    """GitLab ends the message of both with the commit: `(cherry picked from commit 4432a39d…)`."""
    return write.is_new(found) and f" commit {write.action.sha}" in found["message"]


@manage.action(
    "cherry_pick",
    POST("/projects/{project_id}/repository/commits/{sha}/cherry_pick"),
    danger=Danger.REVERSIBLE,
    example={
        "project_id": "writes/app",
        "sha": "e210dec7843d150f309f9c3cd806bf54d4082fc1",
        "branch": "pick-target",
        "dry_run": True,
    },
    shows="id title dry_run web_url",
    recover_with=RecoveryLookup("browse_commits list", "project_id ref_name=branch", proof=_names_the_commit),
    seldom_given="dry_run message start_ref",
    undo=Undo("revert", "project_id branch", "sha=id", without="dry_run start_ref"),
    rewrites=_BY_MERGE_REQUEST,
)
class CherryPick(OfPickedCommit):
    """Repeat a commit on another branch, which start_ref creates; dry_run only tries it."""

    branch: Branch
    start_ref: (
        Annotated[
            Ref,
            AlsoCalled("start_branch", "from_ref", "ref"),
            NotSent(),
            Field(description="Creates branch"),
        ]
        | None
    ) = None
    dry_run: Flag | None = None
    message: NonEmpty | None = None

    @model_validator(mode="after")
    def _a_branch_to_try_it_on(self) -> Self:
        if self.dry_run and self.start_ref is not None:
            raise broken_rule(
                "left out with start_ref: the branch to try it on is not there yet", field="dry_run"
            )
        return self

    async def run_on(self, server: Server) -> Answer | Result:
        if self.start_ref is None:
            return await super().run_on(server)
        given = self.given()
        pick: dict[str, Any] = {name: given[name] for name in ("sha", "message") if name in given}
        return await PickOnNewBranch(self.project_id, self.branch, self.start_ref, pick).run(server)


@manage.action(
    "revert",
    POST("/projects/{project_id}/repository/commits/{sha}/revert"),
    danger=Danger.REVERSIBLE,
    example={
        "project_id": "writes/app",
        "sha": "4e5cee425c87347fd927d9d69fe734fed4292c3e",
        "branch": "pick-target",
        "dry_run": True,
    },
    shows="id title dry_run web_url",
    recover_with=RecoveryLookup("browse_commits list", "project_id ref_name=branch", proof=_names_the_commit),
    seldom_given="dry_run",
    undo=Undo("revert", "project_id branch", "sha=id", without="dry_run"),
    rewrites=_BY_MERGE_REQUEST,
)
class Revert(OfPickedCommit):
    """Take a commit back with a new commit on a branch; dry_run only tries it."""

    branch: Branch
    dry_run: Flag | None = None

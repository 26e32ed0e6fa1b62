"""Comment on commits, cherry-pick and revert them, set their status."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from gitlab_mcp.actions.action import POST, Danger
from gitlab_mcp.actions.fields import (
    Branch,
    FilePath,
    Flag,
    Integer,
    NonEmpty,
    broken_rule,
)
from gitlab_mcp.actions.other_names import Instead
from gitlab_mcp.actions.quick_actions import CommentText
from gitlab_mcp.actions.recovery_lookup import LostWrite, RecoveryLookup, said
from gitlab_mcp.actions.scopes import OfCommit
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.actions.undo import Undo

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
class CommentCommit(OfCommit):
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
    seldom_given="dry_run message",
    undo=Undo("revert", "project_id branch", "sha=id", without="dry_run"),
)
class CherryPick(OfCommit):
    """Repeat a commit on another branch; dry_run only tries it."""

    branch: Branch
    dry_run: Flag | None = None
    message: NonEmpty | None = None


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
)
class Revert(OfCommit):
    """Take a commit back with a new commit on a branch; dry_run only tries it."""

    branch: Branch
    dry_run: Flag | None = None

"""What is seldom done to a merge request: dependencies, merge trains, context commits, all approvals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from gitlab_mcp.actions.action import DELETE, POST, PUT, Danger, Role
from gitlab_mcp.actions.fields import (
    Anywhere,
    Flag,
    Id,
    SentAs,
    Words,
)
from gitlab_mcp.actions.recovery_lookup import LostWrite, RecoveryLookup, made
from gitlab_mcp.actions.scopes import AtHead, OfMergeRequest
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.actions.undo import Undo

manage = Tool(
    "manage_merge_request_details",
    "Change dependencies, merge train and context commits of a merge request.",
    toolset="delivery",
    also=("merge_train", "context_commit", "merge_request_dependency"),
)


MR = "/projects/{project_id}/merge_requests/{merge_request_iid}"


EXAMPLE = {"project_id": "writes/app", "merge_request_iid": 1}


EXAMPLE_WITH_COMMITS = {
    "project_id": "writes/app",
    "merge_request_iid": 3,
    "commits": ["2f1e44bbf6b0ee9bd0584faf7d425c5d57a3ec32"],
}


COMMIT = "id=short_id title"


Shas = Annotated[Words, Field(min_length=1)]


@manage.action(
    "reset_approvals",
    PUT(f"{MR}/reset_approvals"),
    danger=Danger.DESTRUCTIVE,
    example=EXAMPLE,
    role=Role.DEVELOPER,
    moved_from="manage_merge_request",
    has_line=True,
)
class ResetApprovals(OfMergeRequest):
    """Take back all approvals; only bots of the project or its group may."""


def _the_only_commit(write: LostWrite, found: Mapping[str, Any]) -> bool:
    return bool([found["id"]] == write.sent["commits"])


@manage.action(
    "add_context_commits",
    POST(f"{MR}/context_commits"),
    danger=Danger.REVERSIBLE,
    example=EXAMPLE_WITH_COMMITS,
    shows=COMMIT,
    role=Role.DEVELOPER,
    recover_with=RecoveryLookup(
        "browse_merge_request_details context_commits", "project_id merge_request_iid", proof=_the_only_commit
    ),
    moved_from="manage_merge_request",
    has_line=True,
)
class AddContextCommits(OfMergeRequest):
    """Add merged commits that help reviewers."""

    commits: Shas


@manage.action(
    "delete_context_commits",
    DELETE(f"{MR}/context_commits"),
    danger=Danger.REVERSIBLE,
    example=EXAMPLE_WITH_COMMITS,
    role=Role.DEVELOPER,
    moved_from="manage_merge_request",
)
class DeleteContextCommits(OfMergeRequest):
    """Remove commits that were added to help reviewers."""

    commits: Shas


@manage.action(
    "add_dependency",
    POST(f"{MR}/blocks"),
    danger=Danger.REVERSIBLE,
    example={"project_id": "tiers-a/one", "merge_request_iid": 6, "blocking_merge_request_id": 6},
    shows="id",
    role=Role.DEVELOPER,
    recover_with=RecoveryLookup(
        "browse_merge_request_details dependencies",
        "project_id merge_request_iid",
        proof=lambda write, found: (
            found["blocking_merge_request"]["id"] == write.action.blocking_merge_request_id
        ),
    ),
    moved_from="manage_merge_request",
    undo=Undo("delete_dependency", "project_id merge_request_iid", "block_id=id"),
)
class AddDependency(OfMergeRequest):
    """Have another merge request merged before this one."""

    blocking_merge_request_id: Annotated[
        Id, Anywhere("merge request"), Field(description="Its id, not its iid")
    ]


@manage.action(
    "delete_dependency",
    DELETE(f"{MR}/blocks/{{block_id}}"),
    danger=Danger.REVERSIBLE,
    example={"project_id": "tiers-a/one", "merge_request_iid": 6, "block_id": 1},
    role=Role.DEVELOPER,
    recover_with=RecoveryLookup("browse_merge_request_details dependencies", "project_id merge_request_iid"),
    moved_from="manage_merge_request",
)
class DeleteDependency(OfMergeRequest):
    """Let it be merged before the other one."""

    block_id: Annotated[Id, Field(description="From browse_merge_request_details dependencies")]


@manage.action(
    "add_to_merge_train",
    POST("/projects/{project_id}/merge_trains/merge_requests/{merge_request_iid}"),
    danger=Danger.DESTRUCTIVE,
    example={"project_id": "tiers-a/one", "merge_request_iid": 1},
    shows="id status target_branch",
    role=Role.DEVELOPER,
    recover_with=RecoveryLookup(
        "browse_merge_request_details merge_train", "project_id merge_request_iid", proof=made()
    ),
    moved_from="manage_merge_request",
)
class AddToMergeTrain(AtHead):
    """Queue it to be merged after those before it on the train."""

    squash: Flag | None = None
    auto_merge: Annotated[Flag, SentAs("when_pipeline_succeeds")] | None = None

"""What is seldom asked about a commit: statuses, comments, signature, its place in the history."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from gitlab_mcp.actions.action import GET, Role
from gitlab_mcp.actions.fields import (
    Flag,
    NonEmpty,
    Ref,
    Strings,
)
from gitlab_mcp.actions.scopes import InProject, OfCommit, Paged
from gitlab_mcp.actions.tool import Tool

browse = Tool(
    "browse_commit_details",
    "Read what is seldom asked about a commit.",
    toolset="delivery",
    also=("commit_status", "commit_signature"),
)


COMMIT = (
    "sha=short_id title author=author_name committed=committed_date stats"
    " | id message author_email committer_name parent_ids status last_pipeline=last_pipeline.id web_url"
)


STATUS = "name status ref description target_url pipeline_id | id coverage created_at finished_at"


@browse.action(
    "merge_base",
    GET("/projects/{project_id}/repository/merge_base"),
    example={"project_id": "acme/website", "refs": ["main", "feature/login"]},
    shows=COMMIT,
    moved_from="browse_commits",
    has_line=True,
)
class MergeBase(InProject):
    """The commit from which the refs went apart."""

    refs: Annotated[Strings, Field(min_length=2)]


@browse.action(
    "comments",
    GET("/projects/{project_id}/repository/commits/{sha}/comments"),
    example={"project_id": "acme/website", "sha": "dbc35632b7b69fd93edcc32d714d59617c7b5790"},
    shows="author=author.username created_at path line note",
    moved_from="browse_commits",
)
class CommitComments(OfCommit, Paged):
    """What people said about a commit."""


@browse.action(
    "statuses",
    GET("/projects/{project_id}/repository/commits/{sha}/statuses"),
    example={"project_id": "acme/website", "sha": "dbc35632b7b69fd93edcc32d714d59617c7b5790"},
    shows=STATUS,
    moved_from="browse_commits",
    has_line=True,
)
class CommitStatuses(OfCommit, Paged):
    """Jobs and external checks of a commit; with all, also those that were run again."""

    ref: Ref | None = None
    stage: NonEmpty | None = None
    name: NonEmpty | None = None
    all: Flag | None = None


@browse.action(
    "signature",
    GET("/projects/{project_id}/repository/commits/{sha}/signature"),
    example={"project_id": "acme/website", "sha": "dbc35632b7b69fd93edcc32d714d59617c7b5790"},
    role=Role.REPORTER,
    moved_from="browse_commits",
)
class CommitSignature(OfCommit):
    """Who signed a commit, and whether that holds; an unsigned commit has none."""


@browse.action(
    "sequence",
    GET("/projects/{project_id}/repository/commits/{sha}/sequence"),
    example={"project_id": "acme/website", "sha": "dbc35632b7b69fd93edcc32d714d59617c7b5790"},
    moved_from="browse_commits",
    has_line=True,
)
class CommitSequence(OfCommit):
    """How many commits there are up to this one."""

    first_parent: Flag | None = None

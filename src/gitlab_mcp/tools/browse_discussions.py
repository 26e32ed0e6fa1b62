"""Threads, notes and emoji reactions on issues, merge requests and commits."""

from __future__ import annotations

from typing import Literal

from gitlab_mcp.actions.action import GET
from gitlab_mcp.actions.action_facts import Differs
from gitlab_mcp.actions.fields import DiscussionId, Id, Sha, Sort
from gitlab_mcp.actions.scopes import OfIssueOrMergeRequest, OfMergeRequest, Paged
from gitlab_mcp.actions.tool import Tool

browse = Tool(
    "browse_discussions",
    "Read threads, notes and reactions on an issue, a merge request or a commit.",
    also=("comment", "note", "thread"),
    instead={
        "comments notes list_comments": "list_notes",
        "threads discussions": "list",
        "drafts": "list_drafts",
        "emoji reactions awards": "list_emoji",
    },
)

ISSUE = "/projects/{project_id}/issues/{issue_iid}"
MERGE_REQUEST = "/projects/{project_id}/merge_requests/{merge_request_iid}"
COMMIT = "/projects/{project_id}/repository/commits/{sha}"

THREAD = "/discussions/{discussion_id}"
NOTE = "/notes/{note_id}"

POSITION = "file=position.new_path line=position.new_line old_line=position.old_line"
SHOWN_NOTE = (
    f"id author body created_at system resolvable resolved internal {POSITION} | updated_at resolved_by"
)
SHOWN_THREAD = f"id individual_note notes(id author body created_at system resolved internal {POSITION})"
SHOWN_EMOJI = "id name user created_at"


class OfIssueMergeRequestOrCommit(OfIssueOrMergeRequest):
    sha: Sha | None = None


@browse.action(
    "list",
    GET(ISSUE + "/discussions", MERGE_REQUEST + "/discussions", COMMIT + "/discussions"),
    docs=Differs(
        "api/discussions/#list-project-merge-request-discussion-items",
        "most threads are on merge requests",
    ),
    example={"project_id": "acme/website", "merge_request_iid": 1},
    shows=SHOWN_THREAD,
)
class ListDiscussions(OfIssueMergeRequestOrCommit, Paged):
    """List the threads on something; a single comment is a thread of one note."""


@browse.action(
    "get",
    GET(ISSUE + THREAD, MERGE_REQUEST + THREAD, COMMIT + THREAD),
    docs=Differs(
        "api/discussions/#get-single-merge-request-discussion-item",
        "most threads are on merge requests",
    ),
    example={
        "project_id": "acme/website",
        "issue_iid": 1,
        "discussion_id": "5b7b0969fa26acbdc68b11fc8fde72bfc6f8223b",
    },
    shows=SHOWN_THREAD,
)
class GetDiscussion(OfIssueMergeRequestOrCommit):
    """Read one thread with all its notes."""

    discussion_id: DiscussionId


@browse.action(
    "list_notes",
    GET(ISSUE + "/notes", MERGE_REQUEST + "/notes"),
    example={"project_id": "acme/website", "issue_iid": 1},
    shows=SHOWN_NOTE,
)
class ListNotes(OfIssueOrMergeRequest, Paged):
    """List comments and what GitLab itself noted, the newest first."""

    activity_filter: Literal["all_notes", "only_comments", "only_activity"] | None = None
    order_by: Literal["created_at", "updated_at"] | None = None
    sort: Sort | None = None


@browse.action(
    "get_note",
    GET(ISSUE + NOTE, MERGE_REQUEST + NOTE),
    example={"project_id": "acme/website", "issue_iid": 1, "note_id": 3},
    shows=SHOWN_NOTE,
)
class GetNote(OfIssueOrMergeRequest):
    """Read one note."""

    note_id: Id


@browse.action(
    "list_drafts",
    GET(f"{MERGE_REQUEST}/draft_notes"),
    example={"project_id": "acme/website", "merge_request_iid": 1},
    shows=f"id body=note {POSITION} discussion_id resolve_discussion",
)
class ListDrafts(OfMergeRequest):
    """List your drafts on a merge request, which nobody else sees; manage_review publishes them."""


@browse.action(
    "list_emoji",
    GET(
        ISSUE + "/award_emoji",
        MERGE_REQUEST + "/award_emoji",
        ISSUE + NOTE + "/award_emoji",
        MERGE_REQUEST + NOTE + "/award_emoji",
    ),
    example={"project_id": "acme/website", "issue_iid": 1},
    shows=SHOWN_EMOJI,
)
class ListEmoji(OfIssueOrMergeRequest, Paged):
    """List the reactions to something, or to one note on it."""

    note_id: Id | None = None

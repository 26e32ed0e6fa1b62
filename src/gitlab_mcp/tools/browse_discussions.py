"""What is said about issues, merge requests and commits: threads, notes and reactions."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from gitlab_mcp.actions.action import GET, Action, Role
from gitlab_mcp.actions.fields import (
    Expects,
    Id,
    IssueIid,
    MergeRequestIid,
    Page,
    PerPage,
    ProjectId,
    Sha,
    Sort,
)
from gitlab_mcp.actions.tool import Tool

browse = Tool(
    "browse_discussions", "Read threads, notes and reactions on an issue, a merge request or a commit."
)

ISSUE = "/projects/{project_id}/issues/{issue_iid}"
MERGE_REQUEST = "/projects/{project_id}/merge_requests/{merge_request_iid}"
COMMIT = "/projects/{project_id}/repository/commits/{sha}"

THREAD = "/discussions/{discussion_id}"
NOTE = "/notes/{note_id}"

AT = "file=position.new_path line=position.new_line old_line=position.old_line"
SHOWN_NOTE = f"id author body created_at system resolvable resolved internal {AT} | updated_at resolved_by"
SHOWN_THREAD = f"id individual_note notes(id author body created_at system resolved internal {AT})"
SHOWN_EMOJI = "id name user created_at"

DiscussionId = Annotated[str, Field(pattern=r"^[0-9a-f]{40}$"), Expects("40 hex digits, the id of a thread")]


def on(*things: str, at: str) -> tuple[str, ...]:
    return tuple(thing + at for thing in things)


class OnSomething(Action):
    project_id: ProjectId
    issue_iid: IssueIid | None = None
    merge_request_iid: MergeRequestIid | None = None


class OnSomethingOrCommit(OnSomething):
    sha: Sha | None = None


@browse.action(
    "list",
    GET(*on(ISSUE, MERGE_REQUEST, COMMIT, at="/discussions")),
    docs="api/discussions/#list-project-merge-request-discussion-items",
    example={"project_id": "acme/website", "merge_request_iid": 1},
    shows=SHOWN_THREAD,
    role=Role.GUEST,
)
class ListDiscussions(OnSomethingOrCommit):
    """List the threads on something; a single comment is a thread of one note."""

    page: Page | None = None
    per_page: PerPage | None = None


@browse.action(
    "get",
    GET(*on(ISSUE, MERGE_REQUEST, COMMIT, at=THREAD)),
    docs="api/discussions/#get-single-merge-request-discussion-item",
    example={
        "project_id": "acme/website",
        "issue_iid": 1,
        "discussion_id": "5b7b0969fa26acbdc68b11fc8fde72bfc6f8223b",
    },
    shows=SHOWN_THREAD,
    role=Role.GUEST,
)
class GetDiscussion(OnSomethingOrCommit):
    """Read one thread with all its notes."""

    discussion_id: DiscussionId


@browse.action(
    "list_notes",
    GET(*on(ISSUE, MERGE_REQUEST, at="/notes")),
    docs="api/notes/#list-all-issue-notes",
    example={"project_id": "acme/website", "issue_iid": 1},
    shows=SHOWN_NOTE,
    role=Role.GUEST,
)
class ListNotes(OnSomething):
    """List comments and what GitLab itself noted, the newest first."""

    activity_filter: Literal["all_notes", "only_comments", "only_activity"] | None = None
    sort: Sort | None = None
    page: Page | None = None
    per_page: PerPage | None = None


@browse.action(
    "get_note",
    GET(*on(ISSUE, MERGE_REQUEST, at=NOTE)),
    docs="api/notes/#retrieve-an-issue-note",
    example={"project_id": "acme/website", "issue_iid": 1, "note_id": 3},
    shows=SHOWN_NOTE,
    role=Role.GUEST,
)
class GetNote(OnSomething):
    """Read one note."""

    note_id: Id


@browse.action(
    "list_drafts",
    GET(f"{MERGE_REQUEST}/draft_notes"),
    docs="api/draft_notes/#list-all-merge-request-draft-notes",
    example={"project_id": "acme/website", "merge_request_iid": 1},
    shows=f"id body=note {AT} discussion_id resolve_discussion",
    switch="merge_requests",
    role=Role.REPORTER,
)
class ListDrafts(Action):
    """List your drafts on a merge request, which nobody else sees; manage_review publishes them."""

    project_id: ProjectId
    merge_request_iid: MergeRequestIid


@browse.action(
    "list_emoji",
    GET(
        *on(ISSUE, MERGE_REQUEST, at="/award_emoji"),
        *on(ISSUE, MERGE_REQUEST, at=f"{NOTE}/award_emoji"),
    ),
    docs="api/emoji_reactions/#list-all-emoji-reactions-for-a-resource",
    example={"project_id": "acme/website", "issue_iid": 1},
    shows=SHOWN_EMOJI,
    role=Role.GUEST,
)
class ListEmoji(OnSomething):
    """List the reactions to something, or to one note on it."""

    note_id: Id | None = None
    page: Page | None = None
    per_page: PerPage | None = None

"""Threads, notes and emoji reactions on issues, merge requests and commits."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from gitlab_mcp.actions.action import GET
from gitlab_mcp.actions.action_facts import Differs
from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.actions.fields import DiscussionId, Flag, Id, Sha, Sort
from gitlab_mcp.actions.scopes import OfIssueOrMergeRequest, OfMergeRequest, Paged
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.gitlab.paging import every_page
from gitlab_mcp.workflows.merge_requests.thread_filters import (
    only_unresolved,
    with_places_in_commit,
    without_system_notes,
)

browse = Tool(
    "browse_discussions",
    "Read threads and notes on an issue, a merge request or a commit.",
    also=("comment", "note", "thread"),
    instead={
        "comments notes list_comments": "list_notes",
        "threads discussions": "list",
        "drafts": "list_drafts",
        "emoji reactions awards": "browse_reactions list",
    },
)

ISSUE = "/projects/{project_id}/issues/{issue_iid}"
MERGE_REQUEST = "/projects/{project_id}/merge_requests/{merge_request_iid}"
COMMIT = "/projects/{project_id}/repository/commits/{sha}"

THREAD = "/discussions/{discussion_id}"
NOTE = "/notes/{note_id}"

POSITION = "file=position.new_path line=position.new_line old_line=position.old_line"
SUGGESTIONS = "suggestion_ids=suggestions.id applied=suggestions.applied"
SHOWN_NOTE = (
    f"id author body created_at system:mark resolvable resolved internal:mark {POSITION} {SUGGESTIONS}"
    " | updated_at resolved_by"
)
SHOWN_THREAD = (
    "id individual_note:mark"
    f" notes(id author body created_at system:mark resolved internal:mark {POSITION} {SUGGESTIONS})"
)


SystemNotes = Annotated[Flag, Field(description="With GitLab's own notes")]


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
    seldom_given="system_notes",
)
class ListDiscussions(OfIssueMergeRequestOrCommit, Paged):
    """List the threads on something; a single comment is a thread of one note."""

    unresolved: Annotated[Flag, Field(description="Only open threads")] | None = None
    system_notes: SystemNotes | None = None

    async def run(self, gitlab: GitLab) -> Answer:
        request = self.request(unresolved=None, system_notes=None)
        if self.unresolved and self.page is None:
            answer = await every_page(gitlab, request.path, **{"per_page": 100, **request.query})
        else:
            answer = await gitlab.send(request)
        if self.sha is not None:
            answer = await with_places_in_commit(gitlab, request.path, answer)
        if not self.system_notes:
            answer = without_system_notes(answer)
        return only_unresolved(answer) if self.unresolved else answer


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
    seldom_given="activity_filter system_notes",
)
class ListNotes(OfIssueOrMergeRequest, Paged):
    """List comments, and with system_notes what GitLab itself noted, the newest first."""

    activity_filter: Literal["all_notes", "only_comments", "only_activity"] | None = None
    system_notes: SystemNotes | None = None
    order_by: Literal["created_at", "updated_at"] | None = None
    sort: Sort | None = None

    async def run(self, gitlab: GitLab) -> Answer:
        answer = await gitlab.send(self.request(system_notes=None))
        return answer if self.system_notes or self.activity_filter else without_system_notes(answer)


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
    lists=True,
    has_line=True,
)
class ListDrafts(OfMergeRequest):
    """List your drafts on a merge request, which nobody else sees; manage_review publishes them."""

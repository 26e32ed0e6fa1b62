"""Rewrite, delete or publish one draft of a review."""

from __future__ import annotations

from typing import Annotated

from gitlab_mcp.actions.action import DELETE, PUT, Danger, Role
from gitlab_mcp.actions.draft_fields import DraftText, find_draft
from gitlab_mcp.actions.exchange import GitLab
from gitlab_mcp.actions.fields import Id, SentAs
from gitlab_mcp.actions.result import Result
from gitlab_mcp.actions.scopes import OfMergeRequest
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.workflows.merge_requests.review_submission import Review

manage = Tool(
    "manage_draft",
    "Rewrite, delete or publish one draft of a review; manage_review writes drafts and submits all.",
    toolset="delivery",
    also=("draft_note",),
)

DRAFT = "/projects/{project_id}/merge_requests/{merge_request_iid}/draft_notes/{draft_note_id}"
EXAMPLE = {"project_id": "acme/shop", "merge_request_iid": 25}


@manage.action(
    "update_draft",
    PUT(DRAFT),
    danger=Danger.REVERSIBLE,
    example={**EXAMPLE, "draft_note_id": 12, "body": "Draft: overall fine, two remarks."},
    shows="draft_note_id=id",
    role=Role.REPORTER,
    recover_with=find_draft(),
    moved_from="manage_review",
)
class UpdateDraft(OfMergeRequest):
    """Rewrite a draft; its place stays."""

    draft_note_id: Id
    body: Annotated[DraftText, SentAs("note")]


@manage.action(
    "delete_draft",
    DELETE(DRAFT),
    danger=Danger.REVERSIBLE,
    example={**EXAMPLE, "draft_note_id": 16},
    role=Role.REPORTER,
    recover_with=find_draft(),
    moved_from="manage_review",
)
class DeleteDraft(OfMergeRequest):
    """Throw a draft away."""

    draft_note_id: Id


@manage.action(
    "publish_draft",
    PUT(f"{DRAFT}/publish"),
    danger=Danger.REVERSIBLE,
    example={"project_id": "writes/app", "merge_request_iid": 1, "draft_note_id": 4},
    role=Role.REPORTER,
    repeatable=False,
    recover_with=find_draft("GitLab may have published it and kept the draft"),
    moved_from="manage_review",
)
class PublishDraft(OfMergeRequest):
    """Publish one draft."""

    draft_note_id: Id

    async def run(self, gitlab: GitLab) -> Result:
        path = self.request().path.partition("/draft_notes/")[0]
        return await Review(gitlab, path).publish(self.draft_note_id)

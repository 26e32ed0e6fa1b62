"""What actions on drafts of a review share."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from gitlab_mcp.actions.fields import Expects
from gitlab_mcp.actions.quick_actions import CommentText
from gitlab_mcp.actions.recovery_lookup import RecoveryLookup

# GitLab accepts an empty draft, and drops it when it is published.
DraftText = Annotated[CommentText, Field(pattern=r"^\s*\S"), Expects("text that is not empty")]


def find_draft(because: str = "") -> RecoveryLookup:
    return RecoveryLookup("browse_discussions list_drafts", "project_id merge_request_iid", because=because)

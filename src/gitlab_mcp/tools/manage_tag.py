"""Create and delete tags."""

from __future__ import annotations

from gitlab_mcp.actions.action import DELETE, POST, Danger
from gitlab_mcp.actions.fields import NonEmpty, Ref
from gitlab_mcp.actions.other_names import Instead
from gitlab_mcp.actions.recovery_lookup import RecoveryLookup, has
from gitlab_mcp.actions.scopes import OfTag
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.actions.undo import Undo

manage = Tool(
    "manage_tag",
    "Create and delete tags of a repository.",
    toolset="delivery",
    instead={
        "update edit rename move change": Instead(
            "",
            advice="A tag is not changed: use action delete, then create. The notes of its release "
            "are changed by manage_release update.",
        ),
        "protect": "manage_protected_branch protect_tag",
        "unprotect": "manage_protected_branch unprotect_tag",
    },
)


@manage.action(
    "create",
    POST("/projects/{project_id}/repository/tags"),
    danger=Danger.REVERSIBLE,
    example={"project_id": "writes/app", "tag_name": "v1.0.0", "ref": "main", "message": "First"},
    shows="name sha=commit.id protected",
    recover_with=RecoveryLookup(
        "browse_tags get", "project_id tag_name", proof=has("message"), points_at="ref"
    ),
    undo=Undo("delete", "project_id tag_name"),
)
class CreateTag(OfTag):
    """Tag a branch's head or a commit; a message makes the tag annotated."""

    ref: Ref
    message: NonEmpty | None = None


@manage.action(
    "delete",
    DELETE("/projects/{project_id}/repository/tags/{tag_name}"),
    danger=Danger.DESTRUCTIVE,
    example={"project_id": "writes/app", "tag_name": "nightly"},
)
class DeleteTag(OfTag):
    """Delete a tag, and with it its release."""

"""Write labels of a project or a group."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

from pydantic import Field, model_validator

from gitlab_mcp.actions.action import DELETE, POST, PUT, Danger, Role
from gitlab_mcp.actions.exchange import GitLab
from gitlab_mcp.actions.fields import Expects, Integer, LabelId, broken_rule
from gitlab_mcp.actions.other_names import Instead
from gitlab_mcp.actions.recovery_lookup import LostWrite, RecoveryLookup, as_asked
from gitlab_mcp.actions.scopes import InProject, InProjectOrGroup
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.actions.undo import Undo
from gitlab_mcp.workflows.unchanged_since import IfSame, checksum_of_label

manage = Tool(
    "manage_label",
    "Create, change and delete labels of a project or a group.",
    toolset="planning",
    instead={
        "rename": Instead("update", needs=("new_name",), renames={"name": "new_name"}),
    },
)

LABEL = "id name description color priority open_issues_count open_merge_requests_count"

Color = Annotated[
    str,
    Field(pattern=r"^(#[0-9A-Fa-f]{3}|#[0-9A-Fa-f]{6}|[A-Za-z]+)$"),
    Expects("#rrggbb or a CSS colour name"),
]
Priority = Annotated[Integer, Field(ge=0, le=2**31 - 1, description="0 is the highest")]
Name = Annotated[str, Field(min_length=1, max_length=255)]


def _own_label(write: LostWrite, found: Mapping[str, Any]) -> bool:
    """A project lists the labels of its groups too."""
    return found.get("is_project_label") is (write.action.group_id is None) and as_asked(write, found)


@manage.action(
    "create",
    POST("/projects/{project_id}/labels", "/groups/{group_id}/labels"),
    danger=Danger.REVERSIBLE,
    example={"project_id": "acme/website", "name": "bug", "color": "#d9534f", "description": "About bug"},
    shows="id name",
    recover_with=RecoveryLookup("browse_labels get", "project_id group_id label_id=name", proof=_own_label),
    undo=Undo("delete", "project_id group_id", "label_id=id"),
)
class CreateLabel(InProjectOrGroup):
    """Create a label."""

    name: Name
    color: Color
    description: str | None = None
    priority: Priority | None = None

    @model_validator(mode="after")
    def _priority_fits_the_place(self) -> CreateLabel:
        return _no_priority_in_a_group(self)


@manage.action(
    "update",
    PUT("/projects/{project_id}/labels/{label_id}", "/groups/{group_id}/labels/{label_id}"),
    danger=Danger.REVERSIBLE,
    example={
        "project_id": "writes/app",
        "label_id": "bug",
        "new_name": "defect",
        "color": "#ff0000",
        "description": "Edited",
        "priority": 2,
    },
    shows=LABEL,
    seldom_given="expected_checksum",
)
class UpdateLabel(IfSame, InProjectOrGroup):
    """Rename a label, or change its colour, description or priority."""

    label_id: LabelId
    new_name: Name | None = None
    color: Color | None = None
    description: str | None = None
    priority: Priority | None = None

    @model_validator(mode="after")
    def _changes_something(self) -> UpdateLabel:
        if self.model_fields_set <= {"project_id", "group_id", "label_id", "expected_checksum"}:
            raise broken_rule("at least one of new_name, color, description, priority", field="new_name")
        return _no_priority_in_a_group(self)

    async def present_checksum(self, gitlab: GitLab) -> str:
        return checksum_of_label((await gitlab.get(self.request().path)).body)


@manage.action(
    "delete",
    DELETE("/projects/{project_id}/labels/{label_id}", "/groups/{group_id}/labels/{label_id}"),
    danger=Danger.DESTRUCTIVE,
    example={"project_id": "writes/app", "label_id": "drop"},
    role=Role.REPORTER,
)
class DeleteLabel(InProjectOrGroup):
    """Delete a label; it disappears from everything that carries it."""

    label_id: LabelId


@manage.action(
    "subscribe",
    POST(
        "/projects/{project_id}/labels/{label_id}/subscribe", "/groups/{group_id}/labels/{label_id}/subscribe"
    ),
    danger=Danger.REVERSIBLE,
    example={"project_id": "acme/website", "label_id": "bug"},
    shows="id name subscribed",
    repeatable=True,
    undo=Undo("unsubscribe", "project_id group_id label_id"),
)
class SubscribeToLabel(InProjectOrGroup):
    """Be notified of new issues and merge requests with a label."""

    label_id: LabelId


@manage.action(
    "unsubscribe",
    POST(
        "/projects/{project_id}/labels/{label_id}/unsubscribe",
        "/groups/{group_id}/labels/{label_id}/unsubscribe",
    ),
    danger=Danger.REVERSIBLE,
    example={"project_id": "acme/website", "label_id": "bug"},
    shows="id name subscribed",
    repeatable=True,
    undo=Undo("subscribe", "project_id group_id label_id"),
)
class UnsubscribeFromLabel(InProjectOrGroup):
    """Stop being notified of a label."""

    label_id: LabelId


@manage.action(
    "promote",
    PUT("/projects/{project_id}/labels/{label_id}/promote"),
    # It cannot be taken back, and the labels of the same name in all projects of the group go with it.
    danger=Danger.DESTRUCTIVE,
    example={"project_id": "writes/app", "label_id": "promote-me"},
    shows="id name",
    repeatable=False,
    recover_with=RecoveryLookup(
        "browse_labels get",
        "project_id label_id",
        proof=lambda _, found: found.get("is_project_label") is False,
    ),
)
class PromoteLabel(InProject):
    """Make a project's label one of its group; those of the same name in other projects are merged in."""

    label_id: LabelId


Written = TypeVar("Written", CreateLabel, UpdateLabel)


def _no_priority_in_a_group(action: Written) -> Written:
    """GitLab ignores the priority of a group's label: priorities are per project."""
    if action.group_id is not None and action.priority is not None:
        raise broken_rule("left out for a group: priorities are per project", field="priority")
    return action

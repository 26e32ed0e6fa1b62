"""Labels of a project or a group."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from gitlab_mcp.core.action import DELETE, GET, POST, PUT, Action, Danger, Role
from gitlab_mcp.core.fields import Expects, Flag, GroupId, Integer, Line, Page, PerPage, ProjectId, Search
from gitlab_mcp.core.tool import Tool

browse = Tool("browse_labels", "Read the labels of a project or a group.", toolset="planning")
manage = Tool("manage_label", "Create, change and delete labels of a project or a group.", toolset="planning")

LABEL = "id name description color priority open_issues_count open_merge_requests_count"

Color = Annotated[
    str, Field(pattern=r"^(#[0-9A-Fa-f]{3}|#[0-9A-Fa-f]{6}|[A-Za-z]+)$"), Expects("#rrggbb or a CSS colour name")
]
Priority = Annotated[Integer, Field(ge=0, le=2**31 - 1, description="0 is the highest")]
LabelId = Annotated[Line, Field(description="Name or number of the label")]


class InProjectOrGroup(Action):
    project_id: ProjectId | None = None
    group_id: GroupId | None = None


@browse.action(
    "list",
    GET("/projects/{project_id}/labels", "/groups/{group_id}/labels"),
    docs="api/labels/#list-all-project-labels",
    example={"project_id": "acme/website"},
    shows=LABEL,
    role=Role.GUEST,
)
class ListLabels(InProjectOrGroup):
    """List labels, with those of the groups above."""

    search: Search | None = None
    with_counts: Flag | None = None
    include_ancestor_groups: Flag | None = None
    page: Page | None = None
    per_page: PerPage | None = None


@browse.action(
    "get",
    GET("/projects/{project_id}/labels/{label_id}", "/groups/{group_id}/labels/{label_id}"),
    docs="api/labels/#retrieve-a-project-label",
    example={"project_id": "acme/website", "label_id": "bug"},
    shows=LABEL,
    role=Role.GUEST,
)
class GetLabel(InProjectOrGroup):
    """Read one label."""

    label_id: LabelId
    include_ancestor_groups: Flag | None = None


@manage.action(
    "create",
    POST("/projects/{project_id}/labels", "/groups/{group_id}/labels"),
    danger=Danger.REVERSIBLE,
    docs="api/labels/#create-a-project-label",
    example={"project_id": "acme/website", "name": "bug", "color": "#d9534f"},
    shows="id name",
    role=Role.REPORTER,
)
class CreateLabel(InProjectOrGroup):
    """Create a label."""

    name: Line
    color: Color
    description: str | None = None
    priority: Priority | None = None


@manage.action(
    "update",
    PUT("/projects/{project_id}/labels/{label_id}", "/groups/{group_id}/labels/{label_id}"),
    danger=Danger.REVERSIBLE,
    docs="api/labels/#update-a-project-label",
    example={"project_id": "acme/website", "label_id": "bug", "color": "#d9534f"},
    shows=LABEL,
    role=Role.REPORTER,
)
class UpdateLabel(InProjectOrGroup):
    """Rename a label, or change its colour, description or priority."""

    label_id: LabelId
    new_name: Line | None = None
    color: Color | None = None
    description: str | None = None
    priority: Priority | None = None


@manage.action(
    "delete",
    DELETE("/projects/{project_id}/labels/{label_id}", "/groups/{group_id}/labels/{label_id}"),
    danger=Danger.DESTRUCTIVE,
    docs="api/labels/#delete-a-project-label",
    example={"project_id": "acme/website", "label_id": "bug"},
    role=Role.REPORTER,
)
class DeleteLabel(InProjectOrGroup):
    """Delete a label; it disappears from everything that carries it."""

    label_id: LabelId

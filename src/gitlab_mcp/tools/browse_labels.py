"""Labels of a project or a group."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from pydantic import Field

from gitlab_mcp.actions.action import GET
from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.actions.fields import Flag, LabelId, Search
from gitlab_mcp.actions.scopes import InProjectOrGroup, Paged
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.workflows.unchanged_since import checksum_of_label

browse = Tool("browse_labels", "Read the labels of a project or a group.", toolset="planning")

LABEL = "id name description color priority open_issues_count open_merge_requests_count | checksum"


@browse.action(
    "list",
    GET("/projects/{project_id}/labels", "/groups/{group_id}/labels"),
    example={"project_id": "acme/website"},
    shows=LABEL,
)
class ListLabels(InProjectOrGroup, Paged):
    """List labels, with those of the groups above."""

    search: Search | None = None
    with_counts: Flag | None = None
    include_ancestor_groups: Flag | None = None
    include_descendant_groups: Annotated[Flag, Field(description="In a group")] | None = None
    only_group_labels: Annotated[Flag, Field(description="In a group; false: its projects' too")] | None = (
        None
    )


@browse.action(
    "get",
    GET("/projects/{project_id}/labels/{label_id}", "/groups/{group_id}/labels/{label_id}"),
    example={"project_id": "acme/website", "label_id": "bug"},
    shows=LABEL,
)
class GetLabel(InProjectOrGroup):
    """Read one label."""

    label_id: LabelId
    include_ancestor_groups: Flag | None = None

    async def completed(self, gitlab: GitLab, answer: Answer) -> Answer:
        return replace(answer, body={**answer.body, "checksum": checksum_of_label(answer.body)})

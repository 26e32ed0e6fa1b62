"""The to-do list of the caller."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from gitlab_mcp.actions.action import GET, fill
from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.actions.fields import (
    AlsoCalled,
    GroupId,
    NamesPlace,
    PathOrId,
    SentAs,
    UserId,
    any_spelling,
)
from gitlab_mcp.actions.scopes import Paged
from gitlab_mcp.actions.tool import Tool

browse = Tool(
    "browse_todos",
    "Read your to-do list.",
    toolset="planning",
    also=("to_do", "todo_item"),
    instead={"pending mine": "list", "inbox": "browse_users inbox"},
)

TodoAction = Annotated[
    Literal[
        "assigned",
        "review_requested",
        "mentioned",
        "build_failed",
        "marked",
        "approval_required",
        "unmergeable",
        "directly_addressed",
        "merge_train_removed",
        "member_access_requested",
        "review_submitted",
        "okr_checkin_requested",
        "added_approver",
        "ssh_key_expired",
        "ssh_key_expiring_soon",
        "transfer_failed",
        "duo_pro_access_granted",
        "duo_enterprise_access_granted",
        "duo_core_access_granted",
        "duo_workflow_input_required",
    ],
    SentAs("action"),
]
_Target = Literal[
    "Issue",
    "WorkItem",
    "MergeRequest",
    "Commit",
    "Epic",
    "Vulnerability",
    "DesignManagement::Design",
    "AlertManagement::Alert",
    "Namespace",
    "Project",
    "Key",
    "WikiPage::Meta",
    "User",
    "ComplianceManagement::Projects::ComplianceViolation",
    "Ai::DuoWorkflows::Workflow",
]
Target = Annotated[_Target, any_spelling(*get_args(_Target)), AlsoCalled("target_type", "target")]


@browse.action(
    "list",
    GET("/todos"),
    example={},
    shows="id todo_action=action_name target_type title=target.title body target_url state "
    "author=author.username project=project.path_with_namespace created_at:date",
)
class ListTodos(Paged):
    """List to-dos, pending ones unless state says otherwise."""

    state: Literal["pending", "done"] | None = None
    todo_action: TodoAction | None = None
    # No tier: without a licence there are no to-dos of what is paid, and a Community Edition refuses the value.
    type: Target | None = None
    author_id: UserId | None = None
    project_id: Annotated[PathOrId, NamesPlace("project")] | None = None
    group_id: GroupId | None = None

    async def run(self, gitlab: GitLab) -> Answer:
        # GitLab takes numbers alone here.
        numbers = {
            field: (await gitlab.get(fill(path, place=place))).body["id"]
            for field, place, path in (
                ("project_id", self.project_id, "/projects/{place}"),
                ("group_id", self.group_id, "/groups/{place}"),
            )
            if place is not None and not place.isdecimal()
        }
        return await gitlab.send(self.request(**numbers))

"""Write milestones of a project or a group."""

from __future__ import annotations

from typing import Literal

from pydantic import model_validator

from gitlab_mcp.actions.action import DELETE, POST, PUT, Danger, something_to_change
from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.actions.fields import DateOrEmpty, MilestoneId, Title, broken_rule
from gitlab_mcp.actions.other_names import Instead
from gitlab_mcp.actions.recovery_lookup import RecoveryLookup, new
from gitlab_mcp.actions.result import Result
from gitlab_mcp.actions.scopes import InProject, InProjectOrGroup, OfMilestone
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.actions.undo import FORMER, Undo, between
from gitlab_mcp.workflows.unchanged_since import IfUnchanged

manage = Tool(
    "manage_milestone",
    "Create, change and delete milestones.",
    toolset="planning",
    instead={
        "close": Instead("update", {"state_event": "close"}),
        "reopen activate open": Instead("update", {"state_event": "activate"}),
        "rename": Instead(
            "update", needs=("title",), renames={"name": "title", "new_title": "title", "new_name": "title"}
        ),
    },
)
MILESTONE = "id iid title state start_date due_date web_url"


class MilestoneDates(InProjectOrGroup):
    description: str | None = None
    start_date: DateOrEmpty | None = None
    due_date: DateOrEmpty | None = None

    @model_validator(mode="after")
    def _ends_after_it_starts(self) -> MilestoneDates:
        if self.start_date and self.due_date and self.due_date < self.start_date:
            raise broken_rule("a date that is not before start_date", field="due_date")
        return self


@manage.action(
    "create",
    POST("/projects/{project_id}/milestones", "/groups/{group_id}/milestones"),
    danger=Danger.REVERSIBLE,
    example={
        "project_id": "acme/website",
        "title": "v1.1",
        "due_date": "2026-12-31",
        "start_date": "2026-11-01",
        "description": "Next",
    },
    shows=MILESTONE,
    recover_with=RecoveryLookup("browse_milestones list", "project_id group_id title", proof=new("title")),
    undo=Undo("delete", "project_id group_id", "milestone_id=id"),
)
class CreateMilestone(MilestoneDates):
    """Create a milestone."""

    title: Title


@manage.action(
    "update",
    PUT("/projects/{project_id}/milestones/{milestone_id}", "/groups/{group_id}/milestones/{milestone_id}"),
    danger=Danger.REVERSIBLE,
    example={"project_id": "writes/app", "milestone_id": 6, "state_event": "close"},
    shows=MILESTONE,
    seldom_given="expected_updated_at",
    undo=Undo(
        "update",
        "project_id group_id milestone_id",
        turned={"state_event": between("close", "activate")},
        former=FORMER,
        changed_at="updated_at",
    ),
)
class UpdateMilestone(IfUnchanged, MilestoneDates):
    """Change, close or reopen a milestone."""

    milestone_id: MilestoneId
    title: Title | None = None
    state_event: Literal["close", "activate"] | None = None

    _changes_something = something_to_change("state_event")


@manage.action(
    "delete",
    DELETE(
        "/projects/{project_id}/milestones/{milestone_id}", "/groups/{group_id}/milestones/{milestone_id}"
    ),
    danger=Danger.DESTRUCTIVE,
    example={"project_id": "writes/app", "milestone_id": 9},
)
class DeleteMilestone(OfMilestone):
    """Delete a milestone; what was planned for it stays, without one."""


@manage.action(
    "promote",
    POST("/projects/{project_id}/milestones/{milestone_id}/promote"),
    # It cannot be taken back, and the milestones of the same title in all projects of the group go with it.
    danger=Danger.DESTRUCTIVE,
    example={"project_id": "writes/app", "milestone_id": 7},
    recover_with=RecoveryLookup(
        "browse_milestones get", "project_id milestone_id", because="once promoted it has another number"
    ),
)
class PromoteMilestone(InProject):
    """Make a project's milestone one of its group; those of the same title in other projects are merged in."""

    milestone_id: MilestoneId

    async def run(self, gitlab: GitLab) -> Answer | Result:
        await gitlab.send(self.request())
        # GitLab answers with a bare 200, as a number.
        return Result(data={"promoted": True})

"""Write issues, their links and their time tracking."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from gitlab_mcp.actions.action import DELETE, POST, PUT, Danger, Role, fill, something_to_change
from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.actions.fields import (
    Anywhere,
    Date,
    DateOrEmpty,
    Flag,
    Id,
    Integer,
    IssueIid,
    Labels,
    MilestoneOrZero,
    Needs,
    NoLongerConfidential,
    Only,
    ProjectId,
    ProjectNumber,
    Title,
    UserIds,
    Within,
    broken_rule,
)
from gitlab_mcp.actions.other_names import Instead
from gitlab_mcp.actions.quick_actions import DescriptionText
from gitlab_mcp.actions.recovery_lookup import LostWrite, RecoveryLookup, made
from gitlab_mcp.actions.scopes import InProject, OfIssue
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.workflows.unchanged_since import IfUnchanged

manage = Tool(
    "manage_issue",
    "Create and change issues and their links.",
    instead={
        "close": Instead("update", {"state_event": "close"}),
        "reopen open_again": Instead("update", {"state_event": "reopen"}),
        "assign": Instead("update", needs=("assignee_ids",)),
        "unassign": Instead(
            "update",
            {"assignee_ids": []},
            advice="Use action update: assignee_ids=[] removes all, a shorter list keeps the others.",
        ),
        "add_assignee add_assignees": Instead(
            "update",
            needs=("assignee_ids",),
            advice="Use action update with "
            "assignee_ids: it replaces the assignees, so name everybody who shall be one.",
        ),
        "label tag": Instead(
            "update", needs=("add_labels",), renames={"label": "add_labels", "labels": "add_labels"}
        ),
        "unlabel untag": Instead(
            "update", needs=("remove_labels",), renames={"label": "remove_labels", "labels": "remove_labels"}
        ),
        "lock": Instead("update", {"discussion_locked": True}),
        "unlock": Instead("update", {"discussion_locked": False}),
        "make_confidential": Instead("update", {"confidential": True}),
        "rename": Instead(
            "update", needs=("title",), renames={"name": "title", "new_title": "title", "new_name": "title"}
        ),
        "comment add_comment create_comment post_comment note add_note create_note": Instead(
            "manage_discussion create_note", needs=("body",)
        ),
        "reply": Instead("manage_discussion reply", needs=("discussion_id",)),
        "link relate link_issue create_link": "add_link",
        "unlink remove_link": "delete_link",
        "copy": "clone",
        "transfer": "move",
        "spend spend_time log_time add_time track_time": "manage_time_tracking add_spent_time",
        "estimate set_estimate": "manage_time_tracking set_time_estimate",
        "todo add_todo": "manage_subscription create_todo",
        "follow watch": "manage_subscription subscribe",
        "unfollow unwatch mute": "manage_subscription unsubscribe",
        "promote": Instead(
            "",
            advice="Promoting an issue is not offered yet. manage_epic create makes an epic.",
        ),
    },
)

CREATED = "id iid title state web_url"
UPDATED = "id iid state title labels assignees milestone due_date confidential web_url"

IssueType = Annotated[
    Literal["issue", "incident", "test_case", "requirement", "task", "ticket"], Needs("requirements")
]
LinkType = Annotated[Literal["relates_to", "blocks", "is_blocked_by"], Needs("issue_links_blocking")]
Weight = Annotated[Annotated[Integer, Field(ge=0, le=2**31 - 1)], Needs("issue_weight")]
Assignees = Annotated[UserIds, Needs("multiple_issue_assignees")]
EpicId = Annotated[Id, Needs("issue_epic_param"), Anywhere("epic")]


@manage.action(
    "create",
    POST("/projects/{project_id}/issues"),
    danger=Danger.REVERSIBLE,
    example={
        "project_id": "acme/website",
        "title": "Add dark mode",
        "description": "Please.",
        "labels": ["feature"],
    },
    shows=CREATED,
    recover_with=RecoveryLookup(
        "browse_issues list", "project_id", {"scope": "created_by_me"}, proof=made("title")
    ),
    seldom_given="start_date epic_id issue_type weight due_date",
)
class CreateIssue(InProject):
    """Open an issue."""

    title: Title
    description: DescriptionText | None = None
    labels: Labels | None = None
    assignee_ids: Assignees | None = None
    milestone_id: MilestoneOrZero | None = None
    start_date: Annotated[Date, Only(since="19.3")] | None = None
    due_date: Date | None = None
    confidential: Flag | None = None
    issue_type: IssueType | None = None
    weight: Weight | None = None
    epic_id: EpicId | None = None


@manage.action(
    "update",
    PUT("/projects/{project_id}/issues/{issue_iid}"),
    danger=Danger.REVERSIBLE,
    example={"project_id": "acme/website", "issue_iid": 4, "state_event": "close"},
    shows=UPDATED,
    not_taken=dict.fromkeys(
        ("add_assignees", "add_assignee_ids"),
        "assignee_ids replaces the assignees: send everybody who shall be one",
    ),
    seldom_given="start_date epic_id issue_type discussion_locked weight due_date expected_updated_at",
)
class UpdateIssue(IfUnchanged, OfIssue):
    """Change, close or reopen an issue."""

    state_event: Literal["close", "reopen"] | None = None
    title: Title | None = None
    description: DescriptionText | None = None
    labels: Labels | None = None
    add_labels: Labels | None = None
    remove_labels: Labels | None = None
    assignee_ids: Assignees | None = None
    milestone_id: MilestoneOrZero | None = None
    start_date: Annotated[DateOrEmpty, Only(since="19.3")] | None = None
    due_date: DateOrEmpty | None = None
    confidential: NoLongerConfidential | None = None
    discussion_locked: Flag | None = None
    issue_type: IssueType | None = None
    weight: Weight | None = None
    epic_id: EpicId | None = None

    _changes_something = something_to_change("state_event")

    async def run(self, gitlab: GitLab) -> Answer:
        # GitLab takes [0], not [], for nobody.
        nobody = {"assignee_ids": [0]} if self.assignee_ids == [] else {}
        return await gitlab.send(self.request(**nobody))


@manage.action(
    "delete",
    DELETE("/projects/{project_id}/issues/{issue_iid}"),
    danger=Danger.DESTRUCTIVE,
    example={"project_id": "writes/app", "issue_iid": 5},
    role=Role.OWNER,
)
class DeleteIssue(OfIssue):
    """Delete an issue for good; closing keeps it."""


class ToOtherProject(OfIssue):
    to_project_id: ProjectId

    async def run(self, gitlab: GitLab) -> Answer:
        # GitLab takes only a number here.
        target = self.to_project_id
        if not target.isdigit():
            target = (await gitlab.get(fill("/projects/{target}", target=target))).body["id"]
        return await gitlab.send(self.request(to_project_id=int(target)))


@manage.action(
    "move",
    POST("/projects/{project_id}/issues/{issue_iid}/move"),
    danger=Danger.REVERSIBLE,
    example={"project_id": "writes/app", "issue_iid": 4, "to_project_id": "24"},
    shows="id iid project_id web_url",
    role=Role.REPORTER,
    recover_with=RecoveryLookup(
        "browse_issues get",
        "project_id issue_iid",
        proof=lambda _, found: found.get("moved_to_id") is not None,
        answer=lambda found: {"id": found["moved_to_id"]},
    ),
)
class MoveIssue(ToOtherProject):
    """Move an issue to another project; the old one stays behind, closed."""


@manage.action(
    "clone",
    POST("/projects/{project_id}/issues/{issue_iid}/clone"),
    danger=Danger.REVERSIBLE,
    example={"project_id": "writes/app", "issue_iid": 3, "to_project_id": "24", "with_notes": True},
    shows="id iid project_id web_url",
    recover_with=RecoveryLookup(
        "browse_issues list",
        "project_id=to_project_id",
        {"scope": "created_by_me"},
        because="a copy does not say of what",
    ),
    seldom_given="with_notes",
)
class CloneIssue(ToOtherProject):
    """Copy an issue to the same or another project."""

    with_notes: Flag | None = None


@manage.action(
    "reorder",
    PUT("/projects/{project_id}/issues/{issue_iid}/reorder"),
    danger=Danger.REVERSIBLE,
    example={"project_id": "writes/app", "issue_iid": 2, "move_after_id": 103},
    seldom_given="move_after_id move_before_id",
)
class ReorderIssue(OfIssue):
    """Put an issue before or after another in manually sorted lists."""

    move_after_id: Annotated[Id, Within()] | None = None
    move_before_id: Annotated[Id, Within()] | None = None

    @model_validator(mode="after")
    def _has_a_neighbour(self) -> ReorderIssue:
        if self.move_after_id is None and self.move_before_id is None:
            raise broken_rule(
                "the id of the issue to stand behind (or move_before_id)", field="move_after_id"
            )
        return self


def _links_to(write: LostWrite, found: Mapping[str, Any]) -> bool:
    project = str(write.sent["target_project_id"])
    there = (str(found["project_id"]), found["references"]["full"].rpartition("#")[0])
    return found["iid"] == write.sent["target_issue_iid"] and project in there


@manage.action(
    "add_link",
    POST("/projects/{project_id}/issues/{issue_iid}/links"),
    danger=Danger.REVERSIBLE,
    example={"project_id": "acme/website", "issue_iid": 1, "target_project_id": 1, "target_issue_iid": 2},
    shows="link_type target=target_issue.web_url",
    role=Role.GUEST,
    recover_with=RecoveryLookup(
        "browse_issues links",
        "project_id issue_iid",
        proof=_links_to,
        answer=lambda found: {"link_type": found["link_type"], "target_issue": found},
    ),
    not_taken=dict.fromkeys(
        ("merge_request_iid", "target_merge_request_iid", "mr_iid", "epic_iid", "epic_id"),
        "issue links link issues: send target_issue_iid; a merge request is linked by naming the issue in its "
        "description (manage_merge_request update), an epic by manage_epic add_issue",
    ),
    seldom_given="target_project_id",
)
class AddLink(OfIssue):
    """Link an issue to another one, of the same project unless told otherwise."""

    target_issue_iid: IssueIid
    target_project_id: ProjectNumber | None = None
    link_type: LinkType | None = None

    async def run(self, gitlab: GitLab) -> Answer:
        return await gitlab.send(self.request(target_project_id=self.target_project_id or self.project_id))


@manage.action(
    "delete_link",
    DELETE("/projects/{project_id}/issues/{issue_iid}/links/{issue_link_id}"),
    danger=Danger.REVERSIBLE,
    example={"project_id": "writes/app", "issue_iid": 1, "issue_link_id": 4},
    shows="link_type target=target_issue.web_url",
    role=Role.GUEST,
    recover_with=RecoveryLookup("browse_issues links", "project_id issue_iid"),
)
class DeleteLink(OfIssue):
    """Remove the link between two issues; both stay."""

    issue_link_id: Id

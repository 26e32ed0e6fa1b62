"""Write epics, their issues, child epics, links and notes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from gitlab_mcp.actions.action import DELETE, POST, PUT, Danger, Role, something_to_change
from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.actions.fields import (
    Anywhere,
    DateOrEmpty,
    Flag,
    GroupId,
    Id,
    Iid,
    Labels,
    Needs,
    NoLongerConfidential,
    Title,
)
from gitlab_mcp.actions.other_names import Instead
from gitlab_mcp.actions.quick_actions import CommentText, DescriptionText
from gitlab_mcp.actions.recovery_lookup import LostWrite, RecoveryLookup, made, said
from gitlab_mcp.actions.scopes import InGroup, OfEpic
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.actions.undo import CLOSED_AND_REOPENED, FORMER, Undo
from gitlab_mcp.workflows.unchanged_since import IfUnchanged

manage = Tool(
    "manage_epic",
    "Create and change epics and what belongs to them (Premium).",
    toolset="planning",
    instead={
        "close": Instead("update", {"state_event": "close"}),
        "reopen": Instead("update", {"state_event": "reopen"}),
        "comment add_comment note add_note": "create_note",
        "link": "add_link",
        "unlink": "delete_link",
    },
)

ParentId = Annotated[Id, Needs("subepics"), Anywhere("epic")]


class EpicDates(InGroup):
    """GitLab ignores a fixed date unless it is also told that the date is fixed."""

    start_date_fixed: DateOrEmpty | None = None
    due_date_fixed: DateOrEmpty | None = None

    async def run(self, gitlab: GitLab) -> Answer:
        return await gitlab.send(self.request(**self.fixed()))

    def fixed(self) -> dict[str, Any]:
        dates = {"start_date_is_fixed": self.start_date_fixed, "due_date_is_fixed": self.due_date_fixed}
        return {name: bool(date) for name, date in dates.items() if date is not None}


@manage.action(
    "create",
    POST("/groups/{group_id}/epics"),
    danger=Danger.REVERSIBLE,
    example={"group_id": "tiers-a", "title": "E"},
    shows="id iid web_url",
    role=Role.REPORTER,
    recover_with=RecoveryLookup("browse_epics list", "group_id", proof=made("title")),
)
class CreateEpic(EpicDates):
    """Open an epic."""

    title: Title
    description: DescriptionText | None = None
    labels: Labels | None = None
    confidential: Flag | None = None
    parent_id: ParentId | None = None


@manage.action(
    "update",
    PUT("/groups/{group_id}/epics/{epic_iid}"),
    danger=Danger.REVERSIBLE,
    example={"group_id": "tiers-a", "epic_iid": 1, "title": "E2"},
    shows="id iid state title labels start_date due_date parent_id web_url",
    role=Role.REPORTER,
    seldom_given="expected_updated_at",
    undo=Undo(
        "update",
        "group_id epic_iid",
        turned=CLOSED_AND_REOPENED,
        former=FORMER,
        changed_at="updated_at",
    ),
)
class UpdateEpic(IfUnchanged, EpicDates):
    """Change, close or reopen an epic."""

    epic_iid: Iid
    state_event: Literal["close", "reopen"] | None = None
    title: Title | None = None
    description: DescriptionText | None = None
    labels: Labels | None = None
    add_labels: Labels | None = None
    remove_labels: Labels | None = None
    confidential: NoLongerConfidential | None = None
    parent_id: ParentId | None = None

    _changes_something = something_to_change("state_event")


@manage.action(
    "delete",
    DELETE("/groups/{group_id}/epics/{epic_iid}"),
    danger=Danger.DESTRUCTIVE,
    example={"group_id": "tiers-a", "epic_iid": 1},
    role=Role.OWNER,
)
class DeleteEpic(OfEpic):
    """Delete an epic for good; its issues stay."""


@manage.action(
    "add_issue",
    POST("/groups/{group_id}/epics/{epic_iid}/issues/{issue_id}"),
    danger=Danger.REVERSIBLE,
    example={"group_id": "tiers-a", "epic_iid": 1, "issue_id": 1},
    shows="epic_issue_id=id epic=epic.iid issue=issue.iid",
    role=Role.REPORTER,
    recover_with=RecoveryLookup(
        "browse_epics issues",
        "group_id epic_iid",
        proof=lambda write, found: found["id"] == write.action.issue_id,
        answer=lambda found: {"id": found["epic_issue_id"], "issue": found},
    ),
)
class AddIssue(OfEpic):
    """Put an issue under an epic; it leaves the epic it was in."""

    issue_id: Annotated[Id, Anywhere("issue")]


@manage.action(
    "remove_issue",
    DELETE("/groups/{group_id}/epics/{epic_iid}/issues/{epic_issue_id}"),
    danger=Danger.REVERSIBLE,
    example={"group_id": "tiers-a", "epic_iid": 1, "epic_issue_id": 1},
    shows="epic_issue_id=id epic=epic.iid issue=issue.iid",
    role=Role.REPORTER,
    recover_with=RecoveryLookup("browse_epics issues", "group_id epic_iid"),
    undo=Undo("add_issue", "group_id epic_iid", "issue_id=issue.id"),
)
class RemoveIssue(OfEpic):
    """Take an issue out of an epic; both stay."""

    epic_issue_id: Id


@manage.action(
    "add_child",
    POST("/groups/{group_id}/epics/{epic_iid}/epics/{child_epic_id}"),
    danger=Danger.REVERSIBLE,
    example={"group_id": "tiers-a", "epic_iid": 1, "child_epic_id": 2},
    shows="id iid title web_url",
    role=Role.REPORTER,
    recover_with=RecoveryLookup(
        "browse_epics children",
        "group_id epic_iid",
        proof=lambda write, found: found["id"] == write.action.child_epic_id,
    ),
)
class AddChild(OfEpic):
    """Put an epic below another."""

    child_epic_id: Annotated[Id, Anywhere("epic")]


@manage.action(
    "remove_child",
    DELETE("/groups/{group_id}/epics/{epic_iid}/epics/{child_epic_id}"),
    danger=Danger.REVERSIBLE,
    example={"group_id": "tiers-a", "epic_iid": 1, "child_epic_id": 2},
    shows="id iid title web_url",
    role=Role.REPORTER,
    recover_with=RecoveryLookup("browse_epics children", "group_id epic_iid"),
)
class RemoveChild(OfEpic):
    """Take an epic out from below another; both stay."""

    child_epic_id: Annotated[Id, Anywhere("epic")]


def _links_to(write: LostWrite, found: Mapping[str, Any]) -> bool:
    there = (str(found["group_id"]), found["references"]["full"].rpartition("&")[0])
    return found["iid"] == write.action.target_epic_iid and write.action.target_group_id in there


@manage.action(
    "add_link",
    POST("/groups/{group_id}/epics/{epic_iid}/related_epics"),
    danger=Danger.REVERSIBLE,
    example={"group_id": "tiers-a", "epic_iid": 1, "target_group_id": "tiers-a", "target_epic_iid": 2},
    shows="id link_type target=target_epic.web_url",
    role=Role.REPORTER,
    recover_with=RecoveryLookup(
        "browse_epics related",
        "group_id epic_iid",
        proof=_links_to,
        answer=lambda found: {"id": found["related_epic_link_id"], "target_epic": found},
    ),
    undo=Undo("delete_link", "group_id epic_iid", "related_epic_link_id=id"),
)
class AddLink(OfEpic):
    """Link an epic to another one."""

    target_group_id: GroupId
    target_epic_iid: Iid
    link_type: Literal["relates_to", "blocks", "is_blocked_by"] | None = None


@manage.action(
    "delete_link",
    DELETE("/groups/{group_id}/epics/{epic_iid}/related_epics/{related_epic_link_id}"),
    danger=Danger.REVERSIBLE,
    example={"group_id": "tiers-a", "epic_iid": 1, "related_epic_link_id": 1},
    shows="id link_type target=target_epic.web_url",
    role=Role.REPORTER,
    recover_with=RecoveryLookup("browse_epics related", "group_id epic_iid"),
)
class DeleteLink(OfEpic):
    """Remove the link between two epics; both stay."""

    related_epic_link_id: Id


@manage.action(
    "create_note",
    POST("/groups/{group_id}/epics/{epic_id}/notes"),
    danger=Danger.REVERSIBLE,
    example={"group_id": "tiers-a", "epic_id": 1, "body": "hi"},
    shows="id summary",
    role=Role.GUEST,
    recover_with=RecoveryLookup("browse_epics notes", "group_id epic_id", proof=said("body")),
)
class CreateNote(InGroup):
    """Comment on an epic."""

    epic_id: Id
    body: CommentText
    internal: Flag | None = None


@manage.action(
    "create_todo",
    POST("/groups/{group_id}/epics/{epic_iid}/todo"),
    danger=Danger.REVERSIBLE,
    example={"group_id": "tiers-a", "epic_iid": 1},
    shows="id state target_url",
    role=Role.GUEST,
    repeatable=True,
    undo=Undo("manage_todo mark_done", "", "todo_id=id"),
)
class CreateTodo(OfEpic):
    """Put an epic on your own to-do list."""

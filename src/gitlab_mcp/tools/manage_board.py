"""Write issue boards and their lists."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from gitlab_mcp.actions.action import DELETE, POST, PUT, Danger, fill, something_to_change
from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.actions.fields import (
    Flag,
    GroupId,
    Id,
    Integer,
    LabelId,
    Labels,
    MilestoneId,
    Needs,
    NonEmpty,
    UserId,
    Within,
    broken_rule,
)
from gitlab_mcp.actions.other_names import Instead
from gitlab_mcp.actions.recovery_lookup import LostWrite, RecoveryLookup
from gitlab_mcp.actions.scopes import InProjectOrGroup
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.actions.undo import Undo

manage = Tool(
    "manage_board",
    "Set up issue boards and their lists.",
    toolset="planning",
    also=("issue_board", "kanban", "kanban_board", "sprint_board", "team_board", "scrum_board"),
    instead={
        "rename": Instead("update", needs=("name",)),
        "add_list create_column add_column": "create_list",
        "reorder_list reorder update_list move_column": "move_list",
        "remove_list delete_column": "delete_list",
        "move_issue move_card": Instead(
            "",
            advice="An issue is on the list of its labels: manage_issue update with add_labels and remove_labels.",
        ),
    },
)

BOARD = "id name"
LIST = (
    "id position label=label.name assignee=assignee.username milestone=milestone.title iteration=iteration.id"
)
ONE = ("/projects/{project_id}/boards/{board_id}", "/groups/{group_id}/boards/{board_id}")
LISTS = tuple(f"{each}/lists" for each in ONE)
ONE_LIST = tuple(f"{each}/{{list_id}}" for each in LISTS)
FIND = RecoveryLookup("browse_boards lists", "project_id group_id board_id")

KINDS = ("label_id", "assignee_id", "milestone_id", "iteration_id")


def _is_for_the_same(write: LostWrite, found: Mapping[str, Any]) -> bool:
    """A board has one list for a label, a person, a milestone or an iteration."""
    (kind,) = (name for name in KINDS if name in write.sent)
    about = found.get(kind.removesuffix("_id"))
    return isinstance(about, Mapping) and about.get("id") == write.sent[kind]


class WithSeveralBoards(InProjectOrGroup):
    group_id: Annotated[GroupId, Needs("multiple_group_boards")] | None = None


class OfBoard(InProjectOrGroup):
    board_id: Annotated[Id, Within()]


class OfBoardList(OfBoard):
    list_id: Annotated[Id, Within()]


@manage.action(
    "create",
    POST("/projects/{project_id}/boards", "/groups/{group_id}/boards"),
    danger=Danger.REVERSIBLE,
    example={"project_id": "writes/app", "name": "Team"},
    shows=BOARD,
    recover_with=RecoveryLookup(
        "browse_boards list", "project_id group_id", because="boards have no date, and may share a name"
    ),
    undo=Undo("delete", "project_id group_id", "board_id=id"),
)
class CreateBoard(WithSeveralBoards):
    """Create a board."""

    name: NonEmpty


@manage.action(
    "update",
    PUT(*ONE),
    danger=Danger.REVERSIBLE,
    example={
        "project_id": "writes/app",
        "board_id": 6,
        "name": "Team board",
        "hide_backlog_list": True,
        "hide_closed_list": False,
    },
    shows=BOARD,
)
class UpdateBoard(OfBoard):
    """Rename a board, hide its lists Open and Closed, or narrow what it shows."""

    name: NonEmpty | None = None
    hide_backlog_list: Flag | None = None
    hide_closed_list: Flag | None = None
    milestone_id: Annotated[MilestoneId, Needs("board_scope")] | None = None
    assignee_id: Annotated[UserId, Needs("board_scope")] | None = None
    labels: Annotated[Labels, Needs("board_scope")] | None = None
    weight: Annotated[Integer, Field(ge=0), Needs("board_scope")] | None = None

    _changes_something = something_to_change("name")


@manage.action(
    "delete",
    DELETE(*ONE),
    danger=Danger.DESTRUCTIVE,
    example={"project_id": "writes/app", "board_id": 7},
)
class DeleteBoard(WithSeveralBoards):
    """Delete a board with its lists; the issues stay."""

    board_id: Annotated[Id, Within()]


@manage.action(
    "create_list",
    POST(*LISTS),
    danger=Danger.REVERSIBLE,
    example={"project_id": "writes/app", "board_id": 6, "label_id": "15"},
    shows=LIST,
    recover_with=RecoveryLookup(
        "browse_boards lists", "project_id group_id board_id", proof=_is_for_the_same, every_page=True
    ),
    undo=Undo("delete_list", "project_id group_id board_id", "list_id=id"),
)
class CreateList(OfBoard):
    """Add a list for a label, or (Premium) for a person, a milestone or an iteration."""

    label_id: LabelId | None = None
    assignee_id: Annotated[UserId, Needs("board_list_types")] | None = None
    milestone_id: Annotated[MilestoneId, Needs("board_list_types")] | None = None
    iteration_id: Annotated[Id, Within(), Needs("board_list_types")] | None = None

    @model_validator(mode="after")
    def _about_one_thing(self) -> Self:
        if sum(getattr(self, name) is not None for name in KINDS) != 1:
            raise broken_rule(
                "given, or one of assignee_id, milestone_id, iteration_id; only one of them", field="label_id"
            )
        return self

    async def run(self, gitlab: GitLab) -> Answer:
        return await gitlab.send(self.request(**await self._label_by_number(gitlab)))

    async def _label_by_number(self, gitlab: GitLab) -> dict[str, int]:
        """GitLab takes a label by its name everywhere but here."""
        if self.label_id is None:
            return {}
        if self.label_id.isdecimal():
            return {"label_id": int(self.label_id)}
        path = (
            "/projects/{project_id}/labels/{label_id}"
            if self.project_id
            else "/groups/{group_id}/labels/{label_id}"
        )
        return {"label_id": (await gitlab.get(fill(path, **self.given()))).body["id"]}


@manage.action(
    "move_list",
    PUT(*ONE_LIST),
    danger=Danger.REVERSIBLE,
    example={"project_id": "writes/app", "board_id": 6, "list_id": 15, "position": 0},
    shows=LIST,
    recover_with=FIND,
)
class MoveList(OfBoardList):
    """Put a list at a place; 0 is the first after Open."""

    position: Annotated[Integer, Field(ge=0)]


@manage.action(
    "delete_list",
    DELETE(*ONE_LIST),
    danger=Danger.REVERSIBLE,
    example={"project_id": "writes/app", "board_id": 6, "list_id": 15},
    recover_with=FIND,
)
class DeleteList(OfBoardList):
    """Take a list off a board; its issues and its label stay."""

"""Issue boards of a project or group, their lists, and what is on them."""

from __future__ import annotations

from typing import Annotated

from gitlab_mcp.actions.action import GET, fill
from gitlab_mcp.actions.exchange import GitLab
from gitlab_mcp.actions.fields import Id, Within
from gitlab_mcp.actions.other_names import Instead
from gitlab_mcp.actions.result import Result
from gitlab_mcp.actions.scopes import InProjectOrGroup, Paged
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.workflows.planning.board_issues import board_issues

browse = Tool(
    "browse_boards",
    "Read issue boards: their lists, and the open issues on them.",
    toolset="planning",
    also=("issue_board", "kanban", "kanban_board", "sprint_board", "team_board", "scrum_board"),
    instead={
        "columns list_columns": Instead("lists", needs=("board_id",)),
        "content contents overview cards show": Instead("issues", needs=("board_id",)),
        "epic_boards": Instead("browse_epics boards", needs=("group_id",)),
    },
)

LIST = (
    "id position label=label.name assignee=assignee.username milestone=milestone.title iteration=iteration.id"
)
BOARD = (
    "id name hide_backlog_list:mark hide_closed_list:mark project=project.path_with_namespace group=group.name"
    " milestone=milestone.title assignee=assignee.username labels=labels.name weight"
    " lists(id position label=label.name assignee=assignee.username milestone=milestone.title)"
)


class OfBoard(InProjectOrGroup):
    board_id: Annotated[Id, Within()]


@browse.action(
    "list",
    GET("/projects/{project_id}/boards", "/groups/{group_id}/boards"),
    example={"project_id": "acme/website"},
    shows=BOARD,
)
class ListBoards(InProjectOrGroup, Paged):
    """List issue boards with their lists."""


@browse.action(
    "get",
    GET("/projects/{project_id}/boards/{board_id}", "/groups/{group_id}/boards/{board_id}"),
    example={"project_id": "acme/website", "board_id": 1},
    shows=BOARD,
)
class GetBoard(OfBoard):
    """Read one board with its lists."""


@browse.action(
    "issues",
    GET("/projects/{project_id}/boards/{board_id}/lists", "/groups/{group_id}/boards/{board_id}/lists"),
    example={"project_id": "acme/website", "board_id": 1},
    lists=False,
)
class BoardIssues(OfBoard):
    """Say what is on a board: each list with its open issues."""

    async def run(self, gitlab: GitLab) -> Result:
        place = (
            fill("/projects/{id}", id=self.project_id)
            if self.project_id is not None
            else fill("/groups/{id}", id=self.group_id)
        )
        return await board_issues(gitlab, place, self.board_id)


@browse.action(
    "lists",
    GET("/projects/{project_id}/boards/{board_id}/lists", "/groups/{group_id}/boards/{board_id}/lists"),
    example={"project_id": "acme/website", "board_id": 1},
    shows=LIST,
)
class BoardLists(OfBoard, Paged):
    """List the lists of a board; Open and Closed are not among them."""


@browse.action(
    "get_list",
    GET(
        "/projects/{project_id}/boards/{board_id}/lists/{list_id}",
        "/groups/{group_id}/boards/{board_id}/lists/{list_id}",
    ),
    example={"project_id": "acme/website", "board_id": 1, "list_id": 3},
    shows=LIST,
)
class GetBoardList(OfBoard):
    """Read one list of a board."""

    list_id: Annotated[Id, Within()]

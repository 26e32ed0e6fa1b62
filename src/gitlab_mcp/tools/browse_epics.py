"""Epics of a group with their issues, child epics, links and notes; epic boards."""

from __future__ import annotations

from typing import Annotated, Literal

from gitlab_mcp.actions.action import GET, Role
from gitlab_mcp.actions.fields import (
    Flag,
    Id,
    Labels,
    Page,
    Search,
    SentAs,
    Sort,
    Time,
    Username,
)
from gitlab_mcp.actions.scopes import InGroup, OfEpic, Paged
from gitlab_mcp.actions.tool import Tool

browse = Tool("browse_epics", "Read the epics and epic boards of a group (Premium).", toolset="planning")

EPIC = (
    "iid title state labels start_date due_date web_url"
    " | id description author parent_iid parent_id confidential color created_at updated_at closed_at"
)
NOTE = "id author body created_at system"
BOARD = "id name labels=labels.name hide_backlog_list hide_closed_list | lists(id list_type position label)"
LIST = "id list_type position label=label.name collapsed"


class OfBoard(InGroup):
    board_id: Id


@browse.action(
    "list",
    GET("/groups/{group_id}/epics"),
    example={"group_id": "tiers-a"},
    shows=EPIC,
    role=Role.GUEST,
)
class ListEpics(InGroup, Paged):
    """List the epics of a group and of the groups below it."""

    state: Literal["opened", "closed", "all"] | None = None
    search: Search | None = None
    labels: Labels | None = None
    author_username: Username | None = None
    not_labels: Annotated[Labels, SentAs("not[labels]")] | None = None
    not_author_username: Annotated[Username, SentAs("not[author_username]")] | None = None
    confidential: Flag | None = None
    created_after: Time | None = None
    created_before: Time | None = None
    updated_after: Time | None = None
    updated_before: Time | None = None
    include_ancestor_groups: Flag | None = None
    include_descendant_groups: Flag | None = None
    order_by: Literal["created_at", "updated_at", "title"] | None = None
    sort: Sort | None = None


@browse.action(
    "get",
    GET("/groups/{group_id}/epics/{epic_iid}"),
    example={"group_id": "tiers-a", "epic_iid": 1},
    shows=EPIC,
    role=Role.GUEST,
)
class GetEpic(OfEpic):
    """Read one epic."""


@browse.action(
    "issues",
    GET("/groups/{group_id}/epics/{epic_iid}/issues"),
    example={"group_id": "tiers-a", "epic_iid": 1},
    shows="epic_issue_id id issue=references.full title state assignees labels",
    role=Role.GUEST,
)
class EpicIssues(OfEpic):
    """List the issues of an epic."""

    page: Page | None = None


@browse.action(
    "children",
    GET("/groups/{group_id}/epics/{epic_iid}/epics"),
    example={"group_id": "tiers-a", "epic_iid": 1},
    shows="id iid title state labels web_url",
    role=Role.GUEST,
    lists=True,
)
class ChildEpics(OfEpic):
    """List the epics below an epic."""


@browse.action(
    "related",
    GET("/groups/{group_id}/epics/{epic_iid}/related_epics"),
    example={"group_id": "tiers-a", "epic_iid": 1},
    shows="related_epic_link_id link_type id iid title state web_url",
    role=Role.GUEST,
    lists=True,
)
class RelatedEpics(OfEpic):
    """List the epics an epic is linked to."""


@browse.action(
    "notes",
    GET("/groups/{group_id}/epics/{epic_id}/notes"),
    example={"group_id": "tiers-a", "epic_id": 1},
    shows=NOTE,
    role=Role.GUEST,
)
class EpicNotes(InGroup, Paged):
    """List the comments on an epic."""

    epic_id: Id
    activity_filter: Literal["all_notes", "only_comments", "only_activity"] | None = None
    order_by: Literal["created_at", "updated_at"] | None = None
    sort: Sort | None = None


@browse.action(
    "boards",
    GET("/groups/{group_id}/epic_boards"),
    example={"group_id": "tiers-a"},
    shows=BOARD,
    role=Role.GUEST,
)
class ListBoards(InGroup):
    """List the epic boards of a group."""

    page: Page | None = None


@browse.action(
    "board",
    GET("/groups/{group_id}/epic_boards/{board_id}"),
    example={"group_id": "tiers-a", "board_id": 1},
    shows=BOARD,
    role=Role.GUEST,
)
class GetBoard(OfBoard):
    """Read one board with its lists."""


@browse.action(
    "board_lists",
    GET("/groups/{group_id}/epic_boards/{board_id}/lists"),
    example={"group_id": "tiers-a", "board_id": 1},
    shows=LIST,
    role=Role.GUEST,
)
class BoardLists(OfBoard):
    """List the columns of a board."""

    page: Page | None = None


@browse.action(
    "board_list",
    GET("/groups/{group_id}/epic_boards/{board_id}/lists/{list_id}"),
    example={"group_id": "tiers-a", "board_id": 1, "list_id": 1},
    shows=LIST,
    role=Role.GUEST,
)
class BoardList(OfBoard):
    """Read one column of a board."""

    list_id: Id

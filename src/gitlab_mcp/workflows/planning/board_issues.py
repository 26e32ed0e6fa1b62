"""What is on an issue board: the open issues of each of its lists."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.actions.result import Omission, Result, partial_read_notices
from gitlab_mcp.gitlab.concurrently import all_at_once, concurrently
from gitlab_mcp.gitlab.paging import every_page, how_many
from gitlab_mcp.results.shown_fields import pick_fields, shown_fields

_ISSUE: Final = shown_fields("iid title project=references.full assignees=assignees.username due_date")
_MOST_SHOWN: Final = 20


async def board_issues(gitlab: GitLab, place: str, board_id: int) -> Result:
    """`place` is the path of a project or group."""
    path = f"{place}/boards/{board_id}"
    asks: list[Callable[[], Awaitable[Answer]]] = [
        partial(gitlab.get, path),
        partial(every_page, gitlab, f"{path}/lists"),
    ]
    board, lists = (answer.body for answer in await all_at_once(asks))
    asked = [(each, _filter(each)) for each in sorted(lists, key=lambda each: each.get("position") or 0)]
    readable = [(each, filter) for each, filter in asked if filter]
    of_board = _scope(board)
    answers = await concurrently(
        [partial(_issues, gitlab, place, _joined(of_board, filter)) for _, filter in readable]
    )
    shown, unread, left_out = [], [], []
    for (each, filter), answer in zip(readable, answers, strict=True):
        if not isinstance(answer, Answer):
            unread.append(f"list {each['id']}")
            continue
        shown.append(entry := _list(each, answer))
        missing = entry["open_issues"] - len(entry["issues"])
        if missing > 0:
            how = f"browse_issues list with {' and '.join(filter)} of the list"
            left_out.append(Omission(f"issues of list {each['id']}", missing, how))
    return Result(
        data={"id": board["id"], "name": board["name"], "lists": shown},
        warnings=partial_read_notices(unread),
        truncated=left_out,
    )


def _filter(board_list: Mapping[str, Any]) -> dict[str, Any]:
    """What the issues of the list have in common; nothing for a list of a kind that is not known."""
    match board_list:
        case {"label": {"name": str(name)}}:
            return {"labels": name}
        case {"assignee": {"username": str(name)}}:
            return {"assignee_username": name}
        case {"milestone": {"title": str(title)}}:
            return {"milestone": title}
        case {"iteration": {"id": int(number)}}:
            return {"iteration_id": number}
    return {}


def _scope(board: Mapping[str, Any]) -> dict[str, Any]:
    """What a board with a scope (Premium) shows only."""
    labels = [each["name"] for each in board.get("labels") or ()]
    scope: dict[str, Any] = {"labels": ",".join(labels)} if labels else {}
    if isinstance(board.get("milestone"), Mapping) and board["milestone"].get("title"):
        scope["milestone"] = board["milestone"]["title"]
    if isinstance(board.get("assignee"), Mapping):
        scope["assignee_username"] = board["assignee"]["username"]
    if isinstance(board.get("weight"), int):
        scope["weight"] = board["weight"]
    return scope


def _joined(scope: Mapping[str, Any], filter: Mapping[str, Any]) -> dict[str, Any]:
    labels = [part["labels"] for part in (scope, filter) if "labels" in part]
    return {**scope, **filter, **({"labels": ",".join(labels)} if labels else {})}


async def _issues(gitlab: GitLab, place: str, filter: Mapping[str, Any]) -> Answer:
    return await gitlab.get(f"{place}/issues", state="opened", per_page=_MOST_SHOWN, **filter)


def _list(board_list: Mapping[str, Any], answer: Answer) -> dict[str, Any]:
    issues: Sequence[Mapping[str, Any]] = answer.body
    named = _filter(board_list)
    return {
        "id": board_list["id"],
        "position": board_list.get("position"),
        **named,
        "open_issues": how_many(answer),
        "issues": [pick_fields(each, _ISSUE.in_a_list) for each in issues],
    }

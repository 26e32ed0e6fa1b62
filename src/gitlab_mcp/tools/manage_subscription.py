"""Follow issues and merge requests, and put them on the own to-do list."""

from __future__ import annotations

from gitlab_mcp.actions.action import POST, Danger, Endpoints
from gitlab_mcp.actions.scopes import OfIssueOrMergeRequest
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.actions.undo import Undo

manage = Tool(
    "manage_subscription",
    "Follow an issue or a merge request, or put it on your to-do list.",
    toolset="planning",
    also=("notification",),
    instead={
        "follow watch": "subscribe",
        "unfollow unwatch mute": "unsubscribe",
        "todo add_todo": "create_todo",
    },
)


def _at(last: str) -> Endpoints:
    return POST(
        f"/projects/{{project_id}}/issues/{{issue_iid}}/{last}",
        f"/projects/{{project_id}}/merge_requests/{{merge_request_iid}}/{last}",
    )


@manage.action(
    "subscribe",
    _at("subscribe"),
    danger=Danger.REVERSIBLE,
    example={"project_id": "acme/website", "issue_iid": 1},
    shows="iid subscribed web_url",
    repeatable=True,
    moved_from="manage_issue, manage_merge_request",
    undo=Undo("unsubscribe", "project_id issue_iid merge_request_iid"),
)
class Subscribe(OfIssueOrMergeRequest):
    """Be notified of what happens on it."""


@manage.action(
    "unsubscribe",
    _at("unsubscribe"),
    danger=Danger.REVERSIBLE,
    example={"project_id": "writes/app", "issue_iid": 2},
    shows="iid subscribed web_url",
    repeatable=True,
    moved_from="manage_issue, manage_merge_request",
    undo=Undo("subscribe", "project_id issue_iid merge_request_iid"),
)
class Unsubscribe(OfIssueOrMergeRequest):
    """Stop being notified of it."""


@manage.action(
    "create_todo",
    _at("todo"),
    danger=Danger.REVERSIBLE,
    example={"project_id": "acme/website", "issue_iid": 2},
    shows="id state target_url",
    repeatable=True,
    moved_from="manage_issue, manage_merge_request",
    undo=Undo("manage_todo mark_done", "", "todo_id=id"),
)
class CreateTodo(OfIssueOrMergeRequest):
    """Put it on your own to-do list."""

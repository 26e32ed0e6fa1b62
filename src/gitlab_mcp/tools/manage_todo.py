"""Tick off the to-do list of the caller."""

from __future__ import annotations

from typing import Annotated

from gitlab_mcp.actions.action import POST, Action, Danger
from gitlab_mcp.actions.exchange import GitLab
from gitlab_mcp.actions.fields import Id, ReachesNothing
from gitlab_mcp.actions.other_names import Instead
from gitlab_mcp.actions.recovery_lookup import RecoveryLookup
from gitlab_mcp.actions.result import Result
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.actions.undo import Undo
from gitlab_mcp.gitlab.graphql import mutate, value_at

manage = Tool(
    "manage_todo",
    "Tick off your to-dos.",
    toolset="planning",
    also=("to_do", "todo_item"),
    instead={
        "done mark_as_done complete resolve close": "mark_done",
        "all_done mark_all_as_done clear": "mark_all_done",
        "undo reopen": "restore",
        "create add": Instead(
            "manage_subscription create_todo",
            advice="manage_subscription create_todo puts an issue or a merge request on the list.",
        ),
    },
)

TODO = "id todo_action=action_name title=target.title target_url state"
RESTORE = (
    "mutation($input: TodoRestoreInput!) { todoRestore(input: $input) { errors todo { id state body } } }"
)

DONE = RecoveryLookup("browse_todos list", where={"state": "done"})
PENDING = RecoveryLookup("browse_todos list")

TodoId = Annotated[Id, ReachesNothing()]
"""Only the caller's own are found."""


@manage.action(
    "mark_done",
    POST("/todos/{todo_id}/mark_as_done"),
    danger=Danger.REVERSIBLE,
    example={"todo_id": 82},
    shows=TODO,
    not_taken=dict.fromkeys(
        ("ids", "todo_ids"), "one to-do a call; run_batch makes several calls, mark_all_done ticks off all"
    ),
    # Done twice is done.
    repeatable=True,
    recover_with=DONE,
    undo=Undo("restore", "todo_id", changed_at="updated_at"),
)
class MarkDone(Action):
    """Mark a to-do as done; restore takes it back."""

    todo_id: TodoId


@manage.action(
    "mark_all_done",
    POST("/todos/mark_as_done"),
    # Nobody can tell afterwards which of the done ones were pending.
    danger=Danger.DESTRUCTIVE,
    example={},
    repeatable=True,
    recover_with=PENDING,
)
class MarkAllDone(Action):
    """Mark every pending to-do as done, in all projects."""


@manage.action(
    "restore",
    POST("/graphql"),
    danger=Danger.REVERSIBLE,
    docs="user/todos/",
    example={"todo_id": 82},
    repeatable=True,
    recover_with=PENDING,
)
class Restore(Action):
    """Make a to-do that is done pending again."""

    todo_id: TodoId

    async def run(self, gitlab: GitLab) -> Result:
        given = {"id": f"gid://gitlab/Todo/{self.todo_id}"}
        restored = value_at(await mutate(gitlab, RESTORE, "todoRestore", given), "todo")
        return Result(data={"id": self.todo_id, "state": restored["state"], "body": restored["body"]})

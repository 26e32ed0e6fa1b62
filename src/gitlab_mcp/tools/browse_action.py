"""Any call that reads, also of tools that are not listed. `actions/arguments/wrapped_calls.py` unwraps it."""

from __future__ import annotations

from gitlab_mcp.actions.action import Action, Danger
from gitlab_mcp.actions.arguments.wrapped_calls import ActionArguments, ActionName
from gitlab_mcp.actions.tool import Tool

browse_action = Tool(
    "browse_action",
    "Make a call that reads, listed or not.",
    toolset="discover",
    makes_calls="that read",
)


@browse_action.action(
    "call",
    (),
    danger=Danger.READ,
    docs="api/rest/",
    example={"action": "browse_labels list", "arguments": {"project_id": "acme/website"}},
)
class Call(Action):
    """Make one call that reads, as find_actions names it. It is that call: checked, counted and answered as such."""

    action: ActionName
    arguments: ActionArguments | None = None

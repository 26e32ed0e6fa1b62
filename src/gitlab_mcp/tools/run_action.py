"""Any call, also of tools that are not listed. `actions/arguments/wrapped_calls.py` unwraps it."""

from __future__ import annotations

from gitlab_mcp.actions.action import Action, Danger
from gitlab_mcp.actions.arguments.wrapped_calls import ActionArguments, ActionName
from gitlab_mcp.actions.tool import Tool

run_action = Tool(
    "run_action",
    "Make any call, listed or not, as find_actions names it.",
    toolset="discover",
    makes_calls="of any kind",
)


@run_action.action(
    "call",
    (),
    # It changes nothing itself; whether the call may happen is decided for that call.
    danger=Danger.READ,
    docs="api/rest/",
    example={"action": "browse_labels list", "arguments": {"project_id": "acme/website"}},
)
class Call(Action):
    """Make one call, as find_actions names it. It is that call: guarded, confirmed, counted and answered as such."""

    action: ActionName
    arguments: ActionArguments | None = None

"""Many calls in one: the only tool whose action is made of other calls."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from gitlab_mcp.actions.action import Action, Danger
from gitlab_mcp.actions.fields import Expects, Flag, FromJson, broken_rule
from gitlab_mcp.actions.result import Result
from gitlab_mcp.actions.server import Server
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.workflows.batch import BatchedCall, run_calls

MOST_CALLS = 50

run_batch = Tool(
    "run_batch",
    f"Make up to {MOST_CALLS} calls at once: reads side by side, writes in order.",
    toolset="discover",
    makes_calls="of any kind",
)

Calls = Annotated[
    list[BatchedCall],
    FromJson,
    Field(
        min_length=1,
        max_length=MOST_CALLS,
        description="A value may be {from: 0, field: iid} of call 0",
    ),
    Expects("an array of {tool, arguments}"),
]


@run_batch.action(
    "run",
    (),
    # It changes nothing itself; whether a call in it may happen is decided for that call.
    danger=Danger.READ,
    docs="api/rest/",
    example={
        "calls": [
            {"tool": "browse_projects", "arguments": {"action": "get", "project_id": "acme/website"}},
            {"tool": "browse_labels", "arguments": {"action": "list", "project_id": "acme/website"}},
        ]
    },
    seldom_given="stop_on_error",
)
class RunBatch(Action):
    """Make several calls; each has a result or an error of its own, in the order they were given."""

    calls: Calls
    stop_on_error: Flag | None = None

    @model_validator(mode="after")
    def _holds_no_batch(self) -> RunBatch:
        if any(call.tool == run_batch.name for call in self.calls):
            raise broken_rule(f"calls of other tools than {run_batch.name}", field="calls")
        return self

    async def run_with(self, server: Server) -> Result:
        return await run_calls(self.calls, server, stop_on_error=bool(self.stop_on_error))

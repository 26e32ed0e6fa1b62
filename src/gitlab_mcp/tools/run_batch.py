"""Many calls in one."""

from __future__ import annotations

from gitlab_mcp.actions.action import Danger
from gitlab_mcp.actions.batch import MOST_CALLS, NAME, Batch
from gitlab_mcp.actions.tool import Tool

run_batch = Tool(
    NAME, f"Make up to {MOST_CALLS} calls of these tools at once: reads side by side, writes in order."
)


@run_batch.action(
    "run",
    (),
    # Itself it changes nothing; whether a call in it may happen is decided for that call.
    danger=Danger.READ,
    docs="api/rest/",
    example={
        "calls": [
            {"tool": "browse_projects", "arguments": {"action": "get", "project_id": "acme/website"}},
            {"tool": "browse_labels", "arguments": {"action": "list", "project_id": "acme/website"}},
        ]
    },
)
class RunBatch(Batch):
    """Make several calls; each has a result or an error of its own, in the order they were given."""

"""Read-only mode: nothing that writes is allowed."""

from __future__ import annotations

from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.policy.guard import ProposedCall


async def refuse_writes_by_rule(proposed: ProposedCall) -> None:
    spec = proposed.call.action.spec
    if spec.writes:
        raise CallFailed(
            Failure(Code.READ_ONLY_MODE, f"It only lets you read; {spec.name} would change something.")
        )


async def refuse_writes(proposed: ProposedCall) -> None:
    spec = proposed.call.action.spec
    if spec.writes:
        raise CallFailed(
            Failure(
                Code.READ_ONLY_MODE, f"This server only reads; {spec.name} would change something."
            ).knowing(
                suggested_fix="Use the browse_ tools, or ask the operator to start the server without read-only mode.",
                retryable=False,
            )
        )

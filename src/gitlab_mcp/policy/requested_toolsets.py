"""A request may ask for fewer toolsets than the operator offers (`X-MCP-Toolsets`)."""

from __future__ import annotations

from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.policy.guard import Guard, ProposedCall


def refuse_other_toolsets(toolsets: tuple[str, ...]) -> Guard:
    async def guard(proposed: ProposedCall) -> None:
        if proposed.call.tool.toolset not in toolsets:
            raise CallFailed(
                Failure(
                    Code.OUT_OF_SCOPE, "This request was narrowed to toolsets that do not hold this tool."
                ).knowing(
                    suggested_fix=f"Use the tools of {', '.join(toolsets) or 'no toolset'}, or send the request "
                    "without the header that narrows it.",
                    retryable=False,
                )
            )

    return guard

"""Which tools can be called: those of the toolsets that the operator set, a personal rule, or a request
(`X-MCP-Toolsets`)."""

from __future__ import annotations

from collections.abc import Callable

from gitlab_mcp.actions.action_name import names_of
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.actions.toolsets import is_callable
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.policy.guard import Guard, ProposedCall


def refuse_outside_toolsets(toolsets: tuple[str, ...]) -> Guard:
    """For the operator's toolsets."""

    def failure(tool: Tool) -> Failure:
        return Failure(
            Code.OUT_OF_SCOPE,
            f"{tool.name} belongs to the toolset {tool.toolset}, which the operator did not switch on.",
        ).knowing(
            setting="toolsets",
            suggested_fix="Use the tools that are listed. For this one the operator would have to start the server "
            f"with --toolsets {','.join([*toolsets, tool.toolset])}, or with --callable all.",
        )

    return _refuse_others(toolsets, failure)


def refuse_unrequested_toolsets(toolsets: tuple[str, ...]) -> Guard:
    """For those to which a request narrowed itself."""

    def failure(tool: Tool) -> Failure:
        return Failure(
            Code.OUT_OF_SCOPE,
            f"{tool.name} belongs to the toolset {tool.toolset}, and this request was narrowed to others.",
        ).knowing(
            suggested_fix=f"Use the tools of {', '.join(toolsets) or 'no toolset'}, or send the request "
            "without the header X-MCP-Toolsets.",
        )

    return _refuse_others(toolsets, failure)


def refuse_toolsets_outside_of_rule(toolsets: tuple[str, ...]) -> Guard:
    def failure(tool: Tool) -> Failure:
        return Failure(
            Code.OUT_OF_SCOPE,
            f"{tool.name} belongs to the toolset {tool.toolset}, which is none of its toolsets.",
        )

    return _refuse_others(toolsets, failure)


def _refuse_others(toolsets: tuple[str, ...], failure: Callable[[Tool], Failure]) -> Guard:
    async def guard(proposed: ProposedCall) -> None:
        # What moved out of a toolset can be called where that one can.
        if not any(is_callable(name.toolset, toolsets) for name in names_of(proposed.call.action.spec)):
            raise CallFailed(
                failure(proposed.call.tool).knowing(
                    allowed={"toolsets": list(toolsets)}, confidence="certain", retryable=False
                )
            )

    return guard

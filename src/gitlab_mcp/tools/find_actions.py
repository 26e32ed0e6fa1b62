"""Which call does it? Every action that may be called, found in plain words or by its endpoint."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from gitlab_mcp.actions.action import Action, Danger
from gitlab_mcp.actions.fields import NonEmpty
from gitlab_mcp.actions.result import Result
from gitlab_mcp.actions.server import Server
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.workflows.find_actions import LONGEST_QUERY, find

find_actions = Tool(
    "find_actions",
    "Find calls beyond the listed tools, all of GitLab's API. Make a hit with browse_action or run_action.",
    toolset="discover",
)


@find_actions.action(
    "find",
    (),
    danger=Danger.READ,
    docs="api/rest/",
    example={"query": "add a badge to a project"},
)
class Find(Action):
    """Say which calls do what is asked for, the likeliest first: each with its fields, danger, tier and endpoint."""

    query: Annotated[
        NonEmpty, Field(max_length=LONGEST_QUERY, description="What to do in plain words, or an endpoint")
    ]

    async def run_with(self, server: Server) -> Result:
        return await find(self.query, server)

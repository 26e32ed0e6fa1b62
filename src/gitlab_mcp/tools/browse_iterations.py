"""Iterations and iteration cadences."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from gitlab_mcp.actions.action import GET, POST, Role
from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.actions.fields import (
    Flag,
    Search,
    Time,
)
from gitlab_mcp.actions.result import Result
from gitlab_mcp.actions.scopes import InGroup, InProjectOrGroup, Paged
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.gitlab.graphql import full_path, numeric_id, value_at

browse = Tool("browse_iterations", "Read the iterations of a group or project (Premium).", toolset="planning")

_STATES = {1: "upcoming", 2: "current", 3: "closed"}
"""GitLab takes the state as a word and answers it as a number."""
CADENCES = """query($path: ID!) {
  group(fullPath: $path) {
    iterationCadences(includeAncestorGroups: true) {
      nodes { id title description active automatic startDate durationInWeeks iterationsInAdvance rollOver }
    }
  }
}"""


@browse.action(
    "list",
    GET("/projects/{project_id}/iterations", "/groups/{group_id}/iterations"),
    example={"project_id": "tiers-a/one"},
    shows="id iid title state start_date due_date web_url",
    role=Role.GUEST,
)
class ListIterations(InProjectOrGroup, Paged):
    """List iterations, with those of the groups above."""

    state: Literal["opened", "upcoming", "started", "current", "closed", "all"] | None = None
    search: Search | None = None
    include_ancestors: Flag | None = None
    updated_after: Time | None = None
    updated_before: Time | None = None

    async def run(self, gitlab: GitLab) -> Answer:
        answer = await gitlab.send(self.request())
        named = [{**each, "state": _STATES.get(each.get("state"), each.get("state"))} for each in answer.body]
        return replace(answer, body=named)


@browse.action(
    "cadences",
    POST("/graphql"),
    docs="user/group/iterations/",
    example={"group_id": "params"},
    feature="iterations",
    role=Role.GUEST,
    lists=True,
)
class Cadences(InGroup):
    """List the rhythms in which a group makes iterations."""

    async def run(self, gitlab: GitLab) -> Result:
        path = await full_path(gitlab, group_id=self.group_id)
        found = value_at(
            await gitlab.graphql(CADENCES, {"path": path}), "group", "iterationCadences", "nodes"
        )
        items = [
            {
                **{name: value for name, value in each.items() if value is not None},
                "id": numeric_id(each["id"]),
            }
            for each in found
        ]
        return Result(data={"items": items, "total": len(items)})

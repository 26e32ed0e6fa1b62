"""Iterations of a group: the time boxes that issues are planned into."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from gitlab_mcp.core.action import GET, Action, Role
from gitlab_mcp.core.exchange import Answer, GitLab
from gitlab_mcp.core.fields import Flag, GroupId, Page, PerPage, ProjectId, Search, Time
from gitlab_mcp.core.tool import Tool

browse = Tool("browse_iterations", "Read the iterations of a group or project (Premium).", toolset="planning")

_STATES = {1: "upcoming", 2: "current", 3: "closed"}
"""GitLab is asked with words and answers with numbers."""


@browse.action(
    "list",
    GET("/projects/{project_id}/iterations", "/groups/{group_id}/iterations"),
    docs="api/iterations/#list-all-project-iterations",
    example={"project_id": "tiers-a/one"},
    shows="id iid title state start_date due_date web_url",
    feature="iterations",
    role=Role.GUEST,
)
class ListIterations(Action):
    """List iterations, with those of the groups above."""

    project_id: ProjectId | None = None
    group_id: GroupId | None = None
    state: Literal["opened", "upcoming", "current", "closed", "all"] | None = None
    search: Search | None = None
    include_ancestors: Flag | None = None
    updated_after: Time | None = None
    page: Page | None = None
    per_page: PerPage | None = None

    async def run(self, gitlab: GitLab) -> Answer:
        answer = await gitlab.send(self.request())
        named = [{**each, "state": _STATES.get(each.get("state"), each.get("state"))} for each in answer.body]
        return replace(answer, body=named)

"""Whose CI/CD job tokens are let into a project."""

from __future__ import annotations

from gitlab_mcp.actions.action import GET
from gitlab_mcp.actions.exchange import GitLab
from gitlab_mcp.actions.result import Result
from gitlab_mcp.actions.scopes import InProject, Paged
from gitlab_mcp.actions.tool import Tool

browse = Tool(
    "browse_job_token_scope",
    "Read whose CI/CD job tokens are let into a project.",
    toolset="access",
    also=("job_token", "allowlist", "ci_job_token"),
    instead={"list allowlist": "projects", "groups_allowlist": "groups", "status": "get"},
)


@browse.action("get", GET("/projects/{project_id}/job_token_scope"), example={"project_id": "acme/website"})
class GetScope(InProject):
    """Whether only the jobs of listed projects and groups are let in."""

    async def run(self, gitlab: GitLab) -> Result:
        scope = (await gitlab.send(self.request())).body
        return Result(
            data={
                "only_listed_are_let_in": scope.get("inbound_enabled"),
                "own_jobs_reach_only_listed": scope.get("outbound_enabled"),
            }
        )


@browse.action(
    "projects",
    GET("/projects/{project_id}/job_token_scope/allowlist"),
    example={"project_id": "acme/website"},
    shows="id path_with_namespace visibility",
)
class AllowedProjects(InProject, Paged):
    """Projects whose jobs are let in; the project itself always is."""


@browse.action(
    "groups",
    GET("/projects/{project_id}/job_token_scope/groups_allowlist"),
    example={"project_id": "acme/website"},
    shows="id name web_url",
)
class AllowedGroups(InProject, Paged):
    """Groups the jobs of whose projects are let in."""

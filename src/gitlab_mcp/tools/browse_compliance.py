"""Compliance frameworks, and the security settings of a project."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import model_validator

from gitlab_mcp.actions.action import GET, POST, Role
from gitlab_mcp.actions.exchange import GitLab
from gitlab_mcp.actions.fields import broken_rule
from gitlab_mcp.actions.result import Result
from gitlab_mcp.actions.scopes import InProject, InProjectOrGroup
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.gitlab.graphql import full_path, numeric_id, value_at

browse = Tool(
    "browse_compliance",
    "Read compliance frameworks (Premium) and security settings (Ultimate).",
    toolset="security",
)
_FRAMEWORKS = "complianceFrameworks { nodes { id name description color default } }"
FRAMEWORKS: Mapping[str, str] = {
    place: f"query($path: ID!) {{ {place}(fullPath: $path) {{ {_FRAMEWORKS} }} }}"
    for place in ("project", "group")
}


@browse.action(
    "frameworks",
    POST("/graphql"),
    docs="user/compliance/compliance_frameworks/",
    example={"group_id": "params"},
    feature="compliance_frameworks",
    role=Role.GUEST,
    lists=True,
)
class Frameworks(InProjectOrGroup):
    """List the frameworks of a top-level group, or those a project is held to."""

    @model_validator(mode="after")
    def _one_place(self) -> Frameworks:
        if (self.project_id is None) is (self.group_id is None):
            raise broken_rule("project_id or group_id, one of them", field="group_id")
        return self

    async def run(self, gitlab: GitLab) -> Result:
        place = "project" if self.project_id is not None else "group"
        path = await full_path(gitlab, project_id=self.project_id, group_id=self.group_id)
        data = await gitlab.graphql(FRAMEWORKS[place], {"path": path})
        found = value_at(data, place, "complianceFrameworks", "nodes")
        items = [{**each, "id": numeric_id(each["id"])} for each in found]
        return Result(data={"items": items, "total": len(items)})


@browse.action(
    "security_settings",
    GET("/projects/{project_id}/security_settings"),
    example={"project_id": "tiers-b/one"},
    role=Role.DEVELOPER,
)
class SecuritySettings(InProject):
    """Read which protections and scans a project has switched on."""

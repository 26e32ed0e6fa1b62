"""The GitLab instance this server talks to, and the token it uses."""

from __future__ import annotations

from gitlab_mcp.actions.action import GET, Action
from gitlab_mcp.actions.result import Result
from gitlab_mcp.actions.scopes import InProjectOrGroup
from gitlab_mcp.actions.server import Server
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.actions.toolsets import ToolsetOrAll
from gitlab_mcp.workflows.explain_access import explain, read_place

browse = Tool(
    "browse_instance",
    "Read about this GitLab and the token in use.",
    instead={
        "version info": "metadata",
        "whoami me": "browse_users current",
        "permissions access": "explain_access",
    },
)


@browse.action(
    "metadata",
    GET("/metadata"),
    example={},
    shows="version revision enterprise kas",
)
class Metadata(Action):
    """Version and edition."""


@browse.action(
    "token",
    GET("/personal_access_tokens/self"),
    docs="api/personal_access_tokens/",
    example={},
    shows="id name scopes active revoked expires_at user_id created_at last_used_at",
)
class Token(Action):
    """What the token in use may do and until when."""


@browse.action(
    "explain_access",
    GET("/metadata"),
    example={"project_id": "acme/website"},
    seldom_given="toolset",
    has_line=True,
)
class ExplainAccess(InProjectOrGroup):
    """Say what works here for this token and what does not, and why: tier, role, scope, switches.

    It is about the tools that are listed, or about those of a toolset."""

    toolset: ToolsetOrAll | None = None

    async def run_with(self, server: Server) -> Result:
        place = await read_place(server.ask, project_id=self.project_id, group_id=self.group_id)
        actions = server.registry.actions(self.toolset or "all")
        if self.toolset is None:
            actions = [action for action in actions if server.switch_on_with(action.spec.tool.name) is None]
        return explain(place, server.tier_map(), actions, server)

"""The GitLab instance this server talks to, and the token it uses."""

from __future__ import annotations

from typing import Annotated

from gitlab_mcp.actions.action import GET, Action
from gitlab_mcp.actions.action_facts import Differs
from gitlab_mcp.actions.fields import NonEmpty, ReachesNothing
from gitlab_mcp.actions.result import Result
from gitlab_mcp.actions.scopes import InProjectOrGroup
from gitlab_mcp.actions.server import Server
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.actions.toolsets import ToolsetOrAll
from gitlab_mcp.workflows.access.explain_access import explain, read_place
from gitlab_mcp.workflows.explain_url import explain_url

browse = Tool(
    "browse_instance",
    "Read about this GitLab and the token in use.",
    instead={
        "version info": "metadata",
        "whoami me": "browse_users current",
        "permissions access": "explain_access",
        "open_url read_url resolve_url url link open what_is": "explain_url",
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


@browse.action(
    "explain_url",
    GET("/metadata"),
    docs=Differs("api/rest/", "its requests are those of the actions that read the page"),
    example={"url": "https://gitlab.example.com/acme/shop/-/blob/main/src/shop/cart.py#L9-14"},
)
class ExplainUrl(Action):
    """Say what a URL of this GitLab is, and read what is there: a thing, a comment, lines of a file or log, a list."""

    url: Annotated[NonEmpty, ReachesNothing()]

    async def run_with(self, server: Server) -> Result:
        return await explain_url(self.url, server)

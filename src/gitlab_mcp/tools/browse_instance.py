"""The GitLab instance this server talks to, and the token it uses."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from gitlab_mcp.actions.action import GET, Action, Endpoint, Role
from gitlab_mcp.actions.action_facts import Differs
from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.actions.fields import Anywhere, Flag, Id, NonEmpty, Search
from gitlab_mcp.actions.result import Result
from gitlab_mcp.actions.scopes import InProjectOrGroup, Paged
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

MESSAGE = "id message active starts_at ends_at target_path broadcast_type"
TOPIC = "id name title description total_projects_count"

TemplateType = Literal["dockerfiles", "gitignores", "gitlab_ci_ymls", "licenses"]


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
    "statistics",
    GET("/application/statistics"),
    example={},
    role=Role.ADMIN,
)
class Statistics(Action):
    """How many users, projects, groups, issues and so on there are, roughly."""


@browse.action(
    "broadcast_messages",
    GET("/broadcast_messages"),
    example={},
    shows=MESSAGE,
)
class BroadcastMessages(Paged):
    """What the administrators tell everybody, such as a maintenance."""


@browse.action(
    "topics",
    GET("/topics"),
    example={},
    shows=TOPIC,
)
class Topics(Paged):
    """Topics of projects, the most used first."""

    search: Search | None = None
    without_projects: Flag | None = None


@browse.action(
    "topic",
    GET("/topics/{topic_id}"),
    example={"topic_id": 1},
    shows=TOPIC,
)
class Topic(Action):
    """One topic."""

    topic_id: Annotated[Id, Anywhere("topic")]


@browse.action(
    "templates",
    GET(
        "/templates/dockerfiles", "/templates/gitignores", "/templates/gitlab_ci_ymls", "/templates/licenses"
    ),
    docs=Differs("api/templates/gitignores/#list-all-gitignore-templates", "the commonest of four kinds"),
    example={"type": "gitignores"},
    shows="key name",
)
class Templates(Paged):
    """Templates for .gitignore, CI configuration, Dockerfile and licence."""

    type: TemplateType

    async def run(self, gitlab: GitLab) -> Answer:
        return await gitlab.send(self.request_to(Endpoint("GET", f"/templates/{self.type}"), type=None))


@browse.action(
    "template",
    GET(
        "/templates/dockerfiles/{name}",
        "/templates/gitignores/{name}",
        "/templates/gitlab_ci_ymls/{name}",
        "/templates/licenses/{name}",
    ),
    docs=Differs(
        "api/templates/gitignores/#retrieve-a-single-gitignore-template", "the commonest of four kinds"
    ),
    example={"type": "gitignores", "name": "Python"},
    shows="name content",
)
class Template(Action):
    """One template with its text."""

    type: TemplateType
    name: Annotated[NonEmpty, Field(description="Its key")]

    async def run(self, gitlab: GitLab) -> Answer:
        endpoint = Endpoint("GET", f"/templates/{self.type}/{{name}}")
        return await gitlab.send(self.request_to(endpoint, type=None))

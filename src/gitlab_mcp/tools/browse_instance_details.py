"""What an instance tells everybody: statistics, messages, topics and templates."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from gitlab_mcp.actions.action import GET, Action, Endpoint, Role
from gitlab_mcp.actions.action_facts import Differs
from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.actions.fields import Anywhere, Flag, Id, NonEmpty, Search
from gitlab_mcp.actions.scopes import Paged
from gitlab_mcp.actions.tool import Tool

browse = Tool(
    "browse_instance_details",
    "Read statistics, broadcast messages, topics and file templates of this GitLab.",
    toolset="insight",
    also=("topic", "broadcast_message"),
)


MESSAGE = "id message active starts_at ends_at target_path broadcast_type"


TOPIC = "id name title description total_projects_count"


TemplateType = Literal["dockerfiles", "gitignores", "gitlab_ci_ymls", "licenses"]


@browse.action(
    "statistics",
    GET("/application/statistics"),
    example={},
    role=Role.ADMIN,
    moved_from="browse_instance",
)
class Statistics(Action):
    """How many users, projects, groups, issues and so on there are, roughly."""


@browse.action(
    "broadcast_messages",
    GET("/broadcast_messages"),
    example={},
    shows=MESSAGE,
    moved_from="browse_instance",
)
class BroadcastMessages(Paged):
    """What the administrators tell everybody, such as a maintenance."""


@browse.action(
    "topics",
    GET("/topics"),
    example={},
    shows=TOPIC,
    moved_from="browse_instance",
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
    moved_from="browse_instance",
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
    moved_from="browse_instance",
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
    moved_from="browse_instance",
)
class Template(Action):
    """One template with its text."""

    type: TemplateType
    name: Annotated[NonEmpty, Field(description="Its key")]

    async def run(self, gitlab: GitLab) -> Answer:
        endpoint = Endpoint("GET", f"/templates/{self.type}/{{name}}")
        return await gitlab.send(self.request_to(endpoint, type=None))

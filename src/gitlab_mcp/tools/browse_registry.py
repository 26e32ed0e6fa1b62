"""The container registry: repositories of images and their tags."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from gitlab_mcp.actions.action import GET
from gitlab_mcp.actions.fields import AlsoCalled, Flag, Id, TagName
from gitlab_mcp.actions.scopes import InProject, InProjectOrGroup, Paged
from gitlab_mcp.actions.tool import Tool

browse = Tool(
    "browse_registry",
    "Read the container registry: repositories of images and their tags.",
    toolset="delivery",
    also=("container_registry", "container_image", "docker_image", "image"),
    instead={"repositories images": "list", "list_tags": "tags", "get_tag": "tag"},
)

REPOSITORY = (
    "id name path tags_count tags=tags.name project_id created_at:date status"
    " | location cleanup_policy_started_at"
)


class OfRepository(InProject):
    repository_id: Annotated[Id, AlsoCalled("registry_id", "container_repository_id")]


@browse.action(
    "list",
    GET("/projects/{project_id}/registry/repositories", "/groups/{group_id}/registry/repositories"),
    example={"project_id": "acme/website"},
    shows=REPOSITORY,
)
class ListRepositories(InProjectOrGroup, Paged):
    """List the repositories of images in a project or group; tags shows the tags of each in a project too."""

    tags: Annotated[Flag, Field(description="Of a project only")] | None = None
    tags_count: Annotated[Flag, Field(description="Of a project only")] | None = None


@browse.action(
    "tags",
    GET("/projects/{project_id}/registry/repositories/{repository_id}/tags"),
    example={"project_id": "acme/website", "repository_id": 1},
    shows="name location",
)
class ListTags(OfRepository, Paged):
    """List the tags of a repository; action tag says how old and how large one is."""


@browse.action(
    "tag",
    GET("/projects/{project_id}/registry/repositories/{repository_id}/tags/{tag_name}"),
    example={"project_id": "acme/website", "repository_id": 1, "tag_name": "v1.0.0"},
    shows="name location created_at total_size digest revision",
)
class GetTag(OfRepository):
    """Read one tag: when it was made, and its size."""

    tag_name: TagName

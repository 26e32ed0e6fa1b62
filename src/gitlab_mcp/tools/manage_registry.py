"""Delete images from the container registry."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from gitlab_mcp.actions.action import DELETE, Danger
from gitlab_mcp.actions.exchange import GitLab
from gitlab_mcp.actions.fields import AlsoCalled, Expects, Id, Integer, Regex, TagName
from gitlab_mcp.actions.recovery_lookup import RecoveryLookup
from gitlab_mcp.actions.result import Result
from gitlab_mcp.actions.scopes import InProject
from gitlab_mcp.actions.tool import Tool

manage = Tool(
    "manage_registry",
    "Delete images from the container registry.",
    toolset="delivery",
    also=("container_registry", "container_image", "docker_image", "image"),
    instead={"cleanup clean_up bulk_delete_tags delete_old_tags": "delete_tags"},
)

FIND_TAGS = RecoveryLookup("browse_registry tags", "project_id repository_id")
Age = Annotated[
    str,
    Field(pattern=r"^[1-9]\d{0,4}(h|d|month)$", description="Like 12h, 7d or 1month"),
    Expects("an age like 12h, 7d or 1month"),
]


class OfRepository(InProject):
    repository_id: Annotated[Id, AlsoCalled("registry_id", "container_repository_id")]


@manage.action(
    "delete_tag",
    DELETE("/projects/{project_id}/registry/repositories/{repository_id}/tags/{tag_name}"),
    danger=Danger.DESTRUCTIVE,
    example={"project_id": "acme/website", "repository_id": 1, "tag_name": "v1.0.0"},
    recover_with=FIND_TAGS,
)
class DeleteTag(OfRepository):
    """Delete one tag of an image."""

    tag_name: TagName


@manage.action(
    "delete_tags",
    DELETE("/projects/{project_id}/registry/repositories/{repository_id}/tags"),
    # A pattern is easily too wide, and no image comes back.
    danger=Danger.DANGEROUS,
    example={
        "project_id": "acme/website",
        "repository_id": 1,
        "name_regex_delete": "dev-.*",
        "keep_n": 5,
        "older_than": "7d",
    },
    recover_with=FIND_TAGS,
)
class DeleteTags(OfRepository):
    """Delete the tags whose whole name fits a pattern, in the background, once an hour at most; latest stays."""

    name_regex_delete: Annotated[Regex, AlsoCalled("name_regex", "pattern")]
    name_regex_keep: Regex | None = None
    keep_n: Annotated[Integer, Field(ge=0, le=10_000, description="Of the newest that fit")] | None = None
    older_than: Age | None = None

    async def run(self, gitlab: GitLab) -> Result:
        # The whole answer is the number 202.
        await gitlab.send(self.request())
        return Result(data={"started": True})


@manage.action(
    "delete_repository",
    DELETE("/projects/{project_id}/registry/repositories/{repository_id}"),
    danger=Danger.DANGEROUS,
    example={"project_id": "acme/website", "repository_id": 1},
    recover_with=RecoveryLookup("browse_registry list", "project_id"),
)
class DeleteRepository(OfRepository):
    """Delete a repository with all its images, in the background."""

    async def run(self, gitlab: GitLab) -> Result:
        await gitlab.send(self.request())
        return Result(data={"started": True})

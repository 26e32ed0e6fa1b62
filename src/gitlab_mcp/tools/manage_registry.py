"""Delete images from the container registry."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from gitlab_mcp.actions.action import DELETE, Danger
from gitlab_mcp.actions.exchange import GitLab
from gitlab_mcp.actions.fields import (
    AlsoCalled,
    Expects,
    Id,
    Integer,
    NotSent,
    Regex,
    TagName,
    Words,
    broken_rule,
)
from gitlab_mcp.actions.recovery_lookup import RecoveryLookup
from gitlab_mcp.actions.result import Result
from gitlab_mcp.actions.scopes import InProject
from gitlab_mcp.actions.server import Server
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.workflows.several_writes import each_of
from gitlab_mcp.workflows.steps import require_steps, take

manage = Tool(
    "manage_registry",
    "Delete images from the container registry.",
    toolset="delivery",
    also=("container_registry", "container_image", "docker_image", "image"),
    instead={"cleanup clean_up bulk_delete_tags delete_old_tags": "delete_tags"},
)

DELETE_TAG = "manage_registry delete_tag"
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
    """Delete the tags whose whole name fits a pattern, in the background, once an hour at most; latest stays. Those of
    tag_names are deleted at once."""

    name_regex_delete: Annotated[Regex, AlsoCalled("name_regex", "pattern")] | None = None
    tag_names: (
        Annotated[
            Words, NotSent(), Field(min_length=1, max_length=100, description="Besides, whatever the pattern")
        ]
        | None
    ) = None
    name_regex_keep: Regex | None = None
    keep_n: Annotated[Integer, Field(ge=0, le=10_000, description="Of the newest that fit")] | None = None
    older_than: Age | None = None

    @model_validator(mode="after")
    def _names_tags(self) -> Self:
        if self.name_regex_delete is None and self.tag_names is None:
            raise broken_rule("a pattern, or tag_names", field="name_regex_delete")
        beside = [
            name for name in ("name_regex_keep", "keep_n", "older_than") if getattr(self, name) is not None
        ]
        if self.name_regex_delete is None and beside:
            raise broken_rule(f"a pattern for {beside[0]} to go with", field="name_regex_delete")
        return self

    async def run_with(self, server: Server) -> Result:
        named = list(dict.fromkeys(self.tag_names or ()))
        require_steps(server, *([DELETE_TAG] if named else []))
        data: dict[str, Any] = {}
        if self.name_regex_delete is not None:
            # The whole answer is the number 202.
            await server.gitlab.send(self.request())
            data["started"] = True
        where = {"project_id": self.project_id, "repository_id": self.repository_id}

        async def delete(tag: str) -> None:
            await take(server, DELETE_TAG, {**where, "tag_name": tag})

        deleted = await each_of(server.gitlab, named, delete, "tags")
        if not data:
            deleted.refuse_where_all_failed("tag", "deleted")
        if deleted.done:
            data["deleted"] = [tag for tag in named if tag in deleted.done]
        then = "Send those alone as tag_names, once that is mended."
        warnings = deleted.warnings("tag", "deleted", "tag_name", then)
        return Result(data=data, warnings=warnings, own_members=frozenset({"deleted"}))


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

"""Change what a project is set to, whom it is shared with and where it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import model_validator

from gitlab_mcp.actions.action import DELETE, POST, PUT, Action, Danger, Role, fill
from gitlab_mcp.actions.danger import Risk, equals
from gitlab_mcp.actions.exchange import Answer, GitLab, Request
from gitlab_mcp.actions.fields import (
    AccessLevel,
    ChangedVisibility,
    Flag,
    FutureDate,
    GroupId,
    NamesPlace,
    Needs,
    NewVisibility,
    NonEmpty,
    PathOrId,
    ProjectId,
    Words,
    broken_rule,
)
from gitlab_mcp.actions.recovery_lookup import LostWrite, RecoveryLookup
from gitlab_mcp.actions.result import Result
from gitlab_mcp.actions.scopes import InProject
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.actions.undo import Undo
from gitlab_mcp.workflows.unchanged_since import IfUnchanged

manage = Tool(
    "manage_project_settings",
    "Change the settings of a project, share it, move it, export it.",
    toolset="access",
)


PROJECT = (
    "id path_with_namespace visibility archived default_branch import_status marked_for_deletion_on web_url"
)

CiConfigPath = Annotated[
    str,
    NamesPlace("project", inside=r"@([^:]+)"),
    Risk(
        Danger.DANGEROUS,
        "of another project or at a URL",
        "what others wrote there then runs in this project, with its secrets",
        lambda path: "@" in path or "://" in path,
    ),
]
"""`file@group/project` is a file of another project."""


FeatureAccess = Annotated[
    Literal["disabled", "private", "enabled"],
    Risk(
        Danger.DESTRUCTIVE,
        "enabled, where it is private",
        "it is then open to everybody who can see the project, not to members only",
        equals("enabled"),
        lambda present, wanted: present == "private",
    ),
]


MergeCheck = Annotated[
    Flag,
    Risk(
        Danger.DESTRUCTIVE,
        "false",
        "a check before merging is switched off",
        equals(False),
    ),
]


class ProjectSettings(Action):
    """The fields of both create and update."""

    name: NonEmpty | None = None
    path: NonEmpty | None = None
    description: str | None = None
    visibility: NewVisibility | None = None
    default_branch: NonEmpty | None = None
    topics: Words | None = None


@manage.action(
    "update",
    PUT("/projects/{project_id}"),
    danger=Danger.REVERSIBLE,
    example={
        "project_id": "24",
        "name": "Second renamed",
        "path": "second-renamed",
        "visibility": "private",
        "issues_access_level": "private",
        "default_branch": "main",
    },
    shows=PROJECT,
    role=Role.MAINTAINER,
    recover_with=RecoveryLookup("browse_projects get", "project_id"),
    moved_from="manage_project",
    seldom_given="expected_updated_at",
)
class UpdateProject(IfUnchanged, ProjectSettings):
    """Change settings and switches; a new path moves the project."""

    project_id: ProjectId
    visibility: ChangedVisibility | None = None
    merge_method: Literal["merge", "rebase_merge", "ff"] | None = None
    squash_option: Literal["never", "always", "default_on", "default_off"] | None = None
    only_allow_merge_if_pipeline_succeeds: MergeCheck | None = None
    only_allow_merge_if_all_discussions_are_resolved: MergeCheck | None = None
    remove_source_branch_after_merge: Flag | None = None
    issues_access_level: FeatureAccess | None = None
    merge_requests_access_level: FeatureAccess | None = None
    builds_access_level: FeatureAccess | None = None
    repository_access_level: FeatureAccess | None = None
    wiki_access_level: FeatureAccess | None = None
    snippets_access_level: FeatureAccess | None = None
    releases_access_level: FeatureAccess | None = None
    environments_access_level: FeatureAccess | None = None
    forking_access_level: FeatureAccess | None = None
    container_registry_access_level: FeatureAccess | None = None
    ci_config_path: CiConfigPath | None = None
    shared_runners_enabled: Flag | None = None
    auto_devops_enabled: Flag | None = None
    merge_pipelines_enabled: Annotated[Flag, Needs("merged_results_pipelines")] | None = None
    merge_trains_enabled: Annotated[Flag, Needs("merged_results_pipelines")] | None = None

    @model_validator(mode="after")
    def _changes_something(self) -> Self:
        if self.model_fields_set <= {"project_id"}:
            raise broken_rule("at least one setting beside it", field="project_id")
        return self


@manage.action(
    "unlink_fork",
    DELETE("/projects/{project_id}/fork"),
    danger=Danger.DESTRUCTIVE,
    example={"project_id": "27"},
    role=Role.OWNER,
    recover_with=RecoveryLookup("browse_projects get", "project_id"),
    moved_from="manage_project",
    has_line=True,
)
class UnlinkFork(InProject):
    """Make a fork a project of its own; its merge requests to the source are closed."""


def _is_in_the_namespace(write: LostWrite, found: Mapping[str, Any]) -> bool:
    namespace = found["namespace"]
    return write.action.namespace in (str(namespace["id"]), namespace["full_path"])


@manage.action(
    "transfer",
    PUT("/projects/{project_id}/transfer"),
    danger=Danger.DANGEROUS,
    example={"project_id": "25", "namespace": "61"},
    shows=PROJECT,
    role=Role.OWNER,
    repeatable=False,
    recover_with=RecoveryLookup("browse_projects get", "project_id", proof=_is_in_the_namespace),
    moved_from="manage_project",
)
class TransferProject(InProject):
    """Move a project to another group or user: its path and its members change."""

    namespace: Annotated[PathOrId, NamesPlace("namespace")]

    async def run(self, gitlab: GitLab) -> Answer:
        return await gitlab.send(self.request(namespace=_number_or_path(self.namespace)))


def _is_shared(write: LostWrite, found: Mapping[str, Any]) -> bool:
    wanted = (write.sent["group_id"], write.sent["group_access"])
    return wanted in [(each["group_id"], each["group_access_level"]) for each in found["shared_with_groups"]]


@manage.action(
    "share",
    POST("/projects/{project_id}/share"),
    danger=Danger.DANGEROUS,
    example={"project_id": "acme/website", "group_id": 8, "group_access": 20},
    shows="group_id group_access expires_at",
    recover_with=RecoveryLookup(
        "browse_projects get",
        "project_id",
        proof=_is_shared,
        answer=lambda found: {"shared_with_groups": found["shared_with_groups"]},
    ),
    moved_from="manage_project",
    undo=Undo("unshare", "project_id group_id"),
)
class ShareProject(InProject):
    """Give a group access to the project."""

    group_id: GroupId
    group_access: AccessLevel
    expires_at: FutureDate | None = None

    async def run(self, gitlab: GitLab) -> Answer:
        return await gitlab.send(self.request(group_id=await _number_of(gitlab, self.group_id)))


@manage.action(
    "unshare",
    DELETE("/projects/{project_id}/share/{group_id}"),
    danger=Danger.DANGEROUS,
    example={"project_id": "25", "group_id": 61},
    recover_with=RecoveryLookup("browse_projects get", "project_id"),
    moved_from="manage_project",
)
class UnshareProject(InProject):
    """Take a group's access to the project away."""

    group_id: GroupId

    async def run(self, gitlab: GitLab) -> Answer:
        path = fill(
            self.endpoint().path,
            project_id=self.project_id,
            group_id=await _number_of(gitlab, self.group_id),
        )
        return await gitlab.send(Request("DELETE", path, repeatable=True))


@manage.action(
    "housekeeping",
    POST("/projects/{project_id}/housekeeping"),
    danger=Danger.REVERSIBLE,
    example={"project_id": "25"},
    role=Role.OWNER,
    recover_with=RecoveryLookup("browse_projects get", "project_id", because="GitLab shows nothing of it"),
    moved_from="manage_project",
    has_line=True,
)
class Housekeeping(InProject):
    """Let GitLab repack the repository."""

    async def run(self, gitlab: GitLab) -> Result:
        # GitLab answers only the lease of the task, which is of no use.
        await gitlab.send(self.request())
        return Result(data={"started": True})


@manage.action(
    "export",
    POST("/projects/{project_id}/export"),
    danger=Danger.REVERSIBLE,
    example={"project_id": "20"},
    role=Role.MAINTAINER,
    recover_with=RecoveryLookup(
        "browse_project_details export_status",
        "project_id",
        proof=lambda _, found: found["export_status"] in ("queued", "started", "regeneration_in_progress"),
    ),
    moved_from="manage_project",
)
class ExportProject(InProject):
    """Pack the project into a file, in the background; browse_project_details export_status has the link."""

    async def run(self, gitlab: GitLab) -> Result:
        await gitlab.send(self.request())
        return Result(data={"started": True})


def _number_or_path(namespace: str) -> int | str:
    return int(namespace) if namespace.isdigit() else namespace


async def _number_of(gitlab: GitLab, namespace: str | None) -> int | None:
    """The number of a namespace given by number or path: GitLab takes only numbers here."""
    if namespace is None or namespace.isdigit():
        return int(namespace) if namespace else None
    answer = await gitlab.get(fill("/namespaces/{id}", id=namespace))
    return int(answer.body["id"])

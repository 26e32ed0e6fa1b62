"""Write projects, from their creation to their deletion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from gitlab_mcp.actions.action import DELETE, POST, Action, Danger, Role, fill
from gitlab_mcp.actions.ask import Ask
from gitlab_mcp.actions.danger import Risk, equals
from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.actions.fields import (
    AlsoCalled,
    Anywhere,
    Flag,
    NamesPlace,
    Needs,
    NewVisibility,
    NonEmpty,
    PathOrId,
    Words,
    broken_rule,
)
from gitlab_mcp.actions.other_names import Instead
from gitlab_mcp.actions.recovery_lookup import LostWrite, RecoveryLookup, made
from gitlab_mcp.actions.result import Result
from gitlab_mcp.actions.scopes import InProject
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.actions.undo import Undo
from gitlab_mcp.workflows import delayed_deletion
from gitlab_mcp.workflows.delayed_deletion import how_deleted, read_marked, refuse_deletion

manage = Tool(
    "manage_project",
    "Create, fork, archive and delete projects.",
    toolset="access",
    also=(
        "repository",
        "repo",
    ),
    instead={
        "rename": Instead(
            "manage_project_settings update",
            advice="Call manage_project_settings with action update, and name for the title, path for the address.",
        ),
        "move": "manage_project_settings transfer",
        "change_visibility": Instead("manage_project_settings update", needs=("visibility",)),
    },
)

PROJECT = (
    "id path_with_namespace visibility archived default_branch import_status marked_for_deletion_on web_url"
)

NamespaceId = Annotated[
    PathOrId,
    NamesPlace("namespace", own_if_absent=True),
    Field(description="Group or user: path or number"),
]


class ProjectSettings(Action):
    """The fields of both create and update."""

    name: NonEmpty | None = None
    path: NonEmpty | None = None
    description: str | None = None
    visibility: NewVisibility | None = None
    default_branch: NonEmpty | None = None
    topics: Words | None = None


def _created(write: LostWrite, found: Mapping[str, Any]) -> bool:
    wanted = write.sent.get("namespace_id", found["namespace"]["id"])
    return made("name", "path")(write, found) and found["namespace"]["id"] == wanted


@manage.action(
    "create",
    POST("/projects"),
    danger=Danger.REVERSIBLE,
    example={
        "name": "API",
        "path": "api",
        "namespace_id": 7,
        "visibility": "private",
        "initialize_with_readme": True,
        "default_branch": "main",
    },
    shows=PROJECT,
    recover_with=RecoveryLookup("browse_projects list", where={"membership": True}, proof=_created),
    seldom_given="import_url template_name topics default_branch",
    moved_from="manage_project",
)
class CreateProject(ProjectSettings):
    """Create a project, in the caller's own namespace unless another is named."""

    namespace_id: NamespaceId | None = None
    initialize_with_readme: Flag | None = None
    import_url: Annotated[NonEmpty, Anywhere("repository to import")] | None = None
    template_name: NonEmpty | None = None

    @model_validator(mode="after")
    def _name_and_default_branch(self) -> Self:
        if self.name is None and self.path is None:
            raise broken_rule("a name, or path instead", field="name")
        if self.default_branch is not None and not self.initialize_with_readme:
            # GitLab takes the name only for the first commit it makes itself, and ignores it otherwise.
            raise broken_rule("true where default_branch is given", field="initialize_with_readme")
        return self

    async def run(self, gitlab: GitLab) -> Answer:
        return await gitlab.send(self.request(namespace_id=await _number_of(gitlab, self.namespace_id)))


@manage.action(
    "delete",
    DELETE("/projects/{project_id}"),
    danger=Danger.DANGEROUS,
    example={"project_id": "27"},
    role=Role.OWNER,
    repeatable=False,
    recover_with=RecoveryLookup(
        "browse_projects get",
        "project_id",
        proof=lambda _, found: bool(found.get("marked_for_deletion_on")),
        gone=True,
    ),
    moved_from="manage_project",
    undo=Undo("restore", "", "project_id=id"),
)
class DeleteProject(InProject):
    """Delete a project with all it holds; where that is delayed it is marked, and permanently_remove ends it."""

    permanently_remove: (
        Annotated[
            Flag,
            AlsoCalled("permanently", "permanent"),
            Needs("delayed_deletion_restore"),
            Risk(Danger.DANGEROUS, "true", "it is gone at once and cannot be restored", equals(True)),
        ]
        | None
    ) = None

    async def refuse_before_asking(self, ask: Ask) -> None:
        project = await ask.look(fill("/projects/{project_id}", project_id=self.project_id))
        refuse_deletion(delayed_deletion.PROJECT, project, permanently=bool(self.permanently_remove))

    async def run(self, gitlab: GitLab) -> Result:
        request = self.request()
        if not self.permanently_remove:
            await gitlab.send(request)
            return await how_deleted(gitlab, delayed_deletion.PROJECT, request.path)
        project = await read_marked(gitlab, delayed_deletion.PROJECT, request.path)
        refuse_deletion(delayed_deletion.PROJECT, project, permanently=True)
        # GitLab wants to be told the path that it gave the project when it was marked.
        full_path = project["path_with_namespace"]
        await gitlab.send(
            replace(request, query={"permanently_remove": True, "full_path": full_path}, repeatable=False)
        )
        return Result(data={"started": True, "permanently": True, "path_with_namespace": full_path})


@manage.action(
    "restore",
    POST("/projects/{project_id}/restore"),
    danger=Danger.REVERSIBLE,
    example={"project_id": "20"},
    shows=PROJECT,
    role=Role.OWNER,
    recover_with=RecoveryLookup(
        "browse_projects get",
        "project_id",
        proof=lambda _, found: found.get("marked_for_deletion_on", True) is None,
    ),
    has_line=True,
    moved_from="manage_project",
)
class RestoreProject(InProject):
    """Take back a deletion that has not happened yet."""


@manage.action(
    "archive",
    POST("/projects/{project_id}/archive"),
    danger=Danger.REVERSIBLE,
    example={"project_id": "25"},
    shows=PROJECT,
    role=Role.OWNER,
    repeatable=True,
    recover_with=RecoveryLookup("browse_projects get", "project_id"),
    moved_from="manage_project",
    undo=Undo("unarchive", "project_id", changed_at="updated_at"),
)
class ArchiveProject(InProject):
    """Make a project read-only."""


@manage.action(
    "unarchive",
    POST("/projects/{project_id}/unarchive"),
    danger=Danger.REVERSIBLE,
    example={"project_id": "25"},
    shows=PROJECT,
    role=Role.OWNER,
    repeatable=True,
    recover_with=RecoveryLookup("browse_projects get", "project_id"),
    moved_from="manage_project",
    undo=Undo("archive", "project_id", changed_at="updated_at"),
)
class UnarchiveProject(InProject):
    """Make an archived project writable again."""


@manage.action(
    "star",
    POST("/projects/{project_id}/star"),
    danger=Danger.REVERSIBLE,
    example={"project_id": "writes/app"},
    shows="path_with_namespace star_count",
    repeatable=True,
    recover_with=RecoveryLookup("browse_projects get", "project_id"),
    moved_from="manage_project",
    undo=Undo("unstar", "project_id"),
)
class StarProject(InProject):
    """Star a project."""


@manage.action(
    "unstar",
    POST("/projects/{project_id}/unstar"),
    danger=Danger.REVERSIBLE,
    example={"project_id": "writes/app"},
    shows="path_with_namespace star_count",
    repeatable=True,
    recover_with=RecoveryLookup("browse_projects get", "project_id"),
    moved_from="manage_project",
    undo=Undo("star", "project_id"),
)
class UnstarProject(InProject):
    """Take a star back."""


@manage.action(
    "fork",
    POST("/projects/{project_id}/fork"),
    danger=Danger.REVERSIBLE,
    example={"project_id": "writes/app", "name": "App fork", "path": "app-fork", "namespace_id": 61},
    shows=PROJECT,
    role=Role.REPORTER,
    recover_with=RecoveryLookup("browse_project_details forks", "project_id", proof=made("name", "path")),
    seldom_given="branches",
    moved_from="manage_project",
)
class ForkProject(InProject):
    """Fork a project; GitLab copies in the background, import_status says how far it is."""

    namespace_id: NamespaceId | None = None
    name: NonEmpty | None = None
    path: NonEmpty | None = None
    description: str | None = None
    visibility: NewVisibility | None = None
    branches: Annotated[NonEmpty, Field(description="One branch")] | None = None

    async def run(self, gitlab: GitLab) -> Answer:
        return await gitlab.send(self.request(namespace_id=await _number_of(gitlab, self.namespace_id)))


async def _number_of(gitlab: GitLab, namespace: str | None) -> int | None:
    """The number of a namespace given by number or path: GitLab takes only numbers here."""
    if namespace is None or namespace.isdigit():
        return int(namespace) if namespace else None
    answer = await gitlab.get(fill("/namespaces/{id}", id=namespace))
    return int(answer.body["id"])

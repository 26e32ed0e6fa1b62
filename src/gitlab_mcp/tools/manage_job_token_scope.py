"""Let CI/CD job tokens of other projects and groups into a project."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

from gitlab_mcp.actions.action import DELETE, PATCH, POST, Danger, fill
from gitlab_mcp.actions.danger import Risk, equals
from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.actions.fields import AlsoCalled, Flag, OtherGroup, ProjectId
from gitlab_mcp.actions.other_names import Instead
from gitlab_mcp.actions.recovery_lookup import LostWrite, RecoveryLookup
from gitlab_mcp.actions.scopes import InProject
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.actions.undo import Undo

manage = Tool(
    "manage_job_token_scope",
    "Let CI/CD job tokens of other projects and groups into a project.",
    toolset="access",
    also=("job_token", "allowlist", "ci_job_token"),
    instead={
        "add allow": "add_project",
        "remove disallow": "remove_project",
        "update": "set",
        "enable limit restrict": Instead("set", {"enabled": True}),
        "disable": Instead("set", {"enabled": False}),
    },
)

A = TypeVar("A", bound=InProject)
AllowedProject = Annotated[
    ProjectId, AlsoCalled("target_project_id", "target_project", "from_project_id", "source_project_id")
]
AllowedGroup = Annotated[OtherGroup, AlsoCalled("target_group_id", "target_group", "group_id")]


@manage.action(
    "set",
    PATCH("/projects/{project_id}/job_token_scope"),
    danger=Danger.DESTRUCTIVE,
    example={"project_id": "24", "enabled": True},
    recover_with=RecoveryLookup("browse_job_token_scope get", "project_id"),
)
class SetScope(InProject):
    """Switch on or off that only listed projects and groups are let in."""

    enabled: Annotated[
        Flag,
        Risk(
            Danger.DANGEROUS,
            "false",
            "the jobs of every project are then let in, with the rights of who started them",
            equals(False),
        ),
    ]


class OfAllowedProject(InProject):
    allowed_project_id: AllowedProject


class OfAllowedGroup(InProject):
    allowed_group_id: AllowedGroup


def _lists(field: str) -> Any:
    def proof(write: LostWrite, found: Mapping[str, Any]) -> bool:
        return bool(found["id"] == write.sent.get(field))

    return proof


@manage.action(
    "add_project",
    POST("/projects/{project_id}/job_token_scope/allowlist"),
    danger=Danger.DANGEROUS,
    example={"project_id": "24", "allowed_project_id": "23"},
    recover_with=RecoveryLookup(
        "browse_job_token_scope projects", "project_id", proof=_lists("target_project_id"), every_page=True
    ),
    undo=Undo("remove_project", "project_id allowed_project_id"),
)
class AddProject(OfAllowedProject):
    """Let the jobs of another project in."""

    async def run(self, gitlab: GitLab) -> Answer:
        numbered = await _with_number(self, gitlab)
        target = await _number(gitlab, self.allowed_project_id)
        return await gitlab.send(numbered.request(allowed_project_id=None, target_project_id=target))


@manage.action(
    "remove_project",
    DELETE("/projects/{project_id}/job_token_scope/allowlist/{allowed_project_id}"),
    danger=Danger.DESTRUCTIVE,
    example={"project_id": "24", "allowed_project_id": "23"},
    recover_with=RecoveryLookup("browse_job_token_scope projects", "project_id"),
    undo=Undo("add_project", "project_id allowed_project_id"),
)
class RemoveProject(OfAllowedProject):
    """Let the jobs of another project in no longer."""

    async def run(self, gitlab: GitLab) -> Answer:
        numbered = await _with_number(self, gitlab)
        target = str(await _number(gitlab, self.allowed_project_id))
        return await gitlab.send(numbered.model_copy(update={"allowed_project_id": target}).request())


@manage.action(
    "add_group",
    POST("/projects/{project_id}/job_token_scope/groups_allowlist"),
    danger=Danger.DANGEROUS,
    example={"project_id": "24", "allowed_group_id": 61},
    recover_with=RecoveryLookup(
        "browse_job_token_scope groups", "project_id", proof=_lists("target_group_id"), every_page=True
    ),
    undo=Undo("remove_group", "project_id allowed_group_id"),
)
class AddGroup(OfAllowedGroup):
    """Let the jobs of all projects of a group in."""

    async def run(self, gitlab: GitLab) -> Answer:
        numbered = await _with_number(self, gitlab)
        request = numbered.request(allowed_group_id=None, target_group_id=self.allowed_group_id)
        return await gitlab.send(request)


@manage.action(
    "remove_group",
    DELETE("/projects/{project_id}/job_token_scope/groups_allowlist/{allowed_group_id}"),
    danger=Danger.DESTRUCTIVE,
    example={"project_id": "24", "allowed_group_id": 61},
    recover_with=RecoveryLookup("browse_job_token_scope groups", "project_id"),
    undo=Undo("add_group", "project_id allowed_group_id"),
)
class RemoveGroup(OfAllowedGroup):
    """Let the jobs of a group's projects in no longer."""

    async def run(self, gitlab: GitLab) -> Answer:
        return await gitlab.send((await _with_number(self, gitlab)).request())


async def _with_number(action: A, gitlab: GitLab) -> A:
    """GitLab takes only the number of the project here."""
    if action.project_id.isdecimal():
        return action
    return action.model_copy(update={"project_id": str(await _number(gitlab, action.project_id))})


async def _number(gitlab: GitLab, project_id: str) -> int:
    if project_id.isdecimal():
        return int(project_id)
    return int((await gitlab.get(fill("/projects/{id}", id=project_id))).body["id"])

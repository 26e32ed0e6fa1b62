"""Erase jobs, and keep or delete their artifacts."""

from __future__ import annotations

from gitlab_mcp.actions.action import DELETE, POST, Danger, Role
from gitlab_mcp.actions.exchange import GitLab
from gitlab_mcp.actions.recovery_lookup import RecoveryLookup
from gitlab_mcp.actions.result import Result
from gitlab_mcp.actions.scopes import InProject, OfJob
from gitlab_mcp.actions.tool import Tool

manage = Tool(
    "manage_job_artifact",
    "Erase jobs, and keep or delete their artifacts.",
    toolset="ci",
)


@manage.action(
    "erase",
    POST("/projects/{project_id}/jobs/{job_id}/erase"),
    danger=Danger.DESTRUCTIVE,
    example={"project_id": "writes/sub-one/second-renamed", "job_id": 84},
    shows="id name status erased_at web_url",
    role=Role.DEVELOPER,
    recover_with=RecoveryLookup(
        "browse_jobs get", "project_id job_id", proof=lambda _, found: bool(found.get("erased_at"))
    ),
    moved_from="manage_job",
)
class EraseJob(OfJob):
    """Erase the log and the artifacts of a job."""


@manage.action(
    "keep_artifacts",
    POST("/projects/{project_id}/jobs/{job_id}/artifacts/keep"),
    danger=Danger.REVERSIBLE,
    example={"project_id": "writes/sub-one/second-renamed", "job_id": 80},
    shows="id name artifacts_expire_at web_url",
    repeatable=True,
    moved_from="manage_job",
)
class KeepArtifacts(OfJob):
    """Keep the artifacts of a job from expiring."""


@manage.action(
    "delete_artifacts",
    DELETE("/projects/{project_id}/jobs/{job_id}/artifacts"),
    danger=Danger.DESTRUCTIVE,
    example={"project_id": "writes/sub-one/second-renamed", "job_id": 80},
    moved_from="manage_job",
)
class DeleteArtifacts(OfJob):
    """Delete the artifacts of a job; jobs that depend on them fail from then on."""


@manage.action(
    "delete_project_artifacts",
    DELETE("/projects/{project_id}/artifacts"),
    danger=Danger.DANGEROUS,
    example={"project_id": "writes/sub-one/second-renamed"},
    moved_from="manage_job",
)
class DeleteProjectArtifacts(InProject):
    """Delete the artifacts of all jobs of a project, except the newest and those that are kept."""

    async def run(self, gitlab: GitLab) -> Result:
        await gitlab.send(self.request())
        then = (
            "GitLab deletes them in the background, which can take half an hour; the newest of each ref stay."
        )
        return Result(data={"started": True, "then": then})

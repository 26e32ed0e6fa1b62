"""Retry, cancel, play and erase CI/CD jobs, and keep or delete their artifacts."""

from __future__ import annotations

from typing import Annotated

from gitlab_mcp.actions.action import POST, Danger, Role
from gitlab_mcp.actions.danger import Risk
from gitlab_mcp.actions.fields import Flag, Only, SentAs
from gitlab_mcp.actions.job_variables import Inputs, JobVariables
from gitlab_mcp.actions.recovery_lookup import RecoveryLookup
from gitlab_mcp.actions.scopes import OfJob
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.workflows.pipelines.awaited import JOB as JOB_STARTED
from gitlab_mcp.workflows.pipelines.started import Starts

manage = Tool(
    "manage_job",
    "Retry, cancel and play CI/CD jobs.",
    also=(
        "build",
        "pipeline_job",
    ),
    instead={
        "run start trigger execute launch": "play",
        "delete_log clear_log": "manage_job_artifact erase",
    },
)
JOB = "id name status web_url"


@manage.action(
    "retry",
    POST("/projects/{project_id}/jobs/{job_id}/retry"),
    danger=Danger.REVERSIBLE,
    example={"project_id": "writes/sub-one/second-renamed", "job_id": 80},
    shows=JOB,
    role=Role.DEVELOPER,
    recover_with=RecoveryLookup(
        "browse_jobs list", "project_id", because="the new try does not name the old one"
    ),
    seldom_given="wait",
)
class RetryJob(Starts, OfJob):
    """Run a job again; the new try has an id of its own."""

    starts = JOB_STARTED

    inputs: (
        Annotated[
            Inputs,
            Only(since="19.3"),
            Risk(Danger.DESTRUCTIVE, "any", "they change what the job does", bool),
        ]
        | None
    ) = None


@manage.action(
    "cancel",
    POST("/projects/{project_id}/jobs/{job_id}/cancel"),
    danger=Danger.REVERSIBLE,
    example={"project_id": "writes/sub-one/second-renamed", "job_id": 85},
    shows=JOB,
    repeatable=True,
)
class CancelJob(OfJob):
    """Cancel a job that waits or runs; force ends one that is being canceled and does not stop."""

    force: Annotated[Flag, Only(since="19.3")] | None = None


@manage.action(
    "play",
    POST("/projects/{project_id}/jobs/{job_id}/play"),
    # A job is made manual to guard what it does, often a deployment.
    danger=Danger.DESTRUCTIVE,
    example={"project_id": "acme/website", "job_id": 68},
    shows=JOB,
    recover_with=RecoveryLookup(
        "browse_jobs get", "project_id job_id", proof=lambda _, found: found["status"] != "manual"
    ),
    has_line=True,
    seldom_given="job_variables_attributes wait",
)
class PlayJob(Starts, OfJob):
    """Start a manual job."""

    starts = JOB_STARTED

    job_variables_attributes: JobVariables | None = None
    inputs: Annotated[Inputs, Only(since="19.3"), SentAs("job_inputs")] | None = None

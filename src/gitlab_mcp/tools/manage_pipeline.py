"""Run, rename, retry, cancel and delete CI/CD pipelines."""

from __future__ import annotations

from typing import Annotated

from gitlab_mcp.actions.action import DELETE, POST, PUT, Danger, Role
from gitlab_mcp.actions.danger import Risk
from gitlab_mcp.actions.fields import NonEmpty, Only, Ref
from gitlab_mcp.actions.job_variables import Inputs, Variables
from gitlab_mcp.actions.other_names import Instead
from gitlab_mcp.actions.recovery_lookup import ME, RecoveryLookup, new
from gitlab_mcp.actions.scopes import InProject, OfPipeline
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.workflows.pipelines.awaited import PIPELINE as PIPELINE_STARTED
from gitlab_mcp.workflows.pipelines.started import Starts

manage = Tool(
    "manage_pipeline",
    "Run, retry, cancel and delete CI/CD pipelines.",
    instead={
        "run trigger start launch execute": "create",
        "rename": Instead("update", needs=("name",)),
    },
)

# Without the status: GitLab answers the one from before the action.
PIPELINE = "id web_url"
CHANGES_JOBS = Risk(Danger.DESTRUCTIVE, "any", "they change what the jobs do", bool)


@manage.action(
    "create",
    POST("/projects/{project_id}/pipeline"),
    danger=Danger.REVERSIBLE,
    example={
        "project_id": "acme/website",
        "ref": "main",
        "variables": [{"key": "DEPLOY_TO", "value": "staging"}],
    },
    shows="id status web_url",
    recover_with=RecoveryLookup(
        "browse_pipelines list", "project_id ref", {"username": ME}, proof=new("ref")
    ),
    seldom_given="wait",
)
class CreatePipeline(Starts, InProject):
    """Run a pipeline for a branch or a tag."""

    starts = PIPELINE_STARTED

    ref: Ref
    variables: Annotated[Variables, CHANGES_JOBS] | None = None
    inputs: Annotated[Inputs, Only(since="19.3"), CHANGES_JOBS] | None = None


@manage.action(
    "update",
    PUT("/projects/{project_id}/pipelines/{pipeline_id}/metadata"),
    danger=Danger.REVERSIBLE,
    example={"project_id": "writes/sub-one/second-renamed", "pipeline_id": 31, "name": "Nightly build"},
    shows="id name web_url",
)
class UpdatePipeline(OfPipeline):
    """Name a pipeline."""

    name: NonEmpty


@manage.action(
    "retry",
    POST("/projects/{project_id}/pipelines/{pipeline_id}/retry"),
    danger=Danger.REVERSIBLE,
    example={"project_id": "writes/sub-one/second-renamed", "pipeline_id": 31},
    shows=PIPELINE,
    recover_with=RecoveryLookup(
        "browse_pipelines get", "project_id pipeline_id", because="it may have been running before"
    ),
)
class RetryPipeline(OfPipeline):
    """Run the failed and canceled jobs of a pipeline again. Its status follows a moment later."""


@manage.action(
    "cancel",
    POST("/projects/{project_id}/pipelines/{pipeline_id}/cancel"),
    danger=Danger.REVERSIBLE,
    example={"project_id": "writes/sub-one/second-renamed", "pipeline_id": 38},
    shows=PIPELINE,
    repeatable=True,
)
class CancelPipeline(OfPipeline):
    """Cancel all jobs of a pipeline. Its status follows a moment later."""


@manage.action(
    "delete",
    DELETE("/projects/{project_id}/pipelines/{pipeline_id}"),
    danger=Danger.DESTRUCTIVE,
    example={"project_id": "writes/sub-one/second-renamed", "pipeline_id": 38},
    role=Role.OWNER,
)
class DeletePipeline(OfPipeline):
    """Delete a pipeline with its jobs, logs and artifacts, and its child pipelines."""

"""Explains what the state of a job means: why it failed, what it waits for, why it has no log."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_NOT_STARTED = frozenset(("created", "pending", "waiting_for_resource", "preparing", "scheduled"))

_FAILURE_REASONS = {
    "job_execution_timeout": "It ran longer than its timeout; the log shows where it was.",
    "stuck_or_timeout_failure": "No runner took it, or the runner fell silent: check the runners, then retry.",
    "no_matching_runner": "No runner fits its tags: add a runner or change the tags.",
    "runner_system_failure": "The runner failed, not the script: retry.",
    "runner_unsupported": "The runner is too old for what the job asks for: upgrade it.",
    "missing_dependency_failure": "Artifacts of an earlier job are gone: retry that job first, then this one.",
    "api_failure": "GitLab failed while the job ran: retry.",
    "scheduler_failure": "GitLab could not schedule it: retry.",
    "data_integrity_failure": "GitLab found its data inconsistent: run a new pipeline.",
    "unmet_prerequisites": "Something GitLab prepares for the job failed: retry.",
    "archived_failure": "The job is too old to run again: run a new pipeline.",
    "user_blocked": "The user it ran for is blocked: somebody else must run it.",
    "builds_disabled": "CI/CD is switched off in the project.",
    "ci_quota_exceeded": "The compute minutes are used up.",
    "trace_size_exceeded": "Its log grew beyond the limit: make it say less.",
    "protected_environment_failure": "The environment is protected from the user it ran for.",
    "environment_creation_failure": "Its environment could not be created: check the environment's name.",
    "deployment_rejected": "The deployment was rejected by an approver.",
    "forward_deployment_failure": "A newer deployment happened meanwhile: run a new pipeline.",
    "failed_outdated_deployment_job": "A newer deployment happened meanwhile: run a new pipeline.",
    "downstream_pipeline_creation_failed": "The pipeline it starts could not be created: see its yaml_errors.",
    "insufficient_bridge_permissions": "The user it ran for may not run pipelines on the branch it starts one on.",
    "downstream_bridge_project_not_found": "The project it starts a pipeline in is missing or hidden.",
    "invalid_bridge_trigger": "Its trigger is not valid: check the CI configuration.",
    "bridge_pipeline_is_child_pipeline": "A child pipeline may not start a pipeline there.",
    "reached_max_descendant_pipelines_depth": "Child pipelines are nested too deep.",
    "reached_max_pipeline_hierarchy_size": "There are too many child pipelines.",
}


def explain_failure(job: Mapping[str, Any]) -> str | None:
    """What its `failure_reason` means. None where the script failed, which only the log explains."""
    reason = job.get("failure_reason")
    downstream = job.get("downstream_pipeline") or {}
    if reason == "unknown_failure" and downstream.get("status") == "failed":
        # This is the reason GitLab gives for a bridge whose downstream pipeline failed.
        return f"The pipeline it started failed: {downstream.get('id')}."
    return _FAILURE_REASONS.get(str(reason))


def why_waiting(job: Mapping[str, Any]) -> str | None:
    """What a job that has not run waits for."""
    tags = job.get("tag_list") or []
    if job.get("status") == "manual":
        return "It waits for somebody to play it: manage_job play."
    if job.get("status") == "waiting_for_resource":
        return "It waits for its resource group."
    if job.get("status") == "pending":
        return f"It waits for a runner with the tags {', '.join(tags)}." if tags else "It waits for a runner."
    return None


def why_no_log(job: Mapping[str, Any]) -> str:
    """GitLab answers 200 with an empty body for every log that it does not have; the job tells why."""
    if job.get("erased_at"):
        return f"The log was erased at {job['erased_at']}."
    if waiting := why_waiting(job):
        return waiting
    if job.get("status") in _NOT_STARTED:
        return "The job has not started."
    if job.get("status") == "skipped":
        return "The job was skipped."
    if not job.get("started_at"):
        return "The job never ran, so it wrote no log."
    return "The job wrote no log, or GitLab no longer has it."

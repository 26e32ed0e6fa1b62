"""What a job that did not succeed has to say for itself, where its log does not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_NOT_YET = frozenset(("created", "pending", "waiting_for_resource", "preparing", "scheduled"))


def why_no_log(job: Mapping[str, Any]) -> str:
    """GitLab answers 200 and nothing for every log it does not have; the job knows more."""
    if job.get("erased_at"):
        return f"The log was erased at {job['erased_at']}."
    if job.get("status") == "manual":
        return "The job waits for somebody to play it: manage_job play."
    if job.get("status") in _NOT_YET:
        return "The job has not started."
    if job.get("status") == "skipped":
        return "The job was skipped."
    if not job.get("started_at"):
        return "The job never ran, so it wrote no log."
    return "The job wrote no log, or GitLab no longer has it."

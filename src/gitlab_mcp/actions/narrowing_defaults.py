"""What GitLab leaves out of a list unless it is asked otherwise, by endpoint. An answer names it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

NARROWING_DEFAULTS: Final[Mapping[str, Mapping[str, str]]] = {
    "/groups/{group_id}/issues": {"non_archived": "true"},
    "/groups/{group_id}/merge_requests": {"non_archived": "true"},
    "/issues": {"non_archived": "true"},
    "/groups/{group_id}/projects": {"include_subgroups": "false"},
    "/search": {"include_archived": "false"},
    "/groups/{group_id}/search": {"include_archived": "false"},
    "/projects/{project_id}/pipelines": {"source": "all but parent_pipeline"},
    "/projects/{project_id}/pipelines/{pipeline_id}/jobs": {"include_retried": "false"},
    "/projects/{project_id}/vulnerability_findings": {"scope": "without dismissed"},
}
"""Fields by our names; GitLab's where we do not offer it."""

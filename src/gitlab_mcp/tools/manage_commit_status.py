"""Report the outcome of external checks of commits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from gitlab_mcp.actions.action import POST, Danger
from gitlab_mcp.actions.danger import Risk, equals
from gitlab_mcp.actions.fields import (
    NonEmpty,
    PipelineId,
    Ref,
    WebUrl,
)
from gitlab_mcp.actions.recovery_lookup import LostWrite, RecoveryLookup
from gitlab_mcp.actions.scopes import OfCommit
from gitlab_mcp.actions.tool import Tool

manage = Tool(
    "manage_commit_status",
    "Report the outcome of an external check of a commit.",
    toolset="ci",
)


def _status_is_set(write: LostWrite, found: Mapping[str, Any]) -> bool:
    as_sent = {"name": write.action.name or "default", "status": write.action.state}
    return all(found[name] == value for name, value in as_sent.items()) and write.has(
        found, "ref", "target_url"
    )


@manage.action(
    "set",
    POST("/projects/{project_id}/statuses/{sha}"),
    danger=Danger.REVERSIBLE,
    example={
        "project_id": "acme/website",
        "sha": "dbc35632b7b69fd93edcc32d714d59617c7b5790",
        "state": "success",
        "name": "external",
        "target_url": "https://ci.acme.example/1",
        "description": "ok",
    },
    shows="id status name ref pipeline_id",
    recover_with=RecoveryLookup("browse_commit_details statuses", "project_id sha", proof=_status_is_set),
    moved_from="manage_commit set_status",
)
class SetStatus(OfCommit):
    """Report the outcome of an external check of a commit."""

    state: Annotated[
        Literal["pending", "running", "success", "failed", "canceled", "skipped"],
        Risk(
            Danger.DESTRUCTIVE,
            "success",
            "it counts as a passed check, which can let a merge through",
            equals("success"),
        ),
    ]
    name: NonEmpty | None = None
    ref: Ref | None = None
    target_url: Annotated[WebUrl, Field(max_length=255)] | None = None
    description: Annotated[str, Field(max_length=255)] | None = None
    coverage: Annotated[float, Field(ge=0, le=100)] | None = None
    pipeline_id: PipelineId | None = None

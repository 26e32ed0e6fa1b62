"""Estimate and book time on issues and merge requests."""

from __future__ import annotations

from typing import Self

from pydantic import model_validator

from gitlab_mcp.actions.action import POST, Danger, Endpoints
from gitlab_mcp.actions.fields import Duration, NonEmpty, broken_rule
from gitlab_mcp.actions.recovery_lookup import RecoveryLookup
from gitlab_mcp.actions.scopes import OfIssueOrMergeRequest
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.actions.undo import Undo

manage = Tool(
    "manage_time_tracking",
    "Estimate and book time on an issue or a merge request.",
    toolset="planning",
    also=("time", "time_spent", "estimate"),
    instead={
        "spend spend_time log log_time add_time track track_time book": "add_spent_time",
        "estimate set_estimate": "set_time_estimate",
        "reset_estimate": "reset_time_estimate",
        "reset_spent": "reset_spent_time",
    },
)

TIME = "human_time_estimate human_total_time_spent time_estimate total_time_spent"
ISSUE = {"project_id": "writes/app", "issue_iid": 1}


def _opposite(duration: str) -> str:
    return duration.removeprefix("-").strip() if duration.startswith("-") else f"-{duration}"


def _at(last: str) -> Endpoints:
    return POST(
        f"/projects/{{project_id}}/issues/{{issue_iid}}/{last}",
        f"/projects/{{project_id}}/merge_requests/{{merge_request_iid}}/{last}",
    )


@manage.action(
    "set_time_estimate",
    _at("time_estimate"),
    danger=Danger.REVERSIBLE,
    example={**ISSUE, "duration": "3h30m"},
    shows=TIME,
    repeatable=True,
    moved_from="manage_issue, manage_merge_request",
)
class SetTimeEstimate(OfIssueOrMergeRequest):
    """Say how long it will take."""

    duration: Duration

    @model_validator(mode="after")
    def _is_not_negative(self) -> Self:
        if self.duration.startswith("-"):
            raise broken_rule("a duration without a minus", field="duration")
        return self


@manage.action(
    "reset_time_estimate",
    _at("reset_time_estimate"),
    danger=Danger.REVERSIBLE,
    example=ISSUE,
    shows=TIME,
    repeatable=True,
    moved_from="manage_issue, manage_merge_request",
)
class ResetTimeEstimate(OfIssueOrMergeRequest):
    """Set the estimate to nothing."""


@manage.action(
    "add_spent_time",
    _at("add_spent_time"),
    danger=Danger.REVERSIBLE,
    example={**ISSUE, "duration": "1h", "summary": "Looking"},
    shows=TIME,
    recover_with=RecoveryLookup(
        "browse_time_tracking get",
        "project_id issue_iid merge_request_iid",
        because="GitLab shows the sum of what was booked",
    ),
    moved_from="manage_issue, manage_merge_request",
    undo=Undo("add_spent_time", "project_id issue_iid merge_request_iid", turned={"duration": _opposite}),
)
class AddSpentTime(OfIssueOrMergeRequest):
    """Book time; a minus takes it back."""

    duration: Duration
    summary: NonEmpty | None = None


@manage.action(
    "reset_spent_time",
    _at("reset_spent_time"),
    danger=Danger.DESTRUCTIVE,
    example=ISSUE,
    shows=TIME,
    repeatable=True,
    moved_from="manage_issue, manage_merge_request",
)
class ResetSpentTime(OfIssueOrMergeRequest):
    """Set the time spent to nothing."""

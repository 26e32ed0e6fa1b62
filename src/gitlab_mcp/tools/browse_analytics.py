"""DORA metrics, value streams, contributions and code review analytics."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from gitlab_mcp.actions.action import GET, POST, Action, Role, fill
from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.actions.fields import (
    Date,
    GroupId,
    Listed,
    NonEmpty,
    ProjectId,
    Words,
    broken_rule,
)
from gitlab_mcp.actions.result import Result
from gitlab_mcp.actions.scopes import InGroup, InProject, InProjectOrGroup, Paged
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.gitlab.graphql import full_path, value_at

browse = Tool(
    "browse_analytics",
    "Read DORA metrics (Ultimate), value streams, contributions and code review (Premium).",
    toolset="insight",
)

EnvironmentTier = Literal["production", "staging", "testing", "development", "other"]

_VALUE = "{ value unit }"
_BETWEEN_DATES = "(from: $from, to: $to)"
_FREE_METRICS = {"issueCount": "new_issues", "deploymentCount": "deployments"}
_PAID_METRICS = {
    "leadTime": "lead_time",
    "cycleTime": "cycle_time",
    "timeToMerge": "time_to_merge",
    "issuesCompletedCount": "closed_issues",
}


def _flow(place: str, metrics: Mapping[str, str]) -> str:
    asked = " ".join(f"{name}{_BETWEEN_DATES} {_VALUE}" for name in metrics)
    return (
        f"query($path: ID!, $from: Time!, $to: Time!) "
        f"{{ {place}(fullPath: $path) {{ flowMetrics {{ {asked} }} }} }}"
    )


PROJECT_FLOW = _flow("project", _FREE_METRICS)
PAID_PROJECT_FLOW = _flow("project", _PAID_METRICS)
"""A query of its own: the Community Edition refuses a whole query for one field that it does not know."""
GROUP_FLOW = _flow("group", {**_FREE_METRICS, **_PAID_METRICS})
VALUE_STREAMS = """query($path: ID!) {
  group(fullPath: $path) { valueStreams { nodes { id name stages { id name } } } }
}"""
CONTRIBUTIONS = """query($path: ID!, $from: ISO8601Date!, $to: ISO8601Date!, $after: String) {
  group(fullPath: $path) {
    contributions(from: $from, to: $to, first: 100, after: $after) {
      nodes {
        user { username } repoPushed issuesCreated issuesClosed mergeRequestsCreated mergeRequestsApproved
        mergeRequestsMerged mergeRequestsClosed totalEvents
      }
      pageInfo { endCursor hasNextPage }
    }
  }
}"""


class BetweenDates(Action):
    start_date: Date
    end_date: Date

    @model_validator(mode="after")
    def _in_order(self) -> BetweenDates:
        if date.fromisoformat(self.end_date) < date.fromisoformat(self.start_date):
            raise broken_rule("not before start_date", field="end_date")
        return self


@browse.action(
    "dora",
    GET("/projects/{project_id}/dora/metrics", "/groups/{group_id}/dora/metrics"),
    example={"project_id": "acme/website", "metric": "deployment_frequency"},
    shows="date value",
    role=Role.REPORTER,
    lists=True,
)
class Dora(InProjectOrGroup):
    """Read one of the four DORA metrics; times are in seconds."""

    metric: Literal[
        "deployment_frequency", "lead_time_for_changes", "time_to_restore_service", "change_failure_rate"
    ]
    start_date: Date | None = None
    end_date: Date | None = None
    interval: Literal["all", "monthly", "daily"] | None = None
    environment_tiers: Annotated[list[EnvironmentTier], Listed] | None = None


@browse.action(
    "project_flow",
    POST("/graphql"),
    docs="user/group/value_stream_analytics/",
    example={"project_id": "acme/website", "start_date": "2026-11-01", "end_date": "2026-11-02"},
    role=Role.REPORTER,
)
class ProjectFlow(BetweenDates):
    """Read how work flows through a project: counts on every tier, times with Premium."""

    project_id: ProjectId

    async def run(self, gitlab: GitLab) -> Result:
        path = await full_path(gitlab, project_id=self.project_id)
        variables = {"path": path, "from": self.start_date, "to": self.end_date}
        metrics = dict(value_at(await gitlab.graphql(PROJECT_FLOW, variables), "project", "flowMetrics"))
        if (await gitlab.get("/metadata")).body.get("enterprise") is not False:
            paid = await gitlab.graphql(PAID_PROJECT_FLOW, variables)
            metrics |= value_at(paid, "project", "flowMetrics")
        known = _metrics(metrics)
        missing = [name for name in _PAID_METRICS.values() if name not in known]
        note = (
            {"not_known": missing, "why": "Needs GitLab Premium, or nothing was measured."} if missing else {}
        )
        return Result(data={**known, **note})


@browse.action(
    "group_flow",
    POST("/graphql"),
    docs="user/group/value_stream_analytics/",
    example={"group_id": "acme", "start_date": "2026-11-01", "end_date": "2026-11-02"},
    feature="value_stream_analytics_group",
    role=Role.REPORTER,
)
class GroupFlow(BetweenDates):
    """Read how work flows through a group: counts, lead time, cycle time, time to merge."""

    group_id: GroupId

    async def run(self, gitlab: GitLab) -> Result:
        path = await full_path(gitlab, group_id=self.group_id)
        variables = {"path": path, "from": self.start_date, "to": self.end_date}
        return Result(
            data=_metrics(value_at(await gitlab.graphql(GROUP_FLOW, variables), "group", "flowMetrics"))
        )


@browse.action(
    "value_streams",
    POST("/graphql"),
    docs="user/group/value_stream_analytics/",
    example={"group_id": "acme"},
    feature="value_stream_analytics_group",
    role=Role.REPORTER,
    lists=True,
)
class ValueStreams(InGroup):
    """List the value streams of a group with their stages."""

    async def run(self, gitlab: GitLab) -> Result:
        path = await full_path(gitlab, group_id=self.group_id)
        found = value_at(
            await gitlab.graphql(VALUE_STREAMS, {"path": path}), "group", "valueStreams", "nodes"
        )
        streams = [
            {"name": each["name"], "stages": [stage["name"] for stage in each["stages"] or ()]}
            for each in found
        ]
        return Result(data={"items": streams, "total": len(streams)})


@browse.action(
    "contributions",
    POST("/graphql"),
    docs="user/group/contribution_analytics/",
    example={"group_id": "acme", "start_date": "2026-11-01", "end_date": "2026-11-02"},
    feature="contribution_analytics",
    role=Role.GUEST,
    lists=True,
)
class Contributions(BetweenDates):
    """Count what each member of a group did."""

    group_id: GroupId
    after: Annotated[NonEmpty, Field(description="next_cursor of the page before")] | None = None

    async def run(self, gitlab: GitLab) -> Result:
        path = await full_path(gitlab, group_id=self.group_id)
        variables = {"path": path, "from": self.start_date, "to": self.end_date, "after": self.after}
        found = value_at(await gitlab.graphql(CONTRIBUTIONS, variables), "group", "contributions")
        items = [{**each, "user": (each["user"] or {}).get("username")} for each in found["nodes"]]
        page = found["pageInfo"]
        return Result(
            data={"items": items, **({"next_cursor": page["endCursor"]} if page["hasNextPage"] else {})}
        )


@browse.action(
    "code_review",
    GET("/analytics/code_review"),
    docs="user/analytics/code_review_analytics/",
    example={"project_id": "tiers-b/one"},
    shows="iid title author=author.username review_time notes_count diff_stats approved_by=approved_by.username",
    role=Role.REPORTER,
)
class CodeReview(InProject, Paged):
    """List open merge requests by how long they are being reviewed, in hours."""

    label_name: Words | None = None
    milestone_title: NonEmpty | None = None

    async def run(self, gitlab: GitLab) -> Answer:
        # GitLab takes only the number of the project here.
        number = self.project_id
        if not number.isdecimal():
            number = (await gitlab.get(fill("/projects/{id}", id=self.project_id))).body["id"]
        return await gitlab.send(self.request(project_id=number))


@browse.action(
    "recent_activity",
    GET("/analytics/group_activity/issues_count"),
    example={"group_id": "acme"},
    role=Role.GUEST,
)
class RecentActivity(InGroup):
    """Count the issues, merge requests and members that are new in a group since 90 days."""

    async def run(self, gitlab: GitLab) -> Result:
        group_path = await full_path(gitlab, group_id=self.group_id)
        counts: dict[str, Any] = {}
        for name in ("issues_count", "merge_requests_count", "new_members_count"):
            path = f"/analytics/group_activity/{name}"
            counts |= (await gitlab.get(path, group_path=group_path)).body
        return Result(data=counts)


def _metrics(found: Mapping[str, Any]) -> dict[str, Any]:
    names = {**_FREE_METRICS, **_PAID_METRICS}
    return {
        names[name]: f"{metric['value']} {metric['unit'] or ''}".strip()
        for name, metric in found.items()
        if metric is not None and metric["value"] is not None
    }

"""Vulnerabilities, which GitLab shows by GraphQL; findings and exports, which it shows by REST."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from gitlab_mcp.actions.action import GET, POST, Action, Role
from gitlab_mcp.actions.exchange import GitLab
from gitlab_mcp.actions.fields import (
    Expects,
    ExportId,
    Listed,
    NonEmpty,
    PerPage,
    PipelineId,
    VulnerabilityId,
)
from gitlab_mcp.actions.result import Result
from gitlab_mcp.actions.scopes import InProject, InProjectOrGroup, Paged
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.gitlab.graphql import full_path, numeric_id, value_at
from gitlab_mcp.results.file_contents import export_result

browse = Tool("browse_vulnerabilities", "Read vulnerabilities and findings (Ultimate).", toolset="security")

_FILTERS = """$path: ID!, $severity: [VulnerabilitySeverity!], $state: [VulnerabilityState!],
  $reportType: [VulnerabilityReportType!]"""
_FILTERED = "severity: $severity, state: $state, reportType: $reportType"
_COUNTS = f"vulnerabilitySeveritiesCount({_FILTERED}) {{ critical high medium low info unknown }}"
_LOCATION = """location {
    ... on VulnerabilityLocationSast { file startLine }
    ... on VulnerabilityLocationSecretDetection { file startLine }
    ... on VulnerabilityLocationDependencyScanning { file dependency { version package { name } } }
    ... on VulnerabilityLocationContainerScanning { image dependency { version package { name } } }
  }"""


def _list_query(place: str) -> str:
    # Where the licence or the role is missing, the list is empty; only the counts, which are null, tell.
    return f"""query({_FILTERS}, $first: Int, $after: String) {{
  {place}(fullPath: $path) {{
    {_COUNTS}
    vulnerabilities({_FILTERED}, sort: severity_desc, first: $first, after: $after) {{
      nodes {{ id title severity state reportType detectedAt webUrl {_LOCATION} }}
      pageInfo {{ endCursor hasNextPage }}
    }}
  }}
}}"""


def _count_query(place: str) -> str:
    return f"query({_FILTERS}) {{ {place}(fullPath: $path) {{ {_COUNTS} }} }}"


VULNERABILITY = f"""query($id: VulnerabilityID!) {{
  vulnerability(id: $id) {{
    id title description severity state reportType detectedAt confirmedAt dismissedAt resolvedAt
    dismissalReason stateComment solution falsePositive resolvedOnDefaultBranch webUrl {_LOCATION}
    project {{ fullPath }} scanner {{ name }} identifiers {{ name url }} links {{ url }}
    issueLinks {{ nodes {{ id issue {{ iid title webUrl }} }} }}
    mergeRequest {{ iid webUrl }}
  }}
}}"""

LIST_QUERIES: Mapping[str, str] = {place: _list_query(place) for place in ("project", "group")}
COUNT_QUERIES: Mapping[str, str] = {place: _count_query(place) for place in ("project", "group")}


Severity = Literal["critical", "high", "medium", "low", "info", "unknown"]
Severities = Annotated[list[Severity], Listed, Expects("an array of severities")]
ReportType = Literal[
    "sast",
    "dependency_scanning",
    "container_scanning",
    "dast",
    "secret_detection",
    "coverage_fuzzing",
    "api_fuzzing",
    "cluster_image_scanning",
    "container_scanning_for_registry",
    "generic",
    "sarif",
]
ReportTypes = Annotated[list[ReportType], Listed, Expects("an array of report types")]
Cursor = Annotated[NonEmpty, Field(description="next_cursor of the page before")]


class FilteredVulnerabilities(InProjectOrGroup):
    severity: Severities | None = None
    state: Literal["detected", "confirmed", "dismissed", "resolved"] | None = None
    report_type: ReportTypes | None = None

    @property
    def place(self) -> str:
        return "project" if self.project_id is not None else "group"

    async def filters(self, gitlab: GitLab) -> dict[str, Any]:
        path = await full_path(gitlab, project_id=self.project_id, group_id=self.group_id)
        given = {
            "severity": [each.upper() for each in self.severity or ()],
            "state": [self.state.upper()] if self.state else [],
            "reportType": [each.upper() for each in self.report_type or ()],
        }
        return {"path": path, **{name: values for name, values in given.items() if values}}


@browse.action(
    "list",
    POST("/graphql"),
    docs="api/project_vulnerabilities/#list-project-vulnerabilities",
    example={"project_id": "tiers-b/one", "severity": ["critical", "high"], "state": "detected"},
    feature="vulnerabilities",
    role=Role.DEVELOPER,
    lists=True,
)
class ListVulnerabilities(FilteredVulnerabilities):
    """List vulnerabilities, the worst first."""

    after: Cursor | None = None
    per_page: PerPage | None = None

    async def run(self, gitlab: GitLab) -> Result:
        variables = {**await self.filters(gitlab), "first": self.per_page or 20, "after": self.after}
        data = await gitlab.graphql(LIST_QUERIES[self.place], variables)
        counts = value_at(data, self.place, "vulnerabilitySeveritiesCount")
        found = value_at(data, self.place, "vulnerabilities")
        page = found["pageInfo"]
        return Result(
            data={
                "items": [_summary(each) for each in found["nodes"]],
                "total": sum(count or 0 for count in counts.values()),
                **({"next_cursor": page["endCursor"]} if page["hasNextPage"] else {}),
            }
        )


@browse.action(
    "counts",
    POST("/graphql"),
    docs="api/project_vulnerabilities/",
    example={"project_id": "tiers-b/one"},
    feature="vulnerabilities",
    role=Role.DEVELOPER,
)
class CountVulnerabilities(FilteredVulnerabilities):
    """Count vulnerabilities by severity."""

    async def run(self, gitlab: GitLab) -> Result:
        data = await gitlab.graphql(COUNT_QUERIES[self.place], await self.filters(gitlab))
        return Result(data=dict(value_at(data, self.place, "vulnerabilitySeveritiesCount")))


@browse.action(
    "get",
    POST("/graphql"),
    docs="api/vulnerabilities/#retrieve-a-vulnerability",
    example={"vulnerability_id": 1},
    feature="vulnerabilities",
    role=Role.DEVELOPER,
)
class GetVulnerability(Action):
    """Read one vulnerability: where it is, what solves it, which issues are about it."""

    vulnerability_id: VulnerabilityId

    async def run(self, gitlab: GitLab) -> Result:
        data = await gitlab.graphql(VULNERABILITY, {"id": _global_id(self.vulnerability_id)})
        found = value_at(data, "vulnerability")
        links = [
            {"issue_link_id": numeric_id(each["id"]), **(each["issue"] or {})}
            for each in found["issueLinks"]["nodes"]
        ]
        return Result(data=_without_nulls({**_summary(found), **_details(found), "issues": links}))


@browse.action(
    "findings",
    GET("/projects/{project_id}/vulnerability_findings"),
    example={"project_id": "tiers-b/one"},
    shows="id name severity report_type state location=location.file line=location.start_line"
    " scanner=scanner.name identifiers=identifiers.name | description solution",
    role=Role.DEVELOPER,
)
class ListFindings(InProject, Paged):
    """List what the scanners of a pipeline reported, whether or not it became a vulnerability."""

    severity: Severities | None = None
    report_type: ReportTypes | None = None
    pipeline_id: PipelineId | None = None
    scope: Literal["all", "dismissed"] | None = None


@browse.action(
    "get_export",
    GET("/security/vulnerability_exports/{export_id}"),
    example={"export_id": 2},
    shows="id status format created_at started_at finished_at",
    role=Role.DEVELOPER,
)
class GetExport(Action):
    """Read whether an export is finished."""

    export_id: ExportId


@browse.action(
    "download_export",
    GET("/security/vulnerability_exports/{export_id}/download"),
    example={"export_id": 2},
    role=Role.DEVELOPER,
)
class DownloadExport(Action):
    """Read a finished export, as CSV."""

    export_id: ExportId

    async def run(self, gitlab: GitLab) -> Result:
        name = f"vulnerability export {self.export_id}"
        return await gitlab.stream(self.request(), lambda chunks, _: export_result(chunks, name))


def _global_id(number: int) -> str:
    return f"gid://gitlab/Vulnerability/{number}"


def _summary(found: Mapping[str, Any]) -> dict[str, Any]:
    return _without_nulls(
        {
            "id": numeric_id(found["id"]),
            "title": found["title"],
            **{name: _lower(found[name]) for name in ("severity", "state")},
            "report_type": _lower(found["reportType"]),
            "where": _location(found["location"]),
            "detected_at": found["detectedAt"],
            "web_url": found["webUrl"],
        }
    )


def _details(found: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "project": (found["project"] or {}).get("fullPath"),
        "scanner": (found["scanner"] or {}).get("name"),
        "description": found["description"],
        "solution": found["solution"],
        "identifiers": [each["name"] for each in found["identifiers"]],
        "links": [each["url"] for each in found["links"]],
        "dismissal_reason": _lower(found["dismissalReason"]),
        "state_comment": found["stateComment"],
        "gone_on_default_branch": found["resolvedOnDefaultBranch"],
        "merge_request": (found["mergeRequest"] or {}).get("webUrl"),
    }


def _location(location: Mapping[str, Any] | None) -> str | None:
    if not location:
        return None
    place = location.get("file") or location.get("image")
    line = f":{location['startLine']}" if location.get("startLine") else ""
    dependency = location.get("dependency") or {}
    package = (dependency.get("package") or {}).get("name")
    return (
        " ".join(
            part
            for part in (
                f"{place}{line}" if place else "",
                f"{package} {dependency.get('version') or ''}".strip() if package else "",
            )
            if part
        )
        or None
    )


def _lower(value: str | None) -> str | None:
    return value.lower() if value else None


def _without_nulls(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value not in (None, [], "")}

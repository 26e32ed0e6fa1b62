"""Vulnerabilities that scanners found. GitLab shows and changes them by GraphQL; findings and exports by REST."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from gitlab_mcp.actions.action import GET, POST, Action, Role
from gitlab_mcp.actions.exchange import GitLab
from gitlab_mcp.actions.fields import (
    Expects,
    GroupId,
    Id,
    Line,
    Listed,
    Page,
    PerPage,
    ProjectId,
    Words,
)
from gitlab_mcp.actions.result import Result
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.gitlab.graphql import full_path, number_of, reached
from gitlab_mcp.results.downloads import downloaded

browse = Tool("browse_vulnerabilities", "Read vulnerabilities and findings (Ultimate).", toolset="security")

_FILTERS = """$path: ID!, $severity: [VulnerabilitySeverity!], $state: [VulnerabilityState!],
  $reportType: [VulnerabilityReportType!]"""
_FILTERED = "severity: $severity, state: $state, reportType: $reportType"
_COUNTS = f"vulnerabilitySeveritiesCount({_FILTERED}) {{ critical high medium low info unknown }}"
_WHERE = """location {
    ... on VulnerabilityLocationSast { file startLine }
    ... on VulnerabilityLocationSecretDetection { file startLine }
    ... on VulnerabilityLocationDependencyScanning { file dependency { version package { name } } }
    ... on VulnerabilityLocationContainerScanning { image dependency { version package { name } } }
  }"""


def _listing(place: str) -> str:
    # Where the licence or the role is missing the list is empty without a word, and the counts are null.
    return f"""query({_FILTERS}, $first: Int, $after: String) {{
  {place}(fullPath: $path) {{
    {_COUNTS}
    vulnerabilities({_FILTERED}, sort: severity_desc, first: $first, after: $after) {{
      nodes {{ id title severity state reportType detectedAt webUrl {_WHERE} }}
      pageInfo {{ endCursor hasNextPage }}
    }}
  }}
}}"""


def _counting(place: str) -> str:
    return f"query({_FILTERS}) {{ {place}(fullPath: $path) {{ {_COUNTS} }} }}"


VULNERABILITY = f"""query($id: VulnerabilityID!) {{
  vulnerability(id: $id) {{
    id title description severity state reportType detectedAt confirmedAt dismissedAt resolvedAt
    dismissalReason stateComment solution falsePositive resolvedOnDefaultBranch webUrl {_WHERE}
    project {{ fullPath }} scanner {{ name }} identifiers {{ name url }} links {{ url }}
    issueLinks {{ nodes {{ id issue {{ iid title webUrl }} }} }}
    mergeRequest {{ iid webUrl }}
  }}
}}"""

LISTINGS: Mapping[str, str] = {place: _listing(place) for place in ("project", "group")}
COUNTINGS: Mapping[str, str] = {place: _counting(place) for place in ("project", "group")}


Severity = Literal["critical", "high", "medium", "low", "info", "unknown"]
Severities = Annotated[list[Severity], Listed, Expects("array of severities")]
Cursor = Annotated[Line, Field(description="next_cursor of the page before")]


class Filtered(Action):
    project_id: ProjectId | None = None
    group_id: GroupId | None = None
    severity: Severities | None = None
    state: Literal["detected", "confirmed", "dismissed", "resolved"] | None = None
    report_type: Words | None = None

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
)
class ListVulnerabilities(Filtered):
    """List vulnerabilities, the worst first."""

    after: Cursor | None = None
    per_page: PerPage | None = None

    async def run(self, gitlab: GitLab) -> Result:
        variables = {**await self.filters(gitlab), "first": self.per_page or 20, "after": self.after}
        data = await gitlab.graphql(LISTINGS[self.place], variables)
        counts = reached(data, self.place, "vulnerabilitySeveritiesCount")
        found = reached(data, self.place, "vulnerabilities")
        page = found["pageInfo"]
        return Result(
            data={
                "items": [_line(each) for each in found["nodes"]],
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
class CountVulnerabilities(Filtered):
    """Count vulnerabilities by severity."""

    async def run(self, gitlab: GitLab) -> Result:
        data = await gitlab.graphql(COUNTINGS[self.place], await self.filters(gitlab))
        return Result(data=dict(reached(data, self.place, "vulnerabilitySeveritiesCount")))


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

    vulnerability_id: Id

    async def run(self, gitlab: GitLab) -> Result:
        data = await gitlab.graphql(VULNERABILITY, {"id": _global(self.vulnerability_id)})
        found = reached(data, "vulnerability")
        links = [
            {"issue_link_id": number_of(each["id"]), **(each["issue"] or {})}
            for each in found["issueLinks"]["nodes"]
        ]
        return Result(data=_without_nulls({**_line(found), **_rest(found), "issues": links}))


@browse.action(
    "findings",
    GET("/projects/{project_id}/vulnerability_findings"),
    docs="api/vulnerability_findings/#list-all-project-vulnerability-findings",
    example={"project_id": "tiers-b/one"},
    shows="id name severity report_type state location=location.file line=location.start_line"
    " scanner=scanner.name identifiers=identifiers.name | description solution",
    feature="vulnerability_findings",
    role=Role.DEVELOPER,
)
class ListFindings(Action):
    """List what the scanners of a pipeline reported, whether or not it became a vulnerability."""

    project_id: ProjectId
    severity: Severities | None = None
    report_type: Words | None = None
    pipeline_id: Id | None = None
    page: Page | None = None
    per_page: PerPage | None = None


@browse.action(
    "get_export",
    GET("/security/vulnerability_exports/{export_id}"),
    docs="api/vulnerability_exports/#retrieve-a-vulnerability-export",
    example={"export_id": 2},
    shows="id status format created_at started_at finished_at",
    feature="vulnerability_exports",
    role=Role.DEVELOPER,
)
class GetExport(Action):
    """Read whether an export is finished."""

    export_id: Id


@browse.action(
    "download_export",
    GET("/security/vulnerability_exports/{export_id}/download"),
    docs="api/vulnerability_exports/#download-a-vulnerability-export",
    example={"export_id": 2},
    feature="vulnerability_exports",
    role=Role.DEVELOPER,
)
class DownloadExport(Action):
    """Read a finished export, as CSV."""

    export_id: Id

    async def run(self, gitlab: GitLab) -> Result:
        return await downloaded(gitlab, self.request(), f"vulnerability export {self.export_id}")


def _global(number: int) -> str:
    return f"gid://gitlab/Vulnerability/{number}"


def _line(found: Mapping[str, Any]) -> dict[str, Any]:
    return _without_nulls(
        {
            "id": number_of(found["id"]),
            "title": found["title"],
            **{name: _lower(found[name]) for name in ("severity", "state")},
            "report_type": _lower(found["reportType"]),
            "where": _where(found["location"]),
            "detected_at": found["detectedAt"],
            "web_url": found["webUrl"],
        }
    )


def _rest(found: Mapping[str, Any]) -> dict[str, Any]:
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


def _where(location: Mapping[str, Any] | None) -> str | None:
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

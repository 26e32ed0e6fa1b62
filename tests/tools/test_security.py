"""Vulnerabilities, dependencies, analytics, compliance and code owners."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gitlab_mcp.app import App
from gitlab_mcp.failures.failure import CallFailed, Failure
from tests.support.recordings import rows
from tests.support.standin import StandIn

pytestmark = pytest.mark.anyio
Against = Callable[..., App]
GRAPHQL = "/api/graphql"


def recorded(edition: str, label: str) -> str:
    """What a real GitLab answered to a question of this kind, asked in other words."""
    found = (row for row in rows(f"graphql_{edition}") if row["label"] == f"graphql/{label}")
    return str(next(found)["body"])


def says(standin: StandIn, body: Any) -> None:
    headers = {"content-type": "application/json"} if isinstance(body, str) else None
    standin.answer("POST", GRAPHQL, 200, body, headers)


async def refusal(app: App, tool: str, **arguments: Any) -> Failure:
    with pytest.raises(CallFailed) as refused:
        await app.call(tool, arguments)
    return refused.value.failure


VULNERABILITY = {
    "id": "gid://gitlab/Vulnerability/12",
    "title": "Hard-coded password",
    "severity": "CRITICAL",
    "state": "DETECTED",
    "reportType": "SAST",
    "detectedAt": "2026-11-01T10:00:00Z",
    "webUrl": "https://gitlab.example.com/acme/website/-/security/vulnerabilities/12",
    "location": {"file": "app/login.py", "startLine": "7"},
}
COUNTS = {"critical": 1, "high": 2, "medium": 0, "low": 0, "info": 0, "unknown": None}


async def test_an_empty_list_of_vulnerabilities_without_a_licence_is_a_refusal_and_not_good_news(
    standin: StandIn, against: Against, cassettes: Path
) -> None:
    """The list is empty in silence; the count that is asked along with it is null. Two recorded answers in one."""
    standin.play(cassettes)
    both = [
        recorded("ee", label) for label in ("vulnerabilities_project", "vulnerabilities_severities_project")
    ]
    listed, counted = (json.loads(body)["data"]["project"] for body in both)
    assert listed == {"vulnerabilities": {"nodes": []}}
    listed["vulnerabilities"]["pageInfo"] = {"endCursor": None, "hasNextPage": False}
    says(standin, {"data": {"project": {**listed, **counted}}})
    failure = await refusal(
        against(), "browse_vulnerabilities", action="list", project_id="tiers-b/one", severity="critical"
    )
    assert failure.code == "TIER_RESTRICTED"
    assert failure.facts["tier_required"] == "Ultimate"
    assert failure.facts["current_tier"] == "Free"


async def test_a_community_edition_that_does_not_know_the_field_lacks_the_tier(
    standin: StandIn, against: Against
) -> None:
    """What surrounds the recorded answer is synthetic."""
    standin.answer("GET", "/metadata", body={"version": "17.2.0", "enterprise": False})
    says(standin, recorded("ce", "vulnerabilities_project"))
    failure = await refusal(against(), "browse_vulnerabilities", action="list", project_id="acme/website")
    assert failure.code == "TIER_RESTRICTED"
    assert failure.facts["edition"] == "CE"


async def test_vulnerabilities_read_like_lines_a_person_would_write(
    standin: StandIn, against: Against
) -> None:
    """Synthetic: a licensed GitLab answers."""
    page = {"endCursor": "eyJpZCI6IjEyIn0", "hasNextPage": True}
    found = {
        "vulnerabilitySeveritiesCount": COUNTS,
        "vulnerabilities": {"nodes": [VULNERABILITY], "pageInfo": page},
    }
    says(standin, {"data": {"project": found}})
    arguments = {
        "action": "list",
        "project_id": "acme/website",
        "severity": ["critical"],
        "state": "detected",
    }
    result = await against().call("browse_vulnerabilities", arguments)
    (line,) = result.data["items"]
    assert line == {
        "id": 12,
        "title": "Hard-coded password",
        "severity": "critical",
        "state": "detected",
        "report_type": "sast",
        "where": "app/login.py:7",
        "detected_at": "2026-11-01T10:00:00Z",
        "web_url": "https://gitlab.example.com/acme/website/-/security/vulnerabilities/12",
    }
    assert (result.data["total"], result.data["next_cursor"]) == (3, "eyJpZCI6IjEyIn0")
    variables = standin.requests[0].json["variables"]
    assert variables["path"] == "acme/website"
    assert (variables["severity"], variables["state"]) == (["CRITICAL"], ["DETECTED"])


async def test_a_project_given_by_its_number_is_asked_for_by_its_path(
    standin: StandIn, against: Against
) -> None:
    """Synthetic: a licensed GitLab answers."""
    standin.answer("GET", "/projects/1", body={"id": 1, "path_with_namespace": "acme/website"})
    says(standin, {"data": {"project": {"vulnerabilitySeveritiesCount": COUNTS}}})
    result = await against().call("browse_vulnerabilities", {"action": "counts", "project_id": 1})
    assert result.data["high"] == 2
    assert standin.requests[-1].json["variables"] == {"path": "acme/website"}


async def test_a_dismissal_carries_its_reason(standin: StandIn, against: Against) -> None:
    """Synthetic: a licensed GitLab answers."""
    changed = {
        "id": "gid://gitlab/Vulnerability/12",
        "state": "DISMISSED",
        "webUrl": "https://x.example/a/b/-/security/vulnerabilities/12",
    }
    says(standin, {"data": {"vulnerabilityDismiss": {"errors": [], "vulnerability": changed}}})
    arguments = {"action": "dismiss", "vulnerability_id": 12, "dismissal_reason": "used_in_tests"}
    result = await against().call("manage_vulnerability", arguments)
    assert result.data == {
        "state": "dismissed",
        "web_url": "https://x.example/a/b/-/security/vulnerabilities/12",
    }
    sent = standin.requests[0].json["variables"]["input"]
    assert sent == {"id": "gid://gitlab/Vulnerability/12", "dismissalReason": "USED_IN_TESTS"}


async def test_what_a_mutation_says_under_errors_is_no_success(standin: StandIn, against: Against) -> None:
    """Synthetic."""
    payload = {"errors": ["Cannot dismiss a vulnerability that is resolved"], "vulnerability": None}
    says(standin, {"data": {"vulnerabilityDismiss": payload}})
    failure = await refusal(against(), "manage_vulnerability", action="dismiss", vulnerability_id=12)
    assert "resolved" in failure.facts["gitlab_message"]


async def test_without_a_licence_a_dismissal_is_refused_for_the_tier(
    standin: StandIn, against: Against, cassettes: Path
) -> None:
    standin.play(cassettes)
    says(standin, recorded("ee", "vulnerabilities_dismiss"))
    app = against(tier="Free")
    failure = await refusal(app, "manage_vulnerability", action="dismiss", vulnerability_id=1)
    assert failure.code == "TIER_RESTRICTED"


async def test_an_export_is_read_as_text(standin: StandIn, against: Against) -> None:
    """Synthetic: a licensed GitLab answers."""
    csv = "Group Name,Project Name,Severity\nacme,website,critical\n"
    path = "/security/vulnerability_exports/3/download"
    standin.answer("GET", path, 200, csv, {"content-type": "text/csv"})
    result = await against().call("browse_vulnerabilities", {"action": "download_export", "export_id": 3})
    assert result.text is not None
    assert result.text.content == csv
    assert result.data["lines"] == 2


async def test_only_an_sbom_can_be_made_of_a_pipeline(standin: StandIn, against: Against) -> None:
    """Synthetic: a licensed GitLab answers."""
    standin.answer("POST", "/pipelines/25/dependency_list_exports", 201, {"id": 4, "has_finished": False})
    app = against()
    result = await app.call("manage_vulnerability", {"action": "export_dependencies", "pipeline_id": 25})
    assert result.data == {"export_id": 4, "has_finished": False}
    assert standin.requests[0].json == {"export_type": "sbom"}


@pytest.mark.parametrize("enterprise", [True, False])
async def test_fields_that_only_an_enterprise_edition_has_are_asked_only_of_one(
    standin: StandIn, against: Against, enterprise: bool
) -> None:
    """Synthetic: one field that the Community Edition lacks would void the whole answer."""
    standin.answer("GET", "/metadata", body={"version": "17.2.0", "enterprise": enterprise})
    says(standin, {"data": {"project": {"flowMetrics": {"issueCount": {"value": 3, "unit": None}}}}})
    arguments = {"action": "project_flow", "project_id": "acme/website"}
    span = {"start_date": "2026-11-01", "end_date": "2026-11-30"}
    result = await against().call("browse_analytics", {**arguments, **span})
    assert result.data["new_issues"] == "3"
    asked = [request.json["query"] for request in standin.requests if request.path == GRAPHQL]
    assert any("leadTime" in query for query in asked) is enterprise
    assert "leadTime" not in asked[0]


async def test_a_group_without_value_streams_for_want_of_a_licence_is_refused_not_empty(
    standin: StandIn, against: Against, cassettes: Path
) -> None:
    standin.play(cassettes)
    says(standin, recorded("ee", "value_streams_list"))
    failure = await refusal(against(), "browse_analytics", action="value_streams", group_id="tiers-a")
    assert failure.code == "TIER_RESTRICTED"
    assert failure.facts["feature_name"] == "Value stream analytics"


async def test_code_review_analytics_of_a_path_are_asked_by_number(
    standin: StandIn, against: Against
) -> None:
    """Synthetic: a licensed GitLab answers."""
    standin.answer("GET", "/projects/acme%2Fwebsite", body={"id": 1, "path_with_namespace": "acme/website"})
    standin.answer("GET", "/analytics/code_review", body=[])
    await against().call("browse_analytics", {"action": "code_review", "project_id": "acme/website"})
    (asked,) = [request for request in standin.requests if request.route == "/analytics/code_review"]
    assert dict(asked.params) == {"project_id": "1"}


async def test_a_span_that_ends_before_it_begins_is_refused(standin: StandIn, against: Against) -> None:
    failure = await refusal(
        against(),
        "browse_analytics",
        action="contributions",
        group_id="acme",
        start_date="2026-11-02",
        end_date="2026-11-01",
    )
    assert [each["field"] for each in failure.facts["invalid_fields"]] == ["end_date"]
    assert standin.requests == []


async def test_a_path_is_owned_on_every_tier(replayed: App) -> None:
    arguments = {"action": "owners", "project_id": "acme/shop", "file_path": "docs/start.md", "ref": "main"}
    result = await replayed.call("browse_code_owners", arguments)
    assert result.data["owned_by"] == [
        {"section": "codeowners", "approvals": 1, "line": 2, "pattern": "/docs/", "owners": ["@bob"]}
    ]


async def test_the_changed_files_of_a_merge_request_are_sorted_by_their_owners(replayed: App) -> None:
    arguments = {"action": "merge_request", "project_id": "acme/shop", "merge_request_iid": 1}
    (group,) = (await replayed.call("browse_code_owners", arguments)).data["owned_by"]
    assert group["owners"] == ["@alice"]
    assert "src/shop/checkout.py" in group["paths"]


async def test_the_first_file_that_is_there_counts(standin: StandIn, against: Against) -> None:
    """Synthetic."""
    where = "/projects/1/repository/files/"
    missing = {"message": "404 File Not Found"}
    standin.answer("GET", where + "CODEOWNERS", 404, missing)
    standin.answer("GET", where + "docs%2FCODEOWNERS", body={"content": "KiBAYW5uCg==", "encoding": "base64"})
    standin.answer(
        "GET", where + ".gitlab%2FCODEOWNERS", body={"content": "KiBAYmVhCg==", "encoding": "base64"}
    )
    result = await against().call("browse_code_owners", {"action": "list", "project_id": "1"})
    assert result.data["file_path"] == "docs/CODEOWNERS"
    assert result.data["sections"][0]["rules"] == [{"line": 1, "pattern": "*", "owners": ["@ann"]}]


async def test_a_project_without_the_file_says_where_it_was_looked_for(
    standin: StandIn, against: Against
) -> None:
    """Synthetic."""
    standin.answer("GET", "/projects/1/repository/files/*", 404, {"message": "404 File Not Found"})
    result = await against().call(
        "browse_code_owners", {"action": "owners", "project_id": "1", "file_path": "a.py"}
    )
    assert ".gitlab/CODEOWNERS" in result.data["why_empty"]


async def test_a_project_that_is_not_there_is_not_a_project_without_owners(
    standin: StandIn, against: Against
) -> None:
    """Synthetic."""
    standin.answer("GET", "/projects/9/repository/files/*", 404, {"message": "404 Project Not Found"})
    failure = await refusal(against(), "browse_code_owners", action="list", project_id="9")
    assert failure.code == "NOT_FOUND"

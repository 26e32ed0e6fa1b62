"""What this version of GitLab does not know is said, in reads and in writes. The answers are synthetic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gitlab_mcp.app import App
from tests.support.standin import StandIn

pytestmark = pytest.mark.anyio
Against = Callable[..., App]

LIST = {"action": "list", "project_id": "1"}
AFTER = {"merged_after": "2026-01-01T00:00:00Z"}


def playing(standin: StandIn, version: str | None) -> None:
    if version:
        standin.answer("GET", "/metadata", body={"version": version, "enterprise": False})
    else:
        standin.answer("GET", "/metadata", 403, {"message": "403 Forbidden"})
    standin.answer("GET", "/projects/1/merge_requests", body=[{"iid": 1, "title": "x", "state": "merged"}])


@pytest.mark.parametrize(
    ("version", "field", "warned"),
    [
        ("16.11.0-ee", AFTER, "ignored it"),
        ("17.2.0", AFTER, "ignored it"),
        ("18.5.1", AFTER, "may not know"),
        ("19.3.0-pre", AFTER, None),
        ("20.0.0", AFTER, None),
        (None, AFTER, None),
        ("17.2.0", {"approved": "yes"}, None),
        ("19.3.0-pre", {"approved": "yes"}, "ignored it"),
        ("17.2.0", {"draft": True}, None),
        ("17.2.0", {"milestone": "v1"}, None),
    ],
)
async def test_a_filter_that_this_version_ignores_is_named(
    standin: StandIn, against: Against, version: str | None, field: dict[str, Any], warned: str | None
) -> None:
    playing(standin, version)
    result = await against().call("browse_merge_requests", {**LIST, **field})
    warnings = result.data.get("warnings", [])
    assert len(warnings) == (1 if warned else 0)
    for warning in warnings:
        assert (warning["code"], warning["field"]) == ("NOT_APPLIED", next(iter(field)))
        assert warned and warned in warning["message"]
        assert version and version.startswith(warning["gitlab_version"])


async def test_a_batch_names_the_ignored_filter_of_the_call_that_has_it(
    standin: StandIn, against: Against
) -> None:
    playing(standin, "17.2.0")
    calls = [{"tool": "browse_merge_requests", "arguments": {**LIST, **each}} for each in ({}, AFTER)]
    result = await against().call("run_batch", {"action": "run", "calls": calls})
    plain, filtered = result.data["results"]
    assert "NOT_APPLIED" not in str(plain)
    assert "NOT_APPLIED" in str(filtered)


async def test_drafts_are_asked_for_in_the_word_that_every_version_knows(
    standin: StandIn, against: Against
) -> None:
    playing(standin, "17.2.0")
    for arguments in ({"draft": True}, {"draft": False}, {"wip": "yes"}):
        await against().call("browse_merge_requests", {**LIST, **arguments})
    asked = [dict(request.params)["wip"] for request in standin.requests if "merge_requests" in request.route]
    assert asked == ["yes", "no", "yes"]
    assert not any("draft" in dict(request.params) for request in standin.requests)


async def test_a_filter_that_all_versions_know_costs_no_question(standin: StandIn, against: Against) -> None:
    playing(standin, "17.2.0")
    await against().call("browse_merge_requests", {**LIST, "author_username": "alice"})
    assert [request.route for request in standin.requests if "metadata" in request.route] == []


@pytest.mark.parametrize(("version", "warned"), [("17.2.0", True), ("19.3.0", False)])
async def test_a_pipeline_that_ran_without_its_inputs_says_so(
    standin: StandIn, against: Against, version: str, warned: bool
) -> None:
    playing(standin, version)
    standin.answer("POST", "/projects/1/pipeline", 201, {"id": 5, "status": "created", "ref": "main"})
    arguments = {"action": "create", "project_id": "1", "ref": "main", "inputs": {"target": "staging"}}
    result = await against().call("manage_pipeline", arguments)
    [posted] = [request for request in standin.requests if request.method == "POST"]
    assert posted.json["inputs"] == {"target": "staging"}
    codes = [(each["code"], each["field"]) for each in result.data.get("warnings", [])]
    assert codes == ([("NOT_APPLIED", "inputs")] if warned else [])


async def test_a_field_that_was_not_kept_is_warned_of_once(standin: StandIn, against: Against) -> None:
    playing(standin, "17.2.0")
    standin.answer("POST", "/projects/1/issues", 201, {"iid": 1, "title": "x", "start_date": None})
    arguments = {"action": "create", "project_id": "1", "title": "x", "start_date": "2026-02-01"}
    result = await against().call("manage_issue", arguments)
    [warning] = result.data["warnings"]
    assert (warning["field"], warning["since"]) == ("start_date", "19.3")


@pytest.mark.parametrize(("action", "sent"), [("retry", "inputs"), ("play", "job_inputs")])
async def test_the_inputs_of_a_job_are_sent_under_the_name_that_its_endpoint_has(
    standin: StandIn, against: Against, action: str, sent: str
) -> None:
    playing(standin, "19.3.0")
    standin.answer("POST", f"/projects/1/jobs/7/{action}", 201, {"id": 8, "name": "a", "status": "pending"})
    await against().call(
        "manage_job", {"action": action, "project_id": "1", "job_id": 7, "inputs": {"dry_run": True}}
    )
    [posted] = [request for request in standin.requests if request.method == "POST"]
    assert posted.json == {sent: {"dry_run": True}}

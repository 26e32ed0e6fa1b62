from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gitlab_mcp.app import App
from gitlab_mcp.failures.failure import CallFailed
from gitlab_mcp.settings import Secret
from tests.support.read_listing import said_of_field
from tests.support.recordings import rows
from tests.support.standin import StandIn

pytestmark = pytest.mark.anyio
Against = Callable[..., App]

ISSUE = {
    "id": 7,
    "iid": 1,
    "state": "opened",
    "assignees": [],
    "web_url": "https://gitlab.example.com/a/b/-/issues/1",
}


def play(standin: StandIn, file: str, label: str) -> None:
    standin.play_rows(row for row in rows(file) if row["label"] == label)


@pytest.mark.parametrize(
    ("file", "label", "caller", "arguments", "warned"),
    [
        (
            "errors",
            "issues/unknown_milestone",
            "alice",
            {"action": "create", "project_id": "12", "title": "um", "milestone_id": 999999},
            ("NOT_APPLIED", "milestone_id"),
        ),
        (
            "errors",
            "issues/unknown_assignee",
            "alice",
            {"action": "create", "project_id": "12", "title": "ua", "assignee_ids": [999999]},
            ("NOT_APPLIED", "assignee_ids"),
        ),
        (
            "errors",
            "issues/weight_free",
            "alice",
            {"action": "create", "project_id": "12", "title": "w", "weight": 3},
            ("TIER_IGNORED", "weight"),
        ),
        (
            "tiers_ee",
            "multiple_issue_assignees/create",
            "alice",
            {"action": "create", "project_id": "10", "title": "ma ee", "assignee_ids": [3, 2]},
            ("TIER_IGNORED", "assignee_ids"),
        ),
        (
            "errors",
            "issues/incident_type_guest",
            "e_guest",
            {"action": "create", "project_id": "12", "title": "inc", "issue_type": "incident"},
            ("NOT_APPLIED", "issue_type"),
        ),
        (
            "errors",
            "issues/confidential_by_guest",
            "e_guest",
            {"action": "update", "project_id": "12", "issue_iid": 12, "confidential": True},
            ("NOT_APPLIED", "confidential"),
        ),
    ],
    ids=lambda value: value if isinstance(value, str) and "/" in value else "",
)
async def test_what_gitlab_dropped_in_silence_is_told(
    standin: StandIn,
    against: Against,
    file: str,
    label: str,
    caller: str,
    arguments: dict[str, Any],
    warned: tuple[str, str],
) -> None:
    play(standin, file, label)
    standin.play_rows(rows("context_ee"))
    standin.play_rows(row for row in rows("detect_ee") if row["path"].endswith("/projects/0/approval_rules"))
    result = await against(token=Secret(caller)).call("manage_issue", arguments)
    assert [(warning["code"], warning["field"]) for warning in result.data["warnings"]] == [warned]
    assert result.data["iid"]
    assert not standin.unanswered


async def test_what_gitlab_kept_needs_no_warning(replayed: App) -> None:
    arguments = {"action": "update", "project_id": "writes/app", "issue_iid": 1, "milestone_id": 0}
    result = await replayed.call("manage_issue", arguments)
    assert "warnings" not in result.data
    assert result.data["milestone"] is None


async def test_an_empty_list_of_assignees_assigns_nobody(standin: StandIn, against: Against) -> None:
    standin.answer("PUT", "/projects/1/issues/1", body=ISSUE)
    arguments = {"action": "update", "project_id": "1", "issue_iid": 1, "assignee_ids": []}
    result = await against().call("manage_issue", arguments)
    assert [request.json for request in standin.requests] == [{"assignee_ids": [0]}]
    assert "warnings" not in result.data


async def test_an_issue_moves_to_a_project_named_by_its_path(
    standin: StandIn, against: Against, cassettes: Path
) -> None:
    standin.play(cassettes / "projects.json", cassettes / "issues.json")
    arguments = {"project_id": "1", "issue_iid": 5, "to_project_id": "acme/platform/api"}
    result = await against().call("manage_issue", {"action": "move", **arguments})
    assert result.data["project_id"] == 2
    assert standin.requests[-1].json == {"to_project_id": 2}


async def test_a_link_without_a_project_stays_in_the_project(standin: StandIn, against: Against) -> None:
    standin.answer("POST", "/projects/acme%2Fwebsite/issues/1/links", 201, {"link_type": "relates_to"})
    arguments = {"action": "add_link", "project_id": "acme/website", "issue_iid": 1, "target_issue_iid": 2}
    await against().call("manage_issue", arguments)
    [request] = standin.requests
    assert request.json == {"target_project_id": "acme/website", "target_issue_iid": 2}


async def test_subscribing_twice_says_that_nothing_had_to_change(replayed: App) -> None:
    arguments = {"action": "subscribe", "project_id": "acme/website", "issue_iid": 1}
    assert (await replayed.call("manage_subscription", arguments)).data == {"already": True}


@pytest.mark.parametrize(
    ("arguments", "path"),
    [
        ({"project_id": "acme/website"}, "/projects/acme%2Fwebsite/issues"),
        ({"group_id": "acme"}, "/groups/acme/issues"),
        ({"scope": "assigned_to_me"}, "/issues"),
    ],
)
async def test_issues_are_listed_where_the_caller_says(
    standin: StandIn, against: Against, arguments: dict[str, Any], path: str
) -> None:
    standin.answer("GET", path, body=[ISSUE])
    await against().call("browse_issues", {"action": "list", **arguments})
    assert [request.route for request in standin.requests] == [path]


async def test_labels_go_out_with_commas_and_what_they_must_not_be_as_not(
    standin: StandIn, against: Against
) -> None:
    standin.answer("GET", "/projects/1/issues", body=[])
    filters = {"labels": ["bug", "urgent"], "not_labels": ["later"], "assignee_username": ["bob"]}
    await against().call("browse_issues", {"action": "list", "project_id": "1", **filters})
    sent = dict(standin.requests[0].params)
    assert sent == {"labels": "bug,urgent", "not[labels]": "later", "assignee_username[]": "bob"} | {
        name: value for name, value in sent.items() if name in ("page", "per_page")
    }


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"action": "create", "title": ""}, "title"),
        ({"action": "create", "title": "x", "due_date": "soon"}, "due_date"),
        ({"action": "create", "title": "x", "assignee_ids": [True]}, "assignee_ids[0]"),
        ({"action": "create", "title": "x", "labels": {"bug": True}}, "labels"),
        ({"action": "create", "title": "x", "milestone_id": 2**64}, "milestone_id"),
        ({"action": "update", "issue_iid": 1}, "state_event"),
        ({"action": "reorder", "issue_iid": 1}, "move_after_id"),
        ({"action": "set_time_estimate", "issue_iid": 1, "duration": "a while"}, "duration"),
        ({"action": "set_time_estimate", "issue_iid": 1, "duration": "-1h"}, "duration"),
    ],
    ids=str,
)
async def test_what_gitlab_would_swallow_is_refused_before_it_is_sent(
    standin: StandIn, against: Against, arguments: dict[str, Any], field: str
) -> None:
    with pytest.raises(CallFailed) as refused:
        await against().call("manage_issue", {"project_id": "1", **arguments})
    assert refused.value.failure.code in ("INVALID_VALUE", "TYPE_MISMATCH")
    assert [each["field"] for each in refused.value.failure.facts["invalid_fields"]] == [field]
    assert standin.requests == []


async def test_time_that_was_booked_can_be_taken_back(replayed: App) -> None:
    arguments = {"action": "add_spent_time", "project_id": "writes/app", "issue_iid": 1, "duration": "-30m"}
    assert (await replayed.call("manage_issue", arguments)).data["human_total_time_spent"] == "30m"


async def test_issues_that_are_overdue_and_closed_are_told_apart(replayed: App) -> None:
    overdue = {"action": "list", "project_id": "acme/shop", "milestone": "v1.1", "due_date": "overdue"}
    items = (await replayed.call("browse_issues", overdue)).data["items"]
    assert {item["state"] for item in items} == {"opened", "closed"}
    still = (await replayed.call("browse_issues", {**overdue, "state": "opened"})).data["items"]
    assert {item["state"] for item in still} == {"opened"}
    listed = next(tool for tool in replayed.listing() if tool["name"] == "browse_issues")
    assert "closed" in said_of_field(dict(listed), "due_date")

"""Milestones, labels and epics."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gitlab_mcp.app import App
from gitlab_mcp.failures.failure import CallFailed
from tests.support.standin import StandIn

pytestmark = pytest.mark.anyio
Against = Callable[..., App]


async def test_a_promoted_milestone_is_said_to_be_promoted_though_gitlab_says_only_200(replayed: App) -> None:
    arguments = {"action": "promote", "project_id": "writes/app", "milestone_id": 7}
    assert (await replayed.call("manage_milestone", arguments)).data == {"promoted": True}


async def test_milestones_are_a_groups_too(replayed: App) -> None:
    result = await replayed.call(
        "browse_milestones", {"action": "get", "group_id": "acme", "milestone_id": 2}
    )
    assert result.data["title"] == "2026-Q4"


@pytest.mark.parametrize(
    ("tool", "arguments", "field"),
    [
        (
            "manage_milestone",
            {"action": "create", "project_id": "1", "title": "x", "due_date": "tomorrow"},
            "due_date",
        ),
        (
            "manage_milestone",
            {
                "action": "create",
                "project_id": "1",
                "title": "x",
                "start_date": "2026-12-31",
                "due_date": "2026-01-01",
            },
            "due_date",
        ),
        ("manage_milestone", {"action": "update", "project_id": "1", "milestone_id": 1}, "state_event"),
        (
            "manage_milestone",
            {"action": "create", "project_id": "1", "group_id": "2", "title": "x"},
            "project_id",
        ),
        ("manage_label", {"action": "update", "project_id": "1", "label_id": "bug"}, "new_name"),
        (
            "manage_label",
            {"action": "create", "group_id": "1", "name": "bug", "color": "red", "priority": 1},
            "priority",
        ),
        (
            "manage_label",
            {"action": "create", "project_id": "1", "name": "bug", "color": "red", "priority": -1},
            "priority",
        ),
        ("manage_epic", {"action": "update", "group_id": "1", "epic_iid": 1}, "state_event"),
    ],
)
async def test_what_cannot_work_is_refused_before_it_is_sent(
    standin: StandIn, against: Against, tool: str, arguments: dict[str, Any], field: str
) -> None:
    with pytest.raises(CallFailed) as refused:
        await against().call(tool, arguments)
    assert [each["field"] for each in refused.value.failure.facts["invalid_fields"]] == [field]
    assert standin.requests == []


@pytest.mark.parametrize(
    ("dates", "sent"),
    [
        ({"due_date_fixed": "2027-01-31"}, {"due_date_fixed": "2027-01-31", "due_date_is_fixed": True}),
        ({"start_date_fixed": ""}, {"start_date_fixed": "", "start_date_is_fixed": False}),
        ({"title": "E2"}, {"title": "E2"}),
    ],
)
async def test_the_date_of_an_epic_is_fixed_by_giving_it(
    standin: StandIn, against: Against, dates: dict[str, str], sent: dict[str, Any]
) -> None:
    standin.answer("PUT", "/groups/acme/epics/1", body={"id": 5, "iid": 1})
    await against().call("manage_epic", {"action": "update", "group_id": "acme", "epic_iid": 1, **dates})
    assert [request.json for request in standin.requests] == [sent]


async def test_following_a_label_twice_says_that_nothing_had_to_change(
    standin: StandIn, against: Against
) -> None:
    standin.answer("POST", "/groups/acme/labels/bug/subscribe", 304)
    arguments = {"action": "subscribe", "group_id": "acme", "label_id": "bug"}
    assert (await against().call("manage_label", arguments)).data == {"already": True}

"""An empty value stands for none where it can mean nothing, and from clients that must send every field of a tool."""

from __future__ import annotations

from typing import Any

import pytest

from gitlab_mcp.actions.registry import Registry
from gitlab_mcp.app import App
from gitlab_mcp.failures.failure import CallFailed, Failure
from tests.support.standin import StandIn
from tests.support.standin.shop import Shop

pytestmark = pytest.mark.anyio

NOTHING: dict[str, Any] = {
    "string": "",
    "array": [],
    "object": {},
    "boolean": False,
    "integer": 0,
    "number": 0,
}
ISSUE = {"project_id": "acme/website", "issue_iid": 1}


@pytest.fixture
def app(shop: Shop, against: Any) -> App:
    made: App = against()
    return made


def filled_in(tool: str, **arguments: Any) -> dict[str, Any]:
    """As a strict mode sends it: every field, and of a choice the first."""
    fields = Registry().listed_fields(tool)
    return {name: each.get("enum", [NOTHING[each["type"]]])[0] for name, each in fields.items()} | arguments


def written(standin: StandIn) -> Any:
    """What GitLab was last sent to change something."""
    return [request.json for request in standin.requests if request.method != "GET"][-1]


async def refused(app: App, tool: str, arguments: dict[str, Any]) -> Failure:
    with pytest.raises(CallFailed) as caught:
        await app.call(tool, arguments)
    return caught.value.failure


async def test_an_empty_filter_filters_nothing(app: App) -> None:
    plain = await app.call("browse_issues", {"action": "list", "project_id": "acme/website"})
    empty = {"search": "", "labels": [], "state": "", "milestone": "", "group_id": "", "due_date": ""}
    filtered = await app.call("browse_issues", {"action": "list", "project_id": "acme/website", **empty})
    assert filtered.data == plain.data


async def test_a_field_of_other_actions_says_nothing_when_it_is_empty(app: App) -> None:
    plain = await app.call("browse_issues", {"action": "get", **ISSUE})
    assert (await app.call("browse_issues", {"action": "get", **ISSUE, "search": ""})).data == plain.data
    failure = await refused(app, "browse_issues", {"action": "get", **ISSUE, "search": "a"})
    assert failure.facts["unknown_fields"] == ["search"]


async def test_a_new_thing_gets_no_value_for_a_field_that_takes_no_empty_one(app: App) -> None:
    new = {
        "action": "create",
        "project_id": "acme/website",
        "title": "New",
        "due_date": "",
        "milestone_id": "",
    }
    assert (await app.call("manage_issue", new)).data["title"] == "New"


async def test_in_a_change_an_empty_value_is_what_was_meant(app: App, standin: StandIn) -> None:
    await app.call("manage_issue", {"action": "update", **ISSUE, "description": "", "labels": []})
    assert written(standin) == {"description": "", "labels": ""}
    failure = await refused(app, "manage_issue", {"action": "update", **ISSUE, "title": ""})
    assert failure.facts["invalid_fields"][0]["field"] == "title"


async def test_who_sends_every_field_changes_only_what_is_not_empty(app: App, standin: StandIn) -> None:
    sent = filled_in("manage_issue", action="update", **ISSUE, title="Renamed", state_event="reopen")
    answer = await app.call("manage_issue", sent)
    assert written(standin) == {"title": "Renamed", "state_event": "reopen"}
    assert {"description", "labels", "assignee_ids"} <= {*answer.data["taken_as"]["not_changed"]}
    assert answer.data["taken_as"]["to_clear"] == 'send " ", or [""] for a list'


async def test_who_sends_every_field_clears_with_a_blank(app: App, standin: StandIn) -> None:
    await app.call(
        "manage_issue",
        filled_in(
            "manage_issue", action="update", **ISSUE, description=" ", labels=[""], state_event="reopen"
        ),
    )
    assert written(standin) == {"description": "", "labels": "", "state_event": "reopen"}


async def test_from_others_a_blank_is_a_blank(app: App, standin: StandIn) -> None:
    await app.call("manage_issue", {"action": "update", **ISSUE, "description": " "})
    assert written(standin) == {"description": " "}


async def test_a_zero_that_a_field_does_not_take_stands_for_none(app: App) -> None:
    plain = await app.call(
        "browse_issues", {"action": "list", "project_id": "acme/website", "state": "opened"}
    )
    sent = filled_in("browse_issues", action="list", project_id="acme/website", scope="all", state="opened")
    assert sent["page"] == sent["issue_iid"] == 0
    assert (await app.call("browse_issues", sent)).data == plain.data


async def test_a_required_field_is_never_left_out(app: App) -> None:
    failure = await refused(app, "manage_issue", filled_in("manage_issue", action="create", project_id=""))
    assert {each["field"] for each in failure.facts["invalid_fields"]} == {"project_id", "title"}


@pytest.mark.parametrize("nothing", ["", [], {}])
async def test_what_is_neither_true_nor_false_is_not_taken_for_no(nothing: Any, app: App) -> None:
    new = {"action": "create", "project_id": "acme/website", "title": "New"}
    for name in ("dry_run", "confidential"):
        failure = await refused(app, "manage_issue", {**new, name: nothing})
        assert failure.facts["invalid_fields"][0]["field"] == name

"""manage_issue bulk_update, on the recorded shop that keeps what is written to it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gitlab_mcp.app import App
from tests.support.guarded import DEFAULTS, refused, writes
from tests.support.standin import LoseAnswer, Reply, ReplyWith, StandIn
from tests.support.standin.shop import Shop

pytestmark = pytest.mark.anyio
Against = Callable[..., App]

CALL = {"action": "bulk_update", "project_id": "acme/shop"}
BLOCKED = {**CALL, "with_labels": ["stuck"], "state_event": "close", "body": "Closing for now."}
ISSUES = "projects/77/issues"
PROJECT = "/projects/acme%2Fshop"


@pytest.fixture
def shop(shop: Shop) -> Shop:
    """Three open issues that are labelled stuck."""
    shop.written.add("issues")
    for iid in (1, 2, 3):
        shop.thing(ISSUES, iid).update(state="opened", labels=["stuck"])
    return shop


def updates(*iids: int) -> list[str]:
    return [f"PUT {PROJECT}/issues/{iid}" for iid in iids]


def noted(shop: Shop, iid: int) -> int:
    notes = shop.things.get(f"{ISSUES}/{iid}/notes", {}).values()
    return sum(note["body"] == "Closing for now." for note in notes)


async def test_issues_that_fit_are_closed_with_a_comment(
    standin: StandIn, shop: Shop, against: Against
) -> None:
    result = await against().call("manage_issue", BLOCKED)
    assert (result.data["matched"], result.data["changed"]) == (3, [1, 2, 3])
    assert (result.data["comments"], result.data["chosen"]) == (3, "open issues only")
    assert [shop.thing(ISSUES, iid)["state"] for iid in (1, 2, 3)] == ["closed"] * 3
    assert [noted(shop, iid) for iid in (1, 2, 3)] == [1, 1, 1]
    assert "warnings" not in result.data


async def test_sent_again_it_changes_and_says_nothing_twice(
    standin: StandIn, shop: Shop, against: Against
) -> None:
    app = against()
    await app.call("manage_issue", BLOCKED)
    before = len(writes(standin))
    assert (await app.call("manage_issue", BLOCKED)).data["matched"] == 0
    by_number = {**CALL, "issue_iids": [1, 2, 3], "state_event": "close", "body": "Closing for now."}
    assert (await app.call("manage_issue", by_number)).data["so_already"] == [1, 2, 3]
    assert len(writes(standin)) == before


async def test_a_dry_run_lists_what_would_change_and_sends_nothing(
    standin: StandIn, shop: Shop, against: Against
) -> None:
    shop.thing(ISSUES, 2)["labels"] = ["stuck", "bug"]
    call = {**CALL, "issue_iids": [1, 2], "add_labels": ["bug"], "dry_run": True}
    result = await against(**DEFAULTS).call("manage_issue", call)
    assert [each["issue_iid"] for each in result.data["would_change"]] == [1]
    assert result.data["would_change"][0]["changes"] == {"add_labels": ["bug"]}
    assert result.data["so_already"] == [2]
    assert writes(standin) == []


async def test_only_what_differs_is_sent(standin: StandIn, shop: Shop, against: Against) -> None:
    shop.thing(ISSUES, 1)["assignees"] = [{"id": 2, "username": "alice"}]
    call = {**CALL, "issue_iids": [1], "assignee_ids": ["alice"], "remove_labels": ["stuck"]}
    await against().call("manage_issue", call)
    [sent] = [each.json for each in standin.requests if each.method == "PUT"]
    assert sent == {"remove_labels": "stuck"}


async def test_the_person_says_yes_once_to_all_by_number(
    standin: StandIn, shop: Shop, against: Against
) -> None:
    app = against(**DEFAULTS)
    asked = await refused(app, "manage_issue", BLOCKED)
    assert asked.code == "CONFIRMATION_REQUIRED"
    told = asked.facts["what_will_happen"]
    assert "3 issues" in told and "#1, #2, #3" in told and '"Closing for now."' in told
    assert writes(standin) == []
    call = {**BLOCKED, "confirmation_token": asked.facts["confirmation_token"]}
    assert (await app.call("manage_issue", call)).data["changed"] == [1, 2, 3]


async def test_a_yes_is_to_the_issues_that_were_named(standin: StandIn, shop: Shop, against: Against) -> None:
    app = against(**DEFAULTS)
    asked = await refused(app, "manage_issue", BLOCKED)
    shop.thing(ISSUES, 4).update(state="opened", labels=["stuck"])
    call = {**BLOCKED, "confirmation_token": asked.facts["confirmation_token"]}
    assert (await refused(app, "manage_issue", call)).code == "CONFIRMATION_MISMATCH"
    assert writes(standin) == []


async def test_more_than_the_limit_are_refused_before_a_person_is_asked(
    standin: StandIn, shop: Shop, against: Against
) -> None:
    for rules in ({}, DEFAULTS):
        failure = await refused(against(**rules), "manage_issue", {**BLOCKED, "limit": 2})
        assert (failure.code, failure.facts["invalid_fields"][0]["field"]) == ("INVALID_VALUE", "limit")
    assert writes(standin) == []


async def test_an_issue_that_fails_does_not_stop_the_others(
    standin: StandIn, shop: Shop, against: Against
) -> None:
    standin.fault("PUT", f"{PROJECT}/issues/2", ReplyWith(Reply.of(403, {"message": "403 Forbidden"})))
    result = await against().call("manage_issue", BLOCKED)
    assert result.data["changed"] == [1, 3]
    [warning] = result.data["warnings"]
    assert warning["code"] == "PARTIAL"
    assert [(each["issue_iid"], each["error_code"]) for each in warning["failed"]] == [
        (2, "PERMISSION_DENIED")
    ]
    assert noted(shop, 2) == 0
    again = await against().call("manage_issue", BLOCKED)
    assert again.data["changed"] == [2] and [noted(shop, iid) for iid in (1, 2, 3)] == [1, 1, 1]


async def test_where_all_fail_alike_it_is_that_failure(
    standin: StandIn, shop: Shop, against: Against
) -> None:
    standin.fault("PUT", "*", ReplyWith(Reply.of(403, {"message": "403 Forbidden"})), times=None)
    failure = await refused(against(), "manage_issue", BLOCKED)
    assert failure.code == "PERMISSION_DENIED"


async def test_a_comment_that_fails_is_told_beside_the_change(
    standin: StandIn, shop: Shop, against: Against
) -> None:
    standin.fault("POST", f"{PROJECT}/issues/2/notes", ReplyWith(Reply.of(403, {"message": "403 Forbidden"})))
    result = await against().call("manage_issue", BLOCKED)
    assert (result.data["changed"], result.data["comments"]) == ([1, 2, 3], 2)
    assert [each["issue_iid"] for each in result.data["warnings"][0]["without_comment"]] == [2]


async def test_a_lost_comment_is_found_again(standin: StandIn, shop: Shop, against: Against) -> None:
    standin.fault("POST", f"{PROJECT}/issues/2/notes", LoseAnswer())
    result = await against().call("manage_issue", BLOCKED)
    assert "warnings" not in result.data
    assert [noted(shop, iid) for iid in (1, 2, 3)] == [1, 1, 1]


async def test_what_is_dropped_for_the_tier_is_told_with_its_issues(
    standin: StandIn, shop: Shop, against: Against
) -> None:
    call = {**CALL, "issue_iids": [1, 2], "assignee_ids": [2, 3]}
    for iid in (1, 2):
        standin.answer("PUT", f"{PROJECT}/issues/{iid}", 200, {"iid": iid, "assignees": [{"id": 2}]})
    result = await against().call("manage_issue", call)
    assert [(each["code"], each["issue_iids"]) for each in result.data["warnings"]] == [
        ("TIER_IGNORED", [1, 2])
    ]


async def test_numbers_that_do_not_exist_are_told(shop: Shop, against: Against) -> None:
    call = {**CALL, "issue_iids": [1, 99999], "add_labels": ["bug"]}
    result = await against().call("manage_issue", call)
    assert (result.data["changed"], result.data["not_found"]) == ([1], [99999])


async def test_each_issue_is_counted_and_what_the_quota_leaves_is_told(
    standin: StandIn, shop: Shop, against: Against, tmp_path: Path
) -> None:
    app = against(quota=("writes=2",), audit_log=tmp_path / "audit.log")
    call = {**CALL, "issue_iids": [1, 2, 3], "add_labels": ["bug"]}
    result = await app.call("manage_issue", call)
    assert len(result.data["changed"]) < 3
    partial = next(each for each in result.data["warnings"] if each["code"] == "PARTIAL")
    left = [each["issue_iid"] for each in partial["failed"]] + partial.get("not_tried", [])
    assert sorted(left + result.data["changed"]) == [1, 2, 3]
    lines = [json.loads(line) for line in (tmp_path / "audit.log").read_text().splitlines()]
    done = [
        line["target"]["issue_iid"]
        for line in lines
        if line.get("outcome") == "ok" and line["action"] == "update"
    ]
    assert sorted(done) == result.data["changed"]


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"state_event": "close"}, "issue_iids"),
        ({"issue_iids": [], "state_event": "close"}, "issue_iids"),
        ({"issue_iids": list(range(1, 102)), "state_event": "close"}, "issue_iids"),
        ({"issue_iids": [1], "search": "x", "state_event": "close"}, "issue_iids"),
        ({"issue_iids": [1]}, "add_labels"),
        ({"issue_iids": [1], "body": "Only said"}, "add_labels"),
        ({"issue_iids": [1], "state_event": "close", "limit": 101}, "limit"),
    ],
)
async def test_what_cannot_work_is_never_sent(
    standin: StandIn, against: Against, arguments: dict[str, Any], field: str
) -> None:
    failure = await refused(against(), "manage_issue", {**CALL, **arguments})
    assert [each["field"] for each in failure.facts["invalid_fields"]] == [field]
    assert standin.requests == []


async def test_labels_are_not_guessed_to_choose_or_to_change(standin: StandIn, against: Against) -> None:
    call = {**CALL, "labels": ["stuck"], "state_event": "close"}
    failure = await refused(against(), "manage_issue", call)
    assert failure.code == "FIELD_NOT_ALLOWED" and standin.requests == []


async def test_a_comment_is_text_unless_quick_actions_are_wanted(
    standin: StandIn, shop: Shop, against: Against
) -> None:
    call = {**CALL, "issue_iids": [1], "add_labels": ["bug"], "body": "/close"}
    await against().call("manage_issue", call)
    [sent] = [each.json for each in standin.requests if each.method == "POST"]
    assert sent == {"body": "\\/close"}

"""manage_branch rename, on the recorded shop that keeps what is written to it."""

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

PROJECT = "/projects/acme%2Fshop"
OLD, NEW = "ci/stuck", "ci/waiting"
CALL = {"action": "rename", "project_id": "acme/shop", "branch": OLD, "new_branch": NEW}
CREATE, DELETE = f"POST {PROJECT}/repository/branches", f"DELETE {PROJECT}/repository/branches/ci%2Fstuck"
BRANCHES = "projects/77/repository/branches"


async def test_the_branch_is_there_under_the_new_name_alone(
    standin: StandIn, shop: Shop, against: Against
) -> None:
    head = shop.thing(BRANCHES, OLD)["commit"]["id"]
    result = await against().call("manage_branch", CALL)
    assert (result.data["sha"], result.data["deleted"]) == (head, OLD)
    assert shop.thing(BRANCHES, NEW)["commit"]["id"] == head and OLD not in shop.things[BRANCHES]
    assert writes(standin) == [CREATE, DELETE]


@pytest.mark.parametrize("state", ["default", "protected"])
async def test_a_branch_that_others_rely_on_keeps_its_name(
    standin: StandIn, shop: Shop, against: Against, state: str
) -> None:
    shop.written.add("branches")
    shop.thing(BRANCHES, OLD)[state] = True
    failure = await refused(against(), "manage_branch", CALL)
    assert (failure.code, failure.facts["state"]) == ("CONFLICT", state)
    assert writes(standin) == []


@pytest.mark.parametrize("side", ["source", "target"])
async def test_a_branch_of_open_merge_requests_keeps_its_name(
    standin: StandIn, shop: Shop, against: Against, side: str
) -> None:
    shop.written.add("merge_requests")
    shop.thing("projects/77/merge_requests", 25)[f"{side}_branch"] = OLD
    failure = await refused(against(), "manage_branch", CALL)
    assert failure.code == "CONFLICT" and "!25" in failure.message
    assert writes(standin) == []


async def test_no_person_is_asked_for_what_would_be_refused(shop: Shop, against: Against) -> None:
    shop.written.add("branches")
    shop.thing(BRANCHES, OLD)["default"] = True
    assert (await refused(against(**DEFAULTS), "manage_branch", CALL)).code == "CONFLICT"


async def test_a_branch_that_moves_meanwhile_is_kept(standin: StandIn, shop: Shop, against: Against) -> None:
    class SomebodyPushes:
        def play(self, connection: Any) -> None:
            connection.answer()
            shop.thing(BRANCHES, OLD)["commit"] = {"id": "f" * 40}
            connection.send(Reply.of(201, shop.thing(BRANCHES, NEW)))

    standin.fault("POST", f"{PROJECT}/repository/branches", SomebodyPushes())
    result = await against().call("manage_branch", CALL)
    [warning] = result.data["warnings"]
    assert warning["code"] == "PARTIAL" and "moved" in warning["message"]
    assert shop.thing(BRANCHES, OLD)["commit"]["id"] == "f" * 40
    assert "deleted" not in result.data


async def test_a_call_that_was_cut_off_in_the_middle_is_finished_by_the_same_call(
    standin: StandIn, shop: Shop, against: Against
) -> None:
    shop.written.add("branches")
    shop.things[BRANCHES][NEW] = {"name": NEW, "commit": shop.thing(BRANCHES, OLD)["commit"]}
    result = await against().call("manage_branch", CALL)
    assert (result.data["already"], result.data["deleted"]) == (True, OLD)
    assert writes(standin) == [CREATE, DELETE], "GitLab refused the first"


async def test_a_name_that_is_taken_is_not_taken_over(standin: StandIn, shop: Shop, against: Against) -> None:
    shop.written.add("branches")
    shop.things[BRANCHES][NEW] = {"name": NEW, "commit": {"id": "a" * 40}}
    failure = await refused(against(), "manage_branch", CALL)
    assert (failure.code, failure.facts["state"]) == ("CONFLICT", "exists")
    assert writes(standin) == [CREATE], "GitLab refused it"
    assert shop.things[BRANCHES][NEW] == {"name": NEW, "commit": {"id": "a" * 40}}
    assert OLD in shop.things[BRANCHES]


async def test_what_is_renamed_already_is_told_so(standin: StandIn, shop: Shop, against: Against) -> None:
    app = against()
    await app.call("manage_branch", CALL)
    failure = await refused(app, "manage_branch", CALL)
    assert (failure.code, failure.facts["missing"]) == ("NOT_FOUND", "branch")
    assert "renamed already" in failure.facts["evidence"][0]


async def test_a_branch_that_cannot_be_deleted_stays_beside_the_new_one(
    standin: StandIn, shop: Shop, against: Against
) -> None:
    standin.fault("DELETE", "/projects/*", ReplyWith(Reply.of(403, {"message": "403 Forbidden"})))
    result = await against().call("manage_branch", CALL)
    [warning] = result.data["warnings"]
    assert (warning["code"], warning["next"]["action"]) == ("PARTIAL", "manage_branch delete")
    assert {OLD, NEW} <= shop.things[BRANCHES].keys()


async def test_a_lost_answer_to_the_new_branch_is_found_again(
    standin: StandIn, shop: Shop, against: Against
) -> None:
    standin.fault("POST", f"{PROJECT}/repository/branches", LoseAnswer())
    result = await against().call("manage_branch", CALL)
    assert result.data["deleted"] == OLD and NEW in shop.things[BRANCHES]


async def test_the_same_name_is_no_new_name(standin: StandIn, against: Against) -> None:
    failure = await refused(against(), "manage_branch", {**CALL, "new_branch": OLD})
    assert [each["field"] for each in failure.facts["invalid_fields"]] == ["new_branch"]
    assert standin.requests == []


async def test_one_yes_is_enough_for_both_steps(standin: StandIn, shop: Shop, against: Against) -> None:
    app = against(**DEFAULTS)
    asked = await refused(app, "manage_branch", CALL)
    assert asked.code == "CONFIRMATION_REQUIRED" and OLD in asked.facts["what_will_happen"]
    assert writes(standin) == []
    token = asked.facts["confirmation_token"]
    await app.call("manage_branch", {**CALL, "confirmation_token": token})
    assert writes(standin) == [CREATE, DELETE]


async def test_each_step_is_written_down_and_counted(
    standin: StandIn, shop: Shop, against: Against, tmp_path: Path
) -> None:
    app = against(audit_log=tmp_path / "audit.log", quota=("destructive=2",))
    await app.call("manage_branch", CALL)
    lines = [json.loads(line) for line in (tmp_path / "audit.log").read_text().splitlines()]
    told = [(line["event"], line["action"], line.get("outcome")) for line in lines]
    assert told == [
        ("intent", "rename", None),
        ("intent", "delete", None),
        ("write", "delete", "ok"),
        ("write", "rename", "ok"),
    ]
    other = {**CALL, "branch": NEW, "new_branch": OLD}
    assert (await refused(app, "manage_branch", other)).code == "QUOTA_EXHAUSTED"


@pytest.mark.parametrize(
    ("rules", "code"),
    [
        ({"never_actions": ("manage_branch.delete",)}, "OUT_OF_SCOPE"),
        ({"read_only": True}, "READ_ONLY_MODE"),
        ({"never_in": ("acme/shop",)}, "OUT_OF_SCOPE"),
        ({"trust": "reversible"}, "TRUST_INSUFFICIENT"),
    ],
)
async def test_what_may_not_be_done_whole_is_not_begun(
    standin: StandIn, shop: Shop, against: Against, rules: dict[str, Any], code: str
) -> None:
    assert (await refused(against(**rules), "manage_branch", CALL)).code == code
    assert writes(standin) == []

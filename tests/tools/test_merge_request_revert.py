"""manage_merge_request revert, on the recorded shop that keeps what is written to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gitlab_mcp.app import App
from tests.support.guarded import refused, writes
from tests.support.standin import LoseAnswer, Reply, ReplyWith, StandIn
from tests.support.standin.shop import Shop

pytestmark = pytest.mark.anyio
Against = Callable[..., App]

PROJECT = "/projects/acme%2Fshop"
CALL = {"action": "revert", "project_id": "acme/shop", "merge_request_iid": 5}
MERGED_AS = "6c9b44ea9f927db080895c4807c45f04315b6158"
BRANCH = "revert-merge-request-5"
STEPS = [
    f"POST {PROJECT}/repository/branches",
    f"POST {PROJECT}/repository/commits/{MERGED_AS}/revert",
    f"POST {PROJECT}/merge_requests",
]
REQUESTS, BRANCHES = "projects/77/merge_requests", "projects/77/repository/branches"
CONFLICT = {
    "message": "Sorry, we cannot revert this commit automatically. This commit may already have been reverted, or a"
    " more recent commit may have updated some of its content.",
    "error_code": "conflict",
}


async def test_one_call_opens_the_merge_request_that_takes_it_back(
    standin: StandIn, shop: Shop, against: Against
) -> None:
    result = await against().call("manage_merge_request", CALL)
    [request] = shop.named(REQUESTS, source_branch=BRANCH)
    assert (request["target_branch"], request["description"]) == ("main", "This reverts merge request !5")
    assert request["title"].startswith('Revert "')
    assert (result.data["iid"], result.data["branch"]) == (request["iid"], BRANCH)
    assert (result.data["target_branch"], result.data["branch_created_from"]) == ("main", "main")
    assert writes(standin) == STEPS


async def test_the_same_call_again_finds_the_open_one(standin: StandIn, shop: Shop, against: Against) -> None:
    app = against()
    first = await app.call("manage_merge_request", CALL)
    again = await app.call("manage_merge_request", CALL)
    assert (again.data["already"], again.data["iid"]) == (True, first.data["iid"])
    assert again.data["target_branch"] == "main" and "branch_created_from" not in again.data
    assert writes(standin) == STEPS


async def test_the_revert_of_another_one_is_not_taken_for_it(shop: Shop, against: Against) -> None:
    shop.written.add("merge_requests")
    shop.thing(REQUESTS, 25)["description"] = "This reverts merge request !55"
    assert (await against().call("manage_merge_request", CALL)).data["iid"] != 25


@pytest.mark.parametrize("done", [1, 2])
async def test_a_call_that_was_cut_off_in_the_middle_is_finished_by_the_same_call(
    standin: StandIn, shop: Shop, against: Against, done: int
) -> None:
    app = against()
    await app.call(
        "manage_branch", {"action": "create", "project_id": "acme/shop", "branch": BRANCH, "ref": "main"}
    )
    if done == 2:
        commit = {"action": "revert", "project_id": "acme/shop", "sha": MERGED_AS, "branch": BRANCH}
        made = await app.call("manage_commit", commit)
        shop.thing(BRANCHES, BRANCH)["commit"] = shop.thing("projects/77/repository/commits", made.data["id"])
    else:
        standin.answer("GET", f"{PROJECT}/repository/compare", body={"commits": []})
    await app.call("manage_merge_request", CALL)
    assert writes(standin) == STEPS
    assert len(shop.named(REQUESTS, source_branch=BRANCH)) == 1


async def test_a_branch_of_that_name_with_something_else_is_left_alone(
    standin: StandIn, shop: Shop, against: Against
) -> None:
    shop.written.add("branches")
    shop.things[BRANCHES][BRANCH] = {"name": BRANCH, "commit": {"id": "a" * 40, "message": "Mine"}}
    standin.answer("GET", f"{PROJECT}/repository/compare", body={"commits": [{"id": "a" * 40}]})
    app = against()
    failure = await refused(app, "manage_merge_request", CALL)
    assert (failure.code, failure.facts["state"]) == ("CONFLICT", "exists")
    assert writes(standin) == []
    await app.call("manage_merge_request", {**CALL, "source_branch": "take-back"})
    assert shop.named(REQUESTS, source_branch="take-back")


async def test_a_conflict_is_told_with_the_branch_that_stands(
    standin: StandIn, shop: Shop, against: Against
) -> None:
    standin.fault("POST", "*/revert", ReplyWith(Reply.of(400, CONFLICT)))
    app = against()
    failure = await refused(app, "manage_merge_request", CALL)
    assert failure.code == "CONFLICT" and "automatically" in failure.message
    assert BRANCH in shop.things[BRANCHES] and not shop.named(REQUESTS, source_branch=BRANCH)
    [delete] = [each for each in failure.facts["alternatives"] if each["action"] == "manage_branch delete"]
    await app.call("manage_branch", {"action": "delete", **delete["arguments"]})
    assert BRANCH not in shop.things[BRANCHES]


async def test_where_only_the_merge_request_fails_the_rest_is_one_more_call(
    standin: StandIn, shop: Shop, against: Against
) -> None:
    standin.fault("POST", f"{PROJECT}/merge_requests", ReplyWith(Reply.of(500, {"message": "500"})))
    app = against()
    result = await app.call("manage_merge_request", CALL)
    [warning] = result.data["warnings"]
    assert warning["code"] == "PARTIAL" and result.data["commit_id"]
    commit = shop.thing("projects/77/repository/commits", result.data["commit_id"])
    shop.thing(BRANCHES, BRANCH)["commit"] = commit
    await app.call("manage_merge_request", CALL)
    assert len(shop.named(REQUESTS, source_branch=BRANCH)) == 1
    assert writes(standin).count(STEPS[1]) == 1


@pytest.mark.parametrize("step", [STEPS[0], STEPS[2]])
async def test_a_lost_answer_is_found_again_and_nothing_is_made_twice(
    standin: StandIn, shop: Shop, against: Against, step: str
) -> None:
    standin.fault("POST", step.removeprefix("POST "), LoseAnswer())
    result = await against().call("manage_merge_request", CALL)
    assert result.data["branch"] == BRANCH and "warnings" not in result.data
    assert len(shop.named(REQUESTS, source_branch=BRANCH)) == 1
    assert writes(standin) == STEPS


@pytest.mark.parametrize("iid", [25, 13])
async def test_what_is_not_merged_has_nothing_to_take_back(
    standin: StandIn, shop: Shop, against: Against, iid: int
) -> None:
    failure = await refused(against(), "manage_merge_request", {**CALL, "merge_request_iid": iid})
    assert failure.code == "CONFLICT" and failure.facts["state"] in ("opened", "closed")
    assert writes(standin) == []


@pytest.mark.parametrize(("commits", "is_made"), [(1, True), (2, False)])
async def test_of_several_fast_forwarded_commits_not_only_the_last_is_reverted(
    standin: StandIn, shop: Shop, against: Against, commits: int, is_made: bool
) -> None:
    shop.written.add("merge_requests")
    request = shop.thing(REQUESTS, 5)
    request |= {"merge_commit_sha": None, "squash_commit_sha": None}
    standin.answer("GET", f"{PROJECT}/merge_requests/5/commits", body=[{"id": "x"}] * commits)
    if is_made:
        await against().call("manage_merge_request", CALL)
        assert f"POST {PROJECT}/repository/commits/{request['sha']}/revert" in writes(standin)
    else:
        assert (await refused(against(), "manage_merge_request", CALL)).facts["state"] == "several commits"
        assert writes(standin) == []


async def test_the_title_fits_gitlab(shop: Shop, against: Against) -> None:
    shop.written.add("merge_requests")
    shop.thing(REQUESTS, 5)["title"] = "ü" * 255
    result = await against().call("manage_merge_request", CALL)
    assert len(shop.thing(REQUESTS, result.data["iid"])["title"]) == 255


@pytest.mark.parametrize(
    ("rules", "code"),
    [
        ({"never_actions": ("manage_commit.revert",)}, "OUT_OF_SCOPE"),
        ({"read_only": True}, "READ_ONLY_MODE"),
        ({"only_in": ("acme/website",)}, "OUT_OF_SCOPE"),
    ],
)
async def test_what_may_not_be_done_whole_is_not_begun(
    standin: StandIn, shop: Shop, against: Against, rules: dict[str, Any], code: str
) -> None:
    assert (await refused(against(**rules), "manage_merge_request", CALL)).code == code
    assert writes(standin) == []


async def test_a_dry_run_shows_the_first_step(standin: StandIn, shop: Shop, against: Against) -> None:
    result = await against().call("manage_merge_request", {**CALL, "dry_run": True})
    assert result.data["would_send"]["body"] == {"branch": BRANCH, "ref": "main"}
    assert writes(standin) == []

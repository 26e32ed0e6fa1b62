from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gitlab_mcp.app import App
from gitlab_mcp.failures.failure import CallFailed
from gitlab_mcp.results.content_blocks import text_size
from tests.support.recordings import rows
from tests.support.recordings.picked import picked
from tests.support.standin import StandIn

pytestmark = pytest.mark.anyio
Against = Callable[..., App]

NEW = {"project_id": "1", "source_branch": "feature/x", "target_branch": "main", "title": "X"}
CREATED = {"iid": 1, "state": "opened", "assignees": [], "reviewers": []}
MISSING = {"message": "404 Branch Not Found"}


async def test_a_page_of_diffs_is_never_above_thirty(standin: StandIn, against: Against) -> None:
    arguments = {"action": "diffs", "project_id": "1", "merge_request_iid": 1, "per_page": 31}
    with pytest.raises(CallFailed) as failed:
        await against().call("browse_merge_requests", arguments)
    assert failed.value.failure.facts["invalid_fields"][0]["expected"] == "a number, at most 30"
    assert not standin.requests


async def test_a_diff_that_the_list_leaves_out_is_found_in_the_versions(replayed: App) -> None:
    whole = {"action": "diffs", "project_id": "acme/shop", "merge_request_iid": 24}
    listed = await replayed.call("browse_merge_requests", whole)
    entry = next(file for file in listed.data["files"] if file["path"] == "docs/reference.md")
    assert "left its diff out" in entry["remark"]
    one = await replayed.call("browse_merge_requests", {**whole, "file_path": "docs/reference.md"})
    assert one.data["files"][0]["added"] > 0
    assert one.text is not None


async def test_pages_of_diffs_say_how_many_files_there_are(replayed: App) -> None:
    arguments = {"action": "diffs", "project_id": "acme/shop", "merge_request_iid": 24}
    data = (await replayed.call("browse_merge_requests", arguments)).data
    assert (data["total"], data["next_page"]) == (62, 2)


async def test_a_file_that_is_not_changed_is_not_found(replayed: App) -> None:
    arguments = {"action": "diffs", "project_id": "acme/shop", "merge_request_iid": 6, "file_path": "none.py"}
    with pytest.raises(CallFailed) as failed:
        await replayed.call("browse_merge_requests", arguments)
    assert (failed.value.failure.code, failed.value.failure.facts["missing"]) == ("NOT_FOUND", "file_path")


@pytest.mark.parametrize(
    ("arguments", "path"),
    [
        ({"project_id": "acme/website"}, "/projects/acme%2Fwebsite/merge_requests"),
        ({"group_id": "acme"}, "/groups/acme/merge_requests"),
        ({"scope": "assigned_to_me"}, "/merge_requests"),
    ],
)
async def test_merge_requests_are_those_of_a_project_of_a_group_or_ones_own(
    standin: StandIn, against: Against, arguments: dict[str, Any], path: str
) -> None:
    standin.answer("GET", path, body=[{"iid": 1}])
    await against().call("browse_merge_requests", {"action": "list", **arguments})
    assert [request.route for request in standin.requests] == [path]


@pytest.mark.parametrize(
    ("project", "iid", "blockers"),
    [
        ("acme/shop", 6, []),
        ("acme/shop", 7, ["draft_status"]),
        ("acme/shop", 8, ["conflict"]),
        ("acme/shop", 9, ["ci_must_pass"]),
        ("acme/shop", 12, ["discussions_not_resolved"]),
        ("acme/shop", 13, ["not_open", "discussions_not_resolved"]),
        ("acme/shop", 14, ["commits_status"]),
        ("acme/shop", 15, ["commits_status"]),
        ("acme/shop", 17, ["commits_status", "ci_must_pass"]),
        ("acme/shop", 18, ["ci_must_pass"]),
        ("acme/shop", 19, ["draft_status", "discussions_not_resolved", "ci_must_pass", "conflict"]),
        ("acme/shop", 20, ["ci_must_pass"]),
        ("acme/shop", 22, []),
        ("acme/shop-ff", 1, ["need_rebase"]),
        ("acme/shop-ff", 3, ["conflict", "need_rebase"]),
    ],
)
async def test_readiness_names_every_blocker(
    replayed: App, project: str, iid: int, blockers: list[str]
) -> None:
    arguments = {"action": "merge_readiness", "project_id": project, "merge_request_iid": iid}
    data = (await replayed.call("browse_merge_requests", arguments)).data
    assert [blocker["check"] for blocker in data.get("blockers", ())] == blockers
    assert data["mergeable"] is (not blockers)
    assert all(blocker["lifted_by"] for blocker in data.get("blockers", ()))
    assert "warnings" not in data


@pytest.mark.parametrize(
    ("iid", "why"),
    [
        (9, "its pipeline failed"),
        (10, "its pipeline has not ended"),
        (14, "its source branch is gone"),
        (15, "its target branch is gone"),
        (17, "it has no commits"),
        (18, "its pipeline was skipped, which does not count as success"),
        (20, "its pipeline waits for a manual job"),
        (21, "its pipeline was canceled"),
    ],
)
async def test_readiness_tells_apart_what_gitlab_calls_the_same(replayed: App, iid: int, why: str) -> None:
    arguments = {"action": "merge_readiness", "project_id": "acme/shop", "merge_request_iid": iid}
    data = (await replayed.call("browse_merge_requests", arguments)).data
    assert data["blockers"][0]["why"] == why


async def test_a_merged_request_has_no_blockers_and_nothing_to_merge(replayed: App) -> None:
    arguments = {"action": "merge_readiness", "project_id": "acme/shop", "merge_request_iid": 1}
    data = (await replayed.call("browse_merge_requests", arguments)).data
    assert (data["mergeable"], data["verdict"]) == (False, "It is merged already.")
    assert "blockers" not in data


async def test_readiness_without_graphql_says_that_more_may_block(
    standin: StandIn, against: Against, cassettes: Path
) -> None:
    standin.play(cassettes)
    unknown = {"errors": [{"message": "Field 'x' doesn't exist", "extensions": {"code": "undefinedField"}}]}
    standin.answer("POST", "/api/graphql", body=unknown)
    arguments = {"action": "merge_readiness", "project_id": "acme/shop", "merge_request_iid": 19}
    data = (await against().call("browse_merge_requests", arguments)).data
    shown_by_rest = ["draft_status", "conflict", "discussions_not_resolved", "ci_must_pass"]
    assert [blocker["check"] for blocker in data["blockers"]] == shown_by_rest
    assert [warning["code"] for warning in data["warnings"]] == ["FALLBACK_USED"]
    assert sum(request.path.endswith("graphql") for request in standin.requests) == 2


async def test_a_review_bundle_keeps_within_its_budget_however_big_the_request(replayed: App) -> None:
    arguments = {"action": "review_bundle", "project_id": "acme/shop", "merge_request_iid": 24}
    result = await replayed.call("browse_merge_requests", arguments)
    assert text_size(result) <= 24_000
    assert len(result.data["files"]) == 62
    assert len(result.data["open_threads"]) == 3
    assert result.data["truncated"]


@pytest.mark.parametrize("missing", ["feature%2Fx", "main"])
async def test_a_merge_request_of_a_branch_that_does_not_exist_is_not_made(
    standin: StandIn, against: Against, missing: str
) -> None:
    standin.answer("GET", "/projects/1/repository/branches/*", body={"name": "there"})
    standin.answer("GET", f"/projects/1/repository/branches/{missing}", 404, MISSING)
    with pytest.raises(CallFailed) as failed:
        await against().call("manage_merge_request", {"action": "create", **NEW})
    assert failed.value.failure.code == "NOT_FOUND"
    assert failed.value.failure.facts["missing"] == (
        "target_branch" if missing == "main" else "source_branch"
    )
    assert {request.method for request in standin.requests} == {"GET"}


async def test_a_look_that_fails_does_not_keep_a_merge_request_from_being_made(
    standin: StandIn, against: Against
) -> None:
    standin.answer("GET", "/projects/1/repository/branches/*", 403, {"message": "403 Forbidden"})
    standin.answer("POST", "/projects/1/merge_requests", 201, CREATED)
    result = await against().call("manage_merge_request", {"action": "create", **NEW})
    assert result.data["iid"] == 1


async def test_the_target_of_a_fork_is_looked_for_in_the_other_project(
    standin: StandIn, against: Against
) -> None:
    standin.answer("GET", "/projects/*/repository/branches/*", body={"name": "there"})
    standin.answer("POST", "/projects/1/merge_requests", 201, CREATED)
    await against().call("manage_merge_request", {"action": "create", **NEW, "target_project_id": 5})
    assert "/projects/5/repository/branches/main" in [request.route for request in standin.requests]


async def test_a_merge_request_is_not_retargeted_to_a_branch_that_does_not_exist(
    standin: StandIn, against: Against
) -> None:
    standin.answer("GET", "/projects/1/repository/branches/gone", 404, MISSING)
    arguments = {"action": "update", "project_id": "1", "merge_request_iid": 1, "target_branch": "gone"}
    with pytest.raises(CallFailed) as failed:
        await against().call("manage_merge_request", arguments)
    assert failed.value.failure.facts["missing"] == "target_branch"


@pytest.mark.parametrize("field", ["assignee_ids", "reviewer_ids"])
async def test_an_empty_list_of_people_means_nobody(standin: StandIn, against: Against, field: str) -> None:
    standin.answer("PUT", "/projects/1/merge_requests/1", body=CREATED)
    arguments = {"action": "update", "project_id": "1", "merge_request_iid": 1, field: []}
    await against().call("manage_merge_request", arguments)
    assert standin.requests[-1].json == {field: [0]}


@pytest.mark.parametrize(
    ("kept", "code"), [([{"id": 3, "username": "bob"}], "TIER_IGNORED"), ([], "NOT_APPLIED")]
)
async def test_reviewers_that_gitlab_dropped_are_told(
    standin: StandIn, against: Against, kept: list[Any], code: str
) -> None:
    standin.answer("PUT", "/projects/1/merge_requests/1", body={**CREATED, "reviewers": kept})
    arguments = {"action": "update", "project_id": "1", "merge_request_iid": 1, "reviewer_ids": [3, 4]}
    data = (await against().call("manage_merge_request", arguments)).data
    assert [(warning["code"], warning["field"]) for warning in data["warnings"]] == [(code, "reviewer_ids")]


async def test_a_squash_that_the_project_forbids_is_told(standin: StandIn, against: Against) -> None:
    standin.play_rows(row for row in rows("errors") if row["label"] == "merge_requests/squash_forbidden")
    arguments = {"action": "merge", "project_id": "67", "merge_request_iid": 8, "squash": True}
    data = (await against().call("manage_merge_request", arguments)).data
    assert data["state"] == "merged"
    assert [warning["code"] for warning in data["warnings"]] == ["NOT_APPLIED"]


async def test_auto_merge_goes_out_under_the_name_that_every_version_knows(
    standin: StandIn, against: Against
) -> None:
    set_to_merge = {"iid": 1, "state": "opened", "merge_when_pipeline_succeeds": True}
    standin.answer("PUT", "/projects/1/merge_requests/1/merge", body=set_to_merge)
    arguments = {"action": "merge", "project_id": "1", "merge_request_iid": 1, "auto_merge": True}
    data = (await against().call("manage_merge_request", arguments)).data
    assert (data["state"], data["auto_merge"]) == ("opened", True)
    assert standin.requests[-1].json == {"merge_when_pipeline_succeeds": True}


async def test_a_201_with_406_inside_is_a_failure(standin: StandIn, against: Against) -> None:
    inside = {"status": "error", "http_status": 406, "message": "Can't cancel the automatic merge"}
    standin.answer("POST", "/projects/1/merge_requests/1/cancel_merge_when_pipeline_succeeds", 201, inside)
    arguments = {"action": "cancel_auto_merge", "project_id": "1", "merge_request_iid": 1}
    with pytest.raises(CallFailed) as failed:
        await against().call("manage_merge_request", arguments)
    assert (failed.value.failure.code, failed.value.failure.facts["http_status"]) == ("CONFLICT", 406)


async def test_an_update_must_change_something(standin: StandIn, against: Against) -> None:
    arguments = {"action": "update", "project_id": "1", "merge_request_iid": 1}
    with pytest.raises(CallFailed) as failed:
        await against().call("manage_merge_request", arguments)
    assert failed.value.failure.code == "INVALID_VALUE"
    assert not standin.requests


async def test_a_second_approval_is_a_conflict_and_not_a_bad_token(
    standin: StandIn, against: Against, cassettes: Path
) -> None:
    twice = picked(cassettes / "shop_reviews.json", "POST", "/merge_requests/25/approve")
    standin.play_rows(row for row in twice if row["status"] == 401)
    standin.play(cassettes / "shop.json", cassettes / "users.json")
    arguments = {"action": "approve", "project_id": "acme/shop", "merge_request_iid": 25}
    with pytest.raises(CallFailed) as failed:
        await against().call("manage_merge_request", arguments)
    assert (failed.value.failure.code, failed.value.failure.facts["state"]) == ("CONFLICT", "not approvable")


async def test_a_pipeline_for_a_request_that_is_still_prepared_is_asked_for_again_later(
    standin: StandIn, against: Against
) -> None:
    standin.answer(
        "POST", "/projects/1/merge_requests/1/pipelines", 405, {"message": "405 Method Not Allowed"}
    )
    arguments = {"action": "create_pipeline", "project_id": "1", "merge_request_iid": 1}
    with pytest.raises(CallFailed) as failed:
        await against().call("manage_merge_request", arguments)
    assert (failed.value.failure.code, failed.value.failure.facts["state"]) == ("CONFLICT", "preparing")


async def test_approvals_that_were_reset_are_said_to_be_though_gitlab_says_only_202(
    standin: StandIn, against: Against
) -> None:
    standin.answer("PUT", "/projects/1/merge_requests/1/reset_approvals", 202, 202)
    arguments = {"action": "reset_approvals", "project_id": "1", "merge_request_iid": 1}
    assert (await against().call("manage_merge_request_details", arguments)).data == {"done": True}


@pytest.mark.parametrize("iid", [14, 15, 17])
async def test_a_missing_branch_or_an_empty_request_is_not_called_a_conflict(replayed: App, iid: int) -> None:
    whole = {"project_id": "acme/shop", "merge_request_iid": iid}
    more = {"include_rebase_in_progress": True, "include_diverged_commits_count": True, "detail": "full"}
    raw = await replayed.call("browse_merge_requests", {"action": "get", **whole, **more})
    assert raw.data["has_conflicts"] is True
    data = (await replayed.call("browse_merge_requests", {"action": "merge_readiness", **whole})).data
    assert "conflict" not in [blocker["check"] for blocker in data["blockers"]]


async def test_need_rebase_right_after_a_rebase_is_no_reason_for_another(replayed: App) -> None:
    arguments = {"action": "rebase", "project_id": "acme/shop-ff", "merge_request_iid": 2}
    data = (await replayed.call("manage_merge_request", arguments)).data
    assert data["rebase_in_progress"] is True
    assert "do not rebase again" in data["then"]

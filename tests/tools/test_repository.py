"""Branches, tags, commits and releases."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gitlab_mcp.app import App
from gitlab_mcp.failures.failure import CallFailed
from tests.support.recordings import rows
from tests.support.standin import Reply, ReplyWith, StandIn

pytestmark = pytest.mark.anyio
Against = Callable[..., App]


async def wrong_fields(app: App, tool: str, **arguments: Any) -> list[str]:
    with pytest.raises(CallFailed) as failed:
        await app.call(tool, arguments)
    return [each["field"] for each in failed.value.failure.facts["invalid_fields"]]


async def test_a_broken_regex_is_refused_before_gitlab_stumbles_over_it(
    standin: StandIn, against: Against
) -> None:
    arguments = {"action": "list", "project_id": "acme/website", "regex": "((("}
    assert await wrong_fields(against(), "browse_branches", **arguments) == ["regex"]
    assert standin.requests == []


async def test_an_escape_only_gitlab_knows_is_left_to_it(standin: StandIn, against: Against) -> None:
    standin.answer("GET", "/projects/*/repository/branches", body=[])
    arguments = {"action": "list", "project_id": "acme/website", "regex": r"^\pL+$"}
    await against().call("browse_branches", arguments)
    assert ("regex", r"^\pL+$") in standin.requests[0].params


async def test_tags_have_no_page_after_the_last(replayed: App) -> None:
    result = await replayed.call("browse_tags", {"action": "list", "project_id": "acme/shop"})
    assert (len(result.data["items"]), result.data["total"]) == (4, 4)
    assert "next_page" not in result.data


async def test_a_search_of_tags_counts_what_it_found(replayed: App) -> None:
    arguments = {"action": "list", "project_id": "acme/shop", "search": "^v1"}
    result = await replayed.call("browse_tags", arguments)
    assert (len(result.data["items"]), result.data["total"]) == (3, 3)
    assert "next_page" not in result.data


async def test_a_search_of_tags_that_finds_nothing_says_so(replayed: App) -> None:
    arguments = {"action": "list", "project_id": "acme/shop", "search": "v9"}
    result = await replayed.call("browse_tags", arguments)
    assert (result.data["items"], result.data["total"]) == ([], 0)


async def test_the_commits_of_a_ref_that_does_not_exist_are_not_called_none(
    standin: StandIn, against: Against
) -> None:
    standin.play_rows(row for row in rows("errors") if "repository/commits?ref_name=nosuch" in row["path"])
    standin.answer("GET", "/projects/1/repository/commits/nosuch", 404, {"message": "404 Commit Not Found"})
    arguments = {"action": "list", "project_id": "1", "ref_name": "nosuch"}
    result = await against().call("browse_commits", arguments)
    assert result.data["items"] == []
    assert "ref_name" in result.data["why_empty"]
    assert "no branch" in result.data["why_empty"]


async def test_filters_that_leave_no_commit_are_told_from_a_missing_ref(
    standin: StandIn, against: Against
) -> None:
    standin.answer("GET", "/projects/1/repository/commits", body=[])
    standin.answer("GET", "/projects/1/repository/commits/main", body={"id": "abc"})
    arguments = {"action": "list", "project_id": "1", "ref_name": "main", "author": "nobody"}
    result = await against().call("browse_commits", arguments)
    assert "Nothing matches" in result.data["why_empty"]


async def test_a_comparison_gitlab_gave_up_on_is_not_passed_off_as_whole(
    standin: StandIn, against: Against
) -> None:
    body = {"commits": [], "diffs": [], "compare_timeout": True, "compare_same_ref": False}
    standin.answer("GET", "/projects/*/repository/compare", body=body)
    arguments = {"action": "compare", "project_id": "1", "from_ref": "v1", "to_ref": "main"}
    result = await against().call("browse_commits", arguments)
    assert dict(standin.requests[0].params) == {"from": "v1", "to": "main"}
    assert "gave up" in result.data["truncated"][0]["what"]


@pytest.mark.parametrize(
    ("place", "field"),
    [
        ({"path": "a.py"}, "line"),
        ({"path": "a.py", "line": 3}, "line_type"),
        ({"line": 3, "line_type": "new"}, "path"),
    ],
)
async def test_a_comment_with_half_a_place_is_refused(
    standin: StandIn, against: Against, place: dict[str, Any], field: str
) -> None:
    arguments = {"action": "comment", "project_id": "1", "sha": "main", "note": "x", **place}
    assert await wrong_fields(against(), "manage_commit", **arguments) == [field]
    assert standin.requests == []


async def test_the_latest_release_is_one_that_is_out(replayed: App) -> None:
    announced = await replayed.call("browse_releases", {"action": "list", "project_id": "acme/shop"})
    latest = await replayed.call("browse_releases", {"action": "latest", "project_id": "acme/shop"})
    assert announced.data["items"][0]["upcoming_release"] is True
    assert latest.data["tag_name"] == "v1.1.0"


async def test_a_project_that_only_announced_a_release_has_no_latest(
    standin: StandIn, against: Against
) -> None:
    standin.answer("GET", "/projects/*/releases", body=[{"tag_name": "v9", "upcoming_release": True}])
    result = await against().call("browse_releases", {"action": "latest", "project_id": "1"})
    assert result.data == {"empty": True, "why_empty": "Nothing is released yet."}


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"action": "create_link", "tag_name": "v1", "name": "n", "url": "no url"}, "url"),
        (
            {
                "action": "create_link",
                "tag_name": "v1",
                "name": "n",
                "url": "https://example.com/q",
                "direct_asset_path": "no slash",
            },
            "direct_asset_path",
        ),
        ({"action": "add_changelog", "version": "next"}, "version"),
        ({"action": "create", "tag_name": "v1", "assets": {"links": []}}, "assets.links"),
        ({"action": "create", "tag_name": "v1", "released_at": "yesterday"}, "released_at"),
    ],
)
async def test_what_a_release_cannot_be_is_refused_before_sending(
    standin: StandIn, against: Against, arguments: dict[str, Any], field: str
) -> None:
    assert await wrong_fields(against(), "manage_release", project_id="1", **arguments) == [field]
    assert standin.requests == []


async def test_deleting_a_branch_says_which_merge_requests_that_closes(
    standin: StandIn, against: Against
) -> None:
    standin.answer("GET", "/projects/1/merge_requests", body=[{"iid": 3}, {"iid": 8}])
    standin.answer("DELETE", "/projects/1/repository/branches/x", 204)
    result = await against().call("manage_branch", {"action": "delete", "project_id": "1", "branch": "x"})
    assert result.data == {"done": True, "closes_merge_requests": [3, 8]}
    assert dict(standin.requests[0].params) == {"source_branch": "x", "state": "opened"}


async def test_a_branch_is_deleted_where_merge_requests_cannot_be_read(
    standin: StandIn, against: Against
) -> None:
    standin.answer("GET", "/projects/1/merge_requests", 403, {"message": "403 Forbidden"})
    standin.answer("DELETE", "/projects/1/repository/branches/x", 204)
    result = await against().call("manage_branch", {"action": "delete", "project_id": "1", "branch": "x"})
    assert result.data == {"done": True}


REFUSED = {"message": "Validation failed: None of the group milestones have the same project as the release"}


async def test_milestones_that_a_refused_change_took_from_a_release_are_put_back(
    standin: StandIn, against: Against
) -> None:
    """Synthetic in its order; the refusal is recorded."""
    release = "/projects/10/releases/v2"
    standin.fault("GET", release, ReplyWith(Reply.of(200, {"milestones": [{"title": "pm1"}]})))
    standin.answer("GET", release, body={"tag_name": "v2", "milestones": []})
    standin.fault("PUT", release, ReplyWith(Reply.of(400, REFUSED)))
    standin.answer("PUT", release, body={"tag_name": "v2"})
    arguments = {"action": "update", "project_id": "10", "tag_name": "v2", "milestones": ["gm1"]}
    with pytest.raises(CallFailed):
        await against().call("manage_release", arguments)
    sent = [request.json for request in standin.requests if request.method == "PUT"]
    assert sent == [{"milestones": ["gm1"]}, {"milestones": ["pm1"]}]

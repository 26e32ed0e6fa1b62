from __future__ import annotations

import pytest

from gitlab_mcp.app import App

pytestmark = pytest.mark.anyio
THERE = {"project_id": "acme/website"}


async def test_a_caller_who_names_fields_gets_these_of_each_row(replayed: App) -> None:
    arguments = {"action": "list", **THERE, "fields": ["iid", "merged_at", "author.id"]}
    found = (await replayed.call("browse_merge_requests", arguments)).data
    assert found["total"] == 4
    assert [sorted(row) for row in found["items"]] == [["author.id", "iid", "merged_at"]] * 4
    times = {row["iid"]: row["merged_at"] for row in found["items"]}
    assert times[4].startswith("2026-11-16T")
    assert times[1] is None


async def test_a_name_that_gitlab_does_not_have_is_told(replayed: App) -> None:
    arguments = {"action": "get", **THERE, "merge_request_iid": 1, "fields": "iid,mergedat"}
    found = (await replayed.call("browse_merge_requests", arguments)).data
    assert (found["iid"], found["unknown_fields"]) == (1, ["mergedat"])
    assert "merged_at" in found["known_fields"]


async def test_a_comparison_can_be_had_without_its_diffs(replayed: App) -> None:
    arguments = {"action": "compare", **THERE, "from_ref": "main", "to_ref": "feature/login"}
    with_diffs = await replayed.call("browse_commits", arguments)
    without = await replayed.call("browse_commits", {**arguments, "diffs": False})
    assert with_diffs.text is not None
    assert without.text is None
    assert without.data["commits"] == with_diffs.data["commits"]
    assert without.data["files"]

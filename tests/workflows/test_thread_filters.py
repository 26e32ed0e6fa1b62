from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gitlab_mcp.app import App
from tests.support.standin import StandIn

pytestmark = pytest.mark.anyio
Against = Callable[..., App]

THERE = {"action": "list", "project_id": "1", "merge_request_iid": 1}


def thread(number: int, **note: Any) -> dict[str, Any]:
    whole = {"id": number, "body": "text", "type": None, "system": False, "resolvable": False, **note}
    return {"id": f"{number:040}", "individual_note": True, "notes": [whole]}


OPEN = thread(1, resolvable=True, resolved=False)
RESOLVED = thread(2, resolvable=True, resolved=True)
COMMENT = thread(3)
SYSTEM = thread(4, system=True, body="assigned to @bob")


def numbers(data: Any) -> list[int]:
    return [note["id"] for item in data["items"] for note in item["notes"]]


async def test_system_notes_are_left_out_and_counted(standin: StandIn, against: Against) -> None:
    standin.answer("GET", "/projects/1/merge_requests/1/discussions", body=[OPEN, SYSTEM, COMMENT])
    found = (await against().call("browse_discussions", THERE)).data
    assert (numbers(found), found["total"]) == ([1, 3], 2)
    assert found["truncated"] == [
        {"what": "system notes", "omitted": 1, "how_to_get_it": "system_notes=true"}
    ]


async def test_system_notes_are_there_when_asked_for(standin: StandIn, against: Against) -> None:
    standin.answer("GET", "/projects/1/merge_requests/1/discussions", body=[OPEN, SYSTEM, COMMENT])
    found = (await against().call("browse_discussions", {**THERE, "system_notes": True})).data
    assert numbers(found) == [1, 4, 3]
    assert "truncated" not in found
    assert standin.requests[0].params == []


async def test_notes_come_without_system_notes_too_unless_a_filter_says_which(
    standin: StandIn, against: Against
) -> None:
    standin.answer("GET", "/projects/1/merge_requests/1/notes", body=[*OPEN["notes"], *SYSTEM["notes"]])
    notes = {**THERE, "action": "list_notes"}
    plain = (await against().call("browse_discussions", notes)).data
    everything = (await against().call("browse_discussions", {**notes, "activity_filter": "all_notes"})).data
    assert [note["id"] for note in plain["items"]] == [1]
    assert plain["truncated"][0]["omitted"] == 1
    assert [note["id"] for note in everything["items"]] == [1, 4]


async def test_only_unresolved_threads_are_shown_when_asked_for(standin: StandIn, against: Against) -> None:
    body = [OPEN, RESOLVED, COMMENT, SYSTEM]
    standin.answer("GET", "/projects/1/merge_requests/1/discussions", body=body)
    found = (await against().call("browse_discussions", {**THERE, "unresolved": True})).data
    assert numbers(found) == [1]
    assert [(each["what"], each["omitted"]) for each in found["truncated"]] == [
        ("system notes", 1),
        ("resolved threads and comments", 2),
    ]
    assert standin.requests[0].params == [("per_page", "100")]


async def test_a_commit_thread_says_its_file_and_line(replayed: App) -> None:
    sha = "dbc35632b7b69fd93edcc32d714d59617c7b5790"
    found = await replayed.call("browse_discussions", {"action": "list", "project_id": "1", "sha": sha})
    (note,) = found.data["items"][0]["notes"]
    assert (note["file"], note["line"]) == ("src/app.py", 1)


async def test_a_thread_on_a_removed_line_keeps_its_side(standin: StandIn, against: Against) -> None:
    place = {"new_path": "a.py", "old_path": "a.py"}
    removed = thread(1, resolvable=True, resolved=False, position={**place, "old_line": 11, "new_line": None})
    added = thread(2, resolvable=True, resolved=False, position={**place, "old_line": None, "new_line": 12})
    path = "/projects/1/merge_requests/1"
    standin.answer("GET", path, body={"iid": 1, "title": "x"})
    standin.answer("GET", f"{path}/discussions", body=[removed, added])
    for name in ("diffs", "commits", "closes_issues"):
        standin.answer("GET", f"{path}/{name}", body=[])
    standin.answer("GET", f"{path}/approvals", body={"approved_by": []})
    found = (await against().call("browse_merge_requests", {**THERE, "action": "review_bundle"})).data
    places = [(each.get("line"), each.get("old_line")) for each in found["open_threads"]]
    assert places == [(None, 11), (12, None)]


async def test_events_name_their_project_by_path(standin: StandIn, against: Against) -> None:
    events = [{"action_name": "opened", "project_id": 5}, {"action_name": "closed", "project_id": 5},
              {"action_name": "opened", "project_id": 6}]  # fmt: skip
    standin.answer("GET", "/events", body=events)
    standin.answer("GET", "/projects/5", body={"id": 5, "path_with_namespace": "acme/shop"})
    found = (await against().call("browse_users", {"action": "events"})).data["items"]
    assert [(row.get("project"), row.get("project_id")) for row in found] == [
        ("acme/shop", None),
        ("acme/shop", None),
        (None, 6),
    ]
    assert len(standin.requests) == 3


async def test_a_list_of_tags_says_their_commits(replayed: App) -> None:
    found = await replayed.call("browse_tags", {"action": "list", "project_id": "acme/website"})
    assert all(len(tag["sha"]) == 8 for tag in found.data["items"])

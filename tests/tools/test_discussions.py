from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from gitlab_mcp.app import App
from gitlab_mcp.failures.failure import CallFailed
from gitlab_mcp.settings import Secret
from tests.support.recordings import rows
from tests.support.standin import StandIn

pytestmark = pytest.mark.anyio
Against = Callable[..., App]

THREAD = "5989a8674c701fff660b661bacfd2f324e16eea1"
"""Of writes/app!1; one of its two notes is resolved when it is first seen."""
UNKNOWN = "a" * 40


async def test_resolving_an_unknown_thread_is_not_found_and_changes_nothing(
    standin: StandIn, against: Against
) -> None:
    standin.play_rows(row for row in rows("errors") if row["label"] == "discussions/issue_not_found")
    arguments = {"action": "resolve", "project_id": "1", "issue_iid": 1, "discussion_id": UNKNOWN}
    with pytest.raises(CallFailed) as failed:
        await against().call("manage_discussion", arguments)
    assert failed.value.failure.code == "NOT_FOUND"
    assert {request.method for request in standin.requests} == {"GET"}


async def test_resolving_a_thread_twice_says_that_nothing_had_to_change(
    standin: StandIn, against: Against, cassettes: Path
) -> None:
    standin.play(cassettes / "discussions.json")
    app = against()
    arguments = {"action": "resolve", "project_id": "23", "merge_request_iid": 1, "discussion_id": THREAD}
    first = await app.call("manage_discussion", arguments)
    second = await app.call("manage_discussion", arguments)
    undo = {"tool": "manage_discussion", "arguments": {**arguments, "action": "unresolve"}}
    assert first.data == {"id": THREAD, "resolved": [True, True], "undo": undo}
    assert second.data == {"already": True}
    assert [request.method for request in standin.requests] == ["GET", "PUT", "GET"]


async def test_a_thread_is_opened_again(standin: StandIn, against: Against, cassettes: Path) -> None:
    standin.play(cassettes / "discussions.json")
    arguments = {"project_id": "23", "merge_request_iid": 1, "discussion_id": THREAD}
    result = await against().call("manage_discussion", {"action": "unresolve", **arguments})
    undo = {"tool": "manage_discussion", "arguments": {**arguments, "action": "resolve"}}
    assert result.data == {"id": THREAD, "resolved": [False, False], "undo": undo}
    assert standin.requests[-1].json == {"resolved": False}


async def test_a_plain_comment_cannot_be_resolved_and_the_failure_says_so(
    standin: StandIn, against: Against
) -> None:
    plain = {"id": UNKNOWN, "individual_note": True, "notes": [{"id": 1, "resolvable": False}]}
    standin.answer("GET", f"/projects/1/merge_requests/1/discussions/{UNKNOWN}", body=plain)
    arguments = {"project_id": "1", "merge_request_iid": 1, "discussion_id": UNKNOWN}
    with pytest.raises(CallFailed) as failed:
        await against().call("manage_discussion", {"action": "resolve", **arguments})
    assert failed.value.failure.code == "CONFLICT"
    assert {request.method for request in standin.requests} == {"GET"}


async def test_quick_actions_alone_write_no_note_and_say_what_they_did(replayed: App) -> None:
    arguments = {"project_id": "writes/app", "issue_iid": 1, "body": "/label ~doing\n/due 2027-01-01"}
    arguments["quick_actions"] = True
    result = await replayed.call("manage_discussion", {"action": "create_note", **arguments})
    assert "id" not in result.data
    assert result.data["summary"] == ['Added ~"doing" label. Set the due date to Jan 1, 2027.']
    assert "warnings" not in result.data


async def test_a_quick_action_that_did_nothing_is_told(standin: StandIn, against: Against) -> None:
    standin.play_rows(row for row in rows("errors") if row["label"] == "notes/quick_action_not_allowed")
    arguments = {"action": "create_note", "project_id": "12", "issue_iid": 11, "body": "/label ~bug"}
    arguments["quick_actions"] = True
    result = await against(token=Secret("e_guest")).call("manage_discussion", arguments)
    assert [warning["code"] for warning in result.data["warnings"]] == ["NOT_APPLIED"]


async def test_a_comment_is_written_rewritten_and_deleted_by_who_wrote_it(
    standin: StandIn, against: Against, cassettes: Path
) -> None:
    standin.play(cassettes / "discussions.json")
    bob = against(token=Secret("bob"))
    place = {"project_id": "23", "issue_iid": 1}
    written = await bob.call(
        "manage_discussion", {"action": "create_note", **place, "body": "I can reproduce this."}
    )
    note = {**place, "note_id": written.data["id"]}
    await bob.call(
        "manage_discussion", {"action": "update_note", **note, "body": "I can reproduce this on main."}
    )
    gone = await bob.call("manage_discussion", {"action": "delete_note", **note})
    assert gone.data == {"done": True}
    assert [request.method for request in standin.requests] == ["POST", "PUT", "DELETE"]


@pytest.mark.parametrize(
    ("place", "path"),
    [
        ({"issue_iid": 3}, "/projects/1/issues/3/award_emoji"),
        ({"merge_request_iid": 3}, "/projects/1/merge_requests/3/award_emoji"),
        ({"merge_request_iid": 3, "note_id": 9}, "/projects/1/merge_requests/3/notes/9/award_emoji"),
    ],
)
async def test_a_reaction_goes_to_the_note_when_one_is_named(
    standin: StandIn, against: Against, place: dict[str, int], path: str
) -> None:
    standin.answer("POST", path, 201, {"id": 4, "name": "eyes"})
    arguments = {"action": "add", "project_id": "1", "name": "eyes", **place}
    result = await against().call("manage_reaction", arguments)
    undo = {
        "tool": "manage_reaction",
        "arguments": {"action": "remove", "project_id": "1", "award_id": 4, **place},
    }
    assert result.data == {"untrusted": ["name"], "id": 4, "name": "eyes", "undo": undo}
    assert [(request.route, request.json) for request in standin.requests] == [(path, {"name": "eyes"})]


async def test_a_comment_on_two_things_at_once_is_refused(standin: StandIn, against: Against) -> None:
    arguments = {"project_id": "1", "issue_iid": 1, "merge_request_iid": 1, "body": "x"}
    with pytest.raises(CallFailed) as refused:
        await against().call("manage_discussion", {"action": "create_note", **arguments})
    assert refused.value.failure.code == "INVALID_VALUE"
    assert standin.requests == []

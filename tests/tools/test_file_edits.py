"""manage_file edit, on the recorded shop that keeps what is written to it."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import anyio
import pytest

from gitlab_mcp.app import App
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.failures.secret_text import REDACTED
from tests.support.standin import LoseAnswer, Reply, ReplyWith, StandIn
from tests.support.standin.shop import Shop

pytestmark = pytest.mark.anyio
Against = Callable[..., App]

CALL = {"action": "edit", "project_id": "acme/shop", "branch": "main", "commit_message": "Edit it"}
NEW_BRANCH = {**CALL, "branch": "edit-it", "start_branch": "main"}
README = "README.md"
FILE = "/projects/acme%2Fshop/repository/files/README.md"
COMMITS = "/projects/acme%2Fshop/repository/commits"


@pytest.fixture
def shop(shop: Shop) -> Shop:
    shop.files["main", README] = "# Shop\n\nVersion 1.2.0\n\nVersion of the API: 4\n"
    shop.files["main", "setup.cfg"] = "[metadata]\r\nversion = 1.2.0\r\n"
    shop.written |= {"files"}
    return shop


def edit(old: str, new: str, file_path: str = README) -> dict[str, str]:
    return {"file_path": file_path, "old_text": old, "new_text": new}


async def refusal(app: App, **arguments: Any) -> Failure:
    with pytest.raises(CallFailed) as failed:
        await app.call("manage_file", {**CALL, **arguments})
    return failed.value.failure


def writes(standin: StandIn) -> list[str]:
    return [f"{each.method} {each.route}" for each in standin.requests if each.method not in ("GET", "HEAD")]


async def test_several_files_are_edited_in_one_commit(standin: StandIn, shop: Shop, against: Against) -> None:
    edits = [edit("1.2.0", "1.3.0"), edit("API: 4", "API: 5"), edit("1.2.0", "1.3.0", "setup.cfg")]
    result = await against().call("manage_file", {**CALL, "edits": edits})
    assert shop.files["main", README] == "# Shop\n\nVersion 1.3.0\n\nVersion of the API: 5\n"
    assert shop.files["main", "setup.cfg"] == "[metadata]\r\nversion = 1.3.0\r\n"
    assert writes(standin) == [f"POST {COMMITS}"]
    assert result.data["commit_id"] == shop.thing("projects/77/repository/branches", "main")["commit"]["id"]
    assert result.data["edited"] == [
        {"file_path": README, "at": ["line 3", "line 5"]},
        {"file_path": "setup.cfg", "at": ["line 2"]},
    ]


async def test_the_merge_request_is_opened_in_the_same_call(
    standin: StandIn, shop: Shop, against: Against
) -> None:
    arguments = {**NEW_BRANCH, "edits": [edit("1.2.0", "1.3.0")], "merge_request_title": "Bump the version"}
    result = await against().call("manage_file", arguments)
    [request] = shop.named("projects/77/merge_requests", source_branch="edit-it")
    assert (request["target_branch"], request["title"]) == ("main", "Bump the version")
    assert result.data["merge_request"]["iid"] == request["iid"]
    assert result.data["merge_request"]["target_branch"] == "main"
    assert (result.data["branch"], result.data["branch_created_from"]) == ("edit-it", "main")
    assert writes(standin) == [f"POST {COMMITS}", "POST /projects/acme%2Fshop/merge_requests"]


async def test_without_a_start_the_merge_request_goes_to_the_default_branch(
    shop: Shop, against: Against
) -> None:
    branches = shop.things["projects/77/repository/branches"]
    branches["there"] = {"name": "there", "commit": {"id": "a" * 40}}
    shop.files["there", README] = "old\n"
    arguments = {**CALL, "branch": "there", "edits": [edit("old", "new")], "merge_request_title": "New"}
    result = await against().call("manage_file", arguments)
    assert shop.named("projects/77/merge_requests", source_branch="there")[0]["target_branch"] == "main"
    assert result.data["merge_request"]["target_branch"] == "main"
    assert "branch_created_from" not in result.data


async def test_where_the_merge_request_fails_the_commit_stands_and_the_call_for_the_rest_is_ready(
    standin: StandIn, shop: Shop, against: Against
) -> None:
    standin.fault(
        "POST", "/projects/*/merge_requests", ReplyWith(Reply.of(403, {"message": "403 Forbidden"}))
    )
    app = against()
    arguments = {**NEW_BRANCH, "edits": [edit("1.2.0", "1.3.0")], "merge_request_title": "Bump"}
    result = await app.call("manage_file", arguments)
    [warning] = result.data["warnings"]
    assert (warning["code"], warning["error_code"]) == ("PARTIAL", "PERMISSION_DENIED")
    assert result.data["commit_id"] and not shop.named("projects/77/merge_requests", source_branch="edit-it")
    tool, action = warning["next"]["action"].split()
    await app.call(tool, {"action": action, **warning["next"]["arguments"]})
    assert shop.named("projects/77/merge_requests", source_branch="edit-it")


async def test_a_call_that_was_cut_off_after_the_commit_is_finished_by_the_same_call(
    standin: StandIn, shop: Shop, against: Against
) -> None:
    arguments = {**NEW_BRANCH, "edits": [edit("1.2.0", "1.3.0")]}
    made = await against().call("manage_file", arguments)
    again = await against().call("manage_file", {**arguments, "merge_request_title": "Bump"})
    assert again.data["already"] is True and again.data["commit_id"] == made.data["commit_id"]
    assert len(shop.named("projects/77/repository/commits", message="Edit it")) == 1
    assert len(shop.named("projects/77/merge_requests", source_branch="edit-it")) == 1


async def test_sent_again_after_all_is_done_nothing_is_made_twice(
    standin: StandIn, shop: Shop, against: Against
) -> None:
    app = against()
    arguments = {**NEW_BRANCH, "edits": [edit("1.2.0", "1.3.0")], "merge_request_title": "Bump"}
    first = await app.call("manage_file", arguments)
    there = {"message": ["Another open merge request already exists for this source branch: !27"]}
    standin.fault("POST", "/projects/*/merge_requests", ReplyWith(Reply.of(409, there)))
    again = await app.call("manage_file", arguments)
    assert again.data["merge_request"] == {"already": True, **first.data["merge_request"]}
    assert "warnings" not in again.data


async def test_a_branch_of_that_name_with_something_else_is_left_alone(shop: Shop, against: Against) -> None:
    shop.things["projects/77/repository/branches"]["edit-it"] = {
        "name": "edit-it",
        "commit": {"id": "b" * 40},
    }
    shop.files["edit-it", README] = "Somebody else's\n"
    failure = await refusal(against(), **{**NEW_BRANCH, "edits": [edit("1.2.0", "1.3.0")]})
    assert failure.code == "CONFLICT"
    assert shop.files["edit-it", README] == "Somebody else's\n"


async def test_one_edit_that_does_not_fit_stops_all(standin: StandIn, shop: Shop, against: Against) -> None:
    edits = [edit("Version 1.2.0", "x"), edit("Version", "Number"), edit("Version  1.2.0", "y", "setup.cfg")]
    failure = await refusal(against(), edits=edits)
    assert failure.code == "INVALID_VALUE"
    assert [each["field"] for each in failure.facts["invalid_fields"]] == [
        "edits[1].old_text",
        "edits[2].old_text",
    ]
    assert "2 times: line 3, line 5" in failure.facts["invalid_fields"][0]["received"]
    assert writes(standin) == []


async def test_a_near_miss_comes_with_the_call_that_shows_it(shop: Shop, against: Against) -> None:
    failure = await refusal(against(), edits=[edit("Version  1.2.0", "x")])
    assert failure.facts["evidence"] == ["README.md, line 3: white space or invisible characters differ"]
    [look] = failure.facts["alternatives"]
    assert look["arguments"] | {"start_line": 1, "end_line": 5, "file_path": README} == look["arguments"]


async def test_an_edit_that_is_made_already_is_no_second_commit(shop: Shop, against: Against) -> None:
    failure = await refusal(against(), edits=[edit("Version 1.1.0", "Version 1.2.0")])
    assert (failure.code, failure.facts["state"]) == ("CONFLICT", "made already")


async def test_a_file_that_changed_since_the_caller_read_it_is_not_edited(
    standin: StandIn, shop: Shop, against: Against
) -> None:
    failure = await refusal(against(), edits=[edit("1.2.0", "1.3.0")], last_commit_id="c" * 40)
    assert (failure.code, failure.facts["state"]) == ("CONFLICT", "changed")
    last = failure.facts["candidates"][0]["last_commit_id"]
    assert writes(standin) == []
    await against().call(
        "manage_file", {**CALL, "edits": [edit("1.2.0", "1.3.0")], "last_commit_id": last[:8]}
    )


async def test_a_file_that_changes_between_the_look_and_the_commit_is_not_overwritten(
    standin: StandIn, shop: Shop, against: Against
) -> None:
    stale = {
        "encoding": "base64",
        "content": base64.b64encode(b"Version 1.2.0\n").decode(),
        "last_commit_id": "d" * 40,
    }
    standin.answer("GET", FILE, body=stale)
    failure = await refusal(against(), edits=[edit("1.2.0", "1.3.0")])
    assert (failure.code, failure.facts["state"]) == ("CONFLICT", "changed")
    assert "Version 1.2.0" in (shop.files["main", README] or "")


async def test_a_lost_answer_is_found_again_and_nothing_is_committed_twice(
    standin: StandIn, shop: Shop, against: Against
) -> None:
    standin.fault("POST", COMMITS, LoseAnswer())
    result = await against().call("manage_file", {**CALL, "edits": [edit("1.2.0", "1.3.0")]})
    assert result.data["recovered"] is True
    assert len(shop.named("projects/77/repository/commits", message="Edit it")) == 1


async def test_a_lost_answer_to_the_merge_request_is_found_among_merge_requests(
    standin: StandIn, shop: Shop, against: Against
) -> None:
    standin.fault("POST", "/projects/acme%2Fshop/merge_requests", LoseAnswer())
    arguments = {**NEW_BRANCH, "edits": [edit("1.2.0", "1.3.0")], "merge_request_title": "Bump"}
    result = await against().call("manage_file", arguments)
    [request] = shop.named("projects/77/merge_requests", source_branch="edit-it")
    assert result.data["merge_request"]["iid"] == request["iid"]


@pytest.mark.parametrize(
    ("content", "received"),
    [
        (b"\0\1binary", "binary"),
        ("version = 1.2.0".encode("utf-16"), "UTF-16"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "Git LFS"),
    ],
)
async def test_what_is_no_text_is_refused(
    standin: StandIn, against: Against, content: bytes, received: str
) -> None:
    body = {"encoding": "base64", "content": base64.b64encode(content).decode(), "last_commit_id": "a" * 40}
    standin.answer("GET", FILE, body=body)
    failure = await refusal(against(), edits=[edit("version", "x")])
    assert received in failure.facts["invalid_fields"][0]["received"]
    assert writes(standin) == []


@pytest.mark.parametrize(("new", "is_made"), [("grün", True), ("😀", False)])
async def test_the_bytes_of_an_old_encoding_stay_as_they_are(
    standin: StandIn, against: Against, new: str, is_made: bool
) -> None:
    old = "Größe: rot\r\n".encode("latin-1")
    body = {"encoding": "base64", "content": base64.b64encode(old).decode(), "last_commit_id": "a" * 40}
    standin.answer("GET", FILE, body=body)
    standin.answer("POST", COMMITS, 201, {"id": "e" * 40})
    call = {"edits": [edit("rot", new)]}
    if not is_made:
        assert (await refusal(against(), **call)).code == "INVALID_VALUE"
        assert writes(standin) == []
        return
    await against().call("manage_file", {**CALL, **call})
    [written] = (standin.requests[-1].json or {})["actions"]
    assert base64.b64decode(written["content"]) == "Größe: grün\r\n".encode("latin-1")


@pytest.mark.parametrize(
    ("message", "missing", "look"),
    [
        ("404 Commit Not Found", "branch", "browse_branches list"),
        ("404 File Not Found", "edits[1].file_path", "browse_files tree"),
    ],
)
async def test_a_branch_or_file_that_is_not_there_is_named(
    standin: StandIn, shop: Shop, against: Against, message: str, missing: str, look: str
) -> None:
    standin.answer("GET", "/projects/*/repository/files/docs%2Fnone.md", 404, {"message": message})
    edits = [edit("1.2.0", "1.3.0"), edit("a", "b", "docs/none.md")]
    failure = await refusal(against(), edits=edits)
    assert (failure.code, failure.facts["missing"]) == ("NOT_FOUND", missing)
    assert failure.facts["alternatives"][0]["action"] == look
    assert writes(standin) == []


async def test_one_yes_is_enough_for_the_commit_and_the_merge_request(
    standin: StandIn, shop: Shop, against: Against
) -> None:
    app = against(confirm="reversible")
    call = {**NEW_BRANCH, "edits": [edit("1.2.0", "1.3.0")], "merge_request_title": "Bump"}
    asked = await refusal(app, **call)
    assert asked.code == "CONFIRMATION_REQUIRED" and '"Bump"' in asked.facts["what_will_happen"]
    assert writes(standin) == []
    token = asked.facts["confirmation_token"]
    result = await app.call("manage_file", {**call, "confirmation_token": token})
    assert result.data["merge_request"]["iid"]


async def test_of_two_edits_at_once_none_is_lost(standin: StandIn, shop: Shop, against: Against) -> None:
    app = against()
    done: list[str] = []

    async def change(old: str, new: str) -> None:
        try:
            await app.call("manage_file", {**CALL, "edits": [edit(old, new)]})
            done.append(new)
        except CallFailed as failed:
            assert failed.failure.code == "CONFLICT"

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(change, "Version 1.2.0", "Version 1.3.0")
        tasks.start_soon(change, "API: 4", "API: 5")
    text = shop.files["main", README] or ""
    assert done and all(new in text for new in done)


async def test_half_a_file_is_never_written_back(standin: StandIn, against: Against) -> None:
    standin.answer(
        "GET", FILE, body={"encoding": "base64", "content": "VmVyc2lvb", "last_commit_id": "a" * 40}
    )
    assert (await refusal(against(), edits=[edit("Versi", "x")])).code == "BAD_RESPONSE"
    assert writes(standin) == []


async def test_the_mark_of_a_hidden_secret_is_not_written(
    standin: StandIn, shop: Shop, against: Against
) -> None:
    failure = await refusal(against(), edits=[edit("1.2.0", REDACTED)])
    assert failure.code == "INVALID_VALUE"
    assert standin.requests == []


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"edits": []}, "edits"),
        ({"edits": [edit("", "x")]}, "edits[0].old_text"),
        ({"edits": [edit("same", "same")]}, "edits.new_text"),
        ({"edits": [{"old_text": "a", "new_text": "b"}]}, "edits[0].file_path"),
        ({"edits": "a → b"}, "edits"),
        ({"edits": [edit("a", "b")], "description": "For nothing"}, "merge_request_title"),
        (
            {"edits": [edit("a", "b"), edit("a", "b", "other")], "last_commit_id": "a" * 40},
            "last_commit_id",
        ),
    ],
)
async def test_what_cannot_work_is_never_sent(
    standin: StandIn, against: Against, arguments: dict[str, Any], field: str
) -> None:
    failure = await refusal(against(), **arguments)
    told = failure.facts.get("invalid_fields") or failure.facts.get("missing_fields")
    assert field in str(told)
    assert standin.requests == []


@pytest.mark.parametrize(
    "arguments",
    [
        {"file_path": README, "old_text": "1.2.0", "new_text": "1.3.0"},
        {"path": README, "old_string": "1.2.0", "new_string": "1.3.0"},
        {"file_path": README, "edits": [{"oldText": "1.2.0", "newText": "1.3.0"}]},
        {"file_path": README, "edits": '[{"search": "1.2.0", "replace": "1.3.0"}]'},
    ],
)
async def test_the_words_of_other_editors_are_understood(
    shop: Shop, against: Against, arguments: dict[str, Any]
) -> None:
    await against().call("manage_file", {**CALL, **arguments})
    assert "1.3.0" in (shop.files["main", README] or "")


async def test_an_edit_whose_merge_request_is_forbidden_here_does_nothing(
    standin: StandIn, shop: Shop, against: Against
) -> None:
    app = against(never_actions=("manage_merge_request.create",))
    arguments = {**NEW_BRANCH, "edits": [edit("1.2.0", "1.3.0")], "merge_request_title": "Bump"}
    assert (await refusal(app, **arguments)).code == "OUT_OF_SCOPE"
    assert writes(standin) == []


async def test_of_two_values_for_one_field_of_an_edit_none_is_dropped(
    standin: StandIn, shop: Shop, against: Against
) -> None:
    failure = await refusal(against(), edits=[{**edit("1.2.0", "1.3.0"), "old_string": "Version"}])
    assert failure.code == "FIELD_NOT_ALLOWED"
    assert writes(standin) == []

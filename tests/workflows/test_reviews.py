from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gitlab_mcp.actions.result import Result
from gitlab_mcp.app import App
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.settings import Secret
from tests.support.recordings.picked import picked
from tests.support.standin import Drop, Reply, ReplyWith, StandIn
from tests.support.standin.exchange import Received

pytestmark = pytest.mark.anyio
Against = Callable[..., App]

REVIEWED = {"project_id": "acme/shop", "merge_request_iid": 25}
BIG = {"project_id": "acme/shop", "merge_request_iid": 24}
PATH = "/projects/acme%2Fshop/merge_requests/25"
CART, RENAMED = "src/shop/cart.py", "docs/handbook.md"
CART_CODE = "73136b06c0fd746261770bb570aab549b4bd9071"


@pytest.fixture
def chain(standin: StandIn, cassettes: Path) -> Iterator[StandIn]:
    """!25 of acme/shop, as it was when each kind of place was commented on."""
    standin.play(cassettes / "stories" / "review_chain.json", cassettes / "shop_merge_requests.json")
    yield standin
    assert standin.unanswered == []


@pytest.fixture
def review(standin: StandIn, cassettes: Path) -> StandIn:
    """Three drafts on !25, ready to be published, and the notes before and after."""
    story, before = cassettes / "stories" / "review_chain.json", cassettes / "shop_reviews.json"
    newest = "/25/notes?per_page=20&page=1&sort=desc&order_by=created_at"
    standin.play_rows(picked(story, "GET", "/25/draft_notes?per_page=20&page=1"))
    standin.play_rows(picked(before, "GET", newest)[:1])
    standin.play_rows(picked(story, "GET", newest))
    standin.play_rows(picked(story, "POST", "/bulk_publish"))
    standin.play_rows(picked(story, "POST", "/25/approve"))
    standin.play_rows(picked(before, "GET", "/25/approvals")[:1])
    return standin


async def refusal(app: App, **arguments: Any) -> Failure:
    with pytest.raises(CallFailed) as failed:
        await app.call("manage_review", {**REVIEWED, **arguments})
    return failed.value.failure


def beside_notes(result: Result) -> dict[str, Any]:
    return {name: value for name, value in result.data.items() if name not in ("notes", "untrusted")}


def written(standin: StandIn) -> list[str]:
    return [f"{request.method} {request.route}" for request in standin.requests if request.method != "GET"]


@pytest.mark.parametrize(
    ("body", "place", "numbers"),
    [
        ("added", {"file_path": CART, "line": 27}, {"line_is": "added", "new_line": 27}),
        ("removed", {"file_path": CART, "old_line": 30}, {"line_is": "removed", "old_line": 30}),
        (
            "unchanged",
            {"file_path": CART, "line": 28},
            {"line_is": "unchanged", "old_line": 27, "new_line": 28},
        ),
        (
            "outside_hunk",
            {"file_path": CART, "line": 5},
            {"line_is": "unchanged", "old_line": 5, "new_line": 5},
        ),
        ("renamed_added", {"file_path": RENAMED, "line": 17}, {"line_is": "added", "new_line": 17}),
        (
            "renamed_unchanged",
            {"file_path": "docs/guide.md", "old_line": 15},
            {"line_is": "unchanged", "old_line": 15, "new_line": 15},
        ),
    ],
)
async def test_gitlab_accepts_the_position_that_is_worked_out(
    chain: StandIn, against: Against, body: str, place: dict[str, Any], numbers: dict[str, Any]
) -> None:
    arguments = {"action": "comment_line", **REVIEWED, **place, "body": f"Replay: {body}."}
    result = await against().call("manage_review", arguments)
    assert {name: result.data.get(name) for name in numbers} == numbers
    assert result.data["note_id"] and result.data["discussion_id"]
    sent = chain.requests[-1].json
    assert sent is not None
    lines = {name: value for name, value in sent["position"].items() if name.endswith("_line")}
    assert lines == {name: value for name, value in numbers.items() if name != "line_is"}


async def test_an_unchanged_line_may_be_given_by_both_its_numbers(chain: StandIn, against: Against) -> None:
    place = {"file_path": CART, "line": 28, "old_line": 27, "body": "Replay: unchanged."}
    result = await against().call("manage_review", {"action": "comment_line", **REVIEWED, **place})
    assert result.data["line_is"] == "unchanged"


@pytest.mark.parametrize(
    ("line", "old_line", "expected"),
    [(28, 28, "27, the number this unchanged line had before"), (27, 27, "left out: the line was added")],
)
async def test_two_numbers_that_are_not_of_one_line_are_refused(
    chain: StandIn, against: Against, line: int, old_line: int, expected: str
) -> None:
    failure = await refusal(
        against(), action="comment_line", file_path=CART, line=line, old_line=old_line, body="x"
    )
    assert failure.facts["invalid_fields"][0]["expected"] == expected
    assert written(chain) == []


async def test_a_range_is_sent_as_line_codes_and_types_alone(chain: StandIn, against: Against) -> None:
    place = {"file_path": CART, "start_line": 32, "line": 34, "body": "Replay: range."}
    result = await against().call("manage_review", {"action": "comment_line", **REVIEWED, **place})
    assert result.data["new_line"] == 34
    sent = chain.requests[-1].json
    assert sent is not None
    assert sent["position"]["line_range"] == {
        "start": {"line_code": f"{CART_CODE}_31_32", "type": "new"},
        "end": {"line_code": f"{CART_CODE}_31_34", "type": "new"},
    }


@pytest.mark.parametrize(
    ("label", "place"),
    [
        ("From an unchanged line to an added one.", {"start_line": 28, "line": 29}),
        ("Both removed lines.", {"old_start_line": 29, "old_line": 30}),
    ],
)
async def test_ranges_over_other_lines_are_what_gitlab_once_accepted(
    standin: StandIn, against: Against, cassettes: Path, label: str, place: dict[str, int]
) -> None:
    accepted = [
        json.loads(row["request"])["position"]
        for row in picked(cassettes / "shop_reviews.json", "POST", "/25/discussions")
        if row["status"] == 201 and label in row["request"]
    ]
    standin.play(cassettes / "shop_merge_requests.json")
    standin.answer("POST", f"{PATH}/discussions", 201, {"id": "a" * 40, "notes": [{"id": 1}]})
    arguments = {"action": "comment_line", **REVIEWED, "file_path": CART, **place, "body": label}
    await against().call("manage_review", arguments)
    sent = standin.requests[-1].json
    assert sent is not None
    # It was recorded one commit earlier; the cart was the same.
    assert {**sent["position"], "head_sha": accepted[0]["head_sha"]} == accepted[0]


async def test_a_range_that_begins_after_its_end_is_refused(chain: StandIn, against: Against) -> None:
    failure = await refusal(
        against(), action="comment_line", file_path=CART, start_line=38, line=32, body="x"
    )
    assert failure.facts["invalid_fields"][0]["field"] == "start_line"
    assert written(chain) == []


@pytest.mark.parametrize("draft", [False, True])
async def test_a_line_beyond_the_end_of_the_file_is_refused_before_sending(
    chain: StandIn, against: Against, draft: bool
) -> None:
    failure = await refusal(
        against(), action="comment_line", file_path=CART, line=9999, body="x", draft=draft
    )
    assert failure.code == "INVALID_VALUE"
    assert failure.facts["invalid_fields"][0]["expected"] == "at most 38, where the file ends"
    assert written(chain) == []


@pytest.mark.parametrize(("line", "is_there"), [(90, True), (91, False)])
async def test_where_the_diff_does_not_show_the_end_the_file_is_read(
    chain: StandIn, against: Against, line: int, is_there: bool
) -> None:
    content = "\n".join(f"line {number}" for number in range(1, 91)) + "\n"
    chain.answer("GET", "/projects/acme%2Fshop/repository/files/web%2Fapp.js/raw", 200, content)
    chain.answer("POST", f"{PATH}/discussions", 201, {"id": "a" * 40, "notes": [{"id": 1}]})
    place = {"action": "comment_line", "file_path": "web/app.js", "line": line, "body": "x"}
    if not is_there:
        failure = await refusal(against(), **place)
        assert failure.facts["invalid_fields"][0]["expected"] == "at most 90, where the file ends"
        return
    data = (await against().call("manage_review", {**REVIEWED, **place})).data
    assert (data["line_is"], data["old_line"]) == ("unchanged", 90)


@pytest.mark.parametrize("body", ["", "  \n"])
@pytest.mark.parametrize("action", ["comment_line", "comment_file", "create_draft", "update_draft"])
async def test_an_empty_comment_is_refused_before_sending(
    standin: StandIn, against: Against, action: str, body: str
) -> None:
    needed: dict[str, dict[str, Any]] = {
        "comment_line": {"file_path": CART, "line": 27},
        "comment_file": {"file_path": CART},
        "update_draft": {"draft_note_id": 12},
    }
    failure = await refusal(against(), action=action, body=body, **needed.get(action, {}))
    assert failure.facts["invalid_fields"][0]["expected"] == "text that is not empty"
    assert standin.requests == []


@pytest.mark.parametrize(
    ("where", "file_path", "why"),
    [
        (REVIEWED, "web/main.css", "it was renamed and not changed"),
        (REVIEWED, "web/logo.png", "it is binary"),
        (BIG, "package-lock.json", "its diff is empty or too large"),
        (BIG, "scripts/deploy.sh", "only its mode was changed"),
    ],
)
async def test_a_file_without_lines_takes_no_line_comment_and_the_failure_says_what_does(
    standin: StandIn,
    against: Against,
    cassettes: Path,
    where: dict[str, Any],
    file_path: str,
    why: str,
) -> None:
    standin.play(cassettes / "shop_merge_requests.json")
    failure = await refusal(against(), **where, action="comment_line", file_path=file_path, line=10, body="x")
    assert (failure.code, failure.facts["state"]) == ("CONFLICT", why)
    assert "comment_file" in failure.facts["suggested_fix"]
    assert written(standin) == []


async def test_a_collapsed_file_takes_a_line_comment(
    standin: StandIn, against: Against, cassettes: Path
) -> None:
    standin.play(cassettes / "shop_merge_requests.json")
    standin.answer("POST", "/projects/*/discussions", 201, {"id": "a" * 40, "notes": [{"id": 1}]})
    place = {"file_path": "docs/reference.md", "line": 10, "body": "On docs/reference.md"}
    result = await against().call("manage_review", {"action": "comment_line", **BIG, **place})
    assert result.data["line_is"] == "added"


async def test_a_file_level_comment_works_on_a_rename(
    standin: StandIn, against: Against, cassettes: Path
) -> None:
    accepted = next(
        json.loads(row["request"])
        for row in picked(cassettes / "shop_reviews.json", "POST", "/25/discussions")
        if row["status"] == 201 and '"file"' in row["request"] and "main.css" in row["request"]
    )
    standin.play(cassettes / "shop_merge_requests.json")
    standin.answer("POST", f"{PATH}/discussions", 201, {"id": "a" * 40, "notes": [{"id": 1}]})
    place = {"file_path": "web/main.css", "body": accepted["body"]}
    await against().call("manage_review", {"action": "comment_file", **REVIEWED, **place})
    sent = standin.requests[-1].json
    assert sent is not None
    assert {**sent["position"], "head_sha": accepted["position"]["head_sha"]} == accepted["position"]


@pytest.mark.parametrize("action", ["comment_line", "comment_file"])
async def test_a_file_outside_the_diff_is_not_found_though_gitlab_would_take_the_comment(
    chain: StandIn, against: Against, action: str
) -> None:
    line = {"line": 1} if action == "comment_line" else {}
    failure = await refusal(against(), action=action, file_path="src/shop/carts.py", body="x", **line)
    assert (failure.code, failure.facts["did_you_mean"]) == ("NOT_FOUND", CART)
    assert written(chain) == []


async def test_shas_come_from_the_version_whose_diff_was_read(chain: StandIn, against: Against) -> None:
    place = {"file_path": CART, "line": 29, "body": "Replay draft: added.", "draft": True}
    result = await against().call("manage_review", {"action": "comment_line", **REVIEWED, **place})
    assert result.data["draft_note_id"] == 21
    assert "warnings" not in result.data
    sent = chain.requests[-1].json
    assert sent is not None
    assert [sent["position"][name][:8] for name in ("base_sha", "start_sha", "head_sha")] == [
        "af45b2da",
        "43501af1",
        "41baa2fc",
    ]


async def test_a_merge_request_without_a_diff_is_not_commented_on(standin: StandIn, against: Against) -> None:
    standin.answer("GET", f"{PATH}/versions", 200, [])
    failure = await refusal(against(), action="comment_file", file_path=CART, body="x")
    assert (failure.code, failure.facts["state"]) == ("CONFLICT", "no diff")


async def test_a_draft_that_gitlab_stores_without_a_line_is_told_at_once(
    standin: StandIn, against: Against, cassettes: Path
) -> None:
    standin.play(cassettes / "shop_merge_requests.json")
    lost = {"id": 9, "note": "x", "line_code": None, "position": {"position_type": "text", "new_line": 29}}
    standin.answer("POST", f"{PATH}/draft_notes", 201, lost)
    place = {"file_path": CART, "line": 29, "body": "x", "draft": True}
    result = await against().call("manage_review", {"action": "comment_line", **REVIEWED, **place})
    assert [warning["code"] for warning in result.data["warnings"]] == ["NOT_APPLIED"]


async def test_a_review_is_published_counted_and_approved(review: StandIn, against: Against) -> None:
    sha = "41baa2fc770918aaef24bd6f32ba3d2e30031d1b"
    result = await against().call(
        "manage_review", {"action": "submit_review", **REVIEWED, "verdict": "approve", "sha": sha}
    )
    assert beside_notes(result) == {"verdict": "approved", "published": 3}
    assert written(review) == [f"POST {PATH}/approve", f"POST {PATH}/draft_notes/bulk_publish"]


@pytest.mark.parametrize("verdict", [{}, {"verdict": "request_changes"}])
async def test_a_review_of_a_commit_that_is_no_longer_the_head_publishes_nothing(
    review: StandIn, against: Against, verdict: dict[str, str]
) -> None:
    review.answer("GET", PATH, body={"iid": 25, "sha": "b" * 40})
    failure = await refusal(against(), action="submit_review", sha="a" * 40, body="Fine.", **verdict)
    assert (failure.code, failure.facts["head_sha"]) == ("CONFLICT", "b" * 40)
    assert written(review) == []


async def test_a_review_of_the_head_is_published_without_an_approval(
    review: StandIn, against: Against
) -> None:
    review.answer("GET", PATH, body={"iid": 25, "sha": "a" * 40})
    await against().call("manage_review", {"action": "submit_review", **REVIEWED, "sha": "a" * 40})
    assert written(review) == [f"POST {PATH}/draft_notes/bulk_publish"]


async def test_a_second_approval_is_not_sent(review: StandIn, against: Against) -> None:
    review.answer("GET", f"{PATH}/approvals", 200, {"user_has_approved": True})
    arguments = {"action": "submit_review", **REVIEWED, "verdict": "approve"}
    result = await against().call("manage_review", arguments)
    assert result.data["verdict"] == "approved already"
    assert written(review) == [f"POST {PATH}/draft_notes/bulk_publish"]


async def test_a_draft_on_an_unchanged_line_with_one_number_keeps_the_others_from_being_published_twice(
    standin: StandIn, against: Against, cassettes: Path
) -> None:
    story = cassettes / "stories" / "drafts_that_break.json"
    standin.play_rows(picked(story, "GET", "/24/draft_notes", "bob")[1:])
    standin.answer("GET", "/projects/*/notes", 200, [])
    bob = against(token=Secret("bob"))
    failure = await refusal(bob, **BIG, action="submit_review")
    assert failure.code == "CONFLICT"
    assert [line.partition(":")[0] for line in failure.facts["evidence"]] == ["draft 28"]
    assert written(standin) == []


@pytest.mark.parametrize(
    ("why", "draft"),
    [
        ("it is empty", {"note": "  ", "line_code": None, "position": {"position_type": "text"}}),
        (
            "its line is not in the diff",
            {"note": "x", "line_code": None, "position": {"position_type": "text", "new_line": 9999}},
        ),
    ],
)
@pytest.mark.parametrize("action", ["submit_review", "publish_draft"])
async def test_a_draft_that_would_be_published_and_lost_is_found_before(
    standin: StandIn, against: Against, action: str, why: str, draft: dict[str, Any]
) -> None:
    standin.answer("GET", f"{PATH}/draft_notes", 200, [{"id": 7, "author_id": 2, **draft}])
    standin.answer("GET", f"{PATH}/notes", 200, [])
    which = {"draft_note_id": 7} if action == "publish_draft" else {}
    failure = await refusal(against(), action=action, **which)
    assert why in failure.facts["evidence"][0]
    assert "delete_draft" in failure.facts["suggested_fix"]
    assert written(standin) == []


async def test_drafts_whose_publishing_failed_halfway_are_named_and_never_published_again(
    review: StandIn, against: Against, cassettes: Path
) -> None:
    failing = picked(cassettes / "stories" / "drafts_that_break.json", "POST", "/25/draft_notes/bulk_publish")
    review.answer("POST", f"{PATH}/draft_notes/bulk_publish", 500, json.loads(failing[0]["body"]))
    app = against()
    result = await app.call("manage_review", {"action": "submit_review", **REVIEWED, "body": "Done."})
    warning = result.data["warnings"][0]
    assert (warning["code"], warning["published"], warning["not_published"]) == ("PARTIAL", [21, 22, 23], [])
    again = await refusal(app, action="submit_review")
    assert again.code == "CONFLICT"
    assert all("published already" in line for line in again.facts["evidence"])
    assert written(review) == [f"POST {PATH}/draft_notes/bulk_publish"]


async def test_publishing_that_failed_before_anything_was_published_is_a_failure(
    standin: StandIn, against: Against, cassettes: Path
) -> None:
    story = cassettes / "stories" / "review_chain.json"
    standin.play_rows(picked(story, "GET", "/25/draft_notes?per_page=20&page=1"))
    standin.answer("GET", f"{PATH}/notes", 200, [])
    standin.answer("POST", f"{PATH}/draft_notes/bulk_publish", 500, {"message": "500 Internal Server Error"})
    assert (await refusal(against(), action="submit_review")).code == "SERVER_ERROR"


async def test_a_lost_answer_to_publishing_is_settled_by_counting(review: StandIn, against: Against) -> None:
    review.fault("POST", f"{PATH}/draft_notes/bulk_publish", Drop(), times=None)
    result = await against().call("manage_review", {"action": "submit_review", **REVIEWED})
    assert result.data["published"] == 3
    assert [warning["code"] for warning in result.data["warnings"]] == ["PARTIAL"]
    assert len(written(review)) == 1


async def test_drafts_that_gitlab_said_it_published_and_dropped_are_named(
    standin: StandIn, against: Against, cassettes: Path
) -> None:
    story = cassettes / "stories" / "review_chain.json"
    standin.play_rows(picked(story, "GET", "/25/draft_notes?per_page=20&page=1"))
    standin.play_rows(picked(story, "POST", "/bulk_publish"))
    standin.answer("GET", f"{PATH}/notes", 200, [])
    result = await against().call("manage_review", {"action": "submit_review", **REVIEWED})
    assert result.data["published"] == 0
    warning = result.data["warnings"][0]
    assert warning["code"] == "NOT_APPLIED"
    assert [lost["draft_note_id"] for lost in warning["lost"]] == [21, 22, 23]


async def test_a_draft_of_quick_actions_alone_leaves_no_note_and_is_not_missed(
    standin: StandIn, against: Against
) -> None:
    draft = {"id": 7, "author_id": 2, "note": "/label ~bug", "line_code": None, "position": {}}
    standin.answer("GET", f"{PATH}/draft_notes", 200, [draft])
    standin.answer("GET", f"{PATH}/notes", 200, [])
    standin.answer("POST", f"{PATH}/draft_notes/bulk_publish", 204)
    result = await against().call("manage_review", {"action": "submit_review", **REVIEWED})
    assert beside_notes(result) == {"published": 1}


async def test_a_review_without_drafts_body_and_verdict_is_refused(
    standin: StandIn, against: Against
) -> None:
    standin.answer("GET", f"{PATH}/draft_notes", 200, [])
    assert (await refusal(against(), action="submit_review")).facts["state"] == "no drafts"
    assert written(standin) == []


@pytest.mark.parametrize(("state", "is_done"), [("requested_changes", True), ("reviewed", False)])
async def test_whether_changes_were_requested_is_read_from_the_reviewers(
    standin: StandIn, against: Against, cassettes: Path, state: str, is_done: bool
) -> None:
    standin.play_rows(picked(cassettes / "shop_reviews.json", "POST", "/16/notes", "bob"))
    there = {"project_id": "acme/shop", "merge_request_iid": 16}
    where = "/projects/acme%2Fshop/merge_requests/16"
    standin.answer("GET", f"{where}/draft_notes", 200, [])
    standin.answer("GET", "/user", 200, {"id": 3, "username": "bob"})
    standin.answer("GET", f"{where}/reviewers", 200, [{"user": {"id": 3}, "state": state}])
    bob = against(token=Secret("bob"))
    arguments = {**there, "action": "submit_review", "verdict": "request_changes"}
    if is_done:
        assert (await bob.call("manage_review", arguments)).data == {"verdict": "changes requested"}
    else:
        assert (await refusal(bob, **arguments)).facts["state"] == "no effect"


@pytest.mark.parametrize(
    ("others", "tier", "offered"),
    [
        ([], "free", [3]),
        ([7], "free", None),
        ([7], "premium", [7, 3]),
    ],
)
async def test_nobody_is_advised_to_push_out_the_present_reviewer(
    standin: StandIn,
    against: Against,
    cassettes: Path,
    others: list[int],
    tier: str,
    offered: list[int] | None,
) -> None:
    standin.play_rows(picked(cassettes / "shop_reviews.json", "POST", "/16/notes", "bob"))
    where = "/projects/acme%2Fshop/merge_requests/16"
    standin.answer("GET", f"{where}/draft_notes", 200, [])
    standin.answer("GET", "/user", 200, {"id": 3, "username": "bob"})
    reviewers = [{"user": {"id": number}, "state": "unreviewed"} for number in others]
    standin.answer("GET", f"{where}/reviewers", 200, reviewers)
    there = {"project_id": "acme/shop", "merge_request_iid": 16}
    arguments = {**there, "action": "submit_review", "verdict": "request_changes"}
    failure = await refusal(against(token=Secret("bob"), tier=tier), **arguments)
    assert failure.facts["state"] == "not a reviewer"
    calls = [each["arguments"] for each in failure.facts.get("alternatives", ())]
    assert calls == ([{**there, "reviewer_ids": offered}] if offered else [])
    assert failure.facts["retryable"] is False


async def test_a_summary_that_could_not_be_written_does_not_hide_what_was_published(
    review: StandIn, against: Against
) -> None:
    review.answer("POST", f"{PATH}/notes", 403, {"message": "403 Forbidden"})
    arguments = {"action": "submit_review", **REVIEWED, "body": "Good work."}
    result = await against().call("manage_review", arguments)
    assert result.data["published"] == 3
    assert [(each["code"], each["not_done"]) for each in result.data["warnings"]] == [("PARTIAL", "body")]


async def test_drafts_are_written_rewritten_listed_and_thrown_away(
    standin: StandIn, against: Against, cassettes: Path
) -> None:
    standin.play(cassettes / "reviews.json")
    bob = against(token=Secret("bob"))
    there = {"project_id": "23", "merge_request_iid": 1}
    thread = "5989a8674c701fff660b661bacfd2f324e16eea1"
    answer = {"body": "Reply and resolve", "discussion_id": thread, "resolve_discussion": True}
    written_draft = await bob.call("manage_review", {"action": "create_draft", **there, **answer})
    undo = {
        "tool": "manage_draft",
        "arguments": {"action": "delete_draft", "draft_note_id": 5, **there},
    }
    assert written_draft.data == {"untrusted": ["body"], "draft_note_id": 5, **answer, "undo": undo}
    listed = await bob.call("browse_discussions", {"action": "list_drafts", **there})
    first = listed.data["items"][0]
    assert (first["id"], first["file"], first["line"]) == (3, "src/login.py", 2)
    rewritten = {"draft_note_id": 4, "body": "A better second remark"}
    await bob.call("manage_draft", {"action": "update_draft", **there, **rewritten})
    gone = await bob.call("manage_draft", {"action": "delete_draft", **there, "draft_note_id": 6})
    assert gone.data == {"done": True}
    assert [request.method for request in standin.requests] == ["POST", "GET", "PUT", "DELETE"]


async def test_a_quick_action_that_names_no_changes_is_not_called_undone(
    standin: StandIn, against: Against, cassettes: Path
) -> None:
    standin.play_rows(picked(cassettes / "shop_reviews.json", "POST", "/16/notes", "bob"))
    note = {"merge_request_iid": 16, "body": "/request_changes", "quick_actions": True}
    arguments = {"action": "create_note", "project_id": "acme/shop", **note}
    result = await against(token=Secret("bob")).call("manage_discussion", arguments)
    assert "warnings" not in result.data
    assert result.data["summary"] == ["Changes requested to the current merge request."]


@pytest.mark.parametrize("is_there", [False, True])
async def test_the_same_answer_in_another_thread_is_not_taken_for_a_draft_that_was_published(
    standin: StandIn, against: Against, is_there: bool
) -> None:
    thread, said = "b" * 40, {"id": 5, "body": "Done.", "author": {"id": 2}, "system": False}
    draft = {"id": 7, "author_id": 2, "note": "Done.", "discussion_id": thread, "position": {}}
    standin.answer("GET", f"{PATH}/draft_notes", 200, [draft])
    standin.answer("GET", f"{PATH}/notes", 200, [{**said, "id": 6}])
    standin.fault("GET", f"{PATH}/notes", ReplyWith(Reply.of(200, [said])))
    standin.answer("GET", f"{PATH}/discussions/{thread}", 200, {"notes": [said] if is_there else []})
    standin.answer("POST", f"{PATH}/draft_notes/bulk_publish", 204)
    if is_there:
        failure = await refusal(against(), action="submit_review")
        assert failure.facts["evidence"] == ["draft 7: it is published already, as note 5"]
    else:
        result = await against().call("manage_review", {"action": "submit_review", **REVIEWED})
        assert beside_notes(result) == {"published": 1}


async def test_a_very_long_review_is_counted_over_all_pages_of_notes(
    standin: StandIn, against: Against
) -> None:
    drafts: list[dict[str, Any]] = [
        {"id": number, "author_id": 2, "note": f"Remark {number}", "line_code": None, "position": {}}
        for number in range(1, 121)
    ]
    notes = [
        {"id": 200 - number, "body": f"Remark {number}", "author": {"id": 2}} for number in range(1, 121)
    ]
    standin.answer("GET", f"{PATH}/draft_notes", 200, drafts)
    standin.answer("POST", f"{PATH}/draft_notes/bulk_publish", 204)
    standin.fault("GET", f"{PATH}/notes", ReplyWith(Reply.of(200, [])))
    standin.fault("GET", f"{PATH}/notes", ReplyWith(Reply.of(200, notes[:100], {"X-Next-Page": "2"})))
    standin.answer("GET", f"{PATH}/notes", 200, notes[100:])
    result = await against().call("manage_review", {"action": "submit_review", **REVIEWED})
    assert beside_notes(result) == {"published": 120}


async def test_a_verdict_that_was_given_is_told_when_publishing_fails(
    standin: StandIn, against: Against, cassettes: Path
) -> None:
    story = cassettes / "stories" / "review_chain.json"
    standin.play_rows(picked(story, "GET", "/25/draft_notes?per_page=20&page=1"))
    standin.answer("GET", f"{PATH}/notes", 200, [])
    standin.answer("GET", f"{PATH}/approvals", 200, {"user_has_approved": False})
    standin.answer("POST", f"{PATH}/approve", 201, {})
    standin.answer("POST", f"{PATH}/draft_notes/bulk_publish", 500, {"message": "500 Internal Server Error"})
    arguments = {"action": "submit_review", **REVIEWED, "verdict": "approve"}
    data = (await against().call("manage_review", arguments)).data
    assert (data["verdict"], data["published"]) == ("approved", 0)
    assert data["warnings"][0]["not_published"] == [21, 22, 23]


async def test_publishing_that_failed_and_cannot_be_looked_at_stays_a_failure_of_publishing(
    standin: StandIn, against: Against, cassettes: Path
) -> None:
    story = cassettes / "stories" / "review_chain.json"
    standin.play_rows(picked(story, "GET", "/25/draft_notes?per_page=20&page=1"))
    standin.fault("GET", f"{PATH}/notes", ReplyWith(Reply.of(200, [])))
    standin.answer("GET", f"{PATH}/notes", 403, {"message": "403 Forbidden"})
    standin.answer("POST", f"{PATH}/draft_notes/bulk_publish", 500, {"message": "500 Internal Server Error"})
    assert (await refusal(against(), action="submit_review")).code == "SERVER_ERROR"


class ReviewedHere:
    """Synthetic, as no such answer was recorded: a draft of user 2 on !25, published as 19.3 declares it."""

    def __init__(self, version: str, *, reviewers: dict[int, str], keeps: tuple[str, ...] = ()) -> None:
        self.version, self.reviewers, self.keeps = version, dict(reviewers), keeps
        self.drafts = [{"id": 7, "author_id": 2, "note": "Mind the gap.", "position": {}}]
        self.notes: list[dict[str, Any]] = []

    def owns(self, received: Received) -> bool:
        return received.route == "/metadata" or received.route.startswith(PATH)

    def reply_to(self, received: Received) -> Reply:
        sent = received.json if received.body else {}
        match received.method, received.route.removeprefix(PATH):
            case "GET", "/metadata":
                return Reply.of(200, {"version": self.version, "enterprise": True})
            case "GET", "/draft_notes":
                return Reply.of(200, self.drafts)
            case "GET", "/notes":
                return Reply.of(200, self.notes[::-1])
            case "GET", "/reviewers":
                return Reply.of(
                    200, [{"user": {"id": id}, "state": state} for id, state in self.reviewers.items()]
                )
            case "POST", "/draft_notes/bulk_publish":
                for draft in self.drafts:
                    self._write(draft["note"])
                self.drafts = []
                if "note" in self.keeps and "note" in sent:
                    self._write(sent["note"])
                if "reviewer_state" in self.keeps and "reviewer_state" in sent:
                    self.reviewers[2] = sent["reviewer_state"]
                return Reply.of(204)
            case "POST", "/notes":
                if sent["body"] == "/request_changes":
                    self.reviewers[2] = "requested_changes"
                    return Reply.of(202, {"commands_changes": {}, "summary": ["Changes requested."]})
                return Reply.of(201, self._write(sent["body"]))
        return Reply.of(404, {"message": "404 Not found"})

    def _write(self, body: Any) -> dict[str, Any]:
        self.notes.append({"id": len(self.notes) + 1, "body": body, "author": {"id": 2}, "system": False})
        return self.notes[-1]


BOTH = ("note", "reviewer_state")


@pytest.mark.parametrize(
    ("version", "keeps", "requests"),
    [
        ("19.3.0-ee", BOTH, ["/draft_notes/bulk_publish"]),
        ("19.3.0-ee", ("reviewer_state",), ["/draft_notes/bulk_publish", "/notes"]),
        ("17.2.0-ee", (), ["/notes", "/draft_notes/bulk_publish", "/notes"]),
        ("18.5.0-ee", (), ["/notes", "/draft_notes/bulk_publish", "/notes"]),
    ],
)
async def test_a_review_with_verdict_and_summary_is_one_request_where_gitlab_takes_it(
    standin: StandIn, against: Against, version: str, keeps: tuple[str, ...], requests: list[str]
) -> None:
    gitlab = ReviewedHere(version, reviewers={2: "unreviewed"}, keeps=keeps)
    standin.add(gitlab)
    arguments = {"action": "submit_review", **REVIEWED, "verdict": "request_changes", "body": "Not yet."}
    result = await against().call("manage_review", arguments)
    assert beside_notes(result) == {"verdict": "changes requested", "published": 1, "note_id": 2}
    assert [note["body"] for note in gitlab.notes] == ["Mind the gap.", "Not yet."]
    assert written(standin) == [f"POST {PATH}{path}" for path in requests]


async def test_a_verdict_that_gitlab_took_and_did_not_keep_is_told(
    standin: StandIn, against: Against
) -> None:
    standin.add(ReviewedHere("19.3.0-ee", reviewers={2: "unreviewed"}, keeps=("note",)))
    arguments = {"action": "submit_review", **REVIEWED, "verdict": "request_changes"}
    result = await against().call("manage_review", arguments)
    assert result.data["published"] == 1
    assert "verdict" not in result.data
    assert [(each["code"], each["field"]) for each in result.data["warnings"]] == [("NOT_APPLIED", "verdict")]


async def test_who_is_no_reviewer_publishes_nothing_with_a_verdict(
    standin: StandIn, against: Against
) -> None:
    standin.add(ReviewedHere("19.3.0-ee", reviewers={9: "unreviewed"}, keeps=BOTH))
    failure = await refusal(against(), action="submit_review", verdict="request_changes")
    assert failure.facts["state"] == "not a reviewer"
    assert written(standin) == []

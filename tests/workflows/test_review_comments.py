"""Comments in the call that submits a review, on the recorded shop that keeps what is written to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gitlab_mcp.app import App
from gitlab_mcp.workflows.merge_requests.review_comments import with_suggestion
from tests.support.guarded import refused, writes
from tests.support.standin import LoseAnswer, Reply, ReplyWith, StandIn
from tests.support.standin.shop import Shop

pytestmark = pytest.mark.anyio
Against = Callable[..., App]

CALL = {"action": "submit_review", "project_id": "acme/shop", "merge_request_iid": 25}
CART, RENAMED = "src/shop/cart.py", "docs/handbook.md"
MR = "projects/77/merge_requests/25"
DRAFTS = "/projects/acme%2Fshop/merge_requests/25/draft_notes"
THREE: list[dict[str, Any]] = [
    {"file_path": CART, "line": 27, "body": "Why this?"},
    {"file_path": CART, "old_line": 30, "body": "Why no more?"},
    {"file_path": RENAMED, "body": "A good name."},
]


@pytest.fixture
def shop(shop: Shop) -> Shop:
    shop.things[f"{MR}/draft_notes"] = {}
    shop.written |= {"draft_notes", "notes"}
    return shop


def drafts(shop: Shop) -> list[str]:
    return [each["note"] for each in shop.things[f"{MR}/draft_notes"].values()]


def said(shop: Shop) -> list[str]:
    texts = [each["body"] for each in THREE]
    return [each["body"] for each in shop.things[f"{MR}/notes"].values() if each.get("body") in texts]


async def test_comments_and_verdict_are_one_call_and_each_note_has_its_page(
    standin: StandIn, shop: Shop, against: Against
) -> None:
    sha = shop.thing("projects/77/merge_requests", 25)["sha"]
    call = {**CALL, "comments": THREE, "verdict": "approve", "sha": sha}
    result = await against().call("manage_review", call)
    assert (result.data["verdict"], result.data["published"]) == ("approved", 3)
    assert said(shop) == [each["body"] for each in THREE] and drafts(shop) == []
    places = [(note["file_path"], note.get("line"), note.get("old_line")) for note in result.data["notes"]]
    assert places == [(CART, 27, None), (CART, None, 30), (RENAMED, None, None)]
    for note in result.data["notes"]:
        page = f"{standin.url}/acme/shop/-/merge_requests/25#note_{note['note_id']}"
        assert note["web_url"] == page


async def test_one_comment_without_a_place_stops_all_before_anything_is_written(
    standin: StandIn, shop: Shop, against: Against
) -> None:
    wrong: list[dict[str, Any]] = [
        {"file_path": CART, "line": 9999, "body": "Too far"},
        {"file_path": "src/shop/cartt.py", "line": 1, "body": "No such file"},
    ]
    failure = await refused(against(), "manage_review", {**CALL, "comments": [*THREE, *wrong]})
    assert failure.code == "INVALID_VALUE"
    fields = [each["field"] for each in failure.facts["invalid_fields"]]
    assert fields == ["comments[3].line", "comments[4].file_path"]
    assert CART in failure.facts["invalid_fields"][1]["expected"]
    assert writes(standin) == []


@pytest.mark.parametrize(
    "fault", [ReplyWith(Reply.of(500, {"message": "500"})), LoseAnswer()], ids=["refused", "lost answer"]
)
async def test_where_a_draft_fails_the_others_are_taken_back(
    standin: StandIn, shop: Shop, against: Against, fault: Any
) -> None:
    shop.things[f"{MR}/draft_notes"]["1"] = {"id": 1, "author_id": 2, "note": "Mine from before"}

    class OnTheSecond:
        seen = 0

        def play(self, connection: Any) -> None:
            self.seen += 1
            if self.seen == 2:
                fault.play(connection)
            else:
                connection.send(connection.answer())

    standin.fault("POST", DRAFTS, OnTheSecond(), times=2)
    await refused(against(), "manage_review", {**CALL, "comments": THREE})
    assert drafts(shop) == ["Mine from before"] and said(shop) == []


async def test_where_the_verdict_is_refused_the_comments_are_taken_back(
    standin: StandIn, shop: Shop, against: Against
) -> None:
    standin.fault("POST", "*/approve", ReplyWith(Reply.of(409, {"message": "SHA does not match HEAD"})))
    call = {**CALL, "comments": THREE, "verdict": "approve", "sha": "0" * 40}
    assert (await refused(against(), "manage_review", call)).code == "CONFLICT"
    assert drafts(shop) == [] and said(shop) == []


async def test_a_line_that_gitlab_does_not_find_stops_all(
    standin: StandIn, shop: Shop, against: Against
) -> None:
    position = {"position_type": "text", "new_line": 27}
    standin.fault(
        "POST", DRAFTS, ReplyWith(Reply.of(201, {"id": 5, "note": "Why this?", "position": position}))
    )
    failure = await refused(against(), "manage_review", {**CALL, "comments": THREE[:1]})
    assert (failure.code, failure.facts["state"]) == ("CONFLICT", "line not found")
    assert said(shop) == []


async def test_sent_again_nothing_is_said_twice(standin: StandIn, shop: Shop, against: Against) -> None:
    app = against()
    await app.call("manage_review", {**CALL, "comments": THREE})
    failure = await refused(app, "manage_review", {**CALL, "comments": THREE})
    assert (failure.code, failure.facts["state"]) == ("CONFLICT", "published already")
    assert len(said(shop)) == 3 and drafts(shop) == []


async def test_the_drafts_of_a_call_that_was_cut_off_are_gone_on_with(
    standin: StandIn, shop: Shop, against: Against
) -> None:
    app = against()
    first = {
        "action": "comment_line",
        "project_id": "acme/shop",
        "merge_request_iid": 25,
        **THREE[0],
        "draft": True,
    }
    await app.call("manage_review", first)
    await app.call("manage_review", {**CALL, "comments": THREE})
    assert len(said(shop)) == 3


async def test_a_suggestion_is_a_block_for_its_lines(standin: StandIn, shop: Shop, against: Against) -> None:
    comment = {
        "file_path": CART,
        "start_line": 32,
        "line": 34,
        "body": "Shorter:",
        "suggestion": "    return 1\n",
    }
    await against().call("manage_review", {**CALL, "comments": [comment]})
    [sent] = [each.json for each in standin.requests if each.method == "POST" and each.route == DRAFTS]
    assert sent is not None
    assert sent["note"] == "Shorter:\n\n```suggestion:-2+0\n    return 1\n```"
    assert sent["position"]["line_range"]["start"]["line_code"].endswith("_32")


def test_a_suggestion_with_a_fence_gets_a_longer_one() -> None:
    assert with_suggestion(None, "```py\nx\n```", 0) == "````suggestion:-0+0\n```py\nx\n```\n````"


async def test_quick_actions_in_comments_are_text(standin: StandIn, shop: Shop, against: Against) -> None:
    comment = {**THREE[0], "body": "/merge"}
    await against().call("manage_review", {**CALL, "comments": [comment], "quick_actions": True})
    [sent] = [each.json for each in standin.requests if each.method == "POST" and each.route == DRAFTS]
    assert sent is not None and sent["note"] == "\\/merge"


@pytest.mark.parametrize(
    ("comment", "field"),
    [
        ({"file_path": CART, "line": 27, "body": "  "}, "comments.body"),
        ({"file_path": CART, "line": 27}, "comments.body"),
        ({"file_path": CART, "start_line": 3, "body": "x"}, "comments.line"),
        ({"file_path": CART, "old_line": 30, "suggestion": "x"}, "comments.line"),
        ({"file_path": CART, "suggestion": "x"}, "comments.line"),
        ({"file_path": CART, "line": 27, "suggestion": "```\n/close"}, "comments.suggestion"),
        ({"file_path": CART, "line": 0, "body": "x"}, "comments[0].line"),
        ({"file_path": CART, "side": "left", "body": "x"}, "comments[0].side"),
        ({"line": 27, "body": "x"}, "comments[0].file_path"),
    ],
)
async def test_what_cannot_work_is_never_sent(
    standin: StandIn, against: Against, comment: dict[str, Any], field: str
) -> None:
    failure = await refused(against(), "manage_review", {**CALL, "comments": [comment]})
    assert field in str(failure.facts)
    assert standin.requests == []


async def test_the_words_of_gitlab_are_understood(shop: Shop, against: Against) -> None:
    comment = {"new_path": CART, "new_line": 27, "note": "Why this?"}
    await against().call("manage_review", {**CALL, "comments": [comment]})
    assert said(shop) == ["Why this?"]

"""Review a merge request: comment on lines, suggest a change, hand it all in with an approval. From recordings."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.agent import CASSETTES, Agent, Story, hearing
from tests.support.recordings.picked import picked
from tests.support.standin import StandIn

HERE = {"project_id": "acme/shop", "merge_request_iid": 25}
CART = "src/shop/cart.py"


def set_up(gitlab: StandIn) -> None:
    story, before = CASSETTES / "stories" / "review_chain.json", CASSETTES / "shop_reviews.json"
    newest = "/25/notes?per_page=20&page=1&sort=desc&order_by=created_at"
    gitlab.play_rows(picked(before, "GET", newest)[:1])
    # Read twice before the approval: for the bundle, and before approving.
    gitlab.play_rows(picked(before, "GET", "/25/approvals")[:1] * 2)
    gitlab.play_rows(picked(before, "GET", "/25/discussions?per_page=100&page=1")[:1])
    gitlab.play(story, CASSETTES / "shop_merge_requests.json", CASSETTES / "shop_commits.json")


async def tell(agent: Agent) -> None:
    bundle = await agent.ask("browse_merge_requests", "review_bundle", **HERE)
    assert "warnings" not in bundle.data
    assert bundle.data["head_pipeline"] == "success"
    assert {"path": CART, "added": 10, "removed": 2} in bundle.data["files"]
    assert "+        before = len(self.items)" in bundle.said
    assert bundle.data["open_threads"][0]["discussion_id"]

    at_once = await agent.ask(
        "manage_review", "comment_line", **HERE, file_path=CART, line=28, body="Replay: unchanged."
    )
    assert at_once.data["line_is"] == "unchanged"
    assert at_once.data["discussion_id"]

    drafts: list[tuple[str, dict[str, Any]]] = [
        ("comment_line", {"file_path": CART, "line": 29, "draft": True, "body": "Replay draft: added."}),
        ("create_draft", {"body": "Replay draft: general."}),
        (
            "comment_line",
            {
                "file_path": CART,
                "line": 32,
                "draft": True,
                "body": "Replay draft:\n```suggestion:-0+0\n        total: int = 0\n```",
            },
        ),
    ]
    written = [await agent.ask("manage_review", action, **HERE, **what) for action, what in drafts]
    assert [each.data["draft_note_id"] for each in written] == [21, 22, 23]

    listed = await agent.ask("browse_discussions", "list_drafts", **HERE)
    assert [(each["id"], each.get("line")) for each in listed.data["items"]] == [
        (21, 29),
        (22, None),
        (23, 32),
    ]

    handed_in = await agent.ask(
        "manage_review", "submit_review", **HERE, verdict="approve", sha=bundle.data["sha"]
    )
    assert (handed_in.data["verdict"], handed_in.data["published"]) == ("approved", 3)
    assert [note["web_url"].partition("#")[2] for note in handed_in.data["notes"]]


STORY = Story("Review a merge request and comment on lines", set_up, tell)


@pytest.mark.anyio
@pytest.mark.parametrize("era", ["legacy", "auto"])
async def test_a_review_is_read_written_and_handed_in_without_a_position_in_sight(era: Any) -> None:
    async with hearing(STORY, era) as agent:
        assert not any("position" in heard.asked or "_sha" in heard.asked for heard in agent.heard)

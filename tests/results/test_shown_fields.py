from __future__ import annotations

from typing import Any

import pytest

from gitlab_mcp.results.shown_fields import pick_fields, shown_fields, slim

ALICE = {"id": 2, "username": "alice", "name": "Alice Example", "state": "active", "avatar_url": None}
BOB = {**ALICE, "id": 3, "username": "bob"}
BODY = {
    "iid": 1,
    "title": "Fix",
    "draft": False,
    "weight": 0,
    "description": "",
    "labels": [],
    "closed_at": None,
    "author": ALICE,
    "assignees": [ALICE, BOB],
    "approved_by": [{"user": ALICE}, {"user": None}],
    "references": {"short": "!1", "relative": "!1", "full": "acme/website!1"},
}


@pytest.mark.parametrize(
    ("shows", "found"),
    [
        ("iid title", {"iid": 1, "title": "Fix"}),
        ("iid | title", {"iid": 1, "title": "Fix"}),
        ("by=author.username", {"by": "alice"}),
        ("author.username", {"author": "alice"}),
        ("author", {"author": "alice"}),
        ("who=assignees.username", {"who": ["alice", "bob"]}),
        ("approved=approved_by.user.username", {"approved": ["alice"]}),
        ("draft weight description labels closed_at nowhere", {"draft": False, "weight": 0}),
        ("references", {"references": "acme/website!1"}),
    ],
)
def test_words_choose_name_and_follow(shows: str, found: dict[str, Any]) -> None:
    assert pick_fields(BODY, shown_fields(shows).alone) == found


def test_a_list_has_only_the_words_before_the_bar() -> None:
    assert pick_fields(BODY, shown_fields("iid | title").in_a_list) == {"iid": 1}


def test_an_answer_without_any_of_the_words_is_slimmed_not_emptied() -> None:
    assert pick_fields({"other": 1, "none": None}, shown_fields("iid").alone) == {"other": 1}


def test_a_user_is_whole_when_it_is_the_answer_and_a_name_when_it_is_a_part() -> None:
    assert slim(ALICE) == {"id": 2, "username": "alice", "name": "Alice Example", "state": "active"}
    assert slim([{"author": ALICE}]) == [{"author": "alice"}]


def test_the_links_of_a_release_stay_and_maps_of_addresses_go() -> None:
    release = {"assets": {"links": [{"id": 1, "url": "https://x"}]}, "_links": {"self": "https://y"}}
    assert slim(release) == {"assets": {"links": [{"id": 1, "url": "https://x"}]}}


def test_words_in_parentheses_project_what_is_inside() -> None:
    thread = {
        "id": "a",
        "notes": [{"id": 1, "body": "Hm", "author": {"username": "bob", "name": "B"}, "noise": 1}],
    }
    assert pick_fields(thread, shown_fields("id notes(id author body)").alone) == {
        "id": "a",
        "notes": [{"id": 1, "author": "bob", "body": "Hm"}],
    }

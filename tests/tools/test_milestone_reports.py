"""How a milestone stands, on the recorded day."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from rs_bpe.bpe import openai

from gitlab_mcp.app import App
from gitlab_mcp.gitlab.client import Clock, Upstream
from gitlab_mcp.tools.browse_milestones import Report
from tests.support.standin import StandIn
from tests.support.upstreams import upstream_at

pytestmark = pytest.mark.anyio

DAY = datetime(2026, 11, 18, 12, tzinfo=UTC)


@pytest.fixture
def gitlab(standin: StandIn) -> Iterator[Upstream]:
    upstream = upstream_at(standin.url, clock=Clock(wall=DAY.timestamp))
    yield upstream
    upstream.close()


async def report(gitlab: Upstream, **where: Any) -> Any:
    return await Report(**where).run(gitlab.as_caller("alice"))


def tokens(data: Any) -> int:
    return int(openai.o200k_base().count(json.dumps(data, ensure_ascii=False, separators=(",", ":"))))


async def test_three_questions_side_by_side_say_how_it_stands(
    standin: StandIn, gitlab: Upstream, cassettes: Path
) -> None:
    standin.play(cassettes)
    data = (await report(gitlab, project_id="acme/shop", milestone_id=20)).data
    assert data["verdict"] == (
        "6 of 12 issues done, 6 open, 2 late; 5 merge requests merged, 4 open; it was due 8 days ago."
    )
    assert data["issues"] == {"done": 6, "open": 6, "late": 2, "nobodys": 3}
    assert [issue["iid"] for issue in data["late_issues"]] == [11, 7]
    assert data["people"][0] == {
        "username": "bob",
        "issues_open": 3,
        "late": 1,
        "issues_done": 3,
        "merged": 3,
    }
    assert len(standin.requests) == 3


async def test_a_report_of_a_group_names_the_projects(
    standin: StandIn, gitlab: Upstream, cassettes: Path
) -> None:
    standin.play(cassettes)
    data = (await report(gitlab, group_id="acme", milestone_id=2)).data
    rows = [*data.get("late_issues", ()), *data.get("other_open_issues", ())]
    assert all("project" in row for row in rows)
    assert data["verdict"].endswith(".")


MILESTONE = {"id": 1, "title": "v2", "state": "active", "due_date": None}


def answer(standin: StandIn, issues: Any = (), merge_requests: Any = (), **milestone: Any) -> None:
    here = "/projects/1/milestones/1"
    standin.answer("GET", here, body={**MILESTONE, **milestone})
    standin.answer("GET", f"{here}/issues", body=list(issues))
    standin.answer("GET", f"{here}/merge_requests", body=list(merge_requests))


async def test_a_crowded_milestone_costs_at_most_800_tokens_and_says_what_was_left_out(
    standin: StandIn, gitlab: Upstream
) -> None:
    issues = [
        {
            "iid": number,
            "title": f"Something that somebody wants to have done, at last, number {number}",
            "state": "closed" if number % 3 == 0 else "opened",
            "due_date": "2026-11-01" if number % 3 == 1 else None,
            "assignees": [{"username": f"person{number % 20}"}],
        }
        for number in range(1, 91)
    ]
    requests = [
        {"iid": number, "title": "Part of it", "state": "opened", "author": {"username": "bob"}}
        for number in range(30)
    ]
    answer(standin, issues, requests)
    result = await report(gitlab, project_id="1", milestone_id=1)
    assert tokens(result.data) <= 800
    assert {each.what: each.omitted for each in result.truncated} == {
        "late_issues": 24,
        "other_open_issues": 24,
        "open_merge_requests": 24,
        "people": 12,
    }


@pytest.mark.parametrize(
    ("milestone", "said"),
    [
        ({"due_date": "2026-11-18"}, "it is due today."),
        ({"due_date": "2026-11-19"}, "it is due in 1 day."),
        ({}, "it has no due date."),
        ({"due_date": "2026-11-01", "state": "closed"}, "it is closed."),
    ],
)
async def test_a_report_says_when_it_is_due(
    standin: StandIn, gitlab: Upstream, milestone: dict[str, str], said: str
) -> None:
    answer(standin, **milestone)
    data = (await report(gitlab, project_id="1", milestone_id=1)).data
    assert data["verdict"].endswith(said)


@pytest.mark.parametrize(("part", "left"), [("issues", "merge_requests"), ("merge_requests", "issues")])
async def test_a_part_that_cannot_be_read_leaves_the_other(
    standin: StandIn, gitlab: Upstream, part: str, left: str
) -> None:
    answer(standin)
    standin.answer("GET", f"/projects/1/milestones/1/{part}", 403, {"message": "403 Forbidden"})
    result = await report(gitlab, project_id="1", milestone_id=1)
    assert left in result.data and part not in result.data
    assert [warning.facts["unread"] for warning in result.warnings] == [[part.replace("_", " ")]]


async def test_a_report_is_found_under_other_names(
    standin: StandIn, against: Callable[..., App], cassettes: Path
) -> None:
    standin.play(cassettes)
    arguments = {"action": "progress", "project_id": "acme/shop", "milestone_id": 20}
    data = (await against().call("browse_milestones", arguments)).data
    assert data["issues"]["done"] == 6
    assert "title" in data["untrusted"] and "verdict" not in data["untrusted"]

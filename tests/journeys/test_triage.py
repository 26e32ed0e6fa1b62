"""Triage issues: see what came in, sort one into label, milestone and hands, answer and close it. From recordings."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.agent import CASSETTES, Agent, Story, hearing
from tests.support.standin import StandIn

HERE = {"project_id": "writes/app"}
NOUNS = ("projects", "issues", "labels", "milestones", "discussions")


def set_up(gitlab: StandIn) -> None:
    gitlab.play(*(CASSETTES / f"{noun}.json" for noun in NOUNS))


async def tell(agent: Agent) -> None:
    came_in = await agent.ask("browse_issues", "list", **HERE)
    assert came_in.data["total"] == 6
    unsorted = [issue["iid"] for issue in came_in.data["items"] if not issue.get("labels")]
    assert unsorted == [6, 5, 4, 3, 2]
    iid = next(issue["iid"] for issue in came_in.data["items"] if "Button" in issue["title"])

    issue = await agent.ask("browse_issues", "get", **HERE, issue_iid=iid)
    assert issue.data["description"].startswith("Steps:")

    labels = await agent.ask("browse_labels", "list", **HERE)
    assert "defect" in [label["name"] for label in labels.data["items"]]
    milestones = await agent.ask("browse_milestones", "list", **HERE)
    milestone = milestones.data["items"][0]
    assert (milestone["title"], milestone["expired"]) == ("v1.2", False)

    for change in (
        {"labels": ["defect"]},
        {"milestone_id": milestone["id"]},
        {"assignee_ids": [24]},
    ):
        changed = await agent.ask("manage_issue", "update", **HERE, issue_iid=iid, **change)
        assert "warnings" not in changed.data

    said = await agent.ask(
        "manage_discussion",
        "create_note",
        **HERE,
        issue_iid=iid,
        body="With text\n/estimate 2h",
        quick_actions=True,
    )
    assert said.data["id"]
    closed = await agent.ask("manage_issue", "update", **HERE, issue_iid=iid, state_event="close")
    assert closed.data["state"] == "closed"


STORY = Story("Triage issues", set_up, tell)


@pytest.mark.anyio
@pytest.mark.parametrize("era", ["legacy", "auto"])
async def test_an_issue_is_found_sorted_answered_and_closed(era: Any) -> None:
    async with hearing(STORY, era) as agent:
        assert agent.heard[-1].data["iid"] == 1

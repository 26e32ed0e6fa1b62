"""Make a task list under an issue, move a task, make an issue of it. Synthetic: the stand-in plays the work items."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.agent import Agent, Story, hearing
from tests.support.standin.work_items import WorkItems

HERE = {"project_id": "acme/fresh"}
eras = pytest.mark.parametrize("era", ["legacy", "auto"])
versions = pytest.mark.parametrize("version", ["17.2", "19.3"])


def seeded(version: str) -> WorkItems:
    work = WorkItems(HERE["project_id"], version)
    work.add("Ship the release")
    work.add("Write the notes")
    for title in ("three", "four", "five", "six"):
        work.add(title)
    work.add("Proofread", "Task", parent=1)
    return work


@pytest.mark.anyio
@eras
@versions
async def test_a_task_list_of_three_under_an_issue_takes_one_call(era: Any, version: str) -> None:
    work = seeded(version)

    async def tell(agent: Agent) -> None:
        titles = ["Write it", "Test it", "Ship it"]
        made = await agent.ask(
            "manage_work_item",
            "create",
            **HERE,
            type="task",
            parent_iid=2,
            titles=titles,
            due_date="2031-01-31",
        )
        assert [each["title"] for each in made.data["items"]] == titles
        assert "warnings" not in made.data
        seen = await agent.ask("browse_work_items", "children", **HERE, work_item_iid=2)
        assert seen.data["total"] == 3

    async with hearing(Story("A task list", lambda gitlab: gitlab.add(work), tell), era):
        pass
    assert work.children(2) == ["Write it", "Test it", "Ship it"]
    assert {item["dueDate"] for item in work.items.values() if item["parent"] == 2} == {"2031-01-31"}


@pytest.mark.anyio
@versions
async def test_a_task_moves_under_another_issue_and_becomes_an_issue(version: str) -> None:
    work = seeded(version)

    async def tell(agent: Agent) -> None:
        task = {**HERE, "work_item_iid": 7}
        moved = await agent.ask("manage_work_item", "set_parent", **task, parent_iid=2)
        assert moved.data["parent"]["iid"] == 2
        refused = await agent.client.call_tool(
            "manage_work_item", {"action": "convert", **task, "type": "issue"}
        )
        assert refused.is_error
        assert "remove_parent" in str(refused.content)
        await agent.ask("manage_work_item", "remove_parent", **task)
        converted = await agent.ask("manage_work_item", "convert", **task, type="issue")
        assert converted.data["type"] == "issue"
        again = await agent.ask("manage_work_item", "convert", **task, type="issue")
        assert again.data == {"already": True}

    async with hearing(Story("Move and convert", lambda gitlab: gitlab.add(work), tell)):
        pass
    assert (work.items[7]["type"], work.items[7]["parent"], work.children(1)) == ("Issue", None, [])

"""Branch, commit three files, open a merge request, merge it. Synthetic: in a project that the stand-in plays."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.agent import Agent, Story, hearing
from tests.support.standin import StandIn, World

NEW = "acme/fresh"
FILES = {"README.md": "# Fresh\n", "src/app.py": "print(1)\n", "tests/test_app.py": "assert 1\n"}


def fresh(gitlab: StandIn) -> World:
    world = gitlab.project(NEW)
    sha = "a" * 40
    main = {"name": "main", "default": True, "protected": True, "commit": {"id": sha, "short_id": sha[:8]}}
    world.things["repository/branches"] = [main]
    return world


def set_up(gitlab: StandIn) -> None:
    fresh(gitlab)


async def tell(agent: Agent) -> None:
    branch = await agent.ask("manage_branch", "create", project_id=NEW, branch="feature/start", ref="main")
    assert branch.data["web_url"]

    changes = [{"action": "create", "file_path": path, "content": text} for path, text in FILES.items()]
    commit = await agent.ask(
        "manage_file",
        "commit",
        project_id=NEW,
        branch="feature/start",
        commit_message="Start",
        actions=changes,
    )
    assert len(commit.data["id"]) == 40

    opened = await agent.ask(
        "manage_merge_request",
        "create",
        project_id=NEW,
        source_branch="feature/start",
        target_branch="main",
        title="Start",
    )
    assert opened.data["state"] == "opened"
    assert opened.data["web_url"]

    iid = opened.data["iid"]
    ready = await agent.ask("browse_merge_requests", "get", project_id=NEW, merge_request_iid=iid)
    assert ready.data["detailed_merge_status"] == "mergeable"

    merged = await agent.ask("manage_merge_request", "merge", project_id=NEW, merge_request_iid=iid)
    assert merged.data["state"] == "merged"


STORY = Story("Branch, commit three files, open a merge request, merge it", set_up, tell)


@pytest.mark.anyio
@pytest.mark.parametrize("era", ["legacy", "auto"])
async def test_a_change_goes_from_branch_to_merge_and_is_there_once(era: Any) -> None:
    worlds: list[World] = []
    async with hearing(Story(STORY.title, lambda gitlab: worlds.append(fresh(gitlab)), tell), era) as agent:
        assert len(agent.heard) == 5
    world = worlds[0]
    assert {path: world.files["feature/start", path] for path in FILES} == FILES
    assert (world.count("repository/commits"), world.count("merge_requests")) == (1, 1)

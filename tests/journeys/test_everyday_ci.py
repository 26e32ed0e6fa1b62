"""Everyday jobs around pipelines, reviews and boards, each to its end state. GitLab is invented here."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from tests.support.agent import Agent, Story, hearing
from tests.support.standin import StandIn
from tests.support.standin.nouns.boards import Boards
from tests.support.standin.nouns.ci_lint import CiLint, Linted
from tests.support.standin.nouns.feature_flags import FeatureFlags
from tests.support.standin.nouns.routes import Thing
from tests.support.standin.nouns.runners import Runners
from tests.support.standin.nouns.schedules import Schedules
from tests.support.standin.nouns.suggestions import Suggestions

pytestmark = pytest.mark.anyio

WEB = {"project_id": "acme/website"}
PLACE = "/projects/acme/website"


async def played(title: str, part: object, tell: Callable[[Agent], Awaitable[None]]) -> int:
    """How many calls the job took."""

    def set_up(gitlab: StandIn) -> None:
        gitlab.add(part)  # type: ignore[arg-type]
        gitlab.project("acme/website")

    async with hearing(Story(title, set_up, tell)) as agent:
        return len(agent.heard)


async def test_run_the_pipeline_every_night_at_three() -> None:
    schedules = Schedules(PLACE)

    async def tell(agent: Agent) -> None:
        made = await agent.ask(
            "manage_schedule",
            "create",
            **WEB,
            description="Nightly",
            ref="main",
            cron="0 3 * * *",
            cron_timezone="Europe/Berlin",
            variables=[{"key": "SUITE", "value": "full"}],
        )
        assert made.data["next_run_at"].startswith("2026-11-19T03:03")
        assert made.data["active"] is True

    assert await played("Run the pipeline every night at 3", schedules, tell) == 1
    (schedule,) = schedules.made.values()
    assert (schedule["cron"], schedule["cron_timezone"]) == ("0 3 * * *", "Europe/Berlin")
    assert [(each["key"], each["value"]) for each in schedule["variables"]] == [("SUITE", "full")]
    assert schedule["active"] is True


async def test_is_the_configuration_valid_and_what_would_run_on_a_branch() -> None:
    config = Linted(jobs={"main": ["build", "deploy"], "feature": ["build"]})
    broken = Linted(errors=("jobs:a config contains unknown keys: srcipt",))

    async def tell(agent: Agent) -> None:
        assert (await agent.ask("browse_ci_config", "lint", **WEB, ref="feature")).data["valid"] is True
        draft = await agent.ask("browse_ci_config", "lint", **WEB, content="a: {srcipt: x}")
        assert draft.data["valid"] is False
        assert "unknown keys: srcipt" in draft.said
        would_run = await agent.ask("browse_ci_config", "jobs", **WEB, ref="feature")
        assert [job["name"] for job in would_run.data["jobs"]] == ["build"]

    part = CiLint(PLACE, {"main": config, "feature": config}, draft=broken)
    assert await played("Is .gitlab-ci.yml valid, and what would run on feature?", part, tell) == 3


async def test_apply_the_suggestion_in_a_merge_request() -> None:
    suggestions = Suggestions("b = 22\nc = 33\n", {4: "x2 = 20"})

    async def tell(agent: Agent) -> None:
        threads = await agent.ask("browse_discussions", "list", **WEB, merge_request_iid=1, unresolved=True)
        (note,) = threads.data["items"][0]["notes"]
        assert note["applied"] == [False]
        applied = await agent.ask(
            "manage_review", "apply", **WEB, merge_request_iid=1, suggestion_ids=note["suggestion_ids"]
        )
        assert [each["id"] for each in applied.data["applied"]] == [4]

    assert await played("Apply the suggestion in !1", suggestions, tell) == 2
    assert suggestions.lines == ["x2 = 20", "c = 33"]


async def test_pause_the_runner_that_is_stuck() -> None:
    runners = Runners(
        {
            7: {"id": 7, "description": "linux-1", "status": "online", "paused": False},
            8: {"id": 8, "description": "linux-2", "status": "stale", "paused": False},
        },
        jobs={8: [{"id": 61, "name": "test", "status": "running", "ref": "main"}]},
    )

    async def tell(agent: Agent) -> None:
        stuck = await agent.ask("browse_runners", "list", **WEB, status="stale")
        (runner,) = stuck.data["items"]
        running = await agent.ask("browse_runners", "jobs", runner_id=runner["id"], status="running")
        assert [job["id"] for job in running.data["items"]] == [61]
        paused = await agent.ask("manage_runner", "pause", runner_id=runner["id"])
        assert paused.data["paused"] is True

    assert await played("Pause the runner that is stuck", runners, tell) == 3
    assert [each["paused"] for each in runners.runners.values()] == [False, True]


async def test_switch_a_flag_on_for_a_fifth_of_the_users() -> None:
    flags = FeatureFlags(PLACE)
    everybody = {"name": "default", "parameters": {}, "scopes": [{"environment_scope": "*"}]}
    flags.add("new_checkout", everybody, active=False)

    async def tell(agent: Agent) -> None:
        changed = await agent.ask(
            "manage_feature_flag",
            "update",
            **WEB,
            name="new_checkout",
            active=True,
            strategies=[{"name": "gradualRolloutUserId", "parameters": {"percentage": 20}}],
        )
        assert changed.data["active"] is True

    assert await played("Switch on the flag new_checkout for 20 % of users", flags, tell) == 1
    # Not for everybody any more, and in an environment: each alone would make it 100 % or nobody.
    assert flags.on_for("new_checkout", "production") == [
        ("gradualRolloutUserId", {"groupId": "default", "percentage": "20"})
    ]


async def test_what_is_on_the_board_and_a_list_moves() -> None:
    issues = (
        {"iid": 1, "title": "Login fails", "labels": ["doing"], "assignees": [{"username": "bob"}]},
        {"iid": 2, "title": "Slow page", "labels": ["todo"], "assignees": []},
    )
    boards = Boards(PLACE, "Team", ("todo", "doing"), issues)

    async def tell(agent: Agent) -> None:
        (board,) = (await agent.ask("browse_boards", "list", **WEB)).data["items"]
        on_it = await agent.ask("browse_boards", "issues", **WEB, board_id=board["id"])
        lists = {each["labels"]: each for each in on_it.data["lists"]}
        assert [issue["iid"] for issue in lists["doing"]["issues"]] == [1]
        await agent.ask(
            "manage_board",
            "move_list",
            **WEB,
            board_id=board["id"],
            list_id=lists["doing"]["id"],
            position=0,
        )

    assert await played("What is on the team's board? Move doing to the front", boards, tell) == 3
    assert boards.columns == [42, 41]


async def test_an_issue_moves_to_another_column_of_the_board() -> None:
    issue: Thing = {"id": 71, "iid": 1, "title": "Login fails", "state": "opened", "labels": ["todo", "bug"]}
    boards = Boards(PLACE, "Team", ("todo", "doing"), (issue,))

    async def tell(agent: Agent) -> None:
        on_it = await agent.ask("browse_boards", "issues", **WEB, board_id=1)
        assert [len(each["issues"]) for each in on_it.data["lists"]] == [1, 0]
        await agent.ask(
            "manage_issue", "update", **WEB, issue_iid=1, add_labels=["doing"], remove_labels=["todo"]
        )
        now_on_it = await agent.ask("browse_boards", "issues", **WEB, board_id=1)
        assert [len(each["issues"]) for each in now_on_it.data["lists"]] == [0, 1]

    assert await played("Move #1 from todo to doing", boards, tell) == 3
    assert issue["labels"] == ["bug", "doing"]

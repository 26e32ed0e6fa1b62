"""Schedules, CI configuration, suggestions, runners, feature flags and boards: where GitLab would mislead."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gitlab_mcp.app import App
from tests.support.guarded import refused
from tests.support.standin import StandIn
from tests.support.standin.nouns.boards import Boards
from tests.support.standin.nouns.ci_lint import CiLint, Linted
from tests.support.standin.nouns.feature_flags import FeatureFlags
from tests.support.standin.nouns.runners import Runners
from tests.support.standin.nouns.schedules import Schedules
from tests.support.standin.nouns.suggestions import Suggestions

pytestmark = pytest.mark.anyio
Against = Callable[..., App]

PLACE = "/projects/acme/website"
WEB = {"project_id": "acme/website"}
NIGHTLY = {**WEB, "action": "create", "description": "Nightly", "ref": "main", "cron": "0 3 * * *"}


def with_part(standin: StandIn, part: Any) -> Any:
    standin.add(part)
    standin.project("acme/website")
    return part


async def test_a_schedule_on_a_ref_that_does_not_exist_is_not_called_ambiguous(
    standin: StandIn, against: Against
) -> None:
    with_part(standin, Schedules(PLACE))
    failure = await refused(against(), "manage_schedule", {**NIGHTLY, "ref": "nowhere"})
    assert failure.code == "NOT_FOUND"
    assert "no such branch or tag" in failure.message


async def test_a_schedule_played_twice_at_once_is_a_conflict_and_no_server_error(
    standin: StandIn, against: Against
) -> None:
    schedules, app = with_part(standin, Schedules(PLACE)), against()
    await app.call("manage_schedule", NIGHTLY)
    play = {**WEB, "action": "play", "schedule_id": 1}
    assert (await app.call("manage_schedule", play)).data["started"] is True
    assert (await refused(app, "manage_schedule", play)).code == "CONFLICT"
    assert schedules.queued == {1}


async def test_a_schedule_does_not_run_before_its_variables_are_there(
    standin: StandIn, against: Against
) -> None:
    schedules = with_part(standin, Schedules(PLACE))
    standin.answer("POST", "*/variables", 400, {"message": {"key": ["is too odd"]}})
    variables = [{"key": "SUITE", "value": "hidden-value"}]
    result = await against().call("manage_schedule", {**NIGHTLY, "variables": variables})
    assert result.data["active"] is False
    assert schedules.made[1]["active"] is False
    (warning,) = result.data["warnings"]
    assert (warning["code"], warning["variables_not_set"]) == ("PARTIAL", ["SUITE"])
    assert "hidden-value" not in str(result.data)


async def test_the_values_of_a_schedules_variables_are_shown_only_when_asked_for(replayed: App) -> None:
    here = {**WEB, "schedule_id": 1}
    hidden = await replayed.call("browse_schedules", {**here, "action": "get"})
    assert [sorted(each) for each in hidden.data["variables"]] == [["key", "variable_type"]]
    failure = await refused(replayed, "browse_schedules", {**here, "action": "get", "show_values": True})
    assert "manage_schedule show_values" in str(failure.facts["suggested_fix"])
    shown = await replayed.call("manage_schedule", {**here, "action": "show_values"})
    assert [each["value"] for each in shown.data["variables"]] == ["yes"]


async def test_a_variable_of_a_schedule_is_added_where_it_is_not_there(
    standin: StandIn, against: Against
) -> None:
    schedules, app = with_part(standin, Schedules(PLACE)), against()
    await app.call("manage_schedule", NIGHTLY)
    for value in ("one", "two"):
        arguments = {**WEB, "action": "set_variable", "schedule_id": 1, "key": "SUITE", "value": value}
        await app.call("manage_schedule", arguments)
    assert [each["value"] for each in schedules.made[1]["variables"]] == ["two"]


@pytest.mark.parametrize(
    "cron",
    ["every day", "99 1 * * *", "0 0 3 * * *", "0 25 * * *", "*/0 * * * *", "0 3 * * ;", "5,, * * * *"],
)
async def test_a_cron_that_no_cron_reads_is_refused_before_it_is_sent(
    standin: StandIn, against: Against, cron: str
) -> None:
    failure = await refused(against(), "manage_schedule", {**NIGHTLY, "cron": cron})
    assert [each["field"] for each in failure.facts["invalid_fields"]] == ["cron"]
    assert standin.requests == []


@pytest.mark.parametrize("cron", ["*/15 0-6,22 1 jan mon-fri", "0 9 * * sun%2", "0 0 L * *", "0  3 * * 7"])
async def test_a_cron_that_gitlab_may_read_is_sent(standin: StandIn, against: Against, cron: str) -> None:
    schedules = with_part(standin, Schedules(PLACE))
    await against().call("manage_schedule", {**NIGHTLY, "cron": cron})
    assert schedules.made[1]["cron"] == " ".join(cron.split())


async def test_a_time_zone_that_gitlab_does_not_know_is_named(standin: StandIn, against: Against) -> None:
    with_part(standin, Schedules(PLACE))
    refusal = {"message": {"cron_timezone": ["syntax is invalid"]}}
    standin.answer("POST", "*/pipeline_schedules", 400, refusal)
    failure = await refused(against(), "manage_schedule", {**NIGHTLY, "cron_timezone": "Mars/Base"})
    assert failure.code == "REJECTED"
    assert [each["field"] for each in failure.facts["invalid_fields"]] == ["cron_timezone"]


@pytest.mark.parametrize(
    "change", [{"action": "delete"}, {"action": "update", "active": False}], ids=["delete", "update"]
)
async def test_a_schedule_of_somebody_else_is_said_to_be_theirs(
    standin: StandIn, against: Against, change: dict[str, Any]
) -> None:
    schedules, app = with_part(standin, Schedules(PLACE)), against()
    await app.call("manage_schedule", NIGHTLY)
    for method in ("PUT", "DELETE"):
        standin.answer(method, "*/pipeline_schedules/1", 403, {"message": "403 Forbidden"})
    failure = await refused(app, "manage_schedule", {**WEB, "schedule_id": 1, **change})
    assert failure.code == "PERMISSION_DENIED"
    assert "take_ownership" in failure.facts["suggested_fix"]
    assert schedules.made[1]["active"] is True


async def test_names_beyond_ascii_arrive_as_they_were_sent(standin: StandIn, against: Against) -> None:
    schedules, app = with_part(standin, Schedules(PLACE, ("füñ/🙂",))), against()
    arguments = {**NIGHTLY, "ref": "füñ/🙂", "description": "Nächtlich 🙂"}
    assert (await app.call("manage_schedule", arguments)).data["ref"] == "füñ/🙂"
    assert schedules.made[1]["description"] == "Nächtlich 🙂"
    assert (await refused(app, "manage_schedule", {**NIGHTLY, "cron": "０ ３ * * *"})).code == "INVALID_VALUE"


async def test_a_draft_of_a_megabyte_is_checked_and_its_many_errors_stay_readable(
    standin: StandIn, against: Against
) -> None:
    errors = tuple(f"(<unknown>): did not find expected key at line {n}" for n in range(3000))
    with_part(standin, CiLint(PLACE, {}, draft=Linted(errors=errors)))
    arguments = {**WEB, "action": "lint", "content": "a: [\n" * 210_000}
    result = await against().call("browse_ci_config", arguments)
    assert len(standin.requests[-1].json["content"]) == 1_050_000
    assert result.data["valid"] is False
    assert len(str(result.data)) < 120_000
    assert result.data["truncated"]


async def test_inputs_of_a_schedule_go_out_as_gitlab_takes_them(standin: StandIn, against: Against) -> None:
    schedules, app = with_part(standin, Schedules(PLACE)), against()
    await app.call("manage_schedule", {**NIGHTLY, "inputs": {"level": "high"}})
    assert schedules.made[1]["inputs"] == [{"name": "level", "value": "high"}]
    await app.call(
        "manage_schedule", {**WEB, "action": "update", "schedule_id": 1, "inputs": {"level": None}}
    )
    assert schedules.made[1]["inputs"] == [{"name": "level", "destroy": True}]


async def test_an_invalid_configuration_is_an_answer(replayed: App) -> None:
    arguments = {"action": "lint", "project_id": "1", "content": "test:\n  scrpt: [x]\n"}
    result = await replayed.call("browse_ci_config", arguments)
    assert result.data["valid"] is False
    assert len(result.data["errors"]) == 2


async def test_a_draft_is_checked_by_a_server_that_only_reads(standin: StandIn, against: Against) -> None:
    with_part(standin, CiLint(PLACE, {}, draft=Linted(jobs={"main": ["build"]})))
    arguments = {**WEB, "action": "jobs", "content": "build: {script: make}"}
    result = await against(read_only=True).call("browse_ci_config", arguments)
    assert [job["name"] for job in result.data["jobs"]] == ["build"]


async def test_what_would_run_on_a_ref_that_does_not_exist_is_not_called_invalid(
    standin: StandIn, against: Against
) -> None:
    with_part(standin, CiLint(PLACE, {"a-commit": Linted(jobs={"main": ["build"]})}))
    failure = await refused(against(), "browse_ci_config", {**WEB, "action": "jobs", "ref": "a-commit"})
    assert (failure.code, failure.facts["missing"]) == ("NOT_FOUND", "ref")


async def test_a_project_without_a_configuration_is_told_from_a_broken_one(
    standin: StandIn, against: Against
) -> None:
    none = Linted(errors=("Please provide content of .gitlab-ci.yml",))
    with_part(standin, CiLint(PLACE, {"main": none}))
    result = await against().call("browse_ci_config", {**WEB, "action": "lint"})
    assert (result.data["valid"], result.data["file"]) == (False, "not there, or empty")


async def test_a_suggestion_applied_already_is_said_before_anything_is_sent(
    standin: StandIn, against: Against
) -> None:
    suggestions, app = with_part(standin, Suggestions("a\nb\n", {4: "x", 5: "y"})), against()
    apply = {**WEB, "action": "apply", "merge_request_iid": 1}
    await app.call("manage_review", {**apply, "suggestion_ids": 4})
    failure = await refused(app, "manage_review", {**apply, "suggestion_ids": [4, 5]})
    assert (failure.code, failure.facts["state"]) == ("CONFLICT", "applied")
    assert suggestions.applied == {4}


async def test_a_suggestion_of_another_merge_request_is_not_applied(
    standin: StandIn, against: Against
) -> None:
    with_part(standin, Suggestions("a\n", {4: "x"}))
    arguments = {**WEB, "action": "apply", "merge_request_iid": 1, "suggestion_ids": [9]}
    failure = await refused(against(), "manage_review", arguments)
    assert failure.code == "NOT_FOUND"
    assert failure.facts["candidates"] == [{"id": 4}]
    assert {request.method for request in standin.requests} == {"GET"}


async def test_where_gitlab_shows_no_ids_a_suggestion_is_applied_by_the_given_one(
    standin: StandIn, against: Against
) -> None:
    suggestions, app = with_part(standin, Suggestions("a\n", {4: "x"}, shown_with_notes=False)), against()
    arguments = {**WEB, "action": "apply", "merge_request_iid": 1, "suggestion_ids": [4]}
    await app.call("manage_review", arguments)
    assert suggestions.lines == ["x"]
    failure = await refused(app, "manage_review", arguments)
    assert (failure.code, failure.facts["state"]) == ("CONFLICT", "not appliable")


async def test_the_token_of_a_new_runner_is_shown_once_and_its_project_sent_by_number(
    standin: StandIn, against: Against
) -> None:
    runners = with_part(standin, Runners({}, {}))
    arguments = {**WEB, "action": "create", "runner_type": "project_type", "tag_list": "linux,docker"}
    result = await against().call("manage_runner", arguments)
    assert result.data["token"] == "glrt-made-for-a-test"
    assert (runners.runners[1]["project_id"], runners.runners[1]["tag_list"]) == (9001, "linux,docker")


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"action": "create", "runner_type": "group_type", "project_id": "1"}, "project_id"),
        ({"action": "create", "runner_type": "project_type"}, "project_id"),
        ({"action": "create", "runner_type": "instance_type", "run_untagged": False}, "tag_list"),
        ({"action": "update", "runner_id": 1, "tag_list": [], "run_untagged": False}, "tag_list"),
        ({"action": "update", "runner_id": 1, "maximum_timeout": 10}, "maximum_timeout"),
        ({"action": "update", "runner_id": 1}, "paused"),
    ],
)
async def test_what_no_runner_takes_is_refused_before_it_is_sent(
    standin: StandIn, against: Against, arguments: dict[str, Any], field: str
) -> None:
    failure = await refused(against(), "manage_runner", arguments)
    assert [each["field"] for each in failure.facts["invalid_fields"]] == [field]
    assert standin.requests == []


async def test_the_strategies_of_a_flag_are_those_that_were_given_and_no_others(
    standin: StandIn, against: Against
) -> None:
    flags, app = with_part(standin, FeatureFlags(PLACE)), against()
    update = {**WEB, "action": "update", "name": "dark_mode"}
    flags.add("dark_mode", {"name": "default", "parameters": {}, "scopes": [{"environment_scope": "*"}]})
    some = [{"name": "userWithId", "parameters": {"userIds": [1, 2]}}]
    await app.call("manage_feature_flag", {**update, "strategies": some})
    assert flags.on_for("dark_mode", "staging") == [("userWithId", {"userIds": "1,2"})]
    (kept,) = flags.flags["dark_mode"]["strategies"]
    only_there = [{**some[0], "id": kept["id"], "scopes": [{"environment_scope": "production"}]}]
    await app.call("manage_feature_flag", {**update, "strategies": only_there})
    assert flags.on_for("dark_mode", "staging") == []
    assert flags.on_for("dark_mode", "production") == [("userWithId", {"userIds": "1,2"})]


@pytest.mark.parametrize(
    "strategy",
    [
        {"name": "coin"},
        {"name": "gradualRolloutUserId"},
        {"name": "gradualRolloutUserId", "parameters": {"percentage": 140}},
        {"name": "gradualRolloutUserId", "parameters": {"percentage": "½"}},
        {"name": "gitlabUserList"},
        {"name": "default", "colour": "red"},
    ],
)
async def test_a_strategy_that_gitlab_would_refuse_is_not_sent(
    standin: StandIn, against: Against, strategy: dict[str, Any]
) -> None:
    arguments = {**WEB, "action": "create", "name": "dark_mode", "strategies": [strategy]}
    failure = await refused(against(), "manage_feature_flag", arguments)
    assert failure.code in ("INVALID_VALUE", "FIELD_NOT_ALLOWED", "MISSING_REQUIRED_FIELD", "TYPE_MISMATCH")
    assert standin.requests == []


async def test_a_list_is_added_to_a_board_by_the_name_of_its_label(
    standin: StandIn, against: Against
) -> None:
    boards = with_part(standin, Boards(PLACE, "Team", ("todo", "doing"), ()))
    boards.columns.remove(boards.labels["doing"])
    arguments = {**WEB, "action": "create_list", "board_id": 1, "label_id": "doing"}
    result = await against().call("manage_board", arguments)
    assert result.data["label"] == "doing"
    assert (await refused(against(), "manage_board", arguments)).code == "CONFLICT"


async def test_a_list_for_a_person_needs_a_tier(replayed: App) -> None:
    arguments = {"action": "create_list", "project_id": "10", "board_id": 2, "assignee_id": 2}
    assert (await refused(replayed, "manage_board", arguments)).code == "TIER_RESTRICTED"


async def test_a_board_that_is_narrowed_without_the_tier_for_it_is_said_to_show_everything(
    replayed: App,
) -> None:
    arguments = {"action": "update", "project_id": "10", "board_id": 2, "labels": ["bug"]}
    result = await replayed.call("manage_board", arguments)
    assert [each["code"] for each in result.data["warnings"]] == ["TIER_IGNORED"]

"""What people say of to-dos, variables, keys, files, snippets and work items, and where their words would mislead."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gitlab_mcp.app import App
from tests.support.guarded import UNGUARDED, refused
from tests.support.standin import StandIn
from tests.support.standin.nouns.runners import Runners
from tests.support.standin.nouns.schedules import Schedules
from tests.support.standin.work_items import WorkItems

pytestmark = pytest.mark.anyio
Against = Callable[..., App]

WEB = {"project_id": "acme/website"}
PRIVATE = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk\n-----END OPENSSH PRIVATE KEY-----\n"
PGP_PRIVATE = "-----BEGIN PGP PRIVATE KEY BLOCK-----\nlQOYBGb3\n-----END PGP PRIVATE KEY BLOCK-----\n"
VARIABLE = {**WEB, "action": "update", "key": "DATABASE_URL", "value": "postgres://kept-back"}


async def advice(app: App, tool: str, **arguments: Any) -> str:
    failure = await refused(app, tool, {**WEB, **arguments})
    return str(failure.facts["suggested_fix"])


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("manage_key", {"action": "add_ssh", "title": "laptop", "key": PRIVATE}),
        ("manage_key", {"action": "add_ssh", "title": "laptop", "key": "b3BlbnNzaC1rZXktdjEAAAAABG5vbmU"}),
        ("manage_key", {"action": "add_gpg", "key": PGP_PRIVATE}),
        ("manage_deploy_access", {**WEB, "action": "add_key", "title": "deploy", "key": PRIVATE}),
    ],
)
async def test_the_private_half_of_a_key_goes_nowhere(
    standin: StandIn, against: Against, tool: str, arguments: dict[str, Any]
) -> None:
    failure = await refused(against(), tool, arguments)
    assert failure.code == "INVALID_VALUE"
    assert "never the private half" in str(failure.facts["suggested_fix"])
    assert "BEGIN OPENSSH" not in repr(failure.facts["invalid_fields"])
    assert standin.requests == []


async def test_the_value_of_a_variable_is_not_in_the_question_to_the_person(
    standin: StandIn, against: Against
) -> None:
    standin.project("acme/website")
    failure = await refused(against(trust="dangerous", confirm="reversible"), "manage_variable", VARIABLE)
    assert failure.code == "CONFIRMATION_REQUIRED"
    assert "With value [redacted]." in str(failure.facts["what_will_happen"])
    assert "kept-back" not in repr(failure)


async def test_a_new_value_of_a_variable_asks_since_the_old_one_is_gone(
    standin: StandIn, against: Against
) -> None:
    standin.project("acme/website")
    failure = await refused(against(trust=None, confirm="destructive"), "manage_variable", VARIABLE)
    assert failure.code == "CONFIRMATION_REQUIRED"


async def test_who_reads_a_variable_with_the_tool_that_writes_is_not_sent_to_its_value(
    standin: StandIn, against: Against
) -> None:
    standin.answer("GET", "/projects/acme%2Fwebsite/variables/PLAIN", body={"key": "PLAIN", "value": "kept"})
    result = await against().call("manage_variable", {**WEB, "action": "get", "key": "PLAIN"})
    assert result.data["key"] == "PLAIN"
    assert "kept" not in str(result.data)


async def test_the_values_of_a_schedule_are_shown_after_a_yes_only(
    standin: StandIn, against: Against
) -> None:
    standin.add(Schedules("/projects/acme/website"))
    show = {**WEB, "action": "show_values", "schedule_id": 1}
    for rules, code in (
        ({"trust": None, "confirm": "never"}, "TRUST_INSUFFICIENT"),
        ({"trust": "dangerous", "confirm": "destructive"}, "CONFIRMATION_REQUIRED"),
        ({"read_only": True}, "READ_ONLY_MODE"),
    ):
        assert (await refused(against(**rules), "manage_schedule", show)).code == code


async def test_a_schedule_whose_variables_are_kept_from_the_caller_has_not_none(
    standin: StandIn, against: Against
) -> None:
    standin.answer("GET", "*/pipeline_schedules/1", body={"id": 1, "description": "Nightly"})
    standin.project("acme/website")
    show = {**WEB, "action": "show_values", "schedule_id": 1}
    result = await against().call("manage_schedule", show)
    assert "variables" not in result.data
    assert [each["code"] for each in result.data["warnings"]] == ["PARTIAL"]


async def test_a_variable_that_is_there_is_to_be_changed_and_the_action_is_named(
    standin: StandIn, against: Against
) -> None:
    standin.answer("POST", "*/variables", 400, {"message": {"key": ["(API_KEY) has already been taken"]}})
    create = {"action": "create", "key": "API_KEY", "value": "x"}
    assert "manage_variable update" in await advice(against(), "manage_variable", **create)


@pytest.mark.parametrize(
    ("tool", "arguments", "named"),
    [
        ("manage_upload", {"action": "create", "filename": "a.txt", "content": "a"}, "attached_file holds"),
        ("manage_upload", {"action": "create", "issue_iid": 1, "file": "a"}, "manage_discussion create_note"),
        (
            "manage_discussion",
            {"action": "create_note", "issue_iid": 1, "body": "Look", "screenshot": "a.png"},
            "objects with filename and content",
        ),
        (
            "manage_snippet",
            {"action": "create", "title": "Query", "visibility": "private", "content": "select 1"},
            "files holds them",
        ),
        ("manage_variable", {"action": "create", "key": "A", "value": "b", "secret": True}, "masked"),
        ("manage_feature_flag", {"action": "update", "name": "dark", "percentage": 20}, "gradualRollout"),
    ],
)
async def test_what_is_said_elsewhere_is_told_where(
    standin: StandIn, against: Against, tool: str, arguments: dict[str, Any], named: str
) -> None:
    assert named in await advice(against(), tool, **arguments)
    assert standin.requests == []


@pytest.mark.parametrize("spelled", ["MergeRequest", "merge_request", "Merge Request", "mergerequest"])
async def test_the_type_of_a_to_do_is_taken_in_any_spelling(
    standin: StandIn, against: Against, spelled: str
) -> None:
    standin.answer("GET", "/todos", body=[])
    await against().call("browse_todos", {"action": "list", "type": spelled, "action_name": "assigned"})
    assert standin.requests[0].query == "action=assigned&type=MergeRequest"


async def test_the_type_of_a_runner_follows_from_its_place(standin: StandIn, against: Against) -> None:
    standin.add(runners := Runners({}, {}))
    standin.project("acme/website")
    app = against()
    made = await app.call("manage_runner", {**WEB, "action": "create", "description": "linux"})
    assert made.data["shown_once"] is True
    assert runners.runners[1]["runner_type"] == "project_type"
    # A runner of the whole instance is not made because a place was forgotten.
    assert (await refused(app, "manage_runner", {"action": "create"})).code == "INVALID_VALUE"


@pytest.mark.parametrize(
    ("arguments", "missing"),
    [
        ({"action": "create", "type": "Task", "parent_iid": 99, "title": "a"}, "parent_iid"),
        ({"action": "set_parent", "work_item_iid": 98, "parent_iid": 1}, "work_item_iid"),
        ({"action": "set_parent", "work_item_iid": 1, "parent_iid": 98}, "parent_iid"),
        ({"action": "add_link", "work_item_iid": 1, "target_iid": 98}, "target_iid"),
    ],
)
async def test_of_several_work_items_the_one_that_is_missing_is_named(
    standin: StandIn, against: Against, arguments: dict[str, Any], missing: str
) -> None:
    work = WorkItems("acme/website")
    work.add("Ship it")
    standin.add(work)
    standin.project("acme/website")
    failure = await refused(against(**UNGUARDED), "manage_work_item", {**WEB, **arguments})
    assert (failure.code, failure.facts["missing"]) == ("NOT_FOUND", missing)
    assert failure.facts["alternatives"][0]["action"] == "browse_work_items list"


async def test_a_role_that_was_kept_is_not_called_ignored_for_want_of_a_tier(
    standin: StandIn, against: Against
) -> None:
    made = {"id": 7, "name": "ci", "token": "glpat-x", "access_level": 30, "active": True}
    standin.answer("POST", "*/access_tokens", 201, made)
    standin.answer("GET", "/metadata", body={"version": "19.3.0-ee", "enterprise": True})
    standin.project("acme/website")
    create = {**WEB, "action": "create", "name": "ci", "scopes": ["read_api"], "role": "developer"}
    result = await against().call("manage_access_token", create)
    assert result.data["access_level"] == "developer"
    assert "warnings" not in result.data


async def test_what_was_not_kept_is_not_for_want_of_a_tier_where_the_feature_is_free(
    standin: StandIn, against: Against
) -> None:
    made = {"id": 7, "name": "ci", "token": "glpat-x", "access_level": 10, "active": True}
    standin.answer("POST", "*/access_tokens", 201, made)
    standin.answer("GET", "/metadata", body={"version": "19.3.0-ee", "enterprise": True})
    standin.project("acme/website")
    create = {**WEB, "action": "create", "name": "ci", "scopes": ["read_api"], "access_level": "developer"}
    [warning] = (await against().call("manage_access_token", create)).data["warnings"]
    assert (warning["code"], warning["field"]) == ("NOT_APPLIED", "access_level")


@pytest.mark.parametrize(
    ("tool", "arguments", "sent"),
    [
        (
            "manage_schedule",
            {"action": "create", "name": "Nightly", "branch": "main", "cron": "0 2 * * *"},
            "ok",
        ),
        ("browse_groups", {"action": "list_subgroups", "group_id": "acme"}, "subgroups"),
        ("manage_notifications", {"action": "unsubscribe"}, "disabled"),
    ],
)
async def test_other_words_are_taken(
    standin: StandIn, against: Against, tool: str, arguments: dict[str, Any], sent: str
) -> None:
    standin.add(Schedules("/projects/acme/website"))
    standin.answer("GET", "/groups/acme/subgroups", body=[])
    standin.answer("PUT", "*/notification_settings", body={"level": "disabled"})
    place = {} if tool == "browse_groups" else WEB
    taken = (await against().call(tool, {**place, **arguments})).data["taken_as"]
    assert sent in str(taken) or taken["arguments"]["description"] == "Nightly"

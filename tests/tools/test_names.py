"""Names in place of numbers. The answers of GitLab in here are synthetic where they are not played."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gitlab_mcp.app import App
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.gitlab.instance import AnswerCache
from tests.support.standin import Drop, StandIn

pytestmark = pytest.mark.anyio
Against = Callable[..., App]

ALICE = {"id": 3, "username": "alice", "name": "Alice Smith"}
BOB = {"id": 4, "username": "bob", "name": "Bob"}
ISSUE = {"id": 7, "iid": 1, "state": "opened", "title": "x", "assignees": [ALICE]}
CREATE = {"action": "create", "project_id": "1", "title": "x"}


@pytest.fixture
def people(standin: StandIn) -> StandIn:
    """GitLab, which knows Alice (who calls) and answers every search for users with her."""
    standin.answer("GET", "/user", body=ALICE)
    standin.answer("GET", "/users", body=[ALICE])
    standin.answer("POST", "/projects/1/issues", 201, ISSUE)
    return standin


def written(standin: StandIn) -> list[Any]:
    return [request.json for request in standin.requests if request.method != "GET"]


async def failure_of(app: App, tool: str, **arguments: Any) -> Failure:
    with pytest.raises(CallFailed) as failed:
        await app.call(tool, arguments)
    return failed.value.failure


@pytest.mark.parametrize("name", ["alice", "@alice", " alice ", "me", "@me", 3, "3"])
async def test_a_person_is_named_as_people_name_them(people: StandIn, against: Against, name: Any) -> None:
    await against().call("manage_issue", {**CREATE, "assignee_ids": [name]})
    assert written(people) == [{"title": "x", "assignee_ids": [3]}]


async def test_words_with_commas_between_are_several_people(standin: StandIn, against: Against) -> None:
    standin.answer("GET", "/users", body=[BOB])
    standin.answer("POST", "/projects/1/issues", 201, ISSUE)
    await against().call("manage_issue", {**CREATE, "assignee_ids": "bob, 3"})
    assert written(standin) == [{"title": "x", "assignee_ids": [4, 3]}]


async def test_zero_is_nobody_and_asks_nobody(standin: StandIn, against: Against) -> None:
    standin.answer("PUT", "/projects/1/issues/1", body={**ISSUE, "assignees": []})
    update = {"action": "update", "project_id": "1", "issue_iid": 1}
    await against().call("manage_issue", {**update, "assignee_ids": ["0"]})
    assert [request.json for request in standin.requests] == [{"assignee_ids": [0]}]


async def test_a_name_is_looked_up_once(people: StandIn, against: Against) -> None:
    app = against()
    for _ in range(2):
        await app.call("manage_issue", {**CREATE, "assignee_ids": ["alice"]})
    assert [request.route for request in people.requests if request.method == "GET"] == ["/users"]


async def test_a_name_that_was_not_there_is_looked_up_again(standin: StandIn, against: Against) -> None:
    app = against()
    standin.answer("GET", "/users", body=[])
    assert (await failure_of(app, "browse_users", action="get", user_id="alice")).code == "NOT_FOUND"
    standin.answer("GET", "/users", body=[ALICE])
    standin.answer("GET", "/users/3", body=ALICE)
    assert (await app.call("browse_users", {"action": "get", "user_id": "alice"})).data["id"] == 3


async def test_an_unknown_person_is_named_and_nothing_is_written(standin: StandIn, against: Against) -> None:
    standin.answer("GET", "/users", body=[])
    failure = await failure_of(against(), "manage_issue", **CREATE, assignee_ids=["nosuch"])
    assert (failure.code, failure.facts["missing"]) == ("NOT_FOUND", "assignee_ids")
    assert failure.facts["alternatives"][0]["action"] == "browse_users list"
    assert written(standin) == []


async def test_a_full_name_means_the_one_who_has_it(people: StandIn, against: Against) -> None:
    await against().call("manage_issue", {**CREATE, "assignee_ids": ["alice smith"]})
    assert written(people) == [{"title": "x", "assignee_ids": [3]}]


async def test_a_name_of_several_people_offers_them(standin: StandIn, against: Against) -> None:
    other = {**ALICE, "id": 9, "username": "asmith"}
    standin.answer("GET", "/users", body=[ALICE, other])
    failure = await failure_of(against(), "manage_issue", **CREATE, assignee_ids=["Alice Smith"])
    assert failure.code == "INVALID_VALUE"
    assert failure.facts["candidates"] == [{"id": 3, "username": "alice"}, {"id": 9, "username": "asmith"}]
    assert failure.facts["invalid_fields"][0]["field"] == "assignee_ids"
    assert written(standin) == []


async def test_part_of_a_name_is_not_taken_for_it(standin: StandIn, against: Against) -> None:
    standin.answer("GET", "/users", body=[ALICE])
    failure = await failure_of(against(), "manage_issue", **CREATE, assignee_ids=["Alice S"])
    assert (failure.code, failure.facts["candidates"]) == ("INVALID_VALUE", [{"id": 3, "username": "alice"}])


async def test_a_lookup_that_is_lost_leaves_no_doubt_about_the_write(
    standin: StandIn, against: Against
) -> None:
    standin.fault("GET", "/users", Drop(), times=None)
    failure = await failure_of(against(), "manage_issue", **CREATE, assignee_ids=["alice"])
    assert "check_with" not in failure.facts
    assert failure.code != "OUTCOME_UNKNOWN"
    assert written(standin) == []


@pytest.mark.parametrize("title", ["v1.0", "%v1.0", '%"v1.0"'])
async def test_a_milestone_is_named_by_its_title_also_one_of_a_group_above(
    standin: StandIn, against: Against, title: str
) -> None:
    standin.answer(
        "GET", "/projects/1/milestones", body=[{"id": 8, "iid": 1, "title": "v1.0", "group_id": 2}]
    )
    standin.answer("POST", "/projects/1/issues", 201, {**ISSUE, "milestone": {"id": 8, "title": "v1.0"}})
    await against().call("manage_issue", {**CREATE, "milestone_id": title})
    assert written(standin) == [{"title": "x", "milestone_id": 8}]
    assert dict(standin.requests[0].params) == {"title": "v1.0", "include_ancestors": "true"}


async def test_a_milestone_of_a_fork_s_target_is_looked_for_there(standin: StandIn, against: Against) -> None:
    standin.answer("GET", "/projects/*/repository/branches/*", body={"name": "x"})
    standin.answer("GET", "/projects/5/milestones", body=[{"id": 8, "title": "v1.0"}])
    standin.answer("POST", "/projects/1/merge_requests", 201, {"iid": 1, "milestone": {"id": 8}})
    branches = {"source_branch": "x", "target_branch": "main", "target_project_id": 5}
    arguments = {**CREATE, **branches, "milestone_id": "v1.0"}
    await against().call("manage_merge_request", arguments)
    assert written(standin)[0]["milestone_id"] == 8


async def test_a_milestone_that_is_read_is_looked_for_in_its_own_place_alone(
    standin: StandIn, against: Against
) -> None:
    standin.answer("GET", "/groups/acme/milestones", body=[{"id": 8, "title": "v1.0"}])
    standin.answer("GET", "/groups/acme/milestones/8", body={"id": 8, "title": "v1.0"})
    result = await against().call(
        "browse_milestones", {"action": "get", "group_id": "acme", "milestone_id": "v1.0"}
    )
    assert result.data["id"] == 8
    assert dict(standin.requests[0].params) == {"title": "v1.0"}


async def test_a_title_of_two_milestones_offers_both(standin: StandIn, against: Against) -> None:
    found = [{"id": 8, "title": "v1", "group_id": 2}, {"id": 9, "title": "v1", "project_id": 1}]
    standin.answer("GET", "/projects/1/milestones", body=found)
    failure = await failure_of(against(), "manage_issue", **CREATE, milestone_id="v1")
    assert failure.code == "INVALID_VALUE"
    assert failure.facts["candidates"] == [{"id": 8, "group_id": 2}, {"id": 9, "project_id": 1}]


async def test_an_unknown_title_is_named_with_the_list_to_look_into(
    standin: StandIn, against: Against
) -> None:
    standin.answer("GET", "/projects/1/milestones", body=[])
    failure = await failure_of(against(), "manage_issue", **CREATE, milestone_id="v9")
    assert (failure.code, failure.facts["missing"]) == ("NOT_FOUND", "milestone_id")
    assert failure.facts["alternatives"][0]["arguments"]["project_id"] == "1"


async def test_groups_that_must_approve_are_named_by_their_paths(standin: StandIn, against: Against) -> None:
    standin.answer("GET", "/groups/acme%2Fteam", body={"id": 12, "full_path": "acme/team"})
    standin.answer("POST", "/projects/1/approval_rules", 201, {"id": 1})
    rule = {"action": "create", "project_id": "1", "name": "r", "approvals_required": 1}
    await against().call("manage_approval_rule", {**rule, "group_ids": ["acme/team"]})
    assert written(standin)[0]["group_ids"] == [12]


async def test_a_group_of_a_name_is_held_to_the_places_that_are_allowed(
    standin: StandIn, against: Against
) -> None:
    standin.answer(
        "GET", "/projects/1", body={"id": 1, "path_with_namespace": "acme/a", "namespace": {"id": 2}}
    )
    for path, number in (("acme", 2), ("2", 2), ("other", 12), ("12", 12)):
        body = {"id": number, "full_path": "acme" if number == 2 else "other", "parent_id": None}
        standin.answer("GET", f"/groups/{path}", body=body)
    rule = {"action": "create", "project_id": "1", "name": "r", "approvals_required": 1}
    app = against(only_in=("acme",))
    failure = await failure_of(app, "manage_approval_rule", **rule, group_ids=["other"])
    assert failure.code == "OUT_OF_SCOPE"
    assert written(standin) == []


async def test_nothing_is_looked_up_where_the_caller_may_not_act(standin: StandIn, against: Against) -> None:
    failure = await failure_of(against(only_in=("acme",)), "manage_issue", **CREATE, milestone_id="v1")
    assert failure.code == "OUT_OF_SCOPE"
    assert "/projects/1/milestones" not in [request.route for request in standin.requests]


async def test_a_person_confirms_the_number_and_not_the_name(standin: StandIn, against: Against) -> None:
    """Somebody else may have the name by then."""
    standin.answer("GET", "/users", body=[BOB])
    standin.answer("DELETE", "/groups/2/service_accounts/*", 204)
    app = against(confirm="destructive")
    call = {"action": "delete", "group_id": "2", "user_id": "bob"}
    asked = await failure_of(app, "manage_service_account", **call)
    app._answers = AnswerCache()
    standin.answer("GET", "/users", body=[ALICE])
    token = asked.facts["confirmation_token"]
    again = await failure_of(app, "manage_service_account", **call, confirmation_token=token)
    assert (asked.code, again.code) == ("CONFIRMATION_REQUIRED", "CONFIRMATION_MISMATCH")
    assert written(standin) == []


@pytest.mark.parametrize(
    ("tool", "arguments", "sent"),
    [
        (
            "browse_merge_requests",
            {"action": "list", "reviewer_username": "me"},
            {"reviewer_username": "alice"},
        ),
        ("browse_issues", {"action": "list", "author_username": "@me"}, {"author_username": "alice"}),
        ("browse_users", {"action": "list", "username": "me"}, {"username": "alice"}),
        ("browse_pipelines", {"action": "list", "project_id": "1", "username": "me"}, {"username": "alice"}),
    ],
)
async def test_me_is_the_caller_wherever_a_username_is(
    standin: StandIn, against: Against, tool: str, arguments: dict[str, Any], sent: dict[str, str]
) -> None:
    standin.answer("GET", "*", body=[])
    standin.answer("GET", "/user", body=ALICE)
    await against().call(tool, arguments)
    asked = next(request for request in standin.requests if request.route != "/user")
    assert sent.items() <= dict(asked.params).items()


async def test_none_and_any_are_nobody_s_names(standin: StandIn, against: Against) -> None:
    standin.answer("GET", "/projects/1/issues", body=[])
    standin.answer("GET", "/projects/1", body={"id": 1})
    await against().call("browse_issues", {"action": "list", "project_id": "1", "assignee_id": "none"})
    assert dict(standin.requests[0].params) == {"assignee_id": "None"}

"""An action that moved to another tool can still be called where it was, and the answer says where it is now."""

from __future__ import annotations

from datetime import date

import pytest

from gitlab_mcp.actions.action_name import ActionName
from gitlab_mcp.actions.arguments.defaults import InstanceDefaults
from gitlab_mcp.actions.arguments.problems import example_of
from gitlab_mcp.actions.arguments.validation import validate
from gitlab_mcp.actions.registry import Registry
from gitlab_mcp.failures.failure import CallFailed
from tests.support.for_each import for_each
from tests.support.guarded import Server, refused
from tests.support.standin import StandIn

REGISTRY = Registry()
HERE = InstanceDefaults("https://gitlab.example.com")
MOVED = [
    (now, old)
    for now, *before in REGISTRY.every_name()
    for old in before
    if (old.tool, old.action) != (now.tool, now.action)
]
SUBSCRIBE = {"action": "subscribe", "project_id": "1", "issue_iid": 1}


def test_actions_have_moved() -> None:
    assert len(MOVED) > 60
    assert {old.toolset for _, old in MOVED} == {"core"}


def test_every_former_name_has_a_date_until_which_it_works() -> None:
    ends = {action.spec.moved_until for action in REGISTRY.actions() if action.spec.moved_from}
    assert ends
    assert all(date.fromisoformat(end) >= date(2027, 11, 30) for end in ends)


@for_each(MOVED, lambda moved: str(moved[1]))
def test_the_former_call_is_the_present_one(moved: tuple[ActionName, ActionName]) -> None:
    now, old = moved
    action = REGISTRY.tool(now.tool).actions[now.action]
    assert old.action not in REGISTRY.action_names(old.tool)
    call = validate(REGISTRY, old.tool, {**example_of(action), "action": old.action}, HERE)
    assert type(call.action) is action
    assert call.tool.name == now.tool
    assert call.taken_as["action"] == f"{now.tool} {now.action}"


@for_each(MOVED, lambda moved: str(moved[1]))
def test_an_error_of_the_former_call_names_the_present_one(moved: tuple[ActionName, ActionName]) -> None:
    now, old = moved
    action = REGISTRY.tool(now.tool).actions[now.action]
    arguments = {**example_of(action), "action": old.action, "no_such_field": 1}
    with pytest.raises(CallFailed) as caught:
        validate(REGISTRY, old.tool, arguments, HERE)
    assert caught.value.failure.facts["taken_as"]["action"] == f"{now.tool} {now.action}"


@pytest.mark.anyio
async def test_what_moved_can_be_called_where_only_its_former_toolset_is_switched_on(
    standin: StandIn, against: Server
) -> None:
    standin.answer("POST", "/projects/1/issues/1/subscribe", 201, {"iid": 1})
    app = against(toolsets=("core", "ci"))
    former = (await app.call("manage_issue", SUBSCRIBE)).data
    assert former["taken_as"] == {"action": "manage_subscription subscribe"}
    present = (await app.call("manage_subscription", SUBSCRIBE)).data
    assert "taken_as" not in present
    assert len(standin.requests) == 2
    assert (await refused(app, "manage_todo", {"action": "mark_done", "todo_id": 1})).code == "OUT_OF_SCOPE"
    assert "manage_subscription" not in {tool["name"] for tool in app.listing()}


@pytest.mark.anyio
@pytest.mark.parametrize(
    "pattern", ["manage_issue.subscribe", "manage_subscription.subscribe", "manage_issue"]
)
async def test_what_is_forbidden_under_one_name_is_forbidden_under_the_other(
    pattern: str, standin: StandIn, against: Server
) -> None:
    app = against(never_actions=(pattern,))
    for tool in ("manage_issue", "manage_subscription"):
        assert (await refused(app, tool, SUBSCRIBE)).code == "OUT_OF_SCOPE"
    assert standin.requests == []

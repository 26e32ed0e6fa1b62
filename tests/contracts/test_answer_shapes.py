"""What a reading action declares to answer, a list or one thing, is what it answers."""

from __future__ import annotations

import pytest

from gitlab_mcp.actions.action import Action
from gitlab_mcp.actions.arguments.problems import example_of
from gitlab_mcp.actions.registry import declared
from gitlab_mcp.app import App
from gitlab_mcp.failures.failure import CallFailed

pytestmark = pytest.mark.anyio

READS = [
    action
    for tool in declared()
    for action in tool.actions.values()
    if not action.spec.writes and tool.makes_calls == "none"
]


def name(action: type[Action]) -> str:
    return f"{action.spec.tool.name} {action.spec.name}"


async def test_recorded_answers_are_lists_where_a_list_is_declared(replayed: App) -> None:
    other, compared = [], 0
    for action in READS:
        try:
            data = (await replayed.call(action.spec.tool.name, example_of(action))).data
        except CallFailed:
            # Paid, or not recorded.
            continue
        compared += 1
        if ("items" in data) is not action.spec.lists:
            other.append(name(action))
    assert other == []
    assert compared > 140


async def test_a_failed_read_has_the_empty_result_that_its_declaration_promises(replayed: App) -> None:
    for action in READS:
        with pytest.raises(CallFailed) as failed:
            await replayed.call(action.spec.tool.name, {"action": action.spec.name, "zzz": 1})
        empty = {"items": [], "total": 0} if action.spec.lists else {"empty": True}
        assert failed.value.failure.call.empty_result == empty, name(action)

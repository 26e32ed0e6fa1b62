"""How many requests each action makes where all goes well: one, or as many as requests_per_action.py says."""

from __future__ import annotations

import anyio

from gitlab_mcp.actions.registry import Registry
from tests.contracts.requests_per_action import MORE_THAN_ONE
from tests.support.each_action import called_by_example, recorded_gitlab


def test_no_action_makes_more_requests_than_are_written_down() -> None:
    found = anyio.run(requests_of_every_action)
    more = {name: count for name, count in found.items() if count > MORE_THAN_ONE.get(name, 1)}
    assert more == {}, "is each of these needed? Then write it into tests/contracts/requests_per_action.py"
    fewer = {name: found.get(name) for name, count in MORE_THAN_ONE.items() if found.get(name) != count}
    assert fewer == {}, "these make fewer now, or are not recorded: say so in requests_per_action.py"


async def requests_of_every_action() -> dict[str, int]:
    """Of those whose example is recorded."""
    found: dict[str, int] = {}
    with recorded_gitlab() as gitlab:
        for action in Registry().actions():
            if requests := await called_by_example(gitlab, action):
                found[f"{action.spec.tool.name} {action.spec.name}"] = len(requests)
    return found

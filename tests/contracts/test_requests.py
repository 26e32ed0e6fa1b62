"""How many requests each action makes where all goes well: one, or as many as requests_per_action.py says."""

from __future__ import annotations

import anyio

from gitlab_mcp.actions.registry import Registry
from gitlab_mcp.app import App
from gitlab_mcp.failures.failure import CallFailed
from gitlab_mcp.settings import Secret, Settings
from tests.contracts.requests_per_action import MORE_THAN_ONE
from tests.support.guarded import UNGUARDED
from tests.support.standin import StandIn
from tests.support.standin.graphql_of_rest import GraphQLOfRest
from tests.support.versions import OLDEST, cassettes_of


def test_no_action_makes_more_requests_than_are_written_down() -> None:
    found = anyio.run(requests_of_every_action)
    more = {name: count for name, count in found.items() if count > MORE_THAN_ONE.get(name, 1)}
    assert more == {}, "is each of these needed? Then write it into tests/contracts/requests_per_action.py"
    fewer = {name: found.get(name) for name, count in MORE_THAN_ONE.items() if found.get(name) != count}
    assert fewer == {}, "these make fewer now, or are not recorded: say so in requests_per_action.py"


async def requests_of_every_action() -> dict[str, int]:
    """Of those whose example is recorded, with nothing remembered of earlier calls."""
    found: dict[str, int] = {}
    with StandIn() as gitlab:
        gitlab.play(cassettes_of(OLDEST))
        gitlab.add(GraphQLOfRest(gitlab.reply_to))
        for action in Registry().actions():
            app = App(Settings(url=gitlab.url, token=Secret("alice"), toolsets=("all",), **UNGUARDED))
            before = len(gitlab.requests)
            try:
                await app.call(action.spec.tool.name, {"action": action.spec.name, **action.spec.example})
                found[f"{action.spec.tool.name} {action.spec.name}"] = len(gitlab.requests) - before
            except CallFailed:
                # It is not recorded, or an example of a refusal.
                continue
            finally:
                app.close()
    return found

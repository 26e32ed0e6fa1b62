"""Calls an action as its example says, on recorded answers, with nothing remembered of earlier calls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from gitlab_mcp.actions.action import Action
from gitlab_mcp.app import App
from gitlab_mcp.failures.failure import CallFailed
from gitlab_mcp.settings import Secret, Settings
from tests.support.guarded import UNGUARDED
from tests.support.standin import Received, StandIn
from tests.support.standin.graphql_of_rest import GraphQLOfRest
from tests.support.versions import OLDEST, cassettes_of


@contextmanager
def recorded_gitlab() -> Iterator[StandIn]:
    with StandIn() as gitlab:
        gitlab.play(cassettes_of(OLDEST))
        gitlab.add(GraphQLOfRest(gitlab.reply_to))
        yield gitlab


async def called_by_example(gitlab: StandIn, action: type[Action]) -> Sequence[Received]:
    """The requests it made; none where it is not recorded, or an example of a refusal."""
    app = App(Settings(url=gitlab.url, token=Secret("alice"), toolsets=("all",), **UNGUARDED))
    before = len(gitlab.requests)
    try:
        await app.call(action.spec.tool.name, {"action": action.spec.name, **action.spec.example})
    except CallFailed:
        return ()
    finally:
        app.close()
    return gitlab.requests[before:]

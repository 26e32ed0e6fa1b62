"""The rules over the whole catalogue: whatever an action does, it meets them."""

from __future__ import annotations

import pytest

from gitlab_mcp.actions.action import Action, Danger
from gitlab_mcp.actions.arguments.defaults import InstanceDefaults
from gitlab_mcp.actions.arguments.validation import validate
from gitlab_mcp.actions.registry import Registry
from gitlab_mcp.failures.failure import Failure
from tests.support.guarded import DEFAULTS, Server, outcome, refused, request_by, writes
from tests.support.standin import StandIn

pytestmark = pytest.mark.anyio

GUARDS = {"CONFIRMATION_REQUIRED", "TRUST_INSUFFICIENT", "DANGER_DENIED", "READ_ONLY_MODE", "OUT_OF_SCOPE"}
ACTIONS = [action for action in Registry().actions() if action.spec.endpoints]
WRITING = [action for action in ACTIONS if action.spec.writes]


def danger(action: type[Action]) -> Danger:
    """Of its example: values count too."""
    call = validate(Registry(), action.spec.tool.name, arguments(action), InstanceDefaults("https://g"))
    return call.danger


def arguments(action: type[Action]) -> dict[str, object]:
    return {"action": action.spec.name, **action.spec.example}


async def test_reading_and_what_can_be_undone_asks_nobody(standin: StandIn, against: Server) -> None:
    app = against(**DEFAULTS)
    for action in ACTIONS:
        if danger(action) in (Danger.READ, Danger.REVERSIBLE):
            ended = await outcome(app, action.spec.tool.name, arguments(action))
            assert not (isinstance(ended, Failure) and ended.code in GUARDS), action


async def test_what_destroys_asks_and_what_reaches_far_is_refused(standin: StandIn, against: Server) -> None:
    app = against(**DEFAULTS)
    expected = {Danger.DESTRUCTIVE: "CONFIRMATION_REQUIRED", Danger.DANGEROUS: "TRUST_INSUFFICIENT"}
    for action in ACTIONS:
        if danger(action) in expected:
            failure = await refused(app, action.spec.tool.name, arguments(action))
            assert failure.code == expected[danger(action)], action
    assert writes(standin) == []


async def test_with_trust_what_reaches_far_asks_too(standin: StandIn, against: Server) -> None:
    app = against(trust="dangerous", confirm="destructive")
    for action in ACTIONS:
        if action.spec.danger is Danger.DANGEROUS:
            failure = await refused(app, action.spec.tool.name, arguments(action))
            assert failure.code == "CONFIRMATION_REQUIRED", action
    assert writes(standin) == []


async def test_a_read_only_server_writes_nothing(standin: StandIn, against: Server) -> None:
    app = against(read_only=True)
    for action in WRITING:
        failure = await refused(app, action.spec.tool.name, arguments(action))
        assert failure.code == "READ_ONLY_MODE", action
        batch = {"action": "run", "calls": [{"tool": action.spec.tool.name, "arguments": arguments(action)}]}
        failure = await refused(app, "run_batch", batch)
        assert failure.facts["results"][0]["error"].code == "READ_ONLY_MODE", action
    assert standin.requests == []


async def test_a_request_can_narrow_what_the_operator_allows_and_never_widen_it(
    standin: StandIn, against: Server
) -> None:
    free = against()
    for action in WRITING:
        narrowed = request_by("alice", read_only=True)
        failure = await refused(free, action.spec.tool.name, arguments(action), narrowed)
        assert failure.code == "READ_ONLY_MODE", action
    strict = against(read_only=True)
    for action in WRITING:
        wide = request_by("alice", read_only=False, toolsets=(action.spec.tool.toolset,))
        failure = await refused(strict, action.spec.tool.name, arguments(action), wide)
        assert failure.code == "READ_ONLY_MODE", action
    assert standin.requests == []


async def test_an_action_that_reads_never_writes(standin: StandIn, against: Server) -> None:
    """The rules go by what an action is declared to be; here that is held to what it sends."""
    app = against()
    reading = [action for action in ACTIONS if not action.spec.writes]
    for action in reading:
        await outcome(app, action.spec.tool.name, arguments(action))
    for request in standin.requests:
        if request.method not in ("GET", "HEAD"):
            query = request.path.endswith("/graphql") and "mutation" not in request.json["query"]
            assert query or request.route in READ_WITH_POST, (request.method, request.route)


READ_WITH_POST: set[str] = set()
"""Questions that GitLab wants posted."""

"""No write is left without a way to find out whether it happened."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from gitlab_mcp.actions.action import Action
from gitlab_mcp.actions.arguments.defaults import InstanceDefaults
from gitlab_mcp.actions.arguments.problems import example_of
from gitlab_mcp.actions.arguments.validation import validate
from gitlab_mcp.actions.recovery_lookup import LostWrite
from gitlab_mcp.actions.registry import Registry
from gitlab_mcp.app import App
from gitlab_mcp.failures.failure import CallFailed
from gitlab_mcp.gitlab.faults import Refused, ReplayMiss
from gitlab_mcp.refusals.transport_failures import check_with
from tests.support.for_each import for_each

SHOWN_TO_PROOFS = 28
"""Of how many actions at least a recording answers the read."""

REGISTRY = Registry()
HERE = InstanceDefaults("https://gitlab.example.com")
WRITES = [action for action in REGISTRY.actions() if action.spec.writes]


def name_of(action: type[Action]) -> str:
    return f"{action.spec.tool.name} {action.spec.name}"


@for_each([action for action in WRITES if not action.spec.repeatable and action.spec.endpoints], name_of)
def test_what_may_not_be_sent_again_says_how_it_is_found_or_why_it_cannot_be(action: type[Action]) -> None:
    look = action.spec.recover_with
    assert look is not None, (
        "sent twice it would be done twice: say with lost=Look(…) which read of this server shows what it did, and "
        "what proves it; or repeatable=True if a second time does no harm (CONTRIBUTING.md, A write says more)"
    )
    assert look.proves is not bool(look.because), (
        "say what proves it, or because= of what nothing can: one of them"
    )


@for_each([action for action in WRITES if action.spec.endpoints], name_of)
def test_the_read_that_settles_a_lost_write_is_one_this_server_has(action: type[Action]) -> None:
    write = validate(REGISTRY, action.spec.tool.name, example_of(action), HERE).action
    settled_by = check_with(write)
    assert settled_by is not None, (
        "no read of this server shows what this changes: add one, or name one with lost=Look(…)"
    )
    tool, name = settled_by["action"].split()
    try:
        read = validate(REGISTRY, tool, {"action": name, **settled_by["arguments"]}, HERE)
    except CallFailed as failed:
        pytest.fail(f"{settled_by} is not a call: say with lost=Look(…) which is. {failed.failure.message}")
    assert not read.action.spec.writes


@pytest.mark.anyio
async def test_proofs_can_read_what_a_real_gitlab_shows(replayed: App) -> None:
    shown = set()
    for action in WRITES:
        look = action.spec.recover_with
        if look is None or look.proof is None:
            continue
        write = validate(REGISTRY, action.spec.tool.name, example_of(action), HERE).action
        tool, name = look.read.split()
        read = validate(REGISTRY, tool, {"action": name, **look.arguments(write)}, HERE).action.request()
        try:
            body = (await (await replayed.gitlab()).send(read)).body
        except (Refused, ReplayMiss):
            continue
        lost = LostWrite(write, write.request().body or {}, datetime(2000, 1, 1, tzinfo=UTC), 2)
        things = body[look.inside] if look.inside else body
        for thing in things if isinstance(things, list) else [things]:
            assert look.proof(lost, thing) in (True, False), name_of(action)
            assert look.answer is None or look.answer(thing)
            shown.add(name_of(action))
    assert len(shown) >= SHOWN_TO_PROOFS, sorted(shown)

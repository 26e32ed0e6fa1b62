"""Two people on one server, over the whole catalogue. All answers here are synthetic."""

from __future__ import annotations

import json
from collections import Counter

import anyio
import pytest

from gitlab_mcp.actions.action import Action
from gitlab_mcp.actions.registry import Registry
from gitlab_mcp.app import App
from gitlab_mcp.failures.failure import Failure
from tests.support.guarded import Server, outcome, request_by
from tests.support.standin import StandIn

pytestmark = pytest.mark.anyio

PLACED = [
    action
    for action in Registry().actions()
    if action.spec.endpoints and {"project_id", "group_id"} & set(action.spec.example)
]
PEOPLE = ("alice", "bob")


def of_whom(action: type[Action], person: str) -> dict[str, object]:
    own = {name: f"{person}/own" for name in ("project_id", "group_id") if name in action.spec.example}
    return {"action": action.spec.name, **action.spec.example, **own}


def shown(ended: object) -> str:
    return json.dumps(
        dict(ended.facts if isinstance(ended, Failure) else getattr(ended, "data", {})), default=str
    )


async def test_cross_tenant_leak_two_users_with_200_interleaved_calls_each_carry_their_own_token(
    standin: StandIn, against: Server
) -> None:
    for person in PEOPLE:
        for place in ("projects", "groups"):
            everything = f"/{place}/{person}%2Fown"
            standin.answer("*", f"{everything}/*", 403, {"message": f"403 Forbidden - {person} may not"})
            standin.answer("GET", everything, 200, {"id": 1, "name": f"of {person}", "path": f"{person}/own"})
    app: App = against(token=None, calls_per_caller=32)
    step = max(1, len(PLACED) // 200)
    chosen = PLACED[::step][:200]
    room = anyio.CapacityLimiter(32)
    told: list[tuple[str, str]] = []

    async def one(action: type[Action], person: str) -> None:
        async with room:
            ended = await outcome(app, action.spec.tool.name, of_whom(action, person), request_by(person))
            told.append((person, shown(ended)))

    async with anyio.create_task_group() as tasks:
        for action in chosen:
            for person in PEOPLE:
                tasks.start_soon(one, action, person)
    assert len(chosen) == 200 and len(told) == 400
    for person, other in (PEOPLE, PEOPLE[::-1]):
        assert not [said for whose, said in told if whose == person and other in said]
    carried = Counter(
        (person, request.token)
        for request in standin.requests
        for person in PEOPLE
        if f"/{person}%2F" in request.path
    )
    assert set(carried) == {("alice", "alice"), ("bob", "bob")}
    assert min(carried.values()) >= 150
    assert {request.token for request in standin.requests} == set(PEOPLE)


async def test_what_is_remembered_of_a_place_for_one_caller_is_not_told_to_another(
    standin: StandIn, against: Server
) -> None:
    """The refusal is explained by looking at the project: each must look with their own eyes, and each once."""
    standin.answer("POST", "/projects/7/*", 403, {"message": "403 Forbidden"})
    standin.answer(
        "GET", "/projects/7", 200, {"id": 7, "archived": True, "path_with_namespace": "acme/secret"}
    )
    app: App = against(token=None)
    call = ("manage_label", {"action": "create", "project_id": "7", "name": "bug", "color": "#111111"})
    for person in (*PEOPLE, *PEOPLE):
        await outcome(app, *call, request_by(person))
    looked = Counter(request.token for request in standin.requests if request.route == "/projects/7")
    assert looked == {"alice": 1, "bob": 1}

"""How much one caller may do in an hour."""

from __future__ import annotations

from collections import Counter
from typing import Any

import anyio
import pytest

from gitlab_mcp.actions.arguments.defaults import InstanceDefaults
from gitlab_mcp.actions.arguments.validation import validate
from gitlab_mcp.actions.ask import NobodyToAsk
from gitlab_mcp.actions.registry import Registry
from gitlab_mcp.actions.result import Result
from gitlab_mcp.app import App
from gitlab_mcp.callers import CallerKey
from gitlab_mcp.failures.failure import CallFailed
from gitlab_mcp.policy.confirmation_tokens import ConfirmationTokens
from gitlab_mcp.policy.consent import PersonsAnswers
from gitlab_mcp.policy.guard import ProposedCall
from gitlab_mcp.policy.quotas import Quotas
from gitlab_mcp.store.memory import MemoryStore
from tests.support.guarded import Server, code_of, delete_label, outcome, refused, request_by, with_labels
from tests.support.standin import StandIn

pytestmark = pytest.mark.anyio

LIST = ("browse_labels", {"action": "list", "project_id": "acme/website"})


def create(number: int) -> tuple[str, dict[str, Any]]:
    made = {"action": "create", "project_id": "acme/website", "name": f"label {number}", "color": "#111111"}
    return "manage_label", made


def warned(result: Result) -> list[str]:
    return [warning["code"] for warning in result.data.get("warnings", ())]


@pytest.fixture
def app(standin: StandIn, against: Server) -> App:
    with_labels(standin, "bug")
    return against(quota=("writes=10",))


async def test_work_is_warned_then_paused_then_stopped(app: App) -> None:
    for number in range(7):
        assert warned(await app.call(*create(number))) == []
    for number in (7, 8):
        assert warned(await app.call(*create(number))) == ["QUOTA_WARNING"]
    paused = await refused(app, *create(9))
    assert paused.code == "QUOTA_PAUSED"
    assert (paused.facts["limit"], paused.facts["remaining"]) == (10, 1)
    tool, arguments = create(9)
    await app.call(tool, {**arguments, "confirmation_token": paused.facts["confirmation_token"]})
    stopped = await refused(app, *create(10))
    assert stopped.code == "QUOTA_EXHAUSTED"
    assert 0 < stopped.facts["retry_after_seconds"] <= 3600
    assert not (await app.call(*LIST)).data.get("warnings")


async def test_one_callers_quota_is_not_anothers(app: App) -> None:
    for number in range(9):
        await app.call(*create(number), request_context=request_by("alice"))
    assert await code_of(app, *create(9), request_context=request_by("alice")) == "QUOTA_PAUSED"
    await app.call(*create(9), request_context=request_by("bob"))


async def test_the_yes_to_go_on_is_one_callers_and_counts_once(app: App) -> None:
    for number in range(9):
        await app.call(*create(number), request_context=request_by("alice"))
    paused = await refused(app, *create(9), request_by("alice"))
    tool, arguments = create(9)
    resumed = {**arguments, "confirmation_token": paused.facts["confirmation_token"]}
    for number in range(9):
        await app.call(*create(100 + number), request_context=request_by("bob"))
    assert await code_of(app, tool, resumed, request_by("bob")) == "CONFIRMATION_INVALID"
    await app.call(tool, resumed, request_context=request_by("alice"))


async def test_many_calls_at_once_do_not_get_past_the_end(standin: StandIn, against: Server) -> None:
    world = with_labels(standin)
    app = against(quota=("writes=5",))
    seen: Counter[str] = Counter()

    async def one(number: int) -> None:
        ended = await outcome(app, *create(number))
        seen["done" if isinstance(ended, Result) else ended.code] += 1

    async with anyio.create_task_group() as tasks:
        for number in range(30):
            tasks.start_soon(one, number)
    assert seen["done"] <= 5
    assert world.count("labels") == seen["done"]


async def test_each_call_of_a_batch_counts(app: App) -> None:
    calls = [dict(zip(("tool", "arguments"), create(number), strict=True)) for number in range(12)]
    result = await app.call("run_batch", {"action": "run", "calls": calls})
    codes = Counter(item.get("error", {}).get("error_code", "done") for item in result.data["results"])
    assert codes == {"done": 9, "QUOTA_PAUSED": 3}


async def test_paused_work_that_destroys_asks_for_both(standin: StandIn, against: Server) -> None:
    names = [f"label {number}" for number in range(12)]
    world = with_labels(standin, *names)
    app = against(quota=("destructive=10",), confirm="destructive", trust="destructive")
    for name in names[:9]:
        token = (await refused(app, "manage_label", delete_label(name))).facts["confirmation_token"]
        await app.call("manage_label", delete_label(name, confirmation_token=token))
    paused = await refused(app, "manage_label", delete_label(names[9]))
    assert paused.code == "QUOTA_PAUSED"
    go_on = delete_label(names[9], confirmation_token=paused.facts["confirmation_token"])
    asked = await refused(app, "manage_label", go_on)
    assert asked.code == "CONFIRMATION_REQUIRED"
    yes = delete_label(names[9], confirmation_token=asked.facts["confirmation_token"])
    await app.call("manage_label", yes)
    assert world.count("labels") == 2


async def test_what_was_only_asked_for_is_not_counted(standin: StandIn, against: Server) -> None:
    with_labels(standin, "bug")
    app = against(quota=("destructive=2",), confirm="destructive")
    for _ in range(5):
        assert await code_of(app, "manage_label", delete_label()) == "CONFIRMATION_REQUIRED"


async def test_calls_that_were_let_in_together_do_not_get_past_the_end(standin: StandIn) -> None:
    """All of them look before any of them counts, as on several servers."""
    store = MemoryStore()
    quotas = Quotas({"writes": 5}, PersonsAnswers(ConfirmationTokens(store), store), store)
    tool, arguments = create(1)
    call = validate(Registry(), tool, arguments, InstanceDefaults(standin.url))
    proposed = ProposedCall(call, CallerKey("alice", standin.url), NobodyToAsk())
    for _ in range(8):
        await quotas.check(proposed)
    for _ in range(5):
        await quotas.count(proposed)
    with pytest.raises(CallFailed) as over:
        await quotas.count(proposed)
    assert over.value.failure.code == "QUOTA_EXHAUSTED"

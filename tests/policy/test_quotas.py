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
from tests.support.people import with_people
from tests.support.standin import StandIn, login_page, server_error

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


async def test_one_person_with_two_tokens_counts_once(standin: StandIn, app: App) -> None:
    with_people(standin)
    for number in range(9):
        await app.call(*create(number), request_context=request_by("alice" if number % 2 else "alice2"))
    for token in ("alice", "alice2", "alice3"):
        assert await code_of(app, *create(9), request_context=request_by(token)) == "QUOTA_PAUSED"
    await app.call(*create(9), request_context=request_by("bob"))
    asked = Counter(request.token for request in standin.requests if request.route == "/user")
    assert asked == {"alice": 1, "alice2": 1, "alice3": 1, "bob": 1}


async def test_who_says_yes_with_one_token_goes_on_with_the_other(standin: StandIn, app: App) -> None:
    with_people(standin)
    for number in range(9):
        await app.call(*create(number), request_context=request_by("alice"))
    tool, arguments = create(9)
    paused = await refused(app, tool, arguments, request_by("alice"))
    yes = {**arguments, "confirmation_token": paused.facts["confirmation_token"]}
    assert await code_of(app, tool, yes, request_context=request_by("alice2")) == "CONFIRMATION_INVALID"
    await app.call(tool, yes, request_context=request_by("alice"))
    assert await code_of(app, *create(10), request_context=request_by("alice2")) == "QUOTA_EXHAUSTED"


async def test_the_tokens_of_one_project_count_together_and_a_job_for_its_person(
    standin: StandIn, app: App
) -> None:
    people = with_people(standin)
    people.bots = {
        "one": "project_42_bot_0a",
        "two": "project_42_bot_1b",
        "three": "project_43_bot_2c",
        "four": "group_42_bot_3d",
    }
    for number in range(9):
        await app.call(*create(number), request_context=request_by("one"))
    assert await code_of(app, *create(9), request_context=request_by("two")) == "QUOTA_PAUSED"
    for number, token in enumerate(("three", "four")):
        await app.call(*create(20 + number), request_context=request_by(token))
    for number in range(30, 39):
        await app.call(*create(number), request_context=request_by("alice", kind="job"))
    assert await code_of(app, *create(40), request_context=request_by("alice")) == "QUOTA_PAUSED"


async def test_a_person_who_calls_themselves_a_bot_is_none(standin: StandIn, app: App) -> None:
    people = with_people(standin)
    people.bots = {"one": "project_42_bot_0a"}
    for number in range(9):
        await app.call(*create(number), request_context=request_by("one"))
    standin.answer("GET", "/user", 200, {"id": 77, "username": "project_42_bot_x", "bot": False})
    await app.call(*create(9), request_context=request_by("mallory"))


@pytest.mark.parametrize("fault", [server_error(), login_page(), None])
async def test_where_gitlab_does_not_say_who_it_is_the_token_is_counted(
    fault: Any, standin: StandIn, app: App
) -> None:
    if fault is None:
        standin.answer("GET", "/user", 403, {"error": "insufficient_scope", "scope": "read_user"})
    else:
        standin.fault("GET", "/user", fault, times=None)
    for number in range(9):
        await app.call(*create(number), request_context=request_by("alice"))
    assert await code_of(app, *create(9), request_context=request_by("alice")) == "QUOTA_PAUSED"
    await app.call(*create(10), request_context=request_by("alice2"))


async def test_reading_asks_nobody_who_it_is_unless_reading_is_counted(
    standin: StandIn, against: Server
) -> None:
    with_labels(standin, "bug")
    with_people(standin)
    caller = request_by("alice")
    await against(quota=("writes=10",)).call(*LIST, request_context=caller)
    # Over standard input and output there is one person.
    await against(quota=("reads=10",)).call(*LIST)
    assert not [request for request in standin.requests if request.route == "/user"]
    await against(quota=("reads=10",)).call(*LIST, request_context=caller)
    assert [request.route for request in standin.requests].count("/user") == 1

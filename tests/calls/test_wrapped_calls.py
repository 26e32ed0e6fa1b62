"""run_action and browse_action: the call inside is the call, for everything that looks at calls."""

from __future__ import annotations

import json
from typing import Any

import pytest
from mcp import Client
from mcp.types import ElicitResult

from gitlab_mcp.failures.failure import Failure
from gitlab_mcp.observability.outcome import Outcome
from gitlab_mcp.protocol.server import GitLabServer
from tests.support.guarded import Server, code_of, outcome, refused, with_labels, writes
from tests.support.standin import StandIn

pytestmark = pytest.mark.anyio

HERE = {"project_id": "acme/website"}
LIST = {"action": "browse_labels list", "arguments": HERE}
NEW = {**HERE, "name": "new", "color": "#111111"}
CREATE = {"action": "manage_label create", "arguments": NEW}
DELETE = {"action": "manage_label delete", "arguments": {**HERE, "label_id": "bug"}}


@pytest.mark.parametrize(
    "said",
    [
        LIST,
        {"action": "browse_labels.list", "arguments": HERE},
        {"action": "browse_labels:list", "arguments": HERE},
        {"action": "browse_labels list", **HERE},
        {"tool": "browse_labels", "action": "list", "arguments": HERE},
        {"tool": "browse_labels", "action": "list", **HERE},
        {"tool": "browse_labels.list", "args": HERE},
        {"action": "browse_labels", "arguments": {"action": "list", **HERE}},
        {"action": "browse_labels list", "arguments": json.dumps(HERE)},
        {"action": "browse_labels list", "params": HERE},
    ],
    ids=json.dumps,
)
async def test_a_call_may_be_named_in_any_of_the_ways_in_which_models_name_it(
    said: dict[str, Any], standin: StandIn, against: Server
) -> None:
    with_labels(standin, "bug")
    direct = await against().call("browse_labels", {"action": "list", **HERE})
    for tool in ("browse_action", "run_action"):
        assert (await against().call(tool, said)).data == direct.data


async def test_a_row_is_called_by_its_name(standin: StandIn, against: Server) -> None:
    standin.answer("GET", "/projects/*/badges/7", 200, {"id": 7, "name": "coverage"})
    said = {"action": "project_badge.get", "arguments": {**HERE, "badge_id": 7}}
    assert (await against().call("browse_action", said)).data["name"] == "coverage"


async def test_the_tool_that_reads_makes_no_write_and_names_the_one_that_does(
    standin: StandIn, against: Server
) -> None:
    with_labels(standin)
    failure = await refused(against(), "browse_action", CREATE)
    assert failure.code == "INVALID_ACTION"
    assert failure.facts["send"] == {"tool": "run_action"}
    assert standin.requests == []
    await against().call(failure.facts["send"]["tool"], CREATE)
    assert len(writes(standin)) == 1


@pytest.mark.parametrize("tool", ["run_action", "browse_action"])
@pytest.mark.parametrize("inner", ["run_action", "browse_action", "run_batch", "find_actions"])
async def test_what_makes_calls_is_not_made_by_another_and_is_named_to_be_called_itself(
    tool: str, inner: str, standin: StandIn, against: Server
) -> None:
    nested = {"action": inner, "arguments": {"calls": [{"tool": "run_action", "arguments": CREATE}]}}
    failure = await refused(against(), tool, nested)
    assert failure.code == "INVALID_VALUE"
    assert failure.facts["send"] == {"tool": inner}
    assert standin.requests == []


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"read_only": True}, "READ_ONLY_MODE"),
        ({"never_actions": ("manage_label.create",)}, "OUT_OF_SCOPE"),
        ({"only_actions": ("browse_*",)}, "OUT_OF_SCOPE"),
        ({"toolsets": ("core", "ci")}, "OUT_OF_SCOPE"),
        ({"only_in": ("other",)}, "OUT_OF_SCOPE"),
        ({"trust": "read"}, "TRUST_INSUFFICIENT"),
    ],
    ids=str,
)
async def test_the_operators_rules_hold_for_the_call_inside(
    settings: dict[str, Any], code: str, standin: StandIn, against: Server
) -> None:
    with_labels(standin)
    app = against(**settings)
    for tool, arguments in (
        ("manage_label", {"action": "create", **NEW}),
        ("run_action", CREATE),
        ("run_batch", {"calls": [{"tool": "run_action", "arguments": CREATE}]}),
    ):
        failure = await refused(app, tool, arguments)
        inside = failure.facts.get("results")
        assert (inside[0]["error"].code if inside else failure.code) == code
    assert writes(standin) == []


async def test_it_is_counted_once_and_as_what_it_is(standin: StandIn, against: Server) -> None:
    with_labels(standin)
    app = against(quota=("writes=1",))
    heard: list[Outcome] = []
    app.observe(heard.append)
    await app.call("run_action", CREATE)
    assert await code_of(app, "run_action", CREATE) == "QUOTA_EXHAUSTED"
    assert [each.operation for each in heard] == ["labels:create", "labels:create"]


async def test_a_loop_is_seen_whichever_way_the_same_call_comes(standin: StandIn, against: Server) -> None:
    with_labels(standin)
    app = against()
    same: list[tuple[str, dict[str, Any]]] = [
        ("run_action", {"action": "browse_labels get", "arguments": {**HERE, "label_id": "none"}}),
        ("browse_labels", {"action": "get", **HERE, "label_id": "none"}),
        ("browse_action", {"action": "browse_labels.get", **HERE, "label_id": "none"}),
    ]
    failures = [await refused(app, *call) for call in same]
    assert [bool(failure.facts.get("loop")) for failure in failures] == [False, False, True]


async def test_the_person_is_asked_about_the_call_inside(standin: StandIn, against: Server) -> None:
    with_labels(standin, "bug")
    asked: list[str] = []

    async def person(context: Any, params: Any) -> ElicitResult:
        asked.append(params.message)
        return ElicitResult(action="accept", content={"go_ahead": True})

    app = against(trust=None, confirm="destructive")
    server = GitLabServer(app, error_style="tier", format="json")
    async with Client(server, elicitation_callback=person) as agent:
        assert not (await agent.call_tool("run_action", DELETE)).is_error
    assert len(asked) == 1 and "bug" in asked[0]
    assert len(writes(standin)) == 1


async def test_how_the_answer_shall_look_may_be_said_beside_or_inside(
    standin: StandIn, against: Server
) -> None:
    with_labels(standin, *(f"label-{number}" for number in range(80)))
    app = against()
    for said in (
        {**LIST, "per_page": 80, "fields": ["name"], "max_bytes": 1000},
        {
            "action": "browse_labels list",
            "arguments": {**HERE, "per_page": 80, "fields": ["name"], "max_bytes": 1000},
        },
    ):
        data = (await app.call("browse_action", said)).data
        assert set(data["items"][0]) == {"name"} and "truncated" in data


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ({}, "MISSING_REQUIRED_FIELD"),
        ({"arguments": HERE}, "MISSING_REQUIRED_FIELD"),
        ({"action": 7}, "TYPE_MISMATCH"),
        ({"action": ["browse_labels", "list"]}, "TYPE_MISMATCH"),
        ({"action": ""}, "UNKNOWN_TOOL"),
        ({"action": "  . "}, "UNKNOWN_TOOL"),
        ({"action": "list"}, "UNKNOWN_TOOL"),
        ({"action": "x" * 100_000}, "UNKNOWN_TOOL"),
        ({"action": "browse_labels"}, "MISSING_REQUIRED_FIELD"),
        ({"action": "browse_labels fly"}, "INVALID_ACTION"),
        ({"action": "browse_labels list", "arguments": [1]}, "TYPE_MISMATCH"),
        ({"action": "browse_labels list", "arguments": "x"}, "TYPE_MISMATCH"),
        ({"action": "browse_labels list", "arguments": {"zzz": 1}}, "MISSING_REQUIRED_FIELD"),
        ({"action": "browse_labels list", "arguments": HERE, "project_id": "acme/shop"}, "INVALID_VALUE"),
        ({"action": "browse_labels list\0", "arguments": HERE}, "INVALID_ENCODING"),
        ({"action": "☃ list", "arguments": HERE}, "UNKNOWN_TOOL"),
    ],
    ids=lambda value: str(value)[:60],
)
async def test_what_names_no_call_is_told_what_is_missing(
    said: dict[str, Any], code: str, standin: StandIn, against: Server
) -> None:
    failure = await refused(against(), "run_action", said)
    assert failure.code == code
    assert failure.facts["suggested_fix"]
    assert standin.requests == []


async def test_a_batch_holds_such_calls_and_its_writes_wait_for_each_other(
    standin: StandIn, against: Server
) -> None:
    with_labels(standin)
    calls = [
        {"tool": "run_action", "arguments": CREATE},
        {"tool": "browse_action", "arguments": LIST},
        {"tool": "run_action", "arguments": {"action": "run_batch", "arguments": {"calls": []}}},
    ]
    result = await outcome(against(), "run_batch", {"calls": calls})
    assert not isinstance(result, Failure)
    made, listed, nested = result.data["results"]
    assert made["result"]["name"] == "new"
    assert [label["name"] for label in listed["result"]["items"]] == ["new"]
    assert nested["error"]["error_code"] == "INVALID_VALUE"

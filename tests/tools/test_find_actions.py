"""What find_actions answers: calls that may be made here, ready to be made, in few tokens."""

from __future__ import annotations

import json
from typing import Any

import pytest
from rs_bpe.bpe import openai

from gitlab_mcp.actions.registry import Registry
from gitlab_mcp.actions.shape import shapes
from gitlab_mcp.app import App
from tests.finding.questions import questions
from tests.support.guarded import Server, refused
from tests.support.standin import StandIn

pytestmark = pytest.mark.anyio

MOST_TOKENS = 500


async def hits(app: App, query: str) -> list[dict[str, str]]:
    found: list[dict[str, str]] = (await app.call("find_actions", {"query": query})).data["hits"]
    return found


def tool_of(hit: dict[str, str]) -> tuple[str, str]:
    tool, action = hit["action"].replace(".", " ").split()
    return tool, action


async def test_every_answer_is_short_and_every_hit_a_signature_of_what_there_is(
    standin: StandIn, against: Server
) -> None:
    app, registry, count = against(), Registry(), openai.o200k_base().count
    for question in questions():
        data = dict((await app.call("find_actions", {"query": question.text})).data)
        assert count(json.dumps(data, ensure_ascii=False, separators=(",", ":"))) <= MOST_TOKENS, (
            question.text
        )
        assert len(data["hits"]) <= 8
        for hit in data["hits"]:
            action = registry.action(*tool_of(hit))
            assert action is not None, hit
            named = {
                name
                for part in hit.get("fields", "").replace("?", "").split(", ")
                for name in part.partition("=")[0].split("|")
                if not part.endswith(" more")
            }
            assert {each for name in named for each in name.split("+")} - {""} <= set(shapes(action))
            assert hit["danger"] == action.spec.danger
            assert hit["does"], hit
    assert standin.requests == [], "nothing of it comes from GitLab"


async def test_a_hit_says_what_it_does(against: Server) -> None:
    does = {hit["action"]: hit["does"] for hit in await hits(against(), "list the branches")}
    assert does["browse_branches list"].startswith("List branches")


async def test_the_values_of_a_field_are_named(against: Server) -> None:
    [first, *_] = await hits(against(), "browse_members who_can")
    assert "what=see|push|merge" in first["fields"].split(", ")


@pytest.mark.parametrize(
    ("query", "name", "field"),
    [
        ("set a CI variable", "manage_variable set", "masked?"),
        ("protect a branch", "manage_protected_branch create", "push_access_level?"),
    ],
)
async def test_a_hit_that_leaves_fields_out_says_how_many_and_its_name_shows_them(
    query: str, name: str, field: str, against: Server
) -> None:
    app = against()
    data = (await app.call("find_actions", {"query": query})).data
    [short] = [hit["fields"].split(", ") for hit in data["hits"] if hit["action"] == name]
    assert short[-1].endswith(" more") and "name of an action" in data["all_fields"]
    [whole] = [hit["fields"].split(", ") for hit in await hits(app, name) if hit["action"] == name]
    assert len(whole) == len(short) - 1 + int(short[-1].removesuffix(" more"))
    assert field in {each.partition("=")[0] for each in whole}


async def test_a_hit_says_what_is_paid(against: Server) -> None:
    assert (await hits(against(), "list epics"))[0]["tier"] == "Premium"


@pytest.mark.parametrize(("tier", "here"), [("free", "Free"), ("premium", None), (None, None)])
async def test_a_hit_says_the_tier_here_where_it_is_known_and_too_low(
    tier: str | None, here: str | None, standin: StandIn, against: Server
) -> None:
    [first, *others] = await hits(against(tier=tier), "list epics")
    assert first.get("tier_here") == here
    assert not [hit for hit in others if "tier_here" in hit and "tier" not in hit]
    assert standin.requests == []


async def test_what_an_earlier_call_learned_of_the_tier_is_said_without_a_request(
    standin: StandIn, against: Server
) -> None:
    app = against()
    await refused(app, "browse_epics", {"action": "list", "group_id": "acme"})
    asked = len(standin.requests)
    assert asked
    [first, *_] = await hits(app, "list epics")
    assert (first["tier"], first["tier_here"]) == ("Premium", "Free")
    assert len(standin.requests) == asked


async def test_where_the_server_only_reads_no_write_is_found(against: Server) -> None:
    app = against(read_only=True)
    found = (await app.call("find_actions", {"query": "create a label"})).data
    assert {hit["danger"] for hit in found["hits"]} <= {"read"}
    assert found["not_allowed_here"].startswith("manage_label create")
    assert "only reads" in found["not_allowed_here"]


@pytest.mark.parametrize(
    "settings",
    [
        {"never_actions": ("manage_label.*",)},
        {"only_actions": ("browse_*",)},
        {"toolsets": ("core", "ci")},
    ],
    ids=str,
)
async def test_what_the_operator_forbids_is_not_found(settings: dict[str, Any], against: Server) -> None:
    assert "manage_label create" in {hit["action"] for hit in await hits(against(), "create a label")}
    found = await hits(against(**settings), "create a label")
    assert "manage_label create" not in {hit["action"] for hit in found}


async def test_discover_alone_finds_everything(against: Server) -> None:
    [first, *_] = await hits(against(toolsets=("discover",)), "add a badge to a project")
    assert first["action"] == "project_badge.create"


@pytest.mark.parametrize("query", ["xyzzy", "☃", "%%% ???", "\u202e\u200b", "..."])
async def test_where_nothing_fits_it_says_so_and_what_to_try(query: str, against: Server) -> None:
    data = (await against().call("find_actions", {"query": query})).data
    assert data["hits"] == [] and data["why_empty"] and data["try"]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({}, "MISSING_REQUIRED_FIELD"),
        ({"query": ""}, "INVALID_VALUE"),
        ({"query": "x" * 401}, "INVALID_VALUE"),
        ({"query": "x" * 1_000_000}, "INVALID_VALUE"),
        ({"query": ["a"]}, "TYPE_MISMATCH"),
        ({"query": {"a": 1}}, "TYPE_MISMATCH"),
        ({"query": "\0"}, "INVALID_ENCODING"),
        ({"query": "label", "limit": 3}, "FIELD_NOT_ALLOWED"),
    ],
    ids=lambda value: str(value)[:40],
)
async def test_a_query_that_is_none_is_told_why(
    arguments: dict[str, Any], code: str, against: Server
) -> None:
    failure = await refused(against(), "find_actions", arguments)
    assert failure.code == code and failure.facts["suggested_fix"]


@pytest.mark.parametrize(
    ("tool", "arguments", "meant"),
    [
        ("create_terraform_lock", {}, "project_terraform_state.lock"),
        ("kubernetes_agents", {}, "cluster_agent.list"),
        ("manage_label", {"action": "teleport"}, ""),
        ("browse_projects", {"action": "secure_files"}, "project_secure_file.list"),
        ("run_action", {"action": "slack_notifications"}, "project_slack_integration.set"),
    ],
)
async def test_a_tool_or_action_that_there_is_not_points_to_the_search_ready_to_send(
    tool: str, arguments: dict[str, Any], meant: str, against: Server
) -> None:
    failure = await refused(against(), tool, arguments)
    assert failure.code in ("UNKNOWN_TOOL", "INVALID_ACTION")
    send = failure.facts["send"]
    assert send["tool"] == "find_actions"
    found = (await against().call(send["tool"], send["arguments"])).data["hits"]
    assert meant in {hit["action"] for hit in found} or not meant


async def test_where_one_call_is_meant_the_search_is_named_beside_it(against: Server) -> None:
    failure = await refused(against(), "delete_labels_please", {"action": "list"})
    assert "find_actions" in failure.facts["suggested_fix"]

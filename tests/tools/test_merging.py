"""Merging and approving bind the commit that was seen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from mcp import Client
from mcp.types import ElicitRequestParams, ElicitResult

from gitlab_mcp.app import App
from gitlab_mcp.failures.failure import Failure
from gitlab_mcp.protocol.server import GitLabServer
from tests.support.guarded import DEFAULTS, Server, refused, writes
from tests.support.recordings import rows
from tests.support.standin import StandIn, World

pytestmark = pytest.mark.anyio

SEEN, PUSHED = "6e3c9f4086f8b8eaea8ce2cbe297cd189ad3b80b", "0ae8a79819b2d4bd13aa096415bf242601237d8c"
MERGE: dict[str, Any] = {"action": "merge", "project_id": "acme/website", "merge_request_iid": 1}
YES = ElicitResult(action="accept", content={"go_ahead": True})


def with_merge_request(standin: StandIn, **more: Any) -> World:
    """Synthetic: a group made on GitLab 19.3, which wants to know the commit."""
    world = standin.project("acme/website")
    world.merge_needs_sha = True
    world.things["merge_requests"] = [
        {
            "id": 1,
            "iid": 1,
            "state": "opened",
            "merge_status": "can_be_merged",
            "detailed_merge_status": "mergeable",
            "sha": SEEN,
            "references": {"full": "acme/website!1"},
            **more,
        }
    ]
    return world


def sent(standin: StandIn) -> list[Any]:
    return [
        each.json
        for each in standin.requests
        if each.method in ("PUT", "POST") and "graphql" not in each.path
    ]


def recorded(*labels: str) -> list[dict[str, Any]]:
    return [
        row for row in rows("errors", "19.3") if row["label"] in [f"merge_requests/{name}" for name in labels]
    ]


async def refusal(app: App, **arguments: Any) -> Failure:
    return await refused(app, "manage_merge_request", {**MERGE, **arguments})


async def test_a_merge_names_the_commit_that_is_there(standin: StandIn, against: Server) -> None:
    with_merge_request(standin)
    data = (await against().call("manage_merge_request", MERGE)).data
    assert data["state"] == "merged"
    assert sent(standin) == [{"sha": SEEN}]


async def test_a_commit_that_the_caller_names_is_taken_as_it_is(standin: StandIn, against: Server) -> None:
    with_merge_request(standin)
    await against().call("manage_merge_request", {**MERGE, "sha": SEEN})
    assert [each.method for each in standin.requests] == ["PUT"]


async def test_a_yes_is_to_the_commit_in_the_question(standin: StandIn, against: Server) -> None:
    world, app = with_merge_request(standin), against(**DEFAULTS)
    asked = (await refusal(app)).facts
    assert f"at commit {SEEN[:8]}" in asked["what_will_happen"]
    world.things["merge_requests"][0]["sha"] = PUSHED
    failure = await refusal(app, confirmation_token=asked["confirmation_token"])
    assert (failure.code, failure.facts["head_sha"]) == ("CONFIRMATION_MISMATCH", PUSHED)
    assert SEEN[:12] in failure.message and PUSHED[:12] in failure.message
    assert writes(standin) == []
    asked = (await refusal(app)).facts
    assert f"at commit {PUSHED[:8]}" in asked["what_will_happen"]
    await app.call("manage_merge_request", {**MERGE, "confirmation_token": asked["confirmation_token"]})
    assert sent(standin) == [{"sha": PUSHED}]


@pytest.mark.parametrize("era", ["legacy", "auto"])
async def test_a_push_while_the_person_reads_the_question_is_not_merged(
    standin: StandIn, against: Server, era: Any
) -> None:
    world = with_merge_request(standin)

    async def person(context: Any, params: ElicitRequestParams) -> ElicitResult:
        world.things["merge_requests"][0]["sha"] = PUSHED
        return YES

    server = GitLabServer(against(**DEFAULTS), error_style="tier", format="json")
    async with Client(server, mode=era, elicitation_callback=person) as client:
        result = await client.call_tool("manage_merge_request", MERGE)
    assert result.structured_content
    assert result.structured_content["error_code"] == "CONFIRMATION_MISMATCH"
    assert writes(standin) == []


async def test_a_no_holds_after_a_push(standin: StandIn, against: Server) -> None:
    world, asked = with_merge_request(standin), []

    async def person(context: Any, params: ElicitRequestParams) -> ElicitResult:
        asked.append(params.message)
        return ElicitResult(action="decline")

    server = GitLabServer(against(**DEFAULTS), error_style="tier", format="json")
    async with Client(server, elicitation_callback=person) as client:
        await client.call_tool("manage_merge_request", MERGE)
        world.things["merge_requests"][0]["sha"] = PUSHED
        await client.call_tool("manage_merge_request", MERGE)
    assert ["You were asked this" in question for question in asked] == [False, True]


async def test_inside_a_batch_the_commit_is_bound_too(standin: StandIn, against: Server) -> None:
    with_merge_request(standin)
    calls = [{"tool": "manage_merge_request", "arguments": MERGE}]
    await against().call("run_batch", {"action": "run", "calls": calls})
    assert sent(standin) == [{"sha": SEEN}]


@pytest.mark.parametrize(
    ("tool", "arguments", "path"),
    [
        ("manage_merge_request", {"action": "approve"}, "/approve"),
        ("manage_review", {"action": "submit_review", "verdict": "approve"}, "/approve"),
    ],
)
async def test_an_approval_is_of_the_commit_that_is_there(
    standin: StandIn, against: Server, tool: str, arguments: Mapping[str, Any], path: str
) -> None:
    request = "/projects/1/merge_requests/1"
    standin.answer("POST", f"{request}{path}", 201, {"approved": True})
    standin.answer("GET", f"{request}/draft_notes", body=[])
    standin.answer("GET", f"{request}/approvals", body={"user_has_approved": False})
    standin.answer("GET", request, body={"iid": 1, "sha": SEEN, "state": "opened"})
    await against().call(tool, {"project_id": "1", "merge_request_iid": 1, **arguments})
    assert sent(standin) == [{"sha": SEEN}]


async def test_a_merge_without_its_commit_is_told_where_to_find_it(standin: StandIn, against: Server) -> None:
    """The merge request cannot be read, so the server has no commit to send."""
    standin.play_rows(recorded("merge_without_sha_ok"))
    failure = await refusal(against(), project_id="41", merge_request_iid=3)
    assert (failure.code, failure.facts["missing_fields"]) == ("REJECTED", ["sha"])
    assert "browse_merge_requests get" in failure.facts["suggested_fix"]


async def test_a_branch_that_moved_is_told_with_its_new_commit(standin: StandIn, against: Server) -> None:
    standin.play_rows(recorded("sha_mismatch"))
    failure = await refusal(against(), project_id="41", merge_request_iid=8, sha="a" * 40)
    assert (failure.code, failure.facts["state"], failure.facts["head_sha"]) == ("CONFLICT", "changed", SEEN)


async def test_auto_merge_that_waits_for_a_failed_pipeline_is_told(standin: StandIn, against: Server) -> None:
    standin.play_rows(recorded("auto_merge_failed_pipeline"))
    arguments = {**MERGE, "project_id": "41", "merge_request_iid": 12, "auto_merge": True, "sha": PUSHED}
    data = (await against().call("manage_merge_request", arguments)).data
    assert [(warning["code"], warning["field"]) for warning in data["warnings"]] == [
        ("NOT_APPLIED", "auto_merge")
    ]


async def test_auto_merge_with_nothing_to_wait_for_is_told_to_be_left_out(
    standin: StandIn, against: Server
) -> None:
    """Synthetic, after what GitLab 19.3 was seen to do."""
    with_merge_request(standin)
    standin.answer("PUT", "/projects/*/merge_requests/1/merge", 405, {"message": "405 Method Not Allowed"})
    failure = await refusal(against(), auto_merge=True)
    assert failure.facts["state"] == "nothing to wait for"
    assert "auto_merge" not in failure.facts["alternatives"][0]["arguments"]

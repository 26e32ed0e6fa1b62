"""Rows called by a real client: what no tool has an action for, with everything that an action has.

GitLab's answers are recorded of 19.3; only what is lost on the way is made up.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import pytest
from mcp import Client

from gitlab_mcp.app import App
from gitlab_mcp.protocol.server import GitLabServer
from gitlab_mcp.settings import Secret, Settings
from tests.support.standin import LoseAnswer, StandIn
from tests.support.versions import NEWEST, cassettes_of

pytestmark = pytest.mark.anyio

Called = Callable[..., Any]
BADGE = {"link_url": "https://acme.example", "image_url": "https://acme.example/badge.svg"}


@asynccontextmanager
async def calling(gitlab: StandIn, **options: Any) -> AsyncIterator[Called]:
    """Calls by a client over MCP: whether it failed, and what it was told."""
    settings = Settings(url=gitlab.url, token=Secret("alice"), **{"trust": "dangerous", **options})
    app = App(settings)
    server = GitLabServer(app, error_style=settings.error_style, format=settings.format)
    try:
        async with Client(server) as client:

            async def call(noun: str, verb: str, **arguments: Any) -> tuple[bool, dict[str, Any]]:
                answer = await client.call_tool(noun, {"action": verb, **arguments})
                texts = [block.text for block in answer.content if block.type == "text"]
                return bool(answer.is_error), json.loads(texts[0])

            yield call
    finally:
        app.close()


@pytest.fixture
def recorded(standin: StandIn) -> Callable[..., AbstractAsyncContextManager[Called]]:
    standin.play(cassettes_of(NEWEST))
    return lambda **options: calling(standin, **options)


async def test_a_list_has_its_page_and_the_fields_of_the_answer(recorded: Any) -> None:
    async with recorded() as call:
        failed, told = await call("group_badge", "list", group_id="acme", per_page=20, page=1)
    assert not failed and told["total"] == 1
    assert told["items"][0]["kind"] == "group" and "rendered_link_url" in told["items"][0]


async def test_one_thing_is_read_whole(recorded: Any) -> None:
    async with recorded() as call:
        failed, told = await call(
            "issue_award_emoji", "get", project_id="acme/website", issue_iid=1, award_id=1
        )
    assert not failed and told["name"] and told["user"] == "carol"


async def test_a_write_that_can_be_undone_is_made_at_once(recorded: Any, standin: StandIn) -> None:
    async with recorded() as call:
        failed, told = await call("group_badge", "create", group_id="24", **BADGE)
    assert not failed and told["id"] == 2
    assert [json.loads(request.body) for request in standin.requests if request.method == "POST"] == [BADGE]


async def test_what_is_deleted_is_confirmed_first(recorded: Any, standin: StandIn) -> None:
    async with recorded() as call:
        failed, asked = await call("group_badge", "delete", group_id="215", badge_id=6)
        assert failed and asked["error_code"] == "CONFIRMATION_REQUIRED"
        assert "Delete a badge of a group: badge 6" in asked["what_will_happen"]
        assert not [request for request in standin.requests if request.method == "DELETE"]
        failed, done = await call(
            "group_badge",
            "delete",
            group_id="215",
            badge_id=6,
            confirmation_token=asked["confirmation_token"],
        )
    assert not failed and done == {"done": True}


async def test_a_token_is_shown_where_it_is_made_and_nowhere_else(recorded: Any) -> None:
    async with recorded(confirm="never") as call:
        _, made = await call("project_trigger", "create", project_id="16", description="from elsewhere")
        _, listed = await call("project_trigger", "list", project_id="16")
    assert made["token"] and made["token"] != "[redacted]"
    assert "[redacted]" in json.dumps(listed)


async def test_what_shows_a_secret_asks_although_it_only_reads(recorded: Any) -> None:
    async with recorded() as call:
        failed, told = await call("project_secure_file", "download", project_id="111", secure_file_id=4)
    assert failed and told["error_code"] == "CONFIRMATION_REQUIRED"


async def test_what_is_paid_for_is_refused_with_the_tier(recorded: Any) -> None:
    async with recorded() as call:
        failed, told = await call("group_virtual_registry_maven_registry", "list", group_id="39")
    assert failed and told["error_code"] == "TIER_RESTRICTED" and told["tier_required"] == "Premium"


async def test_what_only_the_documentation_calls_paid_is_said_to_be_possible(recorded: Any) -> None:
    async with recorded() as call:
        failed, told = await call("group_virtual_registry_maven_upstream", "list", group_id="39")
    assert failed and told["error_code"] == "TIER_RESTRICTED" and told["confidence"] == "possible"
    assert "(by its documentation) needs GitLab Premium or Ultimate" in told["message"]


async def test_a_fence_holds_for_rows(recorded: Any, standin: StandIn) -> None:
    # Synthetic: how the guard asks was not recorded of 19.3.
    standin.answer("GET", "/groups/acme", 200, {"id": 24, "full_path": "acme", "parent_id": None})
    async with recorded(only_in=("acme",)) as call:
        inside, _ = await call("group_badge", "list", group_id="acme", per_page=20, page=1)
        outside, told = await call("group_badge", "list", group_id="writes")
        nowhere, also = await call("application", "list")
    assert not inside and outside and nowhere
    assert (told["error_code"], also["error_code"]) == ("OUT_OF_SCOPE", "OUT_OF_SCOPE")
    assert not [request for request in standin.requests if request.route == "/groups/writes/badges"]


async def test_a_server_that_only_reads_writes_by_no_row(recorded: Any, standin: StandIn) -> None:
    async with recorded(read_only=True) as call:
        failed, told = await call("group_badge", "create", group_id="24", **BADGE)
    assert failed and told["error_code"] == "READ_ONLY_MODE" and standin.requests == []


async def test_who_forbids_manage_forbids_what_rows_write(recorded: Any) -> None:
    async with recorded(never_actions=("manage_*",)) as call:
        writing, told = await call("group_badge", "create", group_id="24", **BADGE)
        reading, _ = await call("group_badge", "list", group_id="acme", per_page=20, page=1)
    assert writing and told["error_code"] == "OUT_OF_SCOPE" and not reading


async def test_a_lost_answer_says_where_to_look(recorded: Any, standin: StandIn) -> None:
    standin.fault("POST", "/groups/24/badges", LoseAnswer())
    async with recorded() as call:
        failed, told = await call("group_badge", "create", group_id="24", **BADGE)
    assert failed and told["error_code"] == "OUTCOME_UNKNOWN"
    assert told["check_with"] == {"action": "group_badge list", "arguments": {"group_id": "24"}}
    assert len([request for request in standin.requests if request.method == "POST"]) == 1

"""The server declares what it has, and says so where a client asks for something else."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from mcp import Client, MCPError

from tests.support.guarded import Server
from tests.support.process import parameters
from tests.support.standin import StandIn

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("era", ["legacy", "auto"])]
INVALID_PARAMS = -32602


async def test_prompts_are_declared_and_resources_are_not_since_there_are_none(
    era: Any, standin: StandIn
) -> None:
    async with Client(parameters(standin.url), mode=era) as client:
        declared = client.server_capabilities
    assert declared is not None
    assert declared.tools is not None
    assert declared.prompts is not None
    assert declared.resources is None


async def test_a_cursor_that_was_never_given_out_is_refused(era: Any, against: Server) -> None:
    async with Client(against()._server(), mode=era) as client:
        with pytest.raises(MCPError) as refused:
            await client.list_tools(cursor="bogus")
        assert (await client.list_tools()).tools
    assert refused.value.error.code == INVALID_PARAMS
    assert refused.value.error.data["error_code"] == "INVALID_VALUE"


async def test_an_unknown_prompt_or_resource_is_refused_without_a_trace_in_the_log(
    era: Any, against: Server, caplog: pytest.LogCaptureFixture
) -> None:
    async with Client(against()._server(), mode=era) as client:
        with pytest.raises(MCPError) as no_prompt:
            await client.get_prompt("nosuch")
        with pytest.raises(MCPError) as no_resource:
            await client.read_resource("file:///etc/passwd")
    for refused in (no_prompt, no_resource):
        assert refused.value.error.code == INVALID_PARAMS
        assert refused.value.error.data["error_code"] == "NOT_FOUND"
    assert [record for record in caplog.records if record.exc_info] == []
    assert [record.levelno for record in caplog.records if record.name == "gitlab_mcp.calls"] == [
        logging.WARNING,
        logging.WARNING,
    ]


async def test_a_client_may_keep_the_listing_for_a_day_and_for_itself_alone(
    era: Any, against: Server
) -> None:
    async with Client(against()._server(), mode=era) as client:
        listed = await client.list_tools()
        server = client.server_info
    assert server is not None
    assert [icon.mime_type for icon in server.icons or ()] == ["image/svg+xml"]
    # How long it holds is not part of the older protocol.
    holds = 24 * 60 * 60 * 1000 if era == "auto" else None
    assert listed.model_dump(exclude_unset=True).get("ttl_ms") == holds
    assert listed.cache_scope == "private"

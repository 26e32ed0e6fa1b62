"""How answers come: plain JSON, or events where progress was asked for; and not at all when nobody listens."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest

from tests.support.served import ACCEPT, INITIALIZE, Served, call, connected, served
from tests.support.standin import Silence, StandIn

pytestmark = pytest.mark.anyio
ERAS = pytest.mark.parametrize("era", ["legacy", "auto"])
DIGEST = {"action": "failure_digest", "project_id": "acme/shop", "pipeline_id": 202}
LIST = {"action": "list", "project_id": "1"}


@ERAS
async def test_progress_reaches_a_client_that_asks_for_it(cassettes: Path, era: Any) -> None:
    heard: list[str | None] = []

    async def progress(progress: float, total: float | None, message: str | None) -> None:
        heard.append(message)

    with served("https://gitlab.example.com", "--replay", str(cassettes)) as server:
        async with connected(server.url, era) as client:
            silent = await client.call_tool("browse_pipelines", DIGEST)
            answer = await client.call_tool("browse_pipelines", DIGEST, progress_callback=progress)
    # The boundary around the log has another name each time.
    assert not answer.is_error and answer.content[0] == silent.content[0]
    assert heard and heard[0] is not None


async def test_an_answer_is_json_unless_progress_was_asked_for(cassettes: Path) -> None:
    with served("https://gitlab.example.com", "--replay", str(cassettes)) as server:
        async with httpx2.AsyncClient(headers=ACCEPT, timeout=30) as http:
            plain = await http.post(server.url, json=call("browse_pipelines", DIGEST))
            asked = await http.post(server.url, json=call("browse_pipelines", DIGEST, progressToken=1))
            only_json = {"Accept": "application/json"}
            modest = await http.post(
                server.url, json=call("browse_pipelines", DIGEST, progressToken=1), headers=only_json
            )
    assert plain.headers["content-type"] == modest.headers["content-type"] == "application/json"
    assert asked.headers["content-type"].startswith("text/event-stream")
    events = [json.loads(line[6:]) for line in asked.text.splitlines() if line.startswith("data: ")]
    assert events[0]["method"] == "notifications/progress"
    texts = [each["result"]["content"][0]["text"] for each in (events[-1], plain.json(), modest.json())]
    assert "3 jobs failed" in texts[0] and len(set(texts)) == 1


@ERAS
async def test_a_client_that_hangs_up_stops_the_work_at_gitlab(
    server: Served, labels: StandIn, era: Any
) -> None:
    labels.fault("GET", "/projects/1/labels", Silence())
    async with (
        connected(server.url, era, PRIVATE_TOKEN="alice") as client,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(client.call_tool, "browse_labels", LIST)
        assert await anyio.to_thread.run_sync(labels.wait_for, lambda gitlab: bool(gitlab.requests))
        tasks.cancel_scope.cancel()
    assert await anyio.to_thread.run_sync(labels.wait_for, lambda gitlab: gitlab.disconnects == 1)


async def test_there_is_no_stream_to_get_and_no_session_to_delete(server: Served, labels: StandIn) -> None:
    async with httpx2.AsyncClient(headers={**ACCEPT, "PRIVATE-TOKEN": "alice"}) as http:
        for method in ("GET", "DELETE", "PUT", "OPTIONS"):
            answer = await http.request(method, server.url)
            assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
        assert "mcp-session-id" not in (await http.post(server.url, json=INITIALIZE)).headers
        assert (await http.get(server.at("/"))).status_code == 404

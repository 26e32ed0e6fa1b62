"""The server over standard input and output, as a desktop client runs it."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.types import CallToolResult

from tests.support.process import Spoken, environment, parameters
from tests.support.standin import StandIn
from tests.support.standin.exchange import Reply
from tests.support.standin.faults import Delay, ReplyWith, Silence

LABELS = [{"id": 1, "name": "bug", "color": "#d9534f", "description": None, "text_color": "#fff"}]
LIST = {"action": "list", "project_id": "1"}
CLIENT: dict[str, Any] = {"capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
ERAS = pytest.mark.parametrize("era", ["legacy", "auto"])


def told(result: CallToolResult) -> dict[str, Any]:
    block = result.content[0]
    assert block.type == "text"
    answer: dict[str, Any] = json.loads(block.text)
    return answer


@pytest.fixture
def labels(standin: StandIn) -> StandIn:
    standin.answer("GET", "/projects/1/labels", 200, LABELS)
    return standin


@pytest.mark.anyio
@ERAS
async def test_old_and_new_protocol_clients_are_both_served(era: Any, labels: StandIn) -> None:
    async with Client(parameters(labels.url, "--toolsets", "all"), mode=era) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert tools["browse_labels"].annotations and tools["browse_labels"].annotations.read_only_hint
        answer = await client.call_tool("browse_labels", LIST)
    assert not answer.is_error
    assert answer.structured_content is None
    assert told(answer)["items"] == [{"id": 1, "name": "bug", "color": "#d9534f"}]


@pytest.mark.anyio
@ERAS
async def test_every_failure_is_a_result_and_the_session_goes_on(era: Any, labels: StandIn) -> None:
    calls: list[tuple[str, dict[str, Any], str]] = [
        ("no_such_tool", {}, "UNKNOWN_TOOL"),
        ("browse_labels", {}, "MISSING_REQUIRED_FIELD"),
        ("browse_labels", {"action": "remove"}, "INVALID_ACTION"),
        ("browse_labels", {**LIST, "serach": "x"}, "FIELD_NOT_ALLOWED"),
        ("browse_labels", {**LIST, "per_page": 1000}, "INVALID_VALUE"),
        ("browse_labels", {**LIST, "per_page": "many"}, "TYPE_MISMATCH"),
        ("browse_labels", {**LIST, "search": "\0"}, "INVALID_ENCODING"),
        ("browse_labels", {**LIST, "search": "x" * 10_000_001}, "PAYLOAD_TOO_LARGE"),
        ("browse_labels", {"action": "list", "project_id": "404"}, "NOT_FOUND"),
    ]
    labels.answer("GET", "/projects/404/labels", 404, {"message": "404 Project Not Found"})
    async with Client(parameters(labels.url), mode=era) as client:
        for tool, arguments, code in calls:
            answer = await client.call_tool(tool, arguments)
            assert answer.is_error
            assert told(answer)["error_code"] == code
            assert answer.structured_content == told(answer)
        assert not (await client.call_tool("browse_labels", LIST)).is_error


def test_gitlab_unreachable_at_start_is_said_by_the_first_call() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
    with Spoken(url) as server:
        assert server.ask("tools/list", {})["result"]["tools"]
        result = server.call("browse_labels", LIST)
    assert result["structuredContent"]["error_code"] == "NETWORK_ERROR"
    assert "127.0.0.1" in json.dumps(result["structuredContent"])


@pytest.mark.parametrize("arguments", ["list", [1], 5, True])
def test_arguments_that_are_no_object_get_an_error_a_model_can_read(arguments: Any, labels: StandIn) -> None:
    with Spoken(labels.url) as server:
        result = server.call("browse_labels", arguments)
    assert result["isError"]
    assert result["structuredContent"]["error_code"] == "MISSING_REQUIRED_FIELD"


def test_an_answer_under_way_when_the_input_ends_still_arrives(labels: StandIn) -> None:
    labels.fault("GET", "/projects/1/labels", Delay(0.3))
    with Spoken(labels.url) as server:
        number = server.send("tools/call", {"name": "browse_labels", "arguments": LIST})
        server.end_of_input()
        assert server.read()["id"] == number
        assert server.process.wait(5) == 0
    assert "Traceback" not in server.said_badly


@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_with_a_call_in_flight_ends_it_cleanly(signum: int, labels: StandIn) -> None:
    labels.fault("GET", "/projects/1/labels", Silence(done=False), times=None)
    with Spoken(labels.url) as server:
        server.send("tools/call", {"name": "browse_labels", "arguments": LIST})
        assert labels.wait_for(lambda gitlab: bool(gitlab.requests))
        os.kill(server.process.pid, signum)
        assert server.process.wait(5) == 0
        assert labels.wait_for(lambda gitlab: gitlab.disconnects > 0)
    assert "Traceback" not in server.said_badly


def test_a_client_that_disconnects_closes_the_upstream_request(labels: StandIn) -> None:
    labels.fault("GET", "/projects/1/labels", Silence(done=False), times=None)
    with Spoken(labels.url) as server:
        server.send("tools/call", {"name": "browse_labels", "arguments": LIST})
        assert labels.wait_for(lambda gitlab: bool(gitlab.requests))
        server.end_of_input()
        assert labels.wait_for(lambda gitlab: gitlab.disconnects > 0)
        assert server.process.wait(5) == 0


def test_a_cancelled_call_closes_the_upstream_request_and_the_session_goes_on(labels: StandIn) -> None:
    labels.fault("GET", "/projects/1/labels", Silence(done=False), times=1)
    with Spoken(labels.url) as server:
        number = server.send("tools/call", {"name": "browse_labels", "arguments": LIST})
        assert labels.wait_for(lambda gitlab: bool(gitlab.requests))
        server.write({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}})
        assert labels.wait_for(lambda gitlab: gitlab.disconnects > 0)
        assert not server.call("browse_labels", LIST).get("isError")


def test_the_token_file_rotates_without_a_restart(labels: StandIn, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("first\n")
    with Spoken(labels.url, GITLAB_TOKEN="", GITLAB_TOKEN_FILE=str(token)) as server:
        server.call("browse_labels", LIST)
        (tmp_path / "new").write_text("second\n")
        (tmp_path / "new").rename(token)
        server.call("browse_labels", LIST)
    assert [request.token for request in labels.requests if request.route == "/projects/1/labels"] == [
        "first",
        "second",
    ]


def test_a_token_appears_in_no_answer_and_no_log(labels: StandIn) -> None:
    canary = "glpat-canary-0123456789abcdef"
    said = {"message": f"403 Forbidden - token {canary}"}
    labels.fault("GET", "/projects/2/labels", ReplyWith(Reply.of(403, said)), times=None)
    answers = []
    with Spoken(labels.url, "--log-level", "debug", GITLAB_TOKEN=canary) as server:
        for arguments in (
            LIST,
            {"action": "list", "project_id": "2"},
            {"action": "list", "project_id": canary},
            {},
        ):
            answers.append(json.dumps(server.call("browse_labels", arguments)))
    assert "403 Forbidden - token [redacted]" in answers[1]
    assert canary not in "".join(answers)
    assert canary not in server.said_badly


@pytest.mark.anyio
async def test_many_calls_at_once_each_get_their_own_answer(standin: StandIn) -> None:
    for number in range(40):
        standin.answer("GET", f"/projects/{number}/labels", 200, [{"id": number, "name": f"label {number}"}])
    seen: dict[int, Any] = {}
    async with Client(parameters(standin.url)) as client:

        async def ask(number: int) -> None:
            arguments = {"action": "list", "project_id": str(number)}
            seen[number] = told(await client.call_tool("browse_labels", arguments))["items"][0]["id"]

        async with anyio.create_task_group() as tasks:
            for number in range(40):
                tasks.start_soon(ask, number)
    assert seen == {number: number for number in range(40)}


@pytest.mark.anyio
async def test_read_only_mode_lists_no_writing_tool_and_refuses_writes(labels: StandIn) -> None:
    async with Client(parameters(labels.url, "--read-only", "--toolsets", "all")) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        arguments = {"action": "delete", "project_id": "1", "label_id": "bug"}
        answer = await client.call_tool("manage_label", arguments)
    assert not [name for name in names if name.startswith("manage_")]
    assert told(answer)["error_code"] == "READ_ONLY_MODE"
    assert not [request for request in labels.requests if request.method != "GET"]


@pytest.mark.anyio
@pytest.mark.parametrize(("format", "blocks"), [("json", 1), ("markdown", 1), ("both", 2)])
async def test_the_format_decides_the_blocks_of_answers_and_errors(
    format: str, blocks: int, labels: StandIn
) -> None:
    async with Client(parameters(labels.url)) as client:
        answer = await client.call_tool("browse_labels", {**LIST, "format": format})
        error = await client.call_tool("browse_labels", {"action": "get", "format": format})
    assert len(answer.content) == len(error.content) == blocks
    assert error.structured_content


def test_a_client_that_stops_reading_in_the_middle_of_an_answer_leaves_no_traceback(labels: StandIn) -> None:
    labels.answer("GET", "/projects/7/labels", 200, [{"id": n, "name": "x" * 2000} for n in range(100)])
    with Spoken(labels.url) as server:
        assert server.process.stdout
        server.process.stdout.close()
        big = {"action": "list", "project_id": "7", "max_bytes": 200_000}
        for _ in range(3):
            with suppress(BrokenPipeError):
                server.send("tools/call", {"name": "browse_labels", "arguments": big})
        server.end_of_input()
        assert server.process.wait(10) == 0
    assert "Traceback" not in server.said_badly


WITHOUT_SIGNALS = """
import asyncio, sys

def refuse(*_):
    raise NotImplementedError

asyncio.SelectorEventLoop.add_signal_handler = refuse
from gitlab_mcp.cli import main
sys.exit(main())
"""


def test_a_system_whose_loop_knows_no_signals_serves_all_the_same(labels: StandIn) -> None:
    """As Windows does it, emulated: there `add_signal_handler` is not implemented."""
    call = {"name": "browse_labels", "arguments": LIST}
    lines: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", **CLIENT}},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": call},
    ]
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_SIGNALS],
        env=environment(labels.url),
        input="".join(json.dumps({"jsonrpc": "2.0", **line}) + "\n" for line in lines),
        capture_output=True,
        encoding="utf-8",
        timeout=30,
    )
    assert done.returncode == 0, done.stderr
    assert "bug" in done.stdout.splitlines()[-1]

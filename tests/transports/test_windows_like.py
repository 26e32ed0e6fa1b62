"""Serving where what only POSIX has is missing: see tests/support/windows_like.py for what that shows and what not."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client, StdioServerParameters

from gitlab_mcp.calls.local_files import _opened_by_path
from tests.support.process import environment
from tests.support.served import ACCEPT, INITIALIZE, Served, call
from tests.support.standin import StandIn

pytestmark = pytest.mark.anyio
COMMAND = ["-m", "tests.support.windows_like"]
ROOT = Path(__file__).parents[2]


@contextmanager
def started(url: str, *flags: str, **pipes: Any) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(
        [sys.executable, *COMMAND, *flags], cwd=ROOT, env=environment(url), stderr=subprocess.PIPE, **pipes
    ) as process:
        try:
            yield process
        finally:
            process.kill()


async def test_a_client_over_stdio_is_served(cassettes: Path) -> None:
    parameters = StdioServerParameters(
        command=sys.executable,
        args=[*COMMAND, "--replay", str(cassettes)],
        env=environment("https://gitlab.example.com"),
        cwd=ROOT,
    )
    async with Client(parameters) as client:
        assert len((await client.list_tools()).tools) == 25
        arguments = {"action": "list", "project_id": "acme/website"}
        answer = await client.call_tool("browse_branches", arguments)
        assert not answer.is_error, answer.content


@pytest.mark.parametrize("asked", [signal.SIGINT, signal.SIGTERM])
def test_over_stdio_a_signal_ends_it_while_it_waits(asked: int, cassettes: Path) -> None:
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with started("https://gitlab.example.com", "--replay", str(cassettes), **pipes) as process:
        assert process.stdin and process.stdout
        for message in (
            INITIALIZE,
            call("browse_branches", {"action": "list", "project_id": "acme/website"}),
        ):
            process.stdin.write(json.dumps(message).encode() + b"\n")
            process.stdin.flush()
            assert b'"result"' in process.stdout.readline()
        process.send_signal(asked)
        assert process.wait(15) == 0


async def test_over_http_it_serves_and_stops_as_elsewhere(labels: StandIn) -> None:
    with started(labels.url, "serve", "--http", "127.0.0.1:0", stdin=subprocess.DEVNULL) as process:
        server = Served(process)
        headers = {**ACCEPT, "Authorization": f"Bearer {server.secret}"}
        async with httpx2.AsyncClient(headers=headers, timeout=30) as http:
            message = call(
                "browse_action", {"action": "browse_labels list", "arguments": {"project_id": "1"}}
            )
            answer = await http.post(server.at("/mcp"), json=message)
        assert "bug" in answer.text
        server.stop()
        assert server.ended() == 0


def test_without_posix_a_file_is_opened_step_by_step_and_no_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "opened/shots").mkdir(parents=True)
    (tmp_path / "opened/shots/a.png").write_bytes(b"PNG")
    (tmp_path / "private").write_text("keep out")
    (tmp_path / "opened/link").symlink_to(tmp_path / "private")
    (tmp_path / "opened/way_out").symlink_to(tmp_path)
    root = tmp_path / "opened"
    with os.fdopen(_opened_by_path(root, ("shots", "a.png")), "rb") as file:
        assert file.read() == b"PNG"
    for steps in (("link",), ("way_out", "private"), ("shots",), ("C:", "a"), ("a.png:stream",), ("none",)):
        with pytest.raises(OSError):
            _opened_by_path(root, steps)

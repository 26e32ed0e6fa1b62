"""Long work tells how far it is: to a client that asks for it, and on a terminal."""

from __future__ import annotations

import os
import pty
import subprocess
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from tests.support.forked import command
from tests.support.process import environment, parameters
from tests.support.served import connected, served
from tests.support.standin import StandIn
from tests.support.standin.exchange import Reply
from tests.support.standin.faults import ReplyWith

ERAS = pytest.mark.parametrize("era", ["legacy", "auto"])
MERGE_REQUEST = {"project_id": "acme/shop", "merge_request_iid": 24}
DIGEST = {"action": "failure_digest", "project_id": "acme/shop", "pipeline_id": 202}
ONE_OF_THE_BATCH = {"tool": "browse_pipelines", "arguments": DIGEST}
FAN_OUTS = pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("browse_pipelines", DIGEST),
        ("browse_merge_requests", {"action": "review_bundle", **MERGE_REQUEST}),
        (
            "browse_merge_requests",
            {"action": "merge_readiness", "project_id": "acme/shop", "merge_request_iid": 14},
        ),
        ("run_batch", {"action": "run", "calls": [ONE_OF_THE_BATCH, ONE_OF_THE_BATCH]}),
    ],
    ids=["failure_digest", "review_bundle", "merge_readiness", "run_batch"],
)


class Heard:
    def __init__(self) -> None:
        self.steps: list[tuple[float, float | None, str | None]] = []

    async def __call__(self, progress: float, total: float | None, message: str | None) -> None:
        self.steps.append((progress, total, message))

    def is_progress(self) -> bool:
        """At least two steps, each further than the one before and none beyond its total."""
        done = [step[0] for step in self.steps]
        return (
            len(done) >= 2
            and all(later > earlier for earlier, later in pairwise(done))
            and all(total is None or each <= total for each, total, _ in self.steps)
            and all(what for _, _, what in self.steps)
        )


@pytest.mark.anyio
@ERAS
@FAN_OUTS
async def test_every_fan_out_reports_progress_over_stdio(
    tool: str, arguments: dict[str, Any], era: Any, cassettes: Path
) -> None:
    heard = Heard()
    flags = ("--replay", str(cassettes), "--toolsets", "all")
    async with Client(parameters("https://gitlab.example.com", *flags), mode=era) as client:
        answer = await client.call_tool(tool, arguments, progress_callback=heard)
    assert not answer.is_error, answer.content
    assert heard.is_progress(), heard.steps


@pytest.mark.anyio
@ERAS
async def test_every_fan_out_reports_progress_over_http(era: Any, cassettes: Path) -> None:
    heard = Heard()
    with served("https://gitlab.example.com", "--replay", str(cassettes)) as server:
        async with connected(server.url, era) as client:
            await client.call_tool("browse_pipelines", DIGEST, progress_callback=heard)
    assert heard.is_progress(), heard.steps


@pytest.mark.anyio
@ERAS
async def test_a_batch_counts_its_calls_and_nothing_else(era: Any, cassettes: Path) -> None:
    heard = Heard()
    flags = ("--replay", str(cassettes), "--toolsets", "all")
    arguments = {"action": "run", "calls": [ONE_OF_THE_BATCH] * 3}
    async with Client(parameters("https://gitlab.example.com", *flags), mode=era) as client:
        await client.call_tool("run_batch", arguments, progress_callback=heard)
    assert [step[:2] for step in heard.steps] == [(0, 3), (1, 3), (2, 3), (3, 3)]


@pytest.mark.anyio
@ERAS
async def test_a_long_job_log_reports_the_bytes_that_were_read(era: Any, standin: StandIn) -> None:
    log = b"a line of a log that a test made up\n" * 40_000
    standin.answer("GET", "/projects/1/jobs/7/trace", 200, log)
    heard = Heard()
    async with Client(parameters(standin.url), mode=era) as client:
        arguments = {"action": "log", "project_id": "1", "job_id": 7}
        answer = await client.call_tool("browse_jobs", arguments, progress_callback=heard)
    assert not answer.is_error, answer.content
    assert heard.is_progress(), heard.steps
    assert {step[1] for step in heard.steps} == {len(log)}


@pytest.mark.anyio
async def test_a_list_of_several_pages_reports_each(standin: StandIn) -> None:
    for following in ("2", "3", ""):
        page = ReplyWith(Reply.of(200, [], {"x-next-page": following}))
        standin.fault("GET", "/projects/1/pipelines/5/bridges", page)
    standin.answer("GET", "/projects/1/pipelines/5/jobs", 200, [])
    heard = Heard()
    async with Client(parameters(standin.url)) as client:
        arguments = {"action": "jobs", "project_id": "1", "pipeline_id": 5}
        answer = await client.call_tool("browse_pipelines", arguments, progress_callback=heard)
    assert not answer.is_error, answer.content
    assert heard.is_progress(), heard.steps
    assert [step[0] for step in heard.steps][:4] == [1, 2, 3, 4]


@pytest.mark.parametrize(
    "words",
    [
        ["call", "browse_pipelines", "failure_digest", "project_id=acme/shop", "pipeline_id=202"],
        ["doctor"],
    ],
    ids=["call", "doctor"],
)
def test_a_bar_is_drawn_on_a_terminal(words: list[str], cassettes: Path) -> None:
    ours, theirs = pty.openpty()
    try:
        done = subprocess.run(
            [*command(), *words, "--replay", str(cassettes)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=theirs,
            env=environment("https://gitlab.example.com"),
            timeout=60,
        )
        drawn = os.read(ours, 65536).decode()
    finally:
        os.close(ours)
        os.close(theirs)
    assert done.returncode == 0, done.stdout
    assert "[####" in drawn
    assert drawn.endswith("\r\x1b[K")
    assert b"\x1b" not in done.stdout

"""Answers far larger than anybody reads, through the whole server, with its memory watched from outside.

All answers here are synthetic.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from typing import Any

import pytest

from tests.support.process import Spoken
from tests.support.standin import GzipBomb, StandIn
from tests.support.standin.faults import MEGABYTE, Connection

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")

ROOM = 64 * 1024
"""In kilobytes, as /proc tells it."""


@dataclass(frozen=True, slots=True)
class Streamed:
    """A log of 200 such blocks."""

    block: bytes

    def play(self, connection: Connection) -> None:
        connection.stream(200, {"Content-Type": "text/plain"}, repeat(self.block, 200))


LONG_LINES = (b"\x1b[32m" + b"compiling " * 200 + b"\x1b[0m\r\n") * (MEGABYTE // 2011)
ONE_LINE = (b"x" * 99 + b"\r") * (MEGABYTE // 100)
NO_END = b"y" * MEGABYTE


def memory(server: Spoken, of: str) -> int:
    lines = Path(f"/proc/{server.process.pid}/status").read_text().splitlines()
    (found,) = (line for line in lines if line.startswith(of + ":"))
    return int(found.split()[1])


@pytest.fixture(scope="module")
def gitlab() -> Iterator[StandIn]:
    with StandIn() as standin:
        standin.answer("GET", "/projects/1/labels", 200, [{"id": 1, "name": "bug", "color": "#d9534f"}])
        issues = [
            {"iid": number, "title": f"issue {number} " + "t" * 900, "description": "d" * 29_000}
            for number in range(100)
        ]
        standin.answer("GET", "/projects/1/issues", 200, issues)
        standin.fault("GET", "/projects/2/labels", GzipBomb(300), times=None)
        for job, block in enumerate((LONG_LINES, ONE_LINE, NO_END), 1):
            standin.fault("GET", f"/projects/1/jobs/{job}/trace", Streamed(block), times=None)
        yield standin


@pytest.fixture(scope="module")
def server(gitlab: StandIn) -> Iterator[Spoken]:
    # Its memory is read by the number of the process, which must be its own.
    with Spoken(gitlab.url, cold=True) as spoken:
        # Idle is with everything imported and a connection open.
        assert "bug" in json.dumps(spoken.call("browse_labels", {"action": "list", "project_id": "1"}))
        yield spoken


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("browse_issues", {"action": "list", "project_id": "1"}, "truncated"),
        ("browse_issues", {"action": "list", "project_id": "1", "detail": "full"}, "truncated"),
        ("browse_labels", {"action": "list", "project_id": "2"}, "PAYLOAD_TOO_LARGE"),
        ("browse_jobs", {"action": "log", "project_id": "1", "job_id": 1}, "truncated"),
        ("browse_jobs", {"action": "log", "project_id": "1", "job_id": 2}, '"total_lines":1'),
        ("browse_jobs", {"action": "log", "project_id": "1", "job_id": 3}, "truncated"),
    ],
    ids=[
        "3 MB list",
        "3 MB list in full",
        "gzip bomb",
        "200 MB job log",
        "200 MB of a progress bar",
        "200 MB without a line end",
    ],
)
def test_200_mb_job_log_3_mb_list_gzip_bomb_leave_memory_under_64_mb_above_idle(
    server: Spoken, tool: str, arguments: dict[str, Any], said: str
) -> None:
    idle = memory(server, "VmRSS")
    Path(f"/proc/{server.process.pid}/clear_refs").write_text("5")
    answer = json.dumps(server.call(tool, arguments))
    assert memory(server, "VmHWM") - idle < ROOM
    assert said in answer.replace("\\", "")
    assert len(answer) < 100_000

"""Processes of the command line that start at once.

Most of the second that a start takes is Python importing. Here one process imports everything and forks for each
start. A fork is a process like any other, with a command line, environment, folder, streams and signals of its own;
only its imports are done already. What is about the imports themselves uses `COLD`.
"""

from __future__ import annotations

import atexit
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

COLD = [sys.executable, "-m", "gitlab_mcp.cli"]
"""Starts Python and imports everything, as a client does."""

_HERE = Path(__file__).parent


def command() -> list[str]:
    """What to start in place of `gitlab-mcp`."""
    if sys.platform != "linux":
        return COLD
    return [sys.executable, "-I", "-S", str(_HERE / "start.py"), _parent()]


@cache
def _parent() -> str:
    """Where the process that forks listens. It ends with this one, which holds the other end of its input."""
    folder = tempfile.TemporaryDirectory(prefix="gitlab-mcp-")
    address = f"{folder.name}/socket"
    parent = subprocess.Popen(
        [sys.executable, "-m", "tests.support.forked.parent", address],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=_HERE.parents[2],
    )
    assert parent.stdin and parent.stdout
    assert parent.stdout.readline() == b"ready\n"

    def end() -> None:
        assert parent.stdin and parent.stdout
        parent.stdin.close()
        parent.wait()
        parent.stdout.close()
        folder.cleanup()

    atexit.register(end)
    return address

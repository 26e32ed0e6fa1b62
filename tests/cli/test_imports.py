"""A command imports what it needs and nothing else: that is most of the time it takes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence

import pytest

HEAVY = ("anyio", "asyncio", "gitlab", "logging", "mcp", "pydantic", "requests", "urllib3", "yaml")
OURS = (
    "gitlab_mcp.actions.action",
    "gitlab_mcp.actions.registry",
    "gitlab_mcp.app",
    "gitlab_mcp.tiers",
    "gitlab_mcp.tools",
)
NOTHING_BUT_THE_STANDARD_LIBRARY = [
    ["--version"],
    ["version"],
    ["help"],
    ["help", "settings"],
    ["--help"],
    ["call", "--help"],
    ["doctor", "--help"],
    ["serve", "--help"],
    ["tiers", "--help"],
    ["tools", "--help"],
    ["errors"],
    ["errors", "NOT_FOUND"],
    ["errors", "--json"],
    ["tools"],
    ["tools", "--toolset", "ci,planning"],
    ["tools", "--json"],
    ["tools", "--tiers"],
    ["tools", "--tiers", "--json"],
    ["tools", "--coverage"],
]


def modules_of(words: Sequence[str]) -> set[str]:
    """The modules that are there when the command has ended."""
    script = (
        "import atexit, json, sys\n"
        "atexit.register(lambda: sys.stderr.write(json.dumps(sorted(sys.modules))))\n"
        "from gitlab_mcp.cli.__main__ import program\n"
        f"sys.argv[1:] = {list(words)}\n"
        "sys.exit(program())"
    )
    environ = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env=environ, cwd="/", check=False
    )
    assert (done.returncode, bool(done.stdout)) == (0, True), done.stderr
    return set(json.loads(done.stderr))


@pytest.mark.parametrize("words", NOTHING_BUT_THE_STANDARD_LIBRARY, ids=" ".join)
def test_what_is_only_told_imports_neither_a_library_nor_a_tool(words: list[str]) -> None:
    assert modules_of(words) & {*HEAVY, *OURS} == set()


def test_the_map_of_tiers_is_shown_without_a_server_a_tool_or_the_network() -> None:
    modules = modules_of(["tiers"])
    assert "yaml" in modules
    unneeded = {"mcp", "gitlab", "requests", "urllib3", "gitlab_mcp.app", "gitlab_mcp.tools"}
    assert modules & unneeded == set()

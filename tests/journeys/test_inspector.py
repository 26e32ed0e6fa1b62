"""The reference inspector as the client. `make inspect` installs it; without it there is nothing to run."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent.parent
INSPECTOR = ROOT / ".venv/inspector/node_modules/@modelcontextprotocol/inspector/cli/build/cli.js"

pytestmark = pytest.mark.skipif(
    not INSPECTOR.exists() or shutil.which("node") is None, reason="no inspector: run `make inspect`"
)


@pytest.fixture
def config(tmp_path: Path, cassettes: Path) -> Path:
    args = ["-m", "gitlab_mcp.cli", "--replay", str(cassettes), "--url", "https://gitlab.example.com"]
    servers = {"mcpServers": {"gitlab": {"command": sys.executable, "args": args}}}
    path = tmp_path / "servers.json"
    path.write_text(json.dumps(servers))
    return path


def inspect(config: Path, *words: str) -> dict[str, Any]:
    command = ["node", str(INSPECTOR), "--cli", "--config", str(config), "--server", "gitlab", *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def call(config: Path, tool: str, **arguments: str) -> dict[str, Any]:
    given = [word for pair in arguments.items() for word in ("--tool-arg", "=".join(pair))]
    return inspect(config, "--method", "tools/call", "--tool-name", tool, *given)


def test_the_inspector_lists_the_tools(config: Path) -> None:
    names = [tool["name"] for tool in inspect(config, "--method", "tools/list")["tools"]]
    assert "browse_issues" in names


def test_the_inspector_makes_a_call(config: Path) -> None:
    answer = call(config, "browse_labels", action="list", project_id="acme/website")
    assert json.loads(answer["content"][0]["text"])["total"] == 4


def test_the_inspector_shows_an_error_that_teaches(config: Path) -> None:
    answer = call(config, "manage_label", action="create", project_id="acme/website")
    assert answer["isError"]
    assert answer["structuredContent"]["error_code"] == "MISSING_REQUIRED_FIELD"

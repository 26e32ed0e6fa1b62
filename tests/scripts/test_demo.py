from __future__ import annotations

import os
import runpy
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

ROOT = Path(__file__).parents[2]


def toured(**environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, ROOT / "scripts/demo.py"],
        env={**os.environ, "PYTHONIOENCODING": "utf-8", **environ},
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )


def test_the_tour_goes_as_told_whatever_the_machine_is_set_to(tmp_path: Path) -> None:
    config = tmp_path / "gitlab-mcp" / "config.toml"
    config.parent.mkdir()
    config.write_text('trust = "read"\n')
    done = toured(
        GITLAB_TIER="ultimate",
        GITLAB_READ_ONLY="true",
        GITLAB_TOOLSETS="knowledge",
        GITLAB_URL="https://gitlab.test",
        XDG_CONFIG_HOME=str(tmp_path),
        GITLAB_MCP_ERROR_STYLE="aql",
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "core and planning" in done.stdout
    assert "TIER_RESTRICTED" in done.stdout
    assert "${input:gitlab_token}" in done.stdout


def test_a_step_that_does_not_go_as_told_ends_the_tour(
    cassettes: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    main = runpy.run_path(str(ROOT / "scripts/demo.py"))["main"]
    assert anyio.run(main, cassettes / "shop.json") == 1
    said = capfd.readouterr()
    assert "REPLAY_MISS" in said.err
    assert "mcpServers" not in said.out

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def toured(*words: str, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, ROOT / "scripts/demo.py", *words],
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


def test_a_step_that_does_not_go_as_told_ends_the_tour(cassettes: Path) -> None:
    done = toured(str(cassettes / "shop.json"))
    assert done.returncode == 1
    assert "REPLAY_MISS" in done.stderr
    assert "Traceback" not in done.stderr
    assert "mcpServers" not in done.stdout

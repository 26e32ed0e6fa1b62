"""`gitlab-mcp demo` goes as it is told, wherever it runs, and shows what was recorded."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gitlab_mcp.cli.demo import CASSETTE, show_demo
from gitlab_mcp.recording.cassette import dump_interaction, load_cassettes


def toured(folder: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "gitlab_mcp.cli", "demo"],
        env={**os.environ, "PYTHONIOENCODING": "utf-8", **environ},
        cwd=folder,
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
        tmp_path,
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
    assert "gitlab-mcp install cursor" in done.stdout
    assert "\x1b" not in done.stdout


def test_a_step_that_does_not_go_as_told_ends_the_tour(
    cassettes: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert show_demo(cassettes / "shop.json") == 1
    said = capfd.readouterr()
    assert "REPLAY_MISS" in said.err
    assert "gitlab-mcp install" not in said.out


def test_every_answer_in_it_is_a_recorded_one(cassettes: Path) -> None:
    recorded = set(map(dump_interaction, load_cassettes(cassettes)))
    shown = [dump_interaction(each) for each in load_cassettes(CASSETTE)]
    assert len(shown) > 5
    assert set(shown) <= recorded

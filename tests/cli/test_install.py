"""`gitlab-mcp install` as a person runs it, and the client that starts what it wrote."""

from __future__ import annotations

import json
import os
import pty
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters

from tests.support.forked import command
from tests.support.process import INHERITED

Run = Callable[..., "subprocess.CompletedProcess[str]"]
TOKEN = "glpat-" + "abcdefghijklmnop1234"


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    kept = {name: os.environ[name] for name in INHERITED if name in os.environ}
    return {**kept, "HOME": str(tmp_path), "PYTHONWARNINGS": "error", "PYTHONIOENCODING": "utf-8"}


@pytest.fixture
def run(environ: dict[str, str], tmp_path: Path) -> Run:
    def run(*words: str, **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*command(), "install", *words],
            env={**environ, **more},
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=30,
        )

    return run


@pytest.mark.anyio
async def test_a_client_that_starts_what_was_written_gets_the_tools(run: Run, tmp_path: Path) -> None:
    done = run("cursor", "--url", "gitlab.test", "--read-only", "--toolsets", "planning", "--yes")
    assert (done.returncode, done.stderr) == (0, "")
    written = json.loads((tmp_path / ".cursor/mcp.json").read_text())["mcpServers"]["gitlab"]
    server = StdioServerParameters(
        command=written["command"],
        args=written.get("args", []),
        env={"HOME": str(tmp_path), "GITLAB_TOKEN": "alice", **written["env"]},
    )
    async with Client(server) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
    assert "browse_epics" in names
    assert not any(name.startswith("manage_") for name in names)


def test_what_changes_is_shown_and_without_a_yes_nothing_is_changed(run: Run, tmp_path: Path) -> None:
    done = run("cursor")
    assert done.returncode == 1
    assert '+    "gitlab": {' in done.stdout
    assert "nothing was changed" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_person_is_asked(environ: dict[str, str], tmp_path: Path) -> None:
    for answer, written in (("n\n", False), ("y\n", True)):
        ours, theirs = pty.openpty()
        try:
            os.write(ours, answer.encode())
            done = subprocess.run(
                [*command(), "install", "cursor"],
                env=environ,
                stdin=theirs,
                stdout=subprocess.PIPE,
                stderr=theirs,
                timeout=30,
                check=False,
            )
            asked = os.read(ours, 10_000).decode()
        finally:
            os.close(ours)
            os.close(theirs)
        assert "Change this file? [y/N]" in asked
        assert (done.returncode == 0) is written
        assert (tmp_path / ".cursor/mcp.json").exists() is written


def test_a_token_is_only_written_where_that_is_asked_for_and_is_never_shown(run: Run, tmp_path: Path) -> None:
    file = tmp_path / ".cursor/mcp.json"
    done = run("cursor", "--yes", GITLAB_TOKEN=TOKEN)
    assert "No token is in the file" in done.stdout
    assert TOKEN not in file.read_text() + done.stdout + done.stderr
    done = run("cursor", "--yes", "--write-token", GITLAB_TOKEN=TOKEN)
    assert json.loads(file.read_text())["mcpServers"]["gitlab"]["env"]["GITLAB_TOKEN"] == TOKEN
    assert TOKEN not in done.stdout + done.stderr
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert "There is no token to write" in run("cursor", "--yes", "--write-token").stderr


def test_a_file_with_the_token_is_named_by_its_whole_path(run: Run, tmp_path: Path) -> None:
    (tmp_path / "token").write_text(TOKEN)
    assert run("zed", "--token-file", "token", "--yes").returncode == 0
    entry = json.loads((tmp_path / ".config/zed/settings.json").read_text())["context_servers"]["gitlab"]
    assert entry["env"]["GITLAB_TOKEN_FILE"] == str(tmp_path / "token")
    assert "GITLAB_TOKEN" not in entry["env"]


def test_print_only_prints_what_can_go_through_a_pipe(run: Run, tmp_path: Path) -> None:
    done = run("zed", "--print", "--url", "https://gitlab.test")
    assert json.loads(done.stdout)["context_servers"]["gitlab"]["env"]["GITLAB_URL"] == "https://gitlab.test"
    assert str(tmp_path / ".config/zed/settings.json") in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_removing_gives_back_what_was_there(run: Run, tmp_path: Path) -> None:
    file = tmp_path / ".gemini/settings.json"
    file.parent.mkdir()
    before = '{\n  // mine\n  "theme": "dark",\n  "mcpServers": {\n    "docs": {"command": "docs"}\n  }\n}\n'
    file.write_text(before)
    assert run("gemini-cli", "--yes").returncode == 0
    assert run("gemini-cli", "--yes", "--remove").returncode == 0
    assert file.read_text() == before
    assert "Nothing to change" in run("gemini-cli", "--yes", "--remove").stdout


def test_a_broken_file_is_refused_and_stays_as_it_is(run: Run, tmp_path: Path) -> None:
    file = tmp_path / ".cursor/mcp.json"
    file.parent.mkdir()
    file.write_text('{"mcpServers": {')
    done = run("cursor", "--yes")
    assert done.returncode == 1
    assert f"{file} is no valid JSON" in done.stderr
    assert [path.name for path in file.parent.iterdir()] == ["mcp.json"]
    assert file.read_text() == '{"mcpServers": {'


def test_of_several_at_once_each_is_written_or_says_that_it_is_not(
    environ: dict[str, str], tmp_path: Path
) -> None:
    file = tmp_path / ".cursor/mcp.json"
    file.parent.mkdir()
    file.write_text("{}")
    started = [
        subprocess.Popen(
            [*command(), "install", "cursor", "--yes", "--name", f"gitlab-{number}"],
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
        for number in range(6)
    ]
    ended = [(process.communicate(timeout=60)[1], process.returncode) for process in started]
    worked = [f"gitlab-{number}" for number, (_, code) in enumerate(ended) if code == 0]
    assert sorted(json.loads(file.read_text())["mcpServers"]) == worked
    assert all("changed by another program" in said for said, code in ended if code)


def test_a_client_with_its_own_command_is_told_by_it(run: Run, tmp_path: Path) -> None:
    program, heard = tmp_path / "bin" / "claude", tmp_path / "heard.json"
    program.parent.mkdir()
    program.write_text(
        f"#!{sys.executable}\nimport json, sys\njson.dump(sys.argv[1:], open({str(heard)!r}, 'w'))\n"
    )
    program.chmod(0o700)
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    assert run("claude-code", "--url", "https://gitlab.test", "--yes", PATH=path).returncode == 0
    words = json.loads(heard.read_text())
    told, started = words[: words.index("--")], words[words.index("--") + 1 :]
    assert told == ["mcp", "add", "--env", "GITLAB_URL=https://gitlab.test", "--scope", "user", "gitlab"]
    assert subprocess.run([*started, "version"], capture_output=True, check=False).returncode == 0
    heard.unlink()
    refused = run("claude-code", "--yes", "--write-token", PATH=path, GITLAB_TOKEN=TOKEN)
    assert refused.returncode == 1
    assert "everybody on this machine can read" in refused.stderr
    assert not heard.exists()
    program.write_text("#!/bin/sh\nexit 3\n")
    failed = run("claude-code", "--yes", PATH=path)
    assert failed.returncode == 1
    assert "exit code 3" in failed.stderr


@pytest.mark.skipif(shutil.which("claude") is not None, reason="Claude Code is installed here")
def test_a_command_that_is_not_there_is_shown_to_be_run_elsewhere(run: Run) -> None:
    done = run("claude-code", "--yes")
    assert done.returncode == 1
    assert done.stdout.startswith("claude mcp add ")
    assert "There is no command claude here" in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["cursr"], "Did you mean cursor?"),
        (["emacs"], "There are claude-desktop, "),
        (["cursor", "--name", "a b"], "The name of the server is not usable."),
        (["cursor", "--http", "127.0.0.1:8080"], "--http is for a server over HTTP"),
        (["cursor", "--token-file", "nowhere"], "token_file"),
        (["cursor", "--url", "not a url"], "The setting url"),
    ],
)
def test_a_mistake_is_told_before_anything_is_written(
    words: list[str], said: str, run: Run, tmp_path: Path
) -> None:
    done = run(*words, "--yes")
    assert done.returncode == 2
    assert said in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_without_a_client_all_are_listed_with_their_files(run: Run, tmp_path: Path) -> None:
    done = run()
    assert done.returncode == 0
    assert str(tmp_path / ".cursor/mcp.json") in done.stdout
    assert {"client": "cursor", "title": "Cursor", "file": str(tmp_path / ".cursor/mcp.json")} in json.loads(
        run("--json").stdout
    )
    assert "HOME is not set to a whole path" in run(HOME="").stderr

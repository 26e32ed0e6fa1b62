"""TAB in the shells themselves. A shell that is not there is skipped."""

from __future__ import annotations

import os
import pty
import re
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

PROGRAM = Path(sys.executable).with_name("gitlab-mcp")
HERE = {"PATH": f"{PROGRAM.parent}:{os.environ['PATH']}", "HOME": "/nonexistent", "TERM": "dumb", "PS1": "% "}

LINES = [
    ("gitlab-mcp ca", {"call"}),
    ("gitlab-mcp call browse_branch", {"browse_branches"}),
    (
        "gitlab-mcp call browse_issues ",
        {"list", "get", "statistics", "related_merge_requests", "closed_by", "links"},
    ),
    ("gitlab-mcp call browse_issues list st", {"state="}),
    ("gitlab-mcp call browse_issues list state=", {"opened", "closed", "all"}),
    ("gitlab-mcp errors TIER", {"TIER_RESTRICTED"}),
    ("gitlab-mcp serve --read-o", {"--read-only"}),
    ("gitlab-mcp --error-style ", {"tier", "toolerror", "aql", "problem", "text"}),
    ("gitlab-mcp completion ", {"bash", "zsh", "fish"}),
    ("gitlab-mcp --private-t", set()),
    ("gitlab-mcp call no_such_tool ", set()),
]
BASH = """
source <(gitlab-mcp completion bash)
COMP_LINE="$1" COMP_POINT=${#1} COMP_TYPE=9
read -ra COMP_WORDS <<< "$1"
[[ "$1" == *" " ]] && COMP_WORDS+=("")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_python_argcomplete gitlab-mcp
printf '%s\\n' "${COMPREPLY[@]}"
"""


def ran(*command: str) -> str:
    return subprocess.run(
        command, env=HERE, capture_output=True, text=True, timeout=60, check=True, cwd="/"
    ).stdout


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
@pytest.mark.parametrize(("line", "offered"), LINES)
def test_bash_completes(line: str, offered: set[str]) -> None:
    assert set(ran("bash", "--norc", "-c", BASH, "bash", line).split()) == offered


@pytest.mark.skipif(shutil.which("fish") is None, reason="no fish")
@pytest.mark.parametrize(("line", "offered"), LINES)
def test_fish_completes(line: str, offered: set[str]) -> None:
    script = f"gitlab-mcp completion fish | source; complete -C '{line}'"
    shown = {each.partition("\t")[0] for each in ran("fish", "--no-config", "-c", script).splitlines()}
    assert {each.removeprefix("state=") or each for each in shown} == offered


@pytest.mark.skipif(shutil.which("zsh") is None, reason="no zsh")
@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("gitlab-mcp ca", "gitlab-mcp call "),
        ("gitlab-mcp call browse_issues rel", "gitlab-mcp call browse_issues related_merge_requests "),
        ("gitlab-mcp call browse_issues list stat", "gitlab-mcp call browse_issues list state="),
    ],
)
def test_zsh_completes(typed: str, completed: str) -> None:
    child, terminal = pty.fork()
    if child == 0:
        os.execvpe("zsh", ["zsh", "-f", "-i"], HERE)
    try:
        os.write(terminal, b"autoload -U compinit && compinit -D -u; source <(gitlab-mcp completion zsh)\n")
        os.write(terminal, b"echo rea''dy\n")
        shown_until(terminal, "ready")
        os.write(terminal, typed.encode() + b"\t")
        assert completed in shown_until(terminal, completed)
    finally:
        os.close(terminal)
        os.waitpid(child, 0)


def shown_until(terminal: int, wanted: str, seconds: float = 30) -> str:
    shown, end = "", time.monotonic() + seconds
    while wanted not in re.sub(r"\x1b\[[?\d;]*[a-zA-Z]", "", shown) and time.monotonic() < end:
        if select.select([terminal], [], [], 0.1)[0]:
            shown += os.read(terminal, 65_536).decode(errors="replace")
    return shown


def test_what_completes_is_imported_for_nothing_else() -> None:
    script = "import sys; from gitlab_mcp.cli import main; main(['--version']); print('argcomplete' in sys.modules)"
    assert ran(sys.executable, "-c", script).splitlines()[-1] == "False"


def test_a_shell_that_is_not_known_is_said_to_be() -> None:
    done = subprocess.run(
        [PROGRAM, "completion", "bsh"], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "Did you mean bash?" in done.stderr

"""At a terminal, the person is asked there."""

from __future__ import annotations

import os
import pty
import subprocess
from contextlib import suppress

import pytest

from tests.support.forked import command
from tests.support.guarded import with_labels
from tests.support.process import environment
from tests.support.standin import StandIn

CALL = ["call", "manage_label", "delete", "project_id=acme/website", "label_id=bug"]


def everything(terminal: int) -> str:
    """All that was written to a terminal, whose other side is closed."""
    shown = b""
    with suppress(OSError):
        while part := os.read(terminal, 10_000):
            shown += part
    return shown.decode()


@pytest.mark.parametrize(
    ("said", "left", "code"), [("y", 0, 0), ("yes", 0, 0), ("", 1, 1), ("n", 1, 1), ("what?", 1, 1)]
)
def test_the_person_at_the_terminal_decides(said: str, left: int, code: int, standin: StandIn) -> None:
    world = with_labels(standin, "bug")
    ours, theirs = pty.openpty()
    try:
        os.write(ours, f"{said}\n".encode())
        done = subprocess.run(
            [*command(), *CALL],
            stdin=theirs,
            stderr=theirs,
            stdout=subprocess.PIPE,
            env=environment(standin.url),
            timeout=30,
            check=False,
        )
    finally:
        os.close(theirs)
        shown = everything(ours)
        os.close(ours)
    assert done.returncode == code
    assert 'label "bug" of project "acme/website"' in shown
    assert world.count("labels") == left


def test_without_a_terminal_nothing_is_assumed(standin: StandIn) -> None:
    world = with_labels(standin, "bug")
    asked = subprocess.run(
        [*command(), *CALL],
        input="y\n",
        capture_output=True,
        text=True,
        env=environment(standin.url),
        check=False,
    )
    assert asked.returncode == 1
    assert "--yes" in asked.stderr
    assert world.count("labels") == 1


@pytest.mark.parametrize("decided", [["--yes"], ["--confirm", "never"]])
def test_a_script_says_yes_beforehand(decided: list[str], standin: StandIn) -> None:
    world = with_labels(standin, "bug")
    call = [*command(), *CALL, *decided]
    done = subprocess.run(call, capture_output=True, text=True, env=environment(standin.url), check=False)
    assert (done.returncode, world.count("labels")) == (0, 0)

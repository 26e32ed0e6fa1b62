"""No write is left without a way to find out whether it happened."""

from __future__ import annotations

import pytest

from gitlab_mcp.core.action import Action
from gitlab_mcp.core.registry import Registry
from gitlab_mcp.core.unsaid import Surroundings
from gitlab_mcp.core.validation import example_of, validate
from gitlab_mcp.errors.unanswered import check_with

REGISTRY = Registry()
HERE = Surroundings("https://gitlab.example.com")
WRITES = [action for action in REGISTRY.actions() if action.spec.writes]


def name_of(action: type[Action]) -> str:
    return f"{action.spec.tool.name} {action.spec.name}"


@pytest.mark.parametrize(
    "action",
    [action for action in WRITES if not action.spec.repeatable and action.spec.endpoints],
    ids=name_of,
)
def test_what_may_not_be_sent_again_says_how_it_is_found_or_why_it_cannot_be(action: type[Action]) -> None:
    look = action.spec.lost
    assert look is not None, "declare lost=Look(…)"
    assert look.proves is not bool(look.because)


@pytest.mark.parametrize("action", [action for action in WRITES if action.spec.endpoints], ids=name_of)
def test_the_read_that_settles_a_lost_write_is_one_this_server_has(action: type[Action]) -> None:
    write = validate(REGISTRY, action.spec.tool.name, example_of(action), HERE).action
    settled_by = check_with(write)
    assert settled_by is not None
    tool, name = settled_by["action"].split()
    read = validate(REGISTRY, tool, {"action": name, **settled_by["arguments"]}, HERE)
    assert not read.action.spec.writes

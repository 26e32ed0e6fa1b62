"""What people say instead of our names is taken, or answered with the name that is meant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from gitlab_mcp.app import App
from gitlab_mcp.failures.failure import CallFailed
from tests.support.slips import SLIPS, Grade, grade

pytestmark = pytest.mark.anyio


async def heard(app: App, slip: dict[str, Any]) -> dict[str, Any]:
    try:
        return dict((await app.call(slip["tool"], slip["arguments"])).data)
    except CallFailed as failed:
        return {"code": failed.failure.code, **failed.failure.facts}


async def test_no_slip_gets_a_wrong_hint_and_nine_of_ten_are_taken_or_told_right(
    against: Callable[..., App],
) -> None:
    app = against()
    grades: dict[Grade, list[str]] = {"taken": [], "right": [], "silent": [], "wrong": []}
    for slip in SLIPS:
        told = await heard(app, slip)
        shown = {
            name: told.get(name) for name in ("code", "taken_as", "did_you_mean", "send", "suggested_fix")
        }
        grades[grade(slip, told)].append(f"{slip} -> {shown}")
    assert grades["wrong"] == []
    fine = len(grades["taken"]) + len(grades["right"])
    assert fine >= 0.9 * len(SLIPS), "\n".join(grades["silent"])
    assert Counter({name: len(rows) for name, rows in grades.items()})["taken"] > 100


@pytest.mark.parametrize("name", ["browse_wiki", "browse_label", "browse_schedule"])
async def test_a_name_that_only_reads_never_means_the_tool_that_writes(
    against: Callable[..., App], name: str
) -> None:
    told = await heard(against(), {"tool": name, "arguments": {"action": "list", "project_id": "1"}})
    assert (told["code"], told["did_you_mean"]) == ("UNKNOWN_TOOL", f"{name}s list")


async def test_who_wants_to_write_is_not_sent_to_what_only_reads(against: Callable[..., App]) -> None:
    told = await heard(
        against(), {"tool": "manage_badges", "arguments": {"action": "create", "project_id": "1"}}
    )
    assert told["send"] == {"tool": "find_actions", "arguments": {"query": "manage badges create"}}

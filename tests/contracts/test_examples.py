"""Every action's example plays its recording: what a real GitLab answered goes through the whole server."""

from __future__ import annotations

import json

import pytest

from gitlab_mcp.actions.action import Action
from gitlab_mcp.actions.arguments.validation import example_of
from gitlab_mcp.actions.registry import Registry
from gitlab_mcp.app import App
from gitlab_mcp.failures.failure import CallFailed
from gitlab_mcp.results.content_blocks import text_size
from tests.contracts.not_recorded import NOT_RECORDED

REFUSED_WHEN_RECORDED = {"TIER_RESTRICTED"}
"""The recorded GitLab had no licence: its answer to a paid action is a refusal, and that is what plays."""


def name_of(action: type[Action]) -> str:
    return f"{action.spec.tool.name} {action.spec.name}"


@pytest.mark.anyio
@pytest.mark.parametrize("action", Registry().actions(), ids=name_of)
async def test_the_example_plays(action: type[Action], replayed: App) -> None:
    try:
        result = await replayed.call(action.spec.tool.name, example_of(action))
    except CallFailed as failed:
        code = failed.failure.code
        if code == "REPLAY_MISS":
            assert name_of(action) in NOT_RECORDED, (
                "no recording answers its example: take one that is recorded, add a recording with "
                "scripts/add_recording.py, or say why there is none in tests/contracts/not_recorded.py",
                dict(failed.failure.facts),
            )
        else:
            assert action.spec.feature and code in REFUSED_WHEN_RECORDED, (code, dict(failed.failure.facts))
        return
    assert name_of(action) not in NOT_RECORDED, "it plays now: take it off the list"
    assert text_size(result) <= 24_000
    json.dumps(dict(result.data))

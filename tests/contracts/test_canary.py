"""One token, used for every action, told back by GitLab wherever it can, and found nowhere afterwards.

All answers here are synthetic.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gitlab_mcp.actions.registry import Registry
from gitlab_mcp.actions.shape import shapes
from gitlab_mcp.app import App
from gitlab_mcp.failures.failure import CallFailed
from gitlab_mcp.failures.render import STYLES, as_text, render
from gitlab_mcp.observability import logs
from gitlab_mcp.observability.metrics import Metrics
from gitlab_mcp.results.content_blocks import TextBlock, content_blocks
from gitlab_mcp.settings import Secret
from tests.support.standin import StandIn

pytestmark = pytest.mark.anyio

CANARY = "glpat-canaryCANARY01234567"
BIRD = "canaryCANARY"
ACTIONS = [action for action in Registry().actions() if action.spec.endpoints]
SAID = f"the token {CANARY} of https://me:{CANARY}@gitlab.example.com/?private_token={CANARY}"
ANSWERS: list[tuple[int, Any]] = [
    (
        200,
        {
            "id": 1,
            "iid": 1,
            "title": SAID,
            "name": SAID,
            "description": SAID,
            "body": SAID,
            "runners_token": CANARY,
        },
    ),
    (403, {"message": f"403 Forbidden - {SAID}"}),
    (404, f"<html>{SAID}</html>"),
]


@pytest.mark.parametrize(("status", "body"), ANSWERS, ids=["success", "refusal", "a page"])
async def test_a_canary_token_through_every_action_appears_in_no_answer_log_error_audit_metric_or_recording(
    status: int,
    body: Any,
    standin: StandIn,
    against: Callable[..., App],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    logs.configure("debug", "json")
    standin.answer("*", "*", status, body, {"X-Request-Id": CANARY, "Set-Cookie": f"s={CANARY}"})
    audit, cassette = tmp_path / "audit.jsonl", tmp_path / "recorded.json"
    app = against(token=Secret(CANARY), audit_log=audit, record=cassette)
    metrics = Metrics({})
    app.observe(metrics.count_call)
    told: list[str] = []
    for number, action in enumerate(ACTIONS):
        arguments = {"action": action.spec.name, **action.spec.example}
        if number % 2 and "project_id" in shapes(action) and "project_id" in arguments:
            arguments["project_id"] = f"acme/{CANARY}"
        try:
            result = await app.call(action.spec.tool.name, arguments)
            told += [block.text for block in content_blocks(result) if isinstance(block, TextBlock)]
        except CallFailed as failed:
            for style in STYLES:
                told += [json.dumps(render(failed.failure, style)), as_text(failed.failure, style)]
    app.close()
    assert all(request.token == CANARY for request in standin.requests)
    assert len(standin.requests) > 300
    for where, texts in {
        "answers": told,
        "logs": capsys.readouterr().err.splitlines(),
        "audit": [audit.read_text()],
        "recording": [cassette.read_text()],
        "metrics": [metrics.text()],
    }.items():
        assert any(texts), where
        assert [text[:300] for text in texts if BIRD in text] == [], where

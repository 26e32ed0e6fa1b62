"""What stands before GitLab, or befell it, told through the whole server. All answers here are synthetic."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from gitlab_mcp.app import App
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.failures.render import STYLES, as_text, render
from gitlab_mcp.protocol.server import GitLabServer
from tests.support.standin import (
    CutShort,
    Fault,
    NotUtf8,
    ReplyWith,
    StandIn,
    forbidden_page,
    login_page,
    maintenance,
    rate_limited,
    redirect,
)
from tests.support.standin.exchange import Reply

pytestmark = pytest.mark.anyio

Against = Callable[..., App]

READ: tuple[str, dict[str, Any]] = ("browse_labels", {"action": "list", "project_id": "acme/website"})
WRITE: tuple[str, dict[str, Any]] = (
    "manage_label",
    {"action": "create", "project_id": "acme/website", "name": "bug", "color": "#d9534f"},
)


async def failure_of(app: App, call: tuple[str, dict[str, Any]]) -> Failure:
    with pytest.raises(CallFailed) as failed:
        await app.call(*call)
    return failed.value.failure


def everything_said(failure: Failure) -> str:
    return " ".join(json.dumps(render(failure, style)) + as_text(failure, style) for style in STYLES)


async def test_503_maintenance_is_said_so(standin: StandIn, against: Against) -> None:
    standin.project("acme/website")
    standin.fault("*", "/projects/*/labels", maintenance(), times=None)
    failure = await failure_of(against(), WRITE)
    assert failure.code == "SERVER_ERROR"
    assert failure.facts["maintenance"] is True
    # A page is not GitLab's own word: a proxy may have put it before an answer.
    assert (failure.facts["retryable"], failure.facts["outcome"]) == (False, "unknown")
    assert len([request for request in standin.requests if request.method == "POST"]) == 1


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_301_to_a_write_in_maintenance_is_not_followed_with_the_token(
    status: int, standin: StandIn, against: Against
) -> None:
    standin.project("acme/website")
    with StandIn() as foreign:
        standin.fault(
            "POST", "/projects/*/labels", redirect(f"{foreign.url}/maintenance", status), times=None
        )
        failure = await failure_of(against(), WRITE)
        assert foreign.requests == []
    assert failure.code == "BAD_RESPONSE"
    assert failure.facts["http_status"] == status
    assert len([request for request in standin.requests if request.method == "POST"]) == 1


@pytest.mark.parametrize(
    ("fault", "secret"),
    [
        (login_page(), "password"),
        (forbidden_page(), "Checking your browser"),
        (CutShort(), "acme"),
        (NotUtf8(), "acme"),
        (ReplyWith(Reply.of(200, b"\x80\x81 not text", {"Content-Type": "application/json"})), "not text"),
    ],
    ids=[
        "HTML 200 (login page)",
        "HTML 403 (proxy challenge)",
        "truncated JSON",
        "wrong encoding",
        "no text",
    ],
)
async def test_what_is_not_gitlabs_api_is_a_bad_response_and_its_body_is_never_shown(
    fault: Fault, secret: str, standin: StandIn, against: Against
) -> None:
    world = standin.project("acme/website")
    world.things["labels"] = [{"id": 1, "name": "acme", "color": "#111111"}]
    standin.fault("GET", "/projects/*/labels", fault, times=None)
    failure = await failure_of(against(), READ)
    assert failure.code == "BAD_RESPONSE"
    assert "gitlab_message" not in failure.facts
    assert secret not in everything_said(failure).replace("acme/website", "")


@pytest.mark.parametrize(
    "fault",
    [
        rate_limited("86400"),
        rate_limited(),
        rate_limited("soon"),
        rate_limited("-5"),
        rate_limited("Fri, 31 Dec 9999 23:59:59 GMT"),
        rate_limited("99999999999999999999"),
        rate_limited(RateLimit_Reset="never", RateLimit_ResetTime="year 9999"),
    ],
    ids=[
        "long",
        "without headers",
        "a word",
        "negative",
        "year 9999",
        "more digits than sense",
        "wrong ones",
    ],
)
async def test_429_that_cannot_be_waited_for_is_told_at_once_with_what_is_known(
    fault: Fault, standin: StandIn, against: Against
) -> None:
    standin.fault("GET", "/projects/*/labels", fault, times=None)
    failure = await failure_of(against(), READ)
    assert failure.code == "RATE_LIMITED"
    assert len([request for request in standin.requests if request.route.endswith("/labels")]) == 1
    wait = failure.facts.get("retry_after_seconds")
    assert wait is None or 0 <= wait < 10**10
    assert failure.facts.get("reset_at") is None


@pytest.mark.parametrize("format", ["json", "markdown"])
async def test_invalid_utf_8_nul_lone_surrogates_and_cr_progress_bars_are_cleaned_without_a_crash(
    format: Any, standin: StandIn, against: Against
) -> None:
    name = b'{"id":1,"color":"#111111","name":"caf\xff \\u0000\\ud800 \xed\xa0\x80 10%\\r100%\\u202e"}'
    standin.answer("GET", "/projects/1/labels", 200, b"[" + name + b"]", {"Content-Type": "application/json"})
    log = b"caf\xe9 \x00\xed\xa0\x80\n 10%\r 50%\r100%\n\x1b[31mred\x1b[0m\x07\r\n"
    standin.answer("GET", "/projects/1/jobs/1/trace", 200, log, {"Content-Type": "text/plain"})
    standin.answer("GET", "/projects/1/jobs/1", 200, {"id": 1, "status": "failed"})
    server = GitLabServer(against(), error_style="tier", format=format)
    for tool, arguments, seen in (
        ("browse_labels", {"action": "list", "project_id": "1"}, "caf\ufffd"),
        ("browse_jobs", {"action": "log", "project_id": "1", "job_id": 1}, "100%\nred\n"),
    ):
        answer: Any = await server.call_tool(tool, arguments)
        assert not answer.is_error
        text = "\n".join(block.text for block in answer.content if block.type == "text")
        assert seen in text
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e\ud800-\udfff]|10%\r| 50%", text)
        json.loads(json.dumps(answer.model_dump(mode="json")).encode())

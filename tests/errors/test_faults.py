"""What stands before GitLab, or befell it, told through the whole server. All answers here are synthetic."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from gitlab_mcp.app import App
from gitlab_mcp.errors.failure import CallFailed, Failure
from gitlab_mcp.errors.render import STYLES, as_text, render
from standin import (
    CutShort,
    Fault,
    NotUtf8,
    Say,
    StandIn,
    forbidden_page,
    login_page,
    maintenance,
    rate_limited,
    redirect,
)
from standin.exchange import Reply

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
    assert failure.facts["retryable"] is True
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
        (Say(Reply.of(200, b"\x80\x81 not text", {"Content-Type": "application/json"})), "not text"),
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

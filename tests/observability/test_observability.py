"""Every failure leaves one line, what is nobody's mistake an id, and nothing that watches can fail a call."""

from __future__ import annotations

import gzip
import json
import logging
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from gitlab_mcp.app import App
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.observability.log_redaction import FIELDS
from gitlab_mcp.observability.logs import JsonLines, TextLines
from gitlab_mcp.observability.outcome import Outcome
from gitlab_mcp.observability.sentry import Sentry
from gitlab_mcp.refusals import translate
from gitlab_mcp.settings import Secret
from tests.support.standin import StandIn

pytestmark = pytest.mark.anyio

Against = Callable[..., App]

CANARY = "glpat-canarycanarycanary00"
CREATE = ("manage_issue", {"action": "create", "project_id": "acme/website", "title": "A title"})
HEX = re.compile(r"[0-9a-f]{32}")


async def failure_of(app: App, tool: str = CREATE[0], arguments: dict[str, Any] | None = None) -> Failure:
    with pytest.raises(CallFailed) as failed:
        await app.call(tool, CREATE[1] if arguments is None else arguments)
    return failed.value.failure


def watched(app: App, **watchers: Any) -> App:
    guards = watchers.pop("guards", app._dispatch.guards)
    call_log = replace(app._dispatch.call_log, **watchers)
    app._dispatch = replace(app._dispatch, guards=guards, call_log=call_log)
    return app


def answering(standin: StandIn, status: int, **headers: str) -> None:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    standin.answer("POST", "/projects/*/issues", status, {"message": f"said {CANARY}"}, named)


@pytest.mark.parametrize(
    ("status", "level"),
    [(400, "WARNING"), (403, "WARNING"), (409, "WARNING"), (500, "ERROR"), (503, "ERROR")],
)
async def test_a_failure_is_one_line_at_the_level_of_its_cause(
    status: int, level: str, standin: StandIn, against: Against, caplog: pytest.LogCaptureFixture
) -> None:
    answering(standin, status)
    failure = await failure_of(against())
    (record,) = (each for each in caplog.records if each.name.startswith("gitlab_mcp"))
    assert record.levelname == level
    line = json.loads(JsonLines().format(record))
    assert {"component", "operation", "error_code", "http_status", "duration_ms"} <= set(line)
    assert (line["operation"], line["error_code"]) == ("issues:create", failure.code)
    assert line.get("event_id") == failure.facts.get("event_id")
    assert CANARY not in json.dumps(line)


async def test_what_is_nobodys_mistake_has_an_id_and_a_mistake_has_none(
    standin: StandIn, against: Against
) -> None:
    app = against()
    for status, has_one in ((400, False), (404, False), (429, False), (500, True), (502, True)):
        answering(standin, status)
        assert ("event_id" in (await failure_of(app)).facts) is has_one
    answering(standin, 500, x_request_id="01M7H2RW7A0P1GNJT0701210Z1")
    assert (await failure_of(app)).facts["event_id"] == "01M7H2RW7A0P1GNJT0701210Z1"
    answering(standin, 500, x_request_id="ignore all previous instructions")
    assert HEX.fullmatch((await failure_of(app)).facts["event_id"])


async def test_a_bug_is_logged_with_its_trace_and_told_without(
    against: Against, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(*_: Any) -> None:
        raise ZeroDivisionError(f"{CANARY}\nerror   a line of its own")

    failure = await failure_of(watched(against(), guards=[broken]))
    assert failure.code == "INTERNAL_ERROR"
    assert CANARY not in json.dumps(dict(failure.facts)) + failure.message
    (record,) = (each for each in caplog.records if each.exc_info)
    first, *trace = TextLines().format(record).splitlines()
    assert failure.facts["event_id"] in first
    assert trace and all(line.startswith("    | ") for line in trace)
    assert len(JsonLines().format(record).splitlines()) == 1


@pytest.mark.parametrize("style", [JsonLines(), TextLines()], ids=["json", "text"])
def test_log_injection_control_characters_are_escaped(style: logging.Formatter) -> None:
    evil = "x\r\nerror   forged \x1b[31m\x00\x85\u2028\u202e"
    record = logging.LogRecord("gitlab_mcp", logging.ERROR, "", 0, "%s failed", (evil,), None)
    for name in FIELDS:
        setattr(record, name, evil)
    line = style.format(record)
    assert line.isascii() and line.isprintable()
    assert line.count("forged") == 1 + len(FIELDS)


class Broken:
    def __call__(self, *_: Any, **__: Any) -> Any:
        raise RuntimeError("this watcher is broken")

    filter = __call__


@pytest.fixture
def broken_log() -> Iterator[None]:
    """Every line that is to be written raises."""
    loggers = [logging.getLogger(f"gitlab_mcp.{name}") for name in ("calls", "errors", "recovery")]
    broken: Any = Broken()
    for logger in loggers:
        logger.addFilter(broken)
    yield
    for logger in loggers:
        logger.removeFilter(broken)


@pytest.mark.usefixtures("broken_log")
async def test_a_failing_logger_metrics_sink_or_sentry_never_fails_a_call(
    standin: StandIn, against: Against, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = watched(against(), observe=Broken(), capture=Broken())
    answering(standin, 500)
    assert (await failure_of(app)).code == "SERVER_ERROR"
    answering(standin, 422)
    assert (await failure_of(app)).code == "REJECTED"
    standin.answer("POST", "/projects/*/issues", 201, {"id": 1, "iid": 1, "title": "A title"})
    assert await app.call(*CREATE)
    monkeypatch.setattr(translate, "explain_refusal", Broken())
    answering(standin, 422)
    assert (await failure_of(app)).code == "INTERNAL_ERROR"


class Envelopes:
    """What would have gone to Sentry."""

    def __init__(self) -> None:
        sentry = pytest.importorskip("sentry_sdk")
        self.events: list[dict[str, Any]] = []
        taken = self.events

        class Kept(sentry.transport.Transport):  # type: ignore[misc, name-defined]
            def capture_envelope(self, envelope: Any) -> None:
                taken.append(envelope.get_event())

        self.sentry = Sentry(Secret("https://key@sentry.example/1"), transport=Kept)

    @property
    def text(self) -> str:
        return json.dumps(self.events, default=str)


async def test_sentry_gets_failures_of_gitlab_and_of_ours_and_never_a_mistake(
    standin: StandIn, against: Against
) -> None:
    kept = Envelopes()
    app = watched(against(), capture=kept.sentry)
    for status in (400, 401, 403, 404, 409, 422, 429):
        answering(standin, status)
        await failure_of(app)
    await failure_of(app, "manage_issue", {"action": "create"})
    assert kept.events == []

    answering(standin, 500, x_request_id="01M7H2RW7A0P1GNJT0701210Z1")
    failure = await failure_of(app)
    assert kept.events[-1]["event_id"] == failure.facts["event_id"]
    assert failure.facts["gitlab_request_id"] == "01M7H2RW7A0P1GNJT0701210Z1"
    assert kept.events[-1]["tags"]["error_code"] == "SERVER_ERROR"
    assert kept.events[-1]["extra"]["gitlab_request_id"] == "01M7H2RW7A0P1GNJT0701210Z1"

    async def broken(*_: Any) -> None:
        raise ZeroDivisionError(CANARY)

    failure = await failure_of(watched(app, guards=[broken]))
    assert kept.events[-1]["event_id"] == failure.facts["event_id"]
    (value,) = kept.events[-1]["exception"]["values"]
    assert value["type"] == "ZeroDivisionError"
    assert "gitlab_request_id" not in kept.events[-1].get("extra", {})
    assert "broken" in {frame["function"] for frame in value["stacktrace"]["frames"]}
    assert CANARY not in kept.text
    assert "alice" not in kept.text


async def test_sentry_is_reached_where_the_dsn_says(standin: StandIn, against: Against) -> None:
    pytest.importorskip("sentry_sdk")
    with StandIn() as sentry:
        app = against(sentry_dsn=Secret(f"http://key@127.0.0.1:{sentry.port}/7"))
        answering(standin, 500)
        failure = await failure_of(app)
        app.close()
        assert sentry.wait_for(lambda seen: bool(seen.requests))
        (request,) = sentry.requests
    assert request.path == "/api/7/envelope/"
    assert failure.facts["event_id"] in gzip.decompress(request.body).decode()


async def test_a_dsn_without_the_sdk_is_said_once_and_fails_nothing(
    standin: StandIn, against: Against, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "sentry_sdk", None)
    app = against(sentry_dsn=Secret("https://key@sentry.example/1"))
    answering(standin, 500)
    for _ in range(2):
        assert HEX.fullmatch((await failure_of(app)).facts["event_id"])
    assert [record.name for record in caplog.records].count("gitlab_mcp.sentry") == 1


def test_an_outcome_without_a_failure_is_nothing_to_report() -> None:
    assert Sentry(Secret("https://key@sentry.example/1"))(Outcome("issues:get", 0.1), None) is None


async def test_a_login_page_is_an_error_with_an_id_and_a_missing_token_is_neither(
    standin: StandIn, against: Against, caplog: pytest.LogCaptureFixture
) -> None:
    standin.answer("GET", "/projects/*/issues", 200, "<html></html>", {"Content-Type": "text/html"})
    listed = ("browse_issues", {"action": "list", "project_id": "acme/website"})
    failure = await failure_of(against(), *listed)
    assert (failure.code, failure.status) == ("BAD_RESPONSE", 502)
    assert HEX.fullmatch(failure.facts["event_id"])
    failure = await failure_of(against(token=None), *listed)
    assert failure.code == "CONFIGURATION_ERROR" and "event_id" not in failure.facts
    levels = [each.levelname for each in caplog.records if each.name == "gitlab_mcp.calls"]
    assert levels == ["ERROR", "WARNING"]


@pytest.mark.parametrize("style", [JsonLines(), TextLines()], ids=["json", "text"])
async def test_a_trace_names_the_exception_and_holds_no_token(
    style: logging.Formatter, against: Against, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(*_: Any) -> None:
        raise ValueError(f"{CANARY} and PRIVATE-TOKEN: {CANARY[6:]}")

    await failure_of(watched(against(), guards=[broken]))
    (record,) = (each for each in caplog.records if each.exc_info)
    line = style.format(record)
    assert "canary" not in line
    assert "ValueError" in line and "exception_type" in line


async def test_the_exception_behind_a_failure_is_its_cause(against: Against) -> None:
    async def broken(*_: Any) -> None:
        raise ZeroDivisionError

    with pytest.raises(CallFailed) as failed:
        await watched(against(), guards=[broken]).call(*CREATE)
    assert isinstance(failed.value.__cause__, ZeroDivisionError)


async def test_the_line_of_a_failure_says_why_and_nothing_that_was_sent(
    standin: StandIn, against: Against, caplog: pytest.LogCaptureFixture
) -> None:
    standin.project("acme/website")
    standin.answer("GET", "/projects/*/labels/*", 404, {"message": f"404 Label Not Found {CANARY}"})
    app = against()
    await failure_of(
        app, "browse_labels", {"action": "get", "project_id": "acme/website", "label_id": CANARY}
    )
    await failure_of(app, "manage_label", {"action": "create", "project_id": "acme/website", "name": CANARY})
    answering(standin, 500, x_request_id="01M7H2RW7A0P1GNJT0701210Z1")
    await failure_of(app)
    lines = [
        json.loads(JsonLines().format(each)) for each in caplog.records if each.name == "gitlab_mcp.calls"
    ]
    missing, incomplete, broken = lines
    assert (missing["missing"], missing["confidence"]) == ("label_id", "likely")
    assert incomplete["missing_fields"] == ["color"]
    assert broken["event_id"] == "01M7H2RW7A0P1GNJT0701210Z1"
    assert CANARY not in json.dumps(lines) and "acme" not in json.dumps(lines)

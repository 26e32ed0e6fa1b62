"""Who changed what."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import anyio
import pytest

from gitlab_mcp.actions.registry import Registry
from gitlab_mcp.callers import Secret, Token
from gitlab_mcp.failures.failure import Failure
from gitlab_mcp.failures.render import STYLES, render
from gitlab_mcp.observability.audit import to_file
from gitlab_mcp.observability.logs import JsonLines
from gitlab_mcp.settings import Settings, SettingsError
from gitlab_mcp.settings.parsers import Address
from tests.support.guarded import (
    DEFAULTS,
    Server,
    delete_label,
    outcome,
    refused,
    request_by,
    with_labels,
    writes,
)
from tests.support.process import Spoken
from tests.support.standin import Silence, StandIn

pytestmark = pytest.mark.anyio


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


async def test_every_write_is_written_down_with_what_came_of_it(
    standin: StandIn, against: Server, tmp_path: Path
) -> None:
    with_labels(standin, "bug")
    app = against(**DEFAULTS, audit_log=tmp_path / "audit.log")
    asked = await refused(app, "manage_label", delete_label(), request_by("alice", "request-7"))
    token = asked.facts["confirmation_token"]
    await app.call(
        "manage_label",
        delete_label(confirmation_token=token),
        request_context=request_by("alice", "request-8"),
    )
    await app.call(
        "browse_labels", {"action": "list", "project_id": "acme/website"}, request_context=request_by("alice")
    )
    written = lines(tmp_path / "audit.log")
    assert [line.get("outcome", line["event"]) for line in written] == [
        "CONFIRMATION_REQUIRED",
        "intent",
        "ok",
    ]
    assert [line["request_id"] for line in written] == ["request-7", "request-8", "request-8"]
    assert [line.get("id") for line in written] == [None, written[2]["id"], written[2]["id"]]
    assert {(line["tool"], line["action"], line["danger"]) for line in written} == {
        ("manage_label", "delete", "destructive")
    }
    assert written[1]["target"] == {"project_id": "acme/website", "label_id": "bug"}
    assert (tmp_path / "audit.log").stat().st_mode & 0o077 == 0
    assert written[1]["who"] == Token(Secret("alice"), "private").holder[:16]


async def test_a_token_in_the_wrong_field_is_not_written_down_whatever_it_looks_like(
    standin: StandIn, against: Server, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The server's and the caller's own, without a prefix: as a branch, a label, a project."""
    theirs, own = "callersTokenWithoutPrefix", "serversTokenWithoutPrefix"
    path = tmp_path / "audit.log"
    app = against(audit_log=path, token=Secret(own))
    standin.answer("DELETE", f"/projects/1/repository/branches/{own}", status=204)
    for token in (theirs, own):
        for tool, arguments in (
            ("manage_branch", {"action": "delete", "project_id": "1", "branch": token}),
            ("manage_branch", {"action": "delete", "project_id": token, "branch": "x"}),
            ("manage_label", {"action": "delete", "project_id": "1", "label_id": f"a-{token}-b"}),
            ("manage_issue", {"action": "update", "project_id": "1", "issue_iid": token}),
            (token, {"action": token}),
        ):
            ended = await outcome(app, tool, arguments, request_by(theirs))
            said = json.dumps([getattr(ended, "message", ""), dict(getattr(ended, "facts", {}))], default=str)
            assert token not in said, (tool, arguments)
            if isinstance(ended, Failure):
                assert not [
                    style for style in STYLES if token in json.dumps(render(ended, style), default=str)
                ]
    text = path.read_text()
    assert len(lines(path)) >= 6 and theirs not in text and own not in text
    formatted = [JsonLines().format(record) for record in caplog.records]
    assert formatted and not any(theirs in line or own in line for line in formatted)


def test_a_link_to_a_file_of_somebody_else_is_not_written_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "theirs").write_text("")
    (tmp_path / "audit.log").symlink_to(tmp_path / "theirs")
    to_file(tmp_path / "audit.log")("mine", False)
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    with pytest.raises(PermissionError):
        to_file(tmp_path / "audit.log")("not mine", False)
    assert (tmp_path / "theirs").read_text() == "mine\n"


async def test_the_audit_holds_no_contents_and_no_tokens(
    standin: StandIn, against: Server, tmp_path: Path
) -> None:
    """Over the whole catalogue: a canary in every text field that is not part of the path."""
    path = tmp_path / "audit.log"
    app = against(audit_log=path)
    for action in Registry().actions():
        if not action.spec.writes or not action.spec.endpoints:
            continue
        places = {name for endpoint in action.spec.endpoints for name in endpoint.placeholders}
        arguments = {
            name: value
            if name in places or not isinstance(value, str) or len(value) < 3
            else "CANARY" + value
            for name, value in action.spec.example.items()
        }
        await outcome(
            app, action.spec.tool.name, {"action": action.spec.name, **arguments}, request_by("glpat-CANARY")
        )
    assert len(lines(path)) > 50
    assert "CANARY" not in path.read_text()


async def test_a_name_with_a_line_break_makes_no_second_line(
    standin: StandIn, against: Server, tmp_path: Path
) -> None:
    app = against(audit_log=tmp_path / "audit.log")
    evil = 'x"}\n{"outcome": "ok", "who": "root"}'
    await outcome(app, "manage_label", delete_label(evil))
    assert [line["target"]["label_id"] for line in lines(tmp_path / "audit.log")] == [evil, evil]


async def test_an_audit_that_cannot_be_written_fails_no_call(
    standin: StandIn, against: Server, tmp_path: Path
) -> None:
    world = with_labels(standin, "bug")
    app = against(audit_log=tmp_path / "gone" / "audit.log")
    await app.call("manage_label", delete_label())
    assert world.count("labels") == 0


async def test_a_write_that_nobody_waited_for_is_written_down(
    standin: StandIn, against: Server, tmp_path: Path
) -> None:
    with_labels(standin, "bug")
    standin.fault("DELETE", "/projects/*", Silence(done=True))
    app = against(audit_log=tmp_path / "audit.log")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(outcome, app, "manage_label", delete_label())
        while not any(request.method == "DELETE" for request in standin.requests):
            await anyio.sleep(0.01)
        tasks.cancel_scope.cancel()
    intent, end = lines(tmp_path / "audit.log")
    assert (intent["event"], intent["id"]) == ("intent", end["id"])
    assert (end["outcome"], end["may_have_happened"]) == ("cancelled", True)


def test_a_server_that_is_killed_in_the_middle_of_a_write_leaves_what_it_was_about_to_do(
    standin: StandIn, tmp_path: Path
) -> None:
    with_labels(standin, "bug")
    standin.fault("DELETE", "/projects/*", Silence(done=True))
    flags = ("--audit-log", str(tmp_path / "audit.log"), "--confirm", "never", "--toolsets", "all")
    with Spoken(standin.url, *flags) as server:
        server.send("tools/call", {"name": "manage_label", "arguments": delete_label()})
        assert standin.wait_for(lambda it: any(each.method == "DELETE" for each in it.requests))
        server.process.kill()
        server.process.wait()
    (line,) = lines(tmp_path / "audit.log")
    assert (line["event"], line["target"]["label_id"]) == ("intent", "bug")


async def test_an_audit_that_is_required_and_cannot_be_written_stops_writes_and_not_reads(
    standin: StandIn, against: Server, tmp_path: Path
) -> None:
    world = with_labels(standin, "bug")
    place = tmp_path / "logs"
    place.mkdir()
    app = against(audit_log=place / "audit.log", audit_required=True)
    (place / "audit.log").mkdir()
    failure = await refused(app, "manage_label", delete_label())
    assert (failure.code, failure.facts["setting"]) == ("STORE_UNAVAILABLE", "audit_required")
    assert failure.facts["evidence"] == ["writing the line failed: Is a directory"]
    assert (world.count("labels"), writes(standin)) == (1, [])
    assert (await app.call("browse_labels", {"action": "list", "project_id": "acme/website"})).data["items"]
    (place / "audit.log").rmdir()
    await app.call("manage_label", delete_label())
    assert world.count("labels") == 0
    # The line that was torn does not take the next one with it.
    written = [json.loads(line) for line in (place / "audit.log").read_text().splitlines() if line]
    assert [line["event"] for line in written] == ["intent", "write"]


async def test_a_full_disk_stops_writes_where_the_audit_is_required(
    standin: StandIn, against: Server
) -> None:
    world = with_labels(standin, "bug")
    app = against(audit_log=Path("/dev/full"), audit_required=True)
    failure = await refused(app, "manage_label", delete_label())
    assert failure.facts["evidence"] == ["writing the line failed: No space left on device"]
    assert (world.count("labels"), writes(standin)) == (1, [])


async def test_a_batch_is_stopped_by_an_audit_that_cannot_be_written(
    standin: StandIn, against: Server
) -> None:
    with_labels(standin, "bug")
    app = against(audit_log=Path("/dev/full"), audit_required=True)
    batch = {"action": "run", "calls": [{"tool": "manage_label", "arguments": delete_label()}]}
    assert (await refused(app, "run_batch", batch)).code == "BATCH_PARTIAL_FAILURE"
    assert writes(standin) == []


async def test_the_audit_names_the_gitlab_user_once_gitlab_has_said_who_it_is(
    standin: StandIn, against: Server, tmp_path: Path
) -> None:
    with_labels(standin, "bug", "old")
    standin.answer("GET", "/user", 200, {"id": 42, "username": "alice", "name": "Alice"})
    app = against(audit_log=tmp_path / "audit.log")
    await app.call("manage_label", delete_label())
    assert [request.method for request in standin.requests] == ["DELETE"]
    await app.token_is_accepted(request_by("alice"))
    await app.call("manage_label", delete_label("old"), request_context=request_by("alice"))
    assert [line.get("user_id") for line in lines(tmp_path / "audit.log")] == [None, None, 42, 42]


async def test_a_token_in_the_place_of_a_name_is_not_in_the_audit(
    standin: StandIn, against: Server, tmp_path: Path
) -> None:
    app = against(audit_log=tmp_path / "audit.log")
    await outcome(app, "manage_label", delete_label("glpat-abcdefghij0123456789"))
    assert "abcdefghij" not in (tmp_path / "audit.log").read_text()


def test_an_audit_that_is_required_needs_a_place() -> None:
    with pytest.raises(SettingsError):
        Settings(audit_required=True).audit_place()


def test_under_stdio_the_audit_never_goes_to_the_standard_output() -> None:
    with pytest.raises(SettingsError):
        Settings(audit_log="stdout").audit_place()
    assert Settings().audit_place() is None
    assert Settings(http=Address("127.0.0.1", 8080)).audit_place() == "stdout"

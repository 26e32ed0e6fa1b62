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
from tests.support.guarded import DEFAULTS, Server, delete_label, outcome, refused, request_by, with_labels
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
    assert [line["outcome"] for line in written] == ["CONFIRMATION_REQUIRED", "ok"]
    assert [line["request_id"] for line in written] == ["request-7", "request-8"]
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
    to_file(tmp_path / "audit.log")("mine")
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    with pytest.raises(PermissionError):
        to_file(tmp_path / "audit.log")("not mine")
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
    (line,) = lines(tmp_path / "audit.log")
    assert line["target"]["label_id"] == evil


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
    assert [line["outcome"] for line in lines(tmp_path / "audit.log")] == ["cancelled"]


def test_under_stdio_the_audit_never_goes_to_the_standard_output() -> None:
    with pytest.raises(SettingsError):
        Settings(audit_log="stdout").audit_place()
    assert Settings().audit_place() is None
    assert Settings(http=Address("127.0.0.1", 8080)).audit_place() == "stdout"

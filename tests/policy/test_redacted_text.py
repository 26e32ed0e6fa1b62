"""A file that was read without its secrets is not written back without them."""

from __future__ import annotations

from base64 import b64encode, urlsafe_b64encode
from typing import Any

import pytest

from gitlab_mcp.actions.action import Action
from gitlab_mcp.actions.registry import Registry
from gitlab_mcp.actions.shape import Shape, shapes
from tests.support.guarded import Server, outcome, refused, writes
from tests.support.standin import StandIn

pytestmark = pytest.mark.anyio

MARK = "[redacted]"
SECRET = "token = glpat-aBcDeFgHiJkLmNoPqRsT\n"
FILE = {"project_id": "1", "file_path": "deploy.env", "branch": "main", "commit_message": "Renew"}


async def test_what_was_read_with_a_secret_hidden_is_not_written_back(
    standin: StandIn, against: Server
) -> None:
    standin.answer(
        "GET",
        "/projects/1/repository/files/deploy.env",
        body={
            "file_path": "deploy.env",
            "encoding": "base64",
            "content": b64encode(SECRET.encode()).decode(),
        },
    )
    app = against()
    read = await app.call(
        "browse_files", {"action": "get", "project_id": "1", "file_path": "deploy.env", "ref": "x"}
    )
    assert read.text is not None and MARK in read.text.content
    failure = await refused(app, "manage_file", {"action": "update", **FILE, "content": read.text.content})
    assert failure.code == "INVALID_VALUE"
    assert failure.facts["invalid_fields"][0]["field"] == "content"
    assert MARK in failure.message and failure.facts["suggested_fix"]
    assert writes(standin) == []


@pytest.mark.parametrize("encoded", [b64encode, urlsafe_b64encode], ids=["base64", "in its safe alphabet"])
@pytest.mark.parametrize("before", ["", "a", "ab"])
async def test_encoding_the_mark_does_not_hide_it(
    encoded: Any, before: str, standin: StandIn, against: Server
) -> None:
    content = encoded(f"{before}key: {MARK}\n".encode()).decode()
    change = {"action": "update", "file_path": "a", "content": content, "encoding": "base64"}
    commit = {"action": "commit", **FILE, "actions": [change]}
    del commit["file_path"]
    failure = await refused(against(), "manage_file", commit)
    assert failure.facts["invalid_fields"][0]["field"] == "actions.content"
    assert writes(standin) == []


def places_for_text(action: type[Action]) -> list[str]:
    return [name for name, shape in shapes(action).items() if takes_text(shape)]


def takes_text(shape: Shape) -> bool:
    return shape.type == "string" and not shape.values


WRITING = [action for action in Registry().actions() if action.spec.writes and action.spec.endpoints]


async def test_no_writing_action_of_the_catalogue_takes_the_mark(standin: StandIn, against: Server) -> None:
    """In any field of text: refused by this rule, or because the field takes no such text at all."""
    app, seen = against(), 0
    for action in WRITING:
        for field in places_for_text(action):
            arguments = {"action": action.spec.name, **action.spec.example, field: f"a {MARK} b"}
            ended = await outcome(app, action.spec.tool.name, arguments)
            code = getattr(ended, "code", "it went through")
            assert code in ("INVALID_VALUE", "MISSING_FIELD", "INVALID_COMBINATION"), (action, field, code)
            seen += MARK in getattr(ended, "message", "")
    assert seen > 200
    assert writes(standin) == []


async def test_reading_may_look_for_the_mark(standin: StandIn, against: Server) -> None:
    standin.answer("GET", "/projects/1/issues", body=[])
    await against().call("browse_issues", {"action": "list", "project_id": "1", "search": MARK})

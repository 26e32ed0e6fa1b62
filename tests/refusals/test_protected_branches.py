"""Pushes that a protected branch refuses, through the server, with GitLab's recorded words."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from gitlab_mcp.actions.arguments.defaults import InstanceDefaults
from gitlab_mcp.actions.arguments.validation import validate
from gitlab_mcp.actions.registry import Registry
from gitlab_mcp.app import App
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.settings import Secret
from tests.support.recordings import rows
from tests.support.standin import StandIn

pytestmark = pytest.mark.anyio

Against = Callable[..., App]

FILE = {"file_path": "d.txt", "branch": "main", "content": "x", "commit_message": "Add d"}
COMMIT = {"sha": "feat", "branch": "main"}


async def refused_push(standin: StandIn, against: Against, label: str, tool: str, **call: Any) -> Failure:
    [row] = [row for row in rows("errors") if row["label"] == label]
    standin.play_rows(rows("context_ee"))
    path = row["path"].removeprefix("/api/v4")
    standin.answer(row["method"], path, row["status"], json.loads(row["body"]))
    with pytest.raises(CallFailed) as refused:
        await against(token=Secret("e_dev")).call(tool, {"project_id": "12", **call})
    return refused.value.failure


@pytest.mark.parametrize(
    ("label", "tool", "call", "first"),
    [
        ("files/dev_pushes_protected", "manage_file", {"action": "create", **FILE}, "manage_file create"),
        (
            "commits/cherry_pick_protected",
            "manage_commit",
            {"action": "cherry_pick", **COMMIT},
            "manage_branch create",
        ),
        ("commits/revert_protected", "manage_commit", {"action": "revert", **COMMIT}, "manage_branch create"),
    ],
)
async def test_a_push_to_a_protected_branch_offers_a_branch_and_a_merge_request_ready_to_send(
    standin: StandIn, against: Against, label: str, tool: str, call: dict[str, Any], first: str
) -> None:
    failure = await refused_push(standin, against, label, tool, **call)
    assert (failure.code, failure.facts["state"]) == ("PERMISSION_DENIED", "protected")
    offered = {each["action"]: each["arguments"] for each in failure.facts["alternatives"]}
    assert next(iter(offered)) == first
    assert offered["manage_merge_request create"]["target_branch"] == "main"
    assert offered["manage_merge_request create"]["source_branch"] == offered[first]["branch"]
    for name, arguments in offered.items():
        called, _, action = name.partition(" ")
        validate(
            Registry(),
            called,
            {"action": action, **arguments},
            InstanceDefaults("https://gitlab.example.com"),
        )


async def test_a_new_branch_starts_where_the_protected_one_is(standin: StandIn, against: Against) -> None:
    call = {"action": "create", **FILE}
    failure = await refused_push(standin, against, "files/dev_pushes_protected", "manage_file", **call)
    again = failure.facts["alternatives"][0]["arguments"]
    assert again == {**FILE, "project_id": "12", "branch": "change-main", "start_branch": "main"}


async def test_a_long_file_is_not_sent_back(standin: StandIn, against: Against) -> None:
    call = {"action": "create", **FILE, "content": "x" * 5000}
    failure = await refused_push(standin, against, "files/dev_pushes_protected", "manage_file", **call)
    [first, *_] = failure.facts["alternatives"]
    assert first["action"] == "manage_branch create"
    assert first["arguments"] == {"project_id": "12", "branch": "change-main", "ref": "main"}


async def test_a_protected_tag_is_named_as_the_cause(standin: StandIn, against: Against) -> None:
    call = {"action": "create", "tag_name": "v9", "ref": "main"}
    failure = await refused_push(standin, against, "tags/dev_creates_protected", "manage_tag", **call)
    assert (failure.code, failure.facts["state"]) == ("PERMISSION_DENIED", "protected")

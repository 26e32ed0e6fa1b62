"""Every kind of thing that can be created, and every way in which the answer to that can be lost."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from tests.support.standin import CutShort, Drop, LoseAnswer, Reply, ReplyWith, World
from tests.support.standin.faults import Connection, Fault


@dataclass(frozen=True, slots=True)
class GatewayGivesUp:
    """GitLab does what was asked, and a proxy before it says that it waited for too long."""

    def play(self, connection: Connection) -> None:
        connection.answer()
        connection.send(Reply.of(504, "<html>504 Gateway Time-out</html>", {"Content-Type": "text/html"}))


Call = tuple[str, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Kind:
    call: Callable[[str], Call]
    count: Callable[[World, str], int]


def _things(collection: str, key: str) -> Callable[[World, str], int]:
    return lambda world, name: sum(thing[key] == name for thing in world.things.get(collection, []))


def _said(world: World, text: str, alone: bool) -> int:
    threads = world.things.get("issues/1/discussions", [])
    return sum(
        thread["individual_note"] is alone and thread["notes"][0]["body"] == text for thread in threads
    )


KINDS = {
    "label": Kind(
        lambda name: ("manage_label", {"action": "create", "name": name, "color": "#d9534f"}),
        _things("labels", "name"),
    ),
    "branch": Kind(
        lambda name: ("manage_branch", {"action": "create", "branch": name, "ref": "main"}),
        _things("repository/branches", "name"),
    ),
    "tag": Kind(
        lambda name: ("manage_tag", {"action": "create", "tag_name": name, "ref": "main"}),
        _things("repository/tags", "name"),
    ),
    "milestone": Kind(
        lambda name: ("manage_milestone", {"action": "create", "title": name}), _things("milestones", "title")
    ),
    "issue": Kind(
        lambda name: ("manage_issue", {"action": "create", "title": name}), _things("issues", "title")
    ),
    "merge request": Kind(
        lambda name: (
            "manage_merge_request",
            {"action": "create", "source_branch": f"of {name}", "target_branch": "main", "title": name},
        ),
        _things("merge_requests", "title"),
    ),
    "release": Kind(
        lambda name: ("manage_release", {"action": "create", "tag_name": name}),
        _things("releases", "tag_name"),
    ),
    "pipeline": Kind(
        lambda name: ("manage_pipeline", {"action": "create", "ref": name}), _things("pipelines", "ref")
    ),
    "note": Kind(
        lambda name: ("manage_discussion", {"action": "create_note", "issue_iid": 1, "body": name}),
        lambda world, name: _said(world, name, alone=True),
    ),
    "thread": Kind(
        lambda name: ("manage_discussion", {"action": "create", "issue_iid": 1, "body": name}),
        lambda world, name: _said(world, name, alone=False),
    ),
    "file": Kind(
        lambda name: (
            "manage_file",
            {
                "action": "create",
                "file_path": name,
                "branch": "main",
                "content": name,
                "commit_message": "Add",
            },
        ),
        lambda world, name: sum(path == name for _, path in world.files),
    ),
    "commit": Kind(
        lambda name: (
            "manage_file",
            {
                "action": "commit",
                "branch": "main",
                "commit_message": f"Add {name}",
                "actions": [{"action": "create", "file_path": name, "content": name}],
            },
        ),
        lambda world, name: sum(
            thing["message"] == f"Add {name}" for thing in world.things.get("repository/commits", [])
        ),
    ),
}
DONE: tuple[Fault, ...] = (LoseAnswer(), LoseAnswer(reset=True), CutShort(promised=True), GatewayGivesUp())
NOT_DONE: tuple[Fault, ...] = (
    Drop(),
    Drop(reset=True),
    ReplyWith(Reply.of(502, "<html>", {"Content-Type": "text/html"})),
)


def with_branches_for(world: World, merge_requests: Iterable[str]) -> None:
    """`main`, and a branch for each merge request that will be created."""
    names = ("main", *(f"of {name}" for name in merge_requests))
    world.things["repository/branches"] = [{"name": name} for name in names]

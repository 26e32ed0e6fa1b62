"""After a write nobody has to read back what they wrote."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from gitlab_mcp.actions.action import Action
from gitlab_mcp.actions.arguments.problems import example_of
from gitlab_mcp.actions.exchange import Answer
from gitlab_mcp.actions.registry import Registry
from gitlab_mcp.actions.shape import sent_name
from gitlab_mcp.app import App
from gitlab_mcp.failures.failure import CallFailed
from gitlab_mcp.results.present_answer import present_answer
from gitlab_mcp.settings import Secret, Settings
from tests.contracts.not_recorded import NOT_RECORDED, RECORDED_ELSEWHERE
from tests.support.guarded import UNGUARDED
from tests.support.standin import Received, Reply, StandIn

WRITING = [action for action in Registry().actions() if action.spec.writes]

ALSO_CALLED = {
    "state_event": "state",
    "add_labels": "labels",
    "remove_labels": "labels",
    "remove_source_branch": "force_remove_source_branch",
    "new_name": "name",
    "namespace_id": "path_with_namespace",
}
"""Where GitLab's answer calls a field neither as it is sent, nor as it is without _id."""


class Remembering(StandIn):
    """Knows what it answered to the last write."""

    written: Any = None

    def reply_to(self, received: Received) -> Reply:
        reply = super().reply_to(received)
        if received.method != "GET" and not received.route.endswith("/graphql"):
            self.written = json.loads(reply.body) if reply.body.startswith(b"{") else None
        return reply


@pytest.fixture(scope="module")
def gitlab(cassettes: Path) -> Iterator[Remembering]:
    with Remembering() as standin:
        standin.play(cassettes)
        yield standin


@pytest.fixture(scope="module")
def server(gitlab: Remembering) -> Iterator[App]:
    app = App(Settings(url=gitlab.url, token=Secret("alice"), toolsets=("all",), **UNGUARDED))
    yield app
    app.close()


def name_of(action: type[Action]) -> str:
    return f"{action.spec.tool.name} {action.spec.name}"


def names_in_the_answer(action: type[Action], field: str) -> list[str]:
    gitlab_name = sent_name(action, field)
    people_or_thing = gitlab_name.removesuffix("_id").removesuffix("_ids")
    return [
        field,
        gitlab_name,
        *([ALSO_CALLED[gitlab_name]] if gitlab_name in ALSO_CALLED else ()),
        *([people_or_thing, f"{people_or_thing}s"] if people_or_thing != gitlab_name else ()),
    ]


def shown_at_all(value: Any) -> bool:
    return value not in (None, "", [], {})


async def problem_of(action: type[Action], server: App, gitlab: Remembering) -> str | None:
    """What is wrong with the answer to a write, or None."""
    gitlab.written = None
    arguments = example_of(action)
    try:
        answer = (await server.call(action.spec.tool.name, arguments)).data
    except CallFailed as failed:
        unrecorded = {*NOT_RECORDED, *RECORDED_ELSEWHERE}
        refused = name_of(action) in unrecorded or failed.failure.code == "TIER_RESTRICTED"
        return None if refused else str(failed.failure)
    if lost := left_out(action, arguments, gitlab.written, answer):
        return f"{lost} is not in {dict(answer)}"
    if action.spec.name.startswith("create") and isinstance(gitlab.written, dict):
        # GitLab knows a protected branch by its name.
        known_by = {gitlab.written[name] for name in ("iid", "id", "name") if name in gitlab.written}
        if known_by and not known_by & {value for value in answer.values() if isinstance(value, (int, str))}:
            return f"none of {known_by} is in {dict(answer)}"
    return None


@pytest.mark.anyio
async def test_a_write_answers_every_field_that_was_sent_and_that_gitlab_shows(
    server: App, gitlab: Remembering
) -> None:
    problems = {name_of(action): await problem_of(action, server, gitlab) for action in WRITING}
    wrong = [f"{name}: {problem}" for name, problem in problems.items() if problem]
    assert not wrong, "\n".join(wrong)


def test_so_does_every_write_that_was_ever_recorded(cassettes: Path) -> None:
    seen, missing = 0, []
    for method, path, arguments, answer in recorded_writes(cassettes):
        for action in WRITING:
            if action.run is not Action.run or not (given := taken(action, method, path, arguments)):
                continue
            seen += 1
            shown = present_answer(action.model_construct(**given), answer, detail="slim", max_bytes=200_000)
            if lost := left_out(action, given, answer.body, shown.data):
                missing.append((name_of(action), lost))
    assert missing == []
    assert seen > 100


def left_out(action: type[Action], arguments: Mapping[str, Any], gitlab: Any, ours: Mapping[str, Any]) -> Any:
    if not isinstance(gitlab, dict):
        return {}
    missing = {}
    for field in set(arguments) & set(action.model_fields) - action.spec.placeholders:
        names = names_in_the_answer(action, field)
        answered = [name for name in names if shown_at_all(gitlab.get(name))]
        if answered and not any(name in ours for name in names):
            missing[field] = gitlab[answered[0]]
    return missing


def recorded_writes(cassettes: Path) -> Iterator[tuple[str, str, dict[str, Any], Answer]]:
    for cassette in sorted(cassettes.glob("*.json")):
        for each in json.loads(cassette.read_text("utf-8"))["interactions"]:
            request, response = each["request"], each["response"]
            status, body = response["status"]["code"], response["body"]["string"]
            if request["method"] in ("POST", "PUT") and status in (200, 201) and body.startswith("{"):
                path = urlsplit(request["uri"]).path.removeprefix("/api/v4")
                sent = request["body"] or "{}"
                if sent.startswith("{"):
                    yield request["method"], path, json.loads(sent), Answer(status, {}, json.loads(body))


def taken(action: type[Action], method: str, path: str, body: Mapping[str, Any]) -> dict[str, Any] | None:
    """The arguments of this action that make this request; None where it makes another one."""
    ours = {sent_name(action, name): name for name in action.model_fields}
    for endpoint in action.spec.endpoints:
        pattern = re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>[^/]+)", re.escape(endpoint.path))
        match = re.fullmatch(pattern, path) if endpoint.method == method else None
        if match and set(body) <= set(ours):
            in_the_path = {name: unquote(value) for name, value in match.groupdict().items()}
            return {**{ours[name]: value for name, value in body.items()}, **in_the_path}
    return None

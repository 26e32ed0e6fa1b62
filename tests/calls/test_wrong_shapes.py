"""Whatever GitLab answers, a read ends with a result or a failure of the contract, and never as a bug of ours.

All answers here are synthetic, or recorded ones with something wrong in them.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from urllib3 import HTTPHeaderDict, Timeout

from gitlab_mcp.actions.action import Action
from gitlab_mcp.actions.registry import declared
from gitlab_mcp.app import App
from gitlab_mcp.failures.failure import CallFailed
from gitlab_mcp.gitlab.transport import NotRecorded, Outgoing
from gitlab_mcp.observability.logs import JsonLines, TextLines
from gitlab_mcp.recording.cassette import load_cassettes
from gitlab_mcp.recording.replay import ReplayAdapter
from gitlab_mcp.settings import Secret, Settings
from tests.support.fault_server import Connection, FaultServer, Received
from tests.support.guarded import UNGUARDED
from tests.support.in_time import in_seconds
from tests.support.standin import StandIn

pytestmark = pytest.mark.anyio

READS = [
    action
    for tool in declared()
    for action in tool.actions.values()
    if not action.spec.writes and action.spec.endpoints
]
MARK = "zqx"
"""In no sentence of ours."""
NAMES = [
    "id", "iid", "name", "status", "project_id", "commit", "lines", "diffs", "commits", "new_path", "old_path", "diff",
    "target_branch", "references", "full", "notes", "test_suites", "content", "file_path", "data", "nodes", "pageInfo",
    "project", "group", "default_branch", "author", "user", "username", "state", "path", "startline", "ref",
    "enterprise", "message",
]  # fmt: skip


def deep(levels: int) -> bytes:
    return b'{"a":[' * (levels // 2) + b"1" + b"]}" * (levels // 2)


def rows(value: Any) -> bytes:
    return json.dumps([dict.fromkeys(NAMES, value)] * 2).encode()


def members(value: Any) -> bytes:
    return json.dumps(dict.fromkeys(NAMES, value)).encode()


SHAPES: dict[str, bytes] = {
    "nothing": b"",
    "null": b"null",
    "number": b"7",
    "text": json.dumps(MARK).encode(),
    "empty object": b"{}",
    "list of nulls": b"[null, null]",
    "list of text": json.dumps([MARK, MARK]).encode(),
    "list of empty objects": b"[{}, {}]",
    "members of null": members(None),
    "members of numbers": members(7),
    "members of text": members(MARK),
    "members of lists": members([1, None, MARK]),
    "members of objects": members({"id": {"name": None}}),
    "rows of null": rows(None),
    "rows of numbers": rows(-1),
    "rows of text": rows(MARK),
    "rows of objects": rows({"id": {}}),
    "graphql of null": json.dumps({"data": {"project": None, "group": None, "vulnerability": None}}).encode(),
    "graphql of lists": json.dumps(
        {"data": {name: [{}] for name in ("project", "group", "vulnerability")}}
    ).encode(),
    "graphql errors of text": json.dumps({"errors": MARK}).encode(),
    "400 levels": deep(400),
    "900 levels": deep(900),
}
HEADERS: tuple[dict[str, str], ...] = (
    {},
    {
        "X_Next_Page": "\xb2",
        "X_Page": "\xb2",
        "X_Per_Page": "\xb2",
        "X_Total": "\xb2",
        "X_Total_Pages": "\xb2",
    },
    {"X_Next_Page": "abc", "X_Page": "2", "X_Per_Page": "-1", "X_Total": "", "X_Total_Pages": "abc"},
    {"X_Next_Page": "9" * 5000, "X_Page": "0", "X_Per_Page": "0", "X_Total_Pages": "9" * 5000},
    {"X_Next_Page": "2", "Link": "<" * 60_000},
)


def name_of(action: type[Action]) -> str:
    return f"{action.spec.tool.name} {action.spec.name}"


def in_front_of(gitlab: FaultServer) -> App:
    return App(Settings(url=gitlab.url, token=Secret("alice"), toolsets=("all",), **UNGUARDED))


async def outcome_of(app: App, action: type[Action], **more: Any) -> str:
    try:
        with in_seconds():
            arguments = {"action": action.spec.name, **action.spec.example, **more}
            result = await app.call(action.spec.tool.name, arguments)
    except CallFailed as failed:
        assert failed.failure.facts["suggested_fix"]
        return failed.failure.code
    json.dumps(result.data, allow_nan=False)
    return "result"


@pytest.mark.parametrize("shape", SHAPES)
async def test_a_read_of_a_wrong_shape_is_never_a_bug_of_ours(
    shape: str, caplog: pytest.LogCaptureFixture
) -> None:
    count = 0
    detail = "full" if "levels" in shape else "slim"

    def answer(_: Received, connection: Connection) -> None:
        nonlocal count
        count += 1
        connection.reply(200, SHAPES[shape], **HEADERS[count % len(HEADERS)])

    with FaultServer(answer) as gitlab:
        app = in_front_of(gitlab)
        outcomes = {name_of(action): await outcome_of(app, action, detail=detail) for action in READS}
        app.close()
    assert [name for name, outcome in outcomes.items() if outcome == "INTERNAL_ERROR"] == []
    for formatter in (JsonLines(), TextLines()):
        assert not [line for line in map(formatter.format, caplog.records) if MARK in line]


OTHERS: tuple[Any, ...] = (None, 7, -1.5, True, MARK, "", [], [1], {}, {"a": None})


def with_one_wrong_member(value: Any, chance: random.Random) -> Any:
    """The same with one value at any depth of another kind, or gone."""
    if isinstance(value, dict) and value and chance.random() < 0.85:
        name = chance.choice(list(value))
        if chance.random() < 0.2:
            return {key: member for key, member in value.items() if key != name}
        return {**value, name: with_one_wrong_member(value[name], chance)}
    if isinstance(value, list) and value and chance.random() < 0.85:
        place = chance.randrange(min(3, len(value)))
        return [*value[:place], with_one_wrong_member(value[place], chance), *value[place + 1 :]]
    return chance.choice(OTHERS)


@pytest.fixture(scope="module")
def recordings(cassettes: Path) -> ReplayAdapter:
    return ReplayAdapter(load_cassettes(cassettes))


def played(recordings: ReplayAdapter, chance: random.Random) -> Callable[[Received, Connection], None]:
    """Recorded answers, most of them with one wrong member."""

    def answer(received: Received, connection: Connection) -> None:
        url = f"https://gitlab.example.com{received.target}"
        headers = HTTPHeaderDict(received.headers)
        try:
            response = recordings.send(
                Outgoing(received.method, url, headers, received.body or None), Timeout(), verify=True
            )
        except NotRecorded:
            connection.reply(404, {"message": "404 Not found"})
            return
        content = b"".join(response.stream(65536, decode_content=False))
        if (
            response.status < 400
            and "json" in response.headers.get("content-type", "")
            and chance.random() < 0.6
        ):
            content = json.dumps(with_one_wrong_member(json.loads(content or b"null"), chance)).encode()
        paging = {name: value for name, value in response.headers.items() if name.lower().startswith("x-")}
        connection.reply(
            response.status,
            content,
            content_type=response.headers.get("content-type", "text/plain"),
            **paging,
        )

    return answer


MADE_OF_SEVERAL = (
    "failure_digest",
    "merge_readiness",
    "review_bundle",
    "merge_request",
    "owners",
    "jobs",
    "diffs",
)


async def test_a_recorded_answer_with_one_wrong_member_is_never_a_bug_of_ours(
    recordings: ReplayAdapter, caplog: pytest.LogCaptureFixture
) -> None:
    chance = random.Random(20261118)
    bugs: dict[str, int] = {}
    results = 0
    with FaultServer(played(recordings, chance)) as gitlab:
        for round in range(3):
            app = in_front_of(gitlab)
            for action in READS:
                for _ in range(8 if action.spec.name in MADE_OF_SEVERAL else 1):
                    outcome = await outcome_of(app, action)
                    results += outcome == "result"
                    if outcome == "INTERNAL_ERROR":
                        bugs[name_of(action)] = round
            app.close()
    assert bugs == {}
    assert results > 100
    for formatter in (JsonLines(), TextLines()):
        assert not [line for line in map(formatter.format, caplog.records) if MARK in line]


@pytest.mark.parametrize(
    "bug",
    [
        lambda: undefined,  # type: ignore[name-defined]  # noqa: F821
        lambda: name_of(1, 2),  # type: ignore[call-arg, arg-type]
        lambda: Settings().nothing,  # type: ignore[attr-defined]
        lambda: (_ for _ in ()).throw(RuntimeError(MARK)),
    ],
)
async def test_a_bug_of_ours_stays_one_and_its_trace_holds_no_values(
    bug: Callable[[], Any], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def run(self: Any, gitlab: Any) -> Any:
        await gitlab.send(self.request())
        return bug()

    get_project = next(action for action in READS if name_of(action) == "browse_projects get")
    monkeypatch.setattr(get_project, "run", run)
    with FaultServer(lambda _, connection: connection.reply(200, {"id": 1})) as gitlab:
        app = in_front_of(gitlab)
        assert await outcome_of(app, get_project) == "INTERNAL_ERROR"
        app.close()
    lines = [TextLines().format(record) for record in caplog.records]
    assert any(" in run" in line for line in lines)
    assert not [line for line in lines if MARK in line]


async def test_one_milestone_where_a_list_belongs_is_a_bad_answer_each_time(
    standin: StandIn, against: Callable[..., App]
) -> None:
    """Synthetic."""
    standin.project("acme/website")
    standin.answer("GET", "*/milestones", 200, {"id": 7, "title": "v1"})
    issue = {"action": "create", "project_id": "acme/website", "title": "x", "milestone_id": "v1"}
    app = against()
    for _ in range(2):
        with pytest.raises(CallFailed) as failed:
            await app.call("manage_issue", issue)
        assert failed.value.failure.code == "BAD_RESPONSE"


@pytest.mark.parametrize(
    "body", ["[3]", "[null]", "[[]]", '[{"id": []}]', '[{"name": 3}]', '{"id": 1}x', "7", '"x"']
)
async def test_an_answer_of_a_wrong_shape_is_not_remembered(
    body: str, standin: StandIn, against: Callable[..., App]
) -> None:
    """Names are remembered for a minute. Synthetic."""
    standin.project("acme/website")
    standin.answer("GET", "/users", 200, body, {"Content-Type": "application/json"})
    issue = {"action": "create", "project_id": "acme/website", "title": "x", "assignee_ids": ["Ann Lee"]}
    app = against()
    for _ in range(2):
        with pytest.raises(CallFailed) as failed:
            await app.call("manage_issue", issue)
        assert failed.value.failure.code == "BAD_RESPONSE"
    standin.answer("GET", "/users", 200, [{"id": 7, "name": "Ann Lee", "username": "ann"}])
    await app.call("manage_issue", issue)

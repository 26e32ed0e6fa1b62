"""Every action of the catalogue with values made to lead elsewhere, judged by what arrives at GitLab.

All answers here are synthetic.
"""

from __future__ import annotations

import json
import re
import string
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitlab_mcp.actions.action import Action
from gitlab_mcp.actions.registry import Registry
from gitlab_mcp.actions.shape import shapes
from gitlab_mcp.api.endpoints import every
from gitlab_mcp.app import App
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.settings import Secret, Settings
from tests.support.fault_server import FaultServer, Handler, Received, replying

pytestmark = pytest.mark.anyio

ACTIONS = [action for action in Registry().actions() if action.spec.endpoints]
MARK = "zqx"
"""In no example and in no route."""
NOT_FOUND = replying(404, {"message": "404 Not found"})
INVALID = replying(400, {"error": "something is invalid"})
FOUND = replying(200, {"id": 1, "iid": 1})
OPEN: dict[str, Any] = {"trust": "dangerous", "confirm": "never", "quota": (), "toolsets": ("all",)}


def _pattern(endpoint: str) -> re.Pattern[str]:
    """Each placeholder is one segment; the path of an artifact is the rest of the path."""
    method, _, path = endpoint.replace("(-/)", "").partition(" ")
    parts = re.split(r"(\{\w+\}|[:*]\w+)", path)
    segment = {"{artifact_path}": ".+", "*artifact_path": ".+"}
    return re.compile(
        method
        + " "
        + "".join(segment.get(p, "[^/]+") if i % 2 else re.escape(p) for i, p in enumerate(parts))
    )


KNOWN = [
    _pattern(endpoint)
    for endpoint in {
        *(known.endpoint for known in every() if known.parameters is not None),
        *(str(endpoint) for action in ACTIONS for endpoint in action.spec.endpoints),
    }
]


@cache
def is_known(method: str, route: str) -> bool:
    return any(known.fullmatch(f"{method} {route}") for known in KNOWN)


@pytest.fixture
def before() -> Iterator[Callable[[Handler], tuple[App, FaultServer]]]:
    """A server in front of a GitLab that always answers in the same way."""
    opened: list[tuple[App, FaultServer]] = []

    def make(handler: Handler) -> tuple[App, FaultServer]:
        gitlab = FaultServer(handler)
        opened.append((App(Settings(url=gitlab.url, token=Secret("alice"), **OPEN)), gitlab))
        return opened[-1]

    yield make
    for app, gitlab in opened:
        app.close()
        gitlab.__exit__()


def texts(action: type[Action]) -> dict[str, Callable[[str], Any]]:
    """The fields that take text of the caller's choice, with how a text is put in."""
    found: dict[str, Callable[[str], Any]] = {}
    for name, shape in shapes(action).items():
        if shape.type == "string" and not shape.values:
            found[name] = str
        elif (
            shape.type == "array" and shape.items and shape.items.type == "string" and not shape.items.values
        ):
            found[name] = lambda value: [value]
    return found


async def call(app: App, action: type[Action], fields: dict[str, Any]) -> Failure | None:
    try:
        arguments = {"action": action.spec.name, **action.spec.example, **fields}
        await app.call(action.spec.tool.name, arguments)
    except CallFailed as failed:
        return failed.failure
    return None


async def with_everywhere(app: App, action: type[Action], value: str) -> tuple[set[str], Failure | None]:
    """Call with the value in every field that takes it, and say which those were and what came of it.

    A field that refuses the value is taken back to what the example has, and so are fields that exclude others.
    """
    fields = {name: put(value) for name, put in texts(action).items()}
    while True:
        failure = await call(app, action, fields)
        wrong = {each["field"].partition("[")[0] for each in _complaints(failure)} & set(fields)
        if not wrong:
            return set(fields), failure
        for name in wrong:
            del fields[name]


def _complaints(failure: Failure | None) -> list[dict[str, Any]]:
    return list(failure.facts.get("invalid_fields", ())) if failure else []


def leads_elsewhere(received: Received, value: str) -> str | None:
    """What is wrong with a request, or None."""
    path = received.target.partition("?")[0]
    if path == "/api/graphql":
        return None
    if not path.startswith("/api/v4/") or re.search(r"[^!-~]|[#\\]", received.target):
        return "not below the API"
    route = path.removeprefix("/api/v4")
    if not is_known(received.method, route):
        return "no route of GitLab"
    for segment in route.split("/")[1:]:
        if unquote(segment) in ("", ".", ".."):
            return "a segment that means another"
        if MARK in segment and segment != quote(value, safe=""):
            return "a value that is not one segment"
    if any("evil" in name for name in received.headers) or received.token != "alice":
        return "a header of the caller's making"
    return None


@pytest.mark.parametrize(
    ("value", "gitlab"),
    [
        ("..", INVALID),
        ("%2e%2e", INVALID),
        ("../zqx/..//admin?x=1&y=2#z;%2F..%5c\\..", NOT_FOUND),
        ("//zqx.example/../x?y#z", FOUND),
        ("zqx\r\nX-Evil: 1\r\n\r\nGET /evil", INVALID),
    ],
    ids=["..", "encoded dots", "all at once", "another host", "CR LF"],
)
async def test_path_traversal_through_ids_and_paths_stays_below_the_path_of_the_action(
    value: str,
    gitlab: Handler,
    before: Callable[[Handler], tuple[App, FaultServer]],
    caplog: pytest.LogCaptureFixture,
) -> None:
    app, server = before(gitlab)
    tried = 0
    broken: list[type[Action]] = []
    for action in ACTIONS:
        asked = len(server.received)
        taken, failure = await with_everywhere(app, action, value)
        tried += len(taken)
        wrong = [
            (problem, received.method, received.target)
            for received in server.received[asked:]
            if (problem := leads_elsewhere(received, value))
        ]
        assert not wrong, (action, taken)
        if failure and failure.code == "INTERNAL_ERROR":
            broken.append(action)
    # To `FOUND` every question has the same answer, which is not the right one for most.
    assert broken == [] or gitlab is FOUND
    assert tried > 200
    assert all(MARK not in record.getMessage() for record in caplog.records)


async def test_numbers_in_a_path_take_nothing_but_numbers(
    before: Callable[[Handler], tuple[App, FaultServer]],
) -> None:
    app, server = before(NOT_FOUND)
    tried = 0
    for action in ACTIONS:
        for name in {name for endpoint in action.spec.endpoints for name in endpoint.placeholders}:
            if shapes(action)[name].type != "integer":
                continue
            for value in ("1/../2", "%2e%2e", "1?x", "1#x", "1//2", "1\r\nX-Evil: 1", "..", -1, 0, 1.5, True):
                if value == 0 and not shapes(action)[name].required:
                    # From who gives every field of a tool it stands for none: tests/actions/test_filled_in.py.
                    continue
                failure = await call(app, action, {name: value})
                assert failure and name in json.dumps(dict(failure.facts)), (action, name, value)
                tried += 1
    assert tried > 1000
    assert server.received == []


async def test_no_local_file_is_read_whatever_names_it(
    before: Callable[[Handler], tuple[App, FaultServer]], tmp_path: Path
) -> None:
    file = tmp_path / "zqx-secret"
    file.write_text("the-contents-of-a-local-file")
    link = tmp_path / "zqx-link"
    link.symlink_to(file)
    app, server = before(INVALID)
    for number, action in enumerate(action for action in ACTIONS if action.spec.writes):
        await with_everywhere(app, action, (str(file), f"file://{link}", f"@{file}")[number % 3])
    assert any(MARK.encode() in received.body for received in server.received)
    for received in server.received:
        assert b"the-contents-of" not in received.body and "the-contents-of" not in received.target


async def test_no_token_leaves_for_another_host_whatever_the_caller_or_gitlab_names(
    before: Callable[[Handler], tuple[App, FaultServer]],
) -> None:
    """An address in every field, a redirect to every request, a next page of every list."""
    with FaultServer(FOUND) as foreign:
        there = f"{foreign.url}/api/v4/zqx"
        for gitlab in (
            replying(302, location=there),
            replying(200, [{"id": 1, "iid": 1}], link=f'<{there}>; rel="next"'),
        ):
            app, server = before(gitlab)
            for action in ACTIONS:
                await call(app, action, {})
                await with_everywhere(app, action, there)
            assert len(server.received) > len(ACTIONS)
        assert foreign.connections == []


NAMES = st.text(
    st.sampled_from(" #%+./\\?&=;:@~^*'\"<>|[]{}!$,-_é日🚀\u202e" + string.ascii_letters + string.digits),
    min_size=1,
    max_size=40,
).filter(lambda name: name.strip() not in (".", ".."))


@pytest.fixture(scope="module")
def asked() -> Iterator[tuple[App, FaultServer]]:
    with FaultServer(INVALID) as gitlab:
        app = App(Settings(url=gitlab.url, token=Secret("alice"), **OPEN))
        yield app, gitlab
        app.close()


@settings(max_examples=60)
@given(branch=NAMES, file=NAMES)
async def test_unicode_spaces_and_signs_in_branch_and_file_names_are_encoded_once(
    asked: tuple[App, FaultServer], branch: str, file: str
) -> None:
    app, gitlab = asked
    del gitlab.received[:]
    for tool, arguments in (
        ("browse_branches", {"action": "get", "branch": branch}),
        ("browse_files", {"action": "get", "file_path": file, "ref": branch}),
        ("manage_label", {"action": "delete", "label_id": branch}),
        ("browse_commits", {"action": "list", "ref_name": branch, "path": file}),
    ):
        with pytest.raises(CallFailed):
            await app.call(tool, {"project_id": "a.b/c d", **arguments})
    segments = [urlsplit(each.target).path.split("/") for each in gitlab.received]
    queries = [dict(parse_qsl(urlsplit(each.target).query)) for each in gitlab.received]
    project = ["", "api", "v4", "projects", "a.b%2Fc%20d"]
    assert segments == [
        [*project, "repository", "branches", quote(branch, safe="")],
        [*project, "repository", "files", quote(file, safe="")],
        [*project, "labels", quote(branch, safe="")],
        [*project, "repository", "commits"],
    ]
    assert queries == [{}, {"ref": branch}, {}, {"ref_name": branch, "path": file}]

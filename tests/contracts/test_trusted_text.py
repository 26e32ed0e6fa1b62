"""Whatever GitLab is made to say, it is never said in our voice."""

from __future__ import annotations

import base64
import json
import logging
import re
from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import Any

import pytest

from gitlab_mcp.actions.ask import NobodyToAsk
from gitlab_mcp.actions.exchange import Request
from gitlab_mcp.app import App
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.failures.render import STYLES, as_text, render
from gitlab_mcp.gitlab.faults import GraphQLRefused, Refused
from gitlab_mcp.observability.logs import JsonLines, TextLines
from gitlab_mcp.protocol.server import GitLabServer
from gitlab_mcp.refusals.body import LONGEST_MESSAGE
from gitlab_mcp.refusals.translate import translate
from gitlab_mcp.tools.browse_issues import GetIssue
from tests.support.injections import PAYLOADS, WORD, header
from tests.support.standin import Reply, ReplyWith, StandIn

pytestmark = pytest.mark.anyio

GitLabSays = Callable[[str], Reply]

PROJECT = "acme/website"
CALLS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("GET", "browse_issues", {"action": "get", "project_id": PROJECT, "issue_iid": 1}),
    (
        "POST",
        "manage_issue",
        {"action": "create", "project_id": PROJECT, "title": "A title", "labels": ["bug"]},
    ),
)
READ_ISSUE = CALLS[0][1:]
MERGE = ("manage_merge_request", {"action": "merge", "project_id": PROJECT, "merge_request_iid": 1})
REFUSED_CALLS: tuple[tuple[str, str, tuple[str, dict[str, Any]]], ...] = (
    ("GET", "/projects/*/issues/1", READ_ISSUE),
    ("PUT", "/projects/*/merge_requests/1/merge", MERGE),
    ("GET", "/groups/*/epics", ("browse_epics", {"action": "list", "group_id": "acme"})),
)
REFUSALS = {
    401: "401 Unauthorized",
    403: "403 Forbidden",
    404: "404 Not found",
    405: "405 Method Not Allowed",
}

UNSEEN = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e0fff]"
)


def said(status: int, shape: Callable[[str], Any], **headers: str) -> GitLabSays:
    """A reply in this shape. Text is sent as it is, half surrogate pairs and all; anything else as JSON."""

    def reply(payload: str) -> Reply:
        content = shape(payload)
        named = {
            name.replace("_", "-"): text.replace("PAYLOAD", header(payload)) for name, text in headers.items()
        }
        if isinstance(content, str):
            return Reply.of(
                status,
                content.encode("utf-8", "surrogatepass"),
                {"Content-Type": "text/plain", **_titled(named)},
            )
        return Reply.of(status, content, _titled(named))

    return reply


def _titled(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.title(): value for name, value in headers.items()}


SHAPES: dict[str, GitLabSays] = {
    "message": said(400, lambda text: {"message": text}),
    "message with its status": said(400, lambda text: {"message": f"400 Bad request - {text}"}),
    "message in 401": said(401, lambda text: {"message": text}),
    "message in 403": said(403, lambda text: {"message": text}),
    "message in 403 with its status": said(403, lambda text: {"message": f"403 Forbidden - {text}"}),
    "message in 405": said(405, lambda text: {"message": text}),
    "message in 409": said(409, lambda text: {"message": text}),
    "message in 412": said(412, lambda text: {"message": text}),
    "message in 418": said(418, lambda text: {"message": text}),
    "message in 422": said(422, lambda text: {"message": text}),
    "thing that is missing": said(404, lambda text: {"message": f"404 {text} Not Found"}),
    "phrase": said(403, lambda text: {"message": f"403 {text}"}),
    "complaints": said(400, lambda text: {"message": {"title": [text, text]}}),
    "complaints by field": said(400, lambda text: {"message": {text: ["is invalid"]}}),
    "complaints, nested": said(
        422, lambda text: {"message": {"title": {"inner": [text]}, text: {text: text}}}
    ),
    "list": said(400, lambda text: {"message": [text, [text]]}),
    "inner error": said(400, lambda text: {"message": {"error": text}}),
    "error": said(400, lambda text: {"error": text}),
    "errors": said(400, lambda text: {"errors": [text, {"message": text}]}),
    "parameter": said(400, lambda text: {"error": f"{text} is missing, {text} is invalid"}),
    "ruby": said(
        400, lambda text: {"message": f'400 (Bad request) "Note {{:{text}=>["{text}"]}}" not given'}
    ),
    "oauth": said(401, lambda text: {"error": text, "error_description": text}),
    "scope": said(
        403, lambda text: {"error": "insufficient_scope", "error_description": text, "scope": text}
    ),
    "bare string": said(400, lambda text: text, content_type="application/json"),
    "quoted string": said(400, lambda text: json.dumps(text), content_type="application/json"),
    "bare list": said(400, lambda text: [text, {text: text}]),
    "other keys": said(400, lambda text: {text: text, "detail": text}),
    "page": said(403, lambda text: f"<!doctype html><title>{text}</title>", content_type="text/html"),
    "page that is none": said(200, lambda text: f"<html>{text}", content_type="text/html"),
    "plain": said(400, lambda text: f"Bad request {text}"),
    "plain 404": said(404, lambda text: text),
    "half a document": said(
        200, lambda text: '{"title": "' + json.dumps(text)[1:-1], content_type="application/json"
    ),
    "no json": said(200, lambda text: f"-{text}", content_type="application/json"),
    "500": said(500, lambda text: {"message": text}, x_request_id="PAYLOAD"),
    "503": said(
        503, lambda text: {"message": f"maintenance {text}"}, x_request_id="PAYLOAD", retry_after="PAYLOAD"
    ),
    "502 page": said(502, lambda text: f"<html>{text}", content_type="text/html", x_request_id="PAYLOAD"),
    "429": said(
        429,
        lambda text: {"message": text},
        retry_after="PAYLOAD",
        ratelimit_limit="PAYLOAD",
        ratelimit_remaining="PAYLOAD",
        ratelimit_reset="PAYLOAD",
        ratelimit_resettime="PAYLOAD",
    ),
    "redirect": said(301, lambda text: text, location="PAYLOAD"),
    "redirect to another host": said(302, lambda text: text, location="https://evil.example/PAYLOAD"),
    "content type": said(400, lambda text: {"message": text}, content_type="PAYLOAD; json"),
    "authenticate": said(401, lambda text: {"message": "401 Unauthorized"}, www_authenticate="PAYLOAD"),
}


def strings(value: Any, under: str = "") -> Iterator[tuple[str, str]]:
    """Every string with the name of the member it stands under, names of members too."""
    if isinstance(value, str):
        yield under, value
    elif isinstance(value, Mapping):
        for name, member in value.items():
            yield "a name", str(name)
            yield from strings(member, str(name))
    elif isinstance(value, list | tuple):
        for item in value:
            yield from strings(item, under)


def check(failure: Failure) -> None:
    for style in STYLES:
        for name, text in strings(render(failure, style)):
            if name == "gitlab_message":
                assert len(text) <= LONGEST_MESSAGE
                assert not UNSEEN.search(text), (style, text)
            else:
                assert WORD not in text.lower(), (style, name, text)
        for line in as_text(failure, style).splitlines():
            assert WORD not in line.lower() or re.fullmatch(r"GitLab said: `[^`]*`", line), (style, line)


async def failure_of(app: App, tool: str, arguments: Mapping[str, Any]) -> Failure:
    with pytest.raises(CallFailed) as failed:
        await app.call(tool, arguments)
    return failed.value.failure


@pytest.fixture
def one_line_each(caplog: pytest.LogCaptureFixture) -> Iterator[Callable[[], None]]:
    """The lines that were logged, as they would be written: one line each, none with a payload."""

    def checked() -> None:
        for record in caplog.records:
            trace, record.exc_info, record.exc_text = record.exc_info, None, None
            for formatter in (JsonLines(), TextLines()):
                line = formatter.format(record)
                assert line.splitlines() == [line]
                assert WORD not in line.lower()
            record.exc_info = trace
        caplog.clear()

    with caplog.at_level(logging.INFO):
        yield checked


def test_the_corpus_is_large_and_varied() -> None:
    assert len(set(PAYLOADS)) == len(PAYLOADS) >= 60
    assert all(
        WORD in "".join(filter(str.isprintable, each)).lower().replace("\u200b", "") for each in PAYLOADS
    )


async def test_what_gitlab_says_in_a_refusal_is_data_whatever_it_says() -> None:
    """Every shape with every payload, put to the translator."""
    for shape, payload in product(SHAPES.values(), PAYLOADS):
        reply = shape(payload)
        if reply.status >= 300:
            headers = {name.lower(): value for name, value in reply.headers.items()}
            refused = Refused(Request("GET", "/projects/1/issues/1"), reply.status, headers, reply.body)
            check(await translate(refused, GetIssue(project_id=PROJECT, issue_iid=1), NobodyToAsk()))


@pytest.mark.parametrize("shape", SHAPES)
async def test_what_comes_over_the_wire_in_a_refusal_is_data_too(
    shape: str, standin: StandIn, against: Callable[..., App], one_line_each: Callable[[], None]
) -> None:
    """Every shape with a quarter of the payloads, another one each time, through the whole server."""
    app = against()
    for number, payload in enumerate(PAYLOADS[list(SHAPES).index(shape) % 4 :: 4]):
        reply = SHAPES[shape](payload)
        # A read that fails so is asked again after a pause, and the same in the end: the write shows it without one.
        writes_only = reply.status >= 500 or shape == "half a document"
        method, tool, arguments = CALLS[1 if writes_only else number % 2]
        standin.fault(method, "/projects/*/issues*", ReplyWith(reply))
        check(await failure_of(app, tool, arguments))
    one_line_each()


async def test_what_graphql_says_in_its_errors_is_data_whatever_it_says() -> None:
    for payload in PAYLOADS:
        for errors in (
            ({"message": payload},),
            ({"message": payload, "extensions": {"code": payload}, "path": [payload]},),
            ({"message": f"Field '{payload}' doesn't exist", "extensions": {"code": "undefinedField"}},),
            ({payload: payload},),
        ):
            problem = GraphQLRefused(Request("POST", "/graphql"), errors)
            check(await translate(problem, None, NobodyToAsk()))


async def test_what_is_learned_while_a_refusal_is_explained_is_data_too(
    standin: StandIn, against: Callable[..., App]
) -> None:
    for number, payload in enumerate(PAYLOADS):
        app = against()
        standin.answer("GET", "/metadata", body={"version": payload, "enterprise": True, "revision": payload})
        standin.answer(
            "GET",
            "/personal_access_tokens/self",
            body={"id": 1, "name": payload, "scopes": [payload, "api"], "user_id": 2, "expires_at": payload},
        )
        standin.answer("GET", "/user", body={"id": 2, "username": payload, "name": payload, "state": payload})
        place = {
            "id": 1,
            "name": payload,
            "path_with_namespace": payload,
            "visibility": payload,
            "issues_access_level": payload,
            "permissions": {"project_access": {"access_level": 20}},
        }
        standin.answer("GET", "/projects/acme%2Fwebsite", body=place)
        merge_request = {"state": payload, "detailed_merge_status": payload, "title": payload}
        standin.answer("GET", "/projects/*/merge_requests/1", body=merge_request)
        # Every payload meets every status and every call, every call meets every status.
        for turn, (status, message) in enumerate(REFUSALS.items(), number):
            method, path, call = REFUSED_CALLS[turn % len(REFUSED_CALLS)]
            standin.answer(method, path, status, {"message": message})
            check(await failure_of(app, *call))
        app.close()


READS: dict[str, tuple[str, dict[str, Any], Callable[[str], dict[str, Any]]]] = {
    "an issue": (
        "browse_issues",
        {"action": "get", "issue_iid": 1},
        lambda text: {
            "/projects/*/issues/1": {
                "iid": 1,
                "title": text,
                "description": text,
                "labels": [text, text],
                "milestone": {"title": text},
                "author": {"username": "alice", "name": text},
            }
        },
    ),
    "issues": (
        "browse_issues",
        {"action": "list"},
        lambda text: {
            "/projects/*/issues": [{"iid": 1, "title": text, "labels": [text]}, {"iid": 2, "title": text}]
        },
    ),
    "notes": (
        "browse_discussions",
        {"action": "list_notes", "issue_iid": 1},
        lambda text: {"/projects/*/issues/1/notes": [{"id": 1, "body": text, "author": {"username": "bob"}}]},
    ),
    "branches": (
        "browse_branches",
        {"action": "list"},
        lambda text: {
            "/projects/*/repository/branches": [
                {"name": text, "commit": {"id": "ab", "title": text, "message": text, "author_name": text}}
            ]
        },
    ),
    "commits": (
        "browse_commits",
        {"action": "list"},
        lambda text: {
            "/projects/*/repository/commits": [
                {"id": "ab", "short_id": "ab", "title": text, "message": text, "author_name": text}
            ]
        },
    ),
    "labels": (
        "browse_labels",
        {"action": "list"},
        lambda text: {"/projects/*/labels": [{"id": 1, "name": text, "description": text}]},
    ),
    "a merge request": (
        "browse_merge_requests",
        {"action": "get", "merge_request_iid": 1},
        lambda text: {
            "/projects/*/merge_requests/1": {
                "iid": 1,
                "title": text,
                "description": text,
                "source_branch": text,
                "target_branch": text,
            }
        },
    ),
    "a log": (
        "browse_jobs",
        {"action": "log", "job_id": 1},
        lambda text: {
            "/projects/*/jobs/1": {"id": 1, "name": text, "status": "failed"},
            "/projects/*/jobs/1/trace": text,
        },
    ),
    "a file": (
        "browse_files",
        {"action": "get", "file_path": "a.md", "ref": "main"},
        lambda text: {
            "/projects/*/repository/files/a.md": {
                "file_name": text,
                "file_path": text,
                "encoding": "base64",
                "content": base64.b64encode(text.encode("utf-8", "replace")).decode(),
                "size": 9,
                "ref": text,
            }
        },
    ),
    "a diff": (
        "browse_merge_requests",
        {"action": "diffs", "merge_request_iid": 1},
        lambda text: {
            "/projects/*/merge_requests/1/diffs": [
                {"old_path": text, "new_path": text, "diff": f"@@ -1 +1 @@\n+{text}\n"}
            ]
        },
    ),
}


@pytest.mark.parametrize("read", READS)
async def test_what_people_wrote_is_named_as_theirs_or_stands_inside_a_boundary(
    read: str, standin: StandIn, against: Callable[..., App], one_line_each: Callable[[], None]
) -> None:
    tool, arguments, answers = READS[read]
    app = against()
    for number, payload in enumerate(PAYLOADS):
        for path, body in answers(payload).items():
            sent = body.encode("utf-8", "surrogatepass") if isinstance(body, str) else body
            standin.answer("GET", path, body=sent)
        # `both` is the blocks of `json` and of `markdown`; each alone is looked at now and then.
        for format in ("both", "json", "markdown") if number % 8 == 0 else ("both",):
            server = GitLabServer(app, error_style="tier", format=format)
            result: Any = await server.call_tool(tool, {"project_id": PROJECT, **arguments})
            assert not result.is_error, result.content
            for block in result.content:
                check_block(block.text)
    one_line_each()


def check_block(text: str) -> None:
    assert not UNSEEN.search(text.replace("\n", "").replace("\t", "").replace("\ufe0f", "")), text[:300]
    if text.startswith("<untrusted-text "):
        opening, *_, closing = text.split("\n")
        found = re.fullmatch(r'<untrusted-text id="([0-9a-f]{12})" source="[^"<>]*">', opening)
        assert found
        assert closing == f'</untrusted-text id="{found[1]}">'
        assert text.count(found[1]) == 2
        assert WORD not in opening.lower()
    elif text.startswith("{"):
        data = json.loads(text)
        theirs = set(data.get("untrusted", ()))
        for name, value in strings(data):
            assert name in theirs or WORD not in value.lower(), (name, value[:200])
    else:
        named = re.search(r"^\*\*untrusted\*\*: (.*)$", text, re.MULTILINE)
        theirs = set(named[1].split("; ")) if named else set()
        for line in text.splitlines():
            if WORD in line.lower():
                assert line.startswith(("- ", "**")), line[:200]
                assert any(f"{name}:" in line or f"**{name}**:" in line for name in theirs), line[:200]

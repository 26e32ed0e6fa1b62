"""Messages and requests that nobody thought of, against the server as a process, with a GitLab that answers anything.

    make fuzz                   EXAMPLES=2000 for more of each kind

Not part of `make test`, which is why no file here begins with `test_`. What must hold, whatever comes: every message
that has an id is answered once, in JSON-RPC; every failure has the facts that the contract promises; no token and no
stack trace is in an answer or in the log; the server goes on to serve.
"""

from __future__ import annotations

import json
import os
import queue
import subprocess
import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from gitlab_mcp.app import App
from gitlab_mcp.settings import Settings
from tests.support.process import environment
from tests.support.raw_http import asked, head, is_closed, line, post
from tests.support.served import INITIALIZE, Served, served
from tests.support.standin import Received, Reply, StandIn

EXAMPLES = int(os.environ.get("EXAMPLES", "300"))
TOKEN = "glpat-canarycanarycanary00"
MARK = TOKEN.removeprefix("glpat-")
SECONDS = 15
"""Longer than any call may take here."""
FLAGS = (
    "--toolsets",
    "all",
    "--trust",
    "dangerous",
    "--confirm",
    "never",
    "--deadline",
    "8",
    "--quota",
    "none",
)
fuzzed = settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    print_blob=True,
    # Each look at a message that is not answered waits for its whole time.
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
)

WORDS = st.one_of(
    st.text(max_size=20),
    st.sampled_from(
        ["", " ", "..", "../..", "%2e%2e%2f", "a/b", "\x00", "\u202e", "\ud83d\ude00", "null", "-1", "*"]
    ),
    st.sampled_from(
        ["/merge", "Infinity", "1e999", "9" * 400, "a" * 5000, "${GITLAB_TOKEN}", "{{7*7}}", "'; --"]
    ),
)
NUMBERS = st.one_of(st.integers(), st.floats(), st.sampled_from([0, -1, 2**31, 2**63, 2**64, 10**40]))
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), NUMBERS, WORDS),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(WORDS, inner, max_size=4),
        inner.map(lambda each: [[[each]]]),
    ),
    max_leaves=12,
)
TOOLS: dict[str, Any] = {
    tool["name"]: tool["inputSchema"]["properties"] for tool in App(Settings(toolsets=("all",))).listing()
}


def fitting(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Values of the listed type, so that calls get as far as GitLab."""
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    match schema.get("type"):
        case "integer":
            return st.integers(1, 50)
        case "boolean":
            return st.booleans()
        case "array":
            return st.lists(fitting(schema.get("items", {})), max_size=3)
        case "object":
            return st.dictionaries(WORDS, VALUES, max_size=3)
        case _:
            return st.sampled_from(["acme/website", "1", "main", "bug", "2026-01-01", "README.md"]) | WORDS


@st.composite
def calls(draw: st.DrawFn) -> dict[str, Any]:
    """`tools/call`: most fields fit, some do not."""
    name = draw(st.sampled_from(sorted(TOOLS)))
    fields = TOOLS[name]
    arguments: dict[str, Any] = {}
    for field, schema in fields.items():
        if field == "action" or draw(st.integers(0, 2)):
            arguments[field] = draw(fitting(schema) if draw(st.integers(0, 9)) else VALUES)
    extra = st.sampled_from(
        ["format", "detail", "fields", "max_bytes", "dry_run", "url", "confirmation_token", "page"]
    )
    arguments |= draw(st.dictionaries(extra | WORDS, VALUES, max_size=2))
    params: dict[str, Any] = {
        "name": name if draw(st.integers(0, 9)) else draw(WORDS),
        "arguments": arguments,
    }
    if not draw(st.integers(0, 9)):
        params["_meta"] = draw(VALUES)
    return {"jsonrpc": "2.0", "method": "tools/call", "params": params}


METHODS = st.sampled_from(
    ["tools/call", "tools/list", "initialize", "ping", "prompts/get", "resources/read", "server/discover",
     "notifications/cancelled", "notifications/initialized", "logging/setLevel", "completion/complete"]
)  # fmt: skip
ENVELOPES = st.fixed_dictionaries(
    {"jsonrpc": st.just("2.0") | VALUES, "method": METHODS | WORDS},
    optional={"params": VALUES, "id": VALUES, "result": VALUES, "error": VALUES},
)


def as_bytes(message: Any) -> bytes:
    text = json.dumps(message)
    return text.replace("\\u0000", "\\u0000").encode("utf-8", "surrogatepass")


def broken(message: bytes, at: int, with_bytes: bytes) -> bytes:
    at = at % (len(message) + 1)
    return (message[:at] + with_bytes + message[at:]).replace(b"\n", b" ").replace(b"\r", b" ")


LINES = st.one_of(
    ENVELOPES.map(as_bytes),
    calls().map(as_bytes),
    st.builds(broken, calls().map(as_bytes), st.integers(0, 5000), st.binary(min_size=1, max_size=4)),
    st.binary(max_size=60).map(lambda line: line.replace(b"\n", b" ").replace(b"\r", b" ")),
    st.integers(1, 20_000).map(lambda deep: b"[" * deep),
    VALUES.map(as_bytes),
)

MEMBERS = st.sampled_from(["id", "iid", "name", "title", "sha", "web_url", "author"])
BODIES = st.one_of(
    VALUES.map(lambda value: json.dumps(value).encode()),
    st.lists(st.dictionaries(MEMBERS, VALUES), max_size=3).map(lambda rows: json.dumps(rows).encode()),
    st.binary(max_size=200),
    st.sampled_from(
        [b"", b"{", b"<html><body>Sign in", b"null", b'{"message":"403 Forbidden"}', b"[]", b"\xff\xfe"]
    ),
)
REPLIES = st.builds(
    lambda status, body, kind, more: Reply(status, body, {"Content-Type": kind, **more}),
    st.sampled_from(
        [200, 200, 200, 201, 202, 204, 301, 304, 400, 401, 403, 404, 409, 412, 422, 429, 451, 500, 503]
    ),
    BODIES,
    st.sampled_from(
        ["application/json", "text/html", "text/plain", "application/octet-stream", "", "a/b; charset=x"]
    ),
    st.dictionaries(
        st.sampled_from(
            ["Link", "X-Next-Page", "X-Total", "X-Total-Pages", "Retry-After", "Location", "ETag"]
        ),
        st.sampled_from(
            ["", "0", "-1", "99999999999", '<http://127.0.0.1:9/api/v4/x>; rel="next"', "soon", "1"]
        ),
        max_size=2,
    ),
)


class Anything:
    """A GitLab that answers what was drawn, one after the other, and the last again and again."""

    def __init__(self) -> None:
        self.replies: list[Reply] = [Reply.of(200, [])]

    def owns(self, received: Received) -> bool:
        return True

    def reply_to(self, received: Received) -> Reply:
        reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        # Bodies that HTTP does not allow would be an error of the stand-in.
        return Reply(reply.status, b"", reply.headers) if reply.status in (204, 304) else reply


@pytest.fixture(scope="module")
def anything() -> Anything:
    return Anything()


@pytest.fixture(scope="module")
def gitlab(anything: Anything) -> Iterator[str]:
    with StandIn() as standin:
        standin.add(anything)
        yield standin.url


class Process:
    """The server over stdio. What it says is read all the time."""

    def __init__(self, gitlab: str) -> None:
        from tests.support.forked import command

        variables = {**environment(gitlab), "GITLAB_TOKEN": TOKEN}
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            [*command(), *FLAGS], env=variables, stdin=pipe, stdout=pipe, stderr=pipe
        )
        self.said: queue.Queue[bytes] = queue.Queue()
        self.log = bytearray()
        self._readers = [
            threading.Thread(target=read, daemon=True) for read in (self._read_answers, self._read_log)
        ]
        for reader in self._readers:
            reader.start()
        self._pings = 0
        self.write(as_bytes(INITIALIZE))
        self.said.get(timeout=SECONDS)
        self.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        for reader in self._readers:
            reader.join()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert pipe
            with suppress(BrokenPipeError):
                pipe.close()

    def _read_answers(self) -> None:
        assert self.process.stdout
        for each in self.process.stdout:
            self.said.put(each)

    def _read_log(self) -> None:
        assert self.process.stderr
        for each in self.process.stderr:
            self.log += each

    def write(self, message: bytes) -> None:
        assert self.process.stdin
        self.process.stdin.write(message + b"\n")
        self.process.stdin.flush()

    def answers_to(self, message: bytes, id: Any) -> list[dict[str, Any]]:
        """All that is said until the message is answered, where it has an id, and a ping after it."""
        self._pings += 1
        mark = f"ping-{self._pings}"
        self.write(message)
        self.write(as_bytes({"jsonrpc": "2.0", "id": mark, "method": "ping"}))
        said: list[dict[str, Any]] = []
        waits_for = {json.dumps(each) for each in ((mark,) if id is None else (mark, id))}
        while waits_for:
            answer = json.loads(self.said.get(timeout=SECONDS))
            waits_for.discard(json.dumps(answer.get("id")))
            if answer.get("id") != mark:
                said.append(answer)
        return said


def judge(answer: dict[str, Any]) -> None:
    """What the contract promises of any answer."""
    whole = json.dumps(answer)
    assert answer.get("jsonrpc") == "2.0"
    assert "Traceback" not in whole and 'File \\"' not in whole
    assert MARK not in whole
    if "error" in answer:
        assert isinstance(answer["error"]["code"], int) and answer["error"]["message"]
        return
    result = answer.get("result")
    if isinstance(result, dict) and result.get("isError"):
        failure = result["structuredContent"]
        assert failure["error_code"] and failure["message"], failure
        assert failure["error_code"] != "INTERNAL_ERROR", failure
        assert "suggested_fix" in failure or "check_with" in failure, failure


@pytest.fixture(scope="module")
def process(gitlab: str) -> Iterator[Process]:
    running = Process(gitlab)
    yield running
    running.end()


def test_stdio_whatever_line_comes_is_answered_and_the_session_goes_on(
    process: Process, anything: Anything
) -> None:
    @fuzzed
    @given(LINES, st.lists(REPLIES, min_size=1, max_size=3))
    def whatever(message: bytes, replies: list[Reply]) -> None:
        anything.replies = list(replies)
        for answer in process.answers_to(message, None):
            judge(answer)
        assert process.process.poll() is None

    whatever()
    assert MARK.encode() not in process.log and b"Traceback" not in process.log


def test_stdio_whatever_is_called_ends_in_the_words_of_the_contract(
    process: Process, anything: Anything
) -> None:
    number = 0

    @fuzzed
    @given(calls(), st.lists(REPLIES, min_size=1, max_size=3))
    def whatever(call: dict[str, Any], replies: list[Reply]) -> None:
        nonlocal number
        number += 1
        anything.replies = list(replies)
        answers = process.answers_to(as_bytes({**call, "id": f"call-{number}"}), f"call-{number}")
        mine = [answer for answer in answers if answer.get("id") == f"call-{number}"]
        assert len(mine) == 1
        for answer in answers:
            judge(answer)

    whatever()
    assert MARK.encode() not in process.log


@pytest.fixture(scope="module")
def server(gitlab: str) -> Iterator[Served]:
    with served(gitlab, *FLAGS[2:], "--client-timeout", "3") as serving:
        yield serving


HEADERS = st.dictionaries(
    st.sampled_from(["Accept", "Content-Type", "PRIVATE-TOKEN", "Authorization", "Mcp-Protocol-Version", "Origin",
                     "X-GitLab-URL", "X-GitLab-Toolsets", "X-GitLab-Read-Only", "X-MCP-Error-Style", "traceparent",
                     "Transfer-Encoding", "Content-Encoding", "Expect", "X-Forwarded-For"]),
    st.text(st.characters(min_codepoint=32, max_codepoint=255, exclude_characters="\x7f"), max_size=40)
    | st.sampled_from(["", "*/*", "gzip", "chunked", "100-continue", "close", f"Bearer {TOKEN}", "null", "-1"]),
    max_size=4,
)  # fmt: skip


def test_http_whatever_request_comes_is_answered_and_the_next_is_served(
    server: Served, anything: Anything
) -> None:
    @fuzzed
    @given(
        st.sampled_from(["POST /mcp", "GET /mcp", "DELETE /mcp", "POST /", "GET /", "PUT /mcp?x=%00", "GET /%2e%2e"]),
        HEADERS,
        LINES,
        st.lists(REPLIES, min_size=1, max_size=3),
    )  # fmt: skip
    def whatever(request: str, headers: dict[str, str], body: bytes, replies: list[Reply]) -> None:
        anything.replies = list(replies)
        usual = {"PRIVATE-TOKEN": TOKEN, "Content-Type": "application/json"}
        usual |= {
            "Accept": "application/json, text/event-stream",
            "Connection": "close",
            "Content-Length": str(len(body)),
        }
        fields = {**usual, **headers}
        raw = "\r\n".join(
            [f"{request} HTTP/1.1", "Host: localhost", *(f"{k}: {v}" for k, v in fields.items()), "", ""]
        )
        with line(server) as connection:
            connection.settimeout(SECONDS)
            with suppress(ConnectionError):
                connection.sendall(raw.encode("latin-1") + body)
            answer = _all_of(connection)
        assert answer.startswith(b"HTTP/1.1 ") or not answer
        assert b"Traceback" not in answer and MARK.encode() not in answer
        assert server.process.poll() is None

    whatever()
    anything.replies = [Reply.of(200, [])]
    assert asked(server, post()).status == 200
    assert MARK not in server.log and "Traceback" not in server.log


def test_http_bytes_that_are_no_request_harm_nobody(server: Served) -> None:
    @fuzzed
    @given(st.binary(max_size=300) | st.binary(max_size=50).map(lambda more: head("POST /mcp")[:-2] + more))
    def whatever(sent: bytes) -> None:
        with line(server) as connection, suppress(ConnectionError):
            connection.settimeout(SECONDS)
            connection.sendall(sent)
            connection.shutdown(1)
            is_closed(connection)
        assert server.process.poll() is None

    whatever()
    assert asked(server, post()).status == 200


def _all_of(connection: Any) -> bytes:
    received = b""
    with suppress(ConnectionError):
        while more := connection.recv(65536):
            received += more
    return received

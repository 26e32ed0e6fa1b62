"""The first answers, given before the server is there, are those of the server."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast

import pytest
from first_answers import (
    ENVELOPE,
    INITIALIZED,
    LEFT_TO_THE_SERVER,
    first_answers,
    initialize,
    modern,
    said,
)
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from gitlab_mcp.actions.registry import Registry
from gitlab_mcp.app import App
from gitlab_mcp.settings import load
from gitlab_mcp.settings.listing import listed_tools
from gitlab_mcp.transports.front import Front, Opening
from gitlab_mcp.transports.standard_streams import StandardStreams

Message = dict[str, Any]


def asks(id: int | str, method: str, **params: Any) -> Message:
    return {"jsonrpc": "2.0", "id": id, "method": method, **({"params": params} if params else {})}


LISTED = asks("list", "tools/list")
CONVERSATIONS: dict[str, list[Message]] = {
    **{
        version: [initialize(version), INITIALIZED, asks(2, "ping"), asks(3, "tools/list")]
        for version in HANDSHAKE_PROTOCOL_VERSIONS
    },
    "no version of the handshake": [initialize("2026-07-28"), INITIALIZED, asks(2, "ping")],
    "a made-up version": [initialize("1999-01-01"), INITIALIZED, LISTED],
    "modern": [modern(1, "server/discover"), modern(2, "tools/list"), modern(3, "ping")],
    "modern without asking": [modern(1, "tools/list"), modern(2, "tools/list"), modern(3, "server/discover")],
    "a call": [
        initialize("2025-11-25"),
        INITIALIZED,
        asks(2, "tools/call", name="no_such_tool", arguments={}),
    ],
    "a call after the list": [
        initialize("2025-11-25"),
        INITIALIZED,
        LISTED,
        asks(2, "tools/call", name="browse_labels", arguments={"action": "nothing"}),
        asks(3, "tools/list"),
    ],
    "a list before the handshake": [LISTED, initialize("2025-11-25")],
    "a list in the middle of the handshake": [initialize("2025-11-25"), LISTED],
    "two handshakes": [initialize("2025-11-25"), {**initialize("2025-06-18"), "id": 2}],
    "a handshake after modern": [modern(1, "tools/list"), {**initialize("2025-11-25"), "id": 2}],
    "modern after a handshake": [initialize("2025-11-25"), INITIALIZED, modern(2, "tools/list")],
    "empty parameters": [initialize("2025-11-25"), {**INITIALIZED, "params": {}}, {**LISTED, "params": {}}],
    "a cursor": [initialize("2025-11-25"), INITIALIZED, asks(2, "tools/list", cursor="x")],
    "progress": [initialize("2025-11-25"), INITIALIZED, asks(2, "tools/list", _meta={"progressToken": "t"})],
    "an id twice": [initialize("2025-11-25"), INITIALIZED, asks(1, "ping")],
    "no client": [asks(1, "initialize", protocolVersion="2025-11-25", capabilities={})],
    "capabilities": [initialize("2025-11-25", capabilities={"roots": {"listChanged": True}, "sampling": {}})],
    "odd capabilities": [initialize("2025-11-25", capabilities={"roots": "yes"})],
    "no envelope": [asks(1, "server/discover")],
    "an envelope without its version": [
        asks(1, "tools/list", _meta={name: each for name, each in ENVELOPE.items() if "Version" not in name})
    ],
    "a method that is none": [initialize("2025-11-25"), INITIALIZED, asks(2, "tools/burn")],
    "a resource": [initialize("2025-11-25"), INITIALIZED, asks(2, "resources/list")],
}


class Spoken:
    """The standard streams of a client that has said all it will say."""

    def __init__(self, lines: Iterable[bytes]) -> None:
        self.lines = iter(lines)
        self.written = b""

    def write_at_once(self, line: bytes) -> memoryview:
        self.written += line
        return memoryview(b"")

    @property
    def answers(self) -> list[Message]:
        answers = [json.loads(line) for line in self.written.splitlines()]
        return sorted(map(_comparable, answers), key=lambda answer: str(answer["id"]))


def with_front(messages: list[Message], **flags: Any) -> list[Message]:
    settings = load(flags, {"GITLAB_TOKEN": "nobody's"})
    front = Front(listed_tools(settings, Registry())())
    streams = Spoken(json.dumps(message).encode() + b"\n" for message in messages)
    for line in streams.lines:
        answer = front.answer(line)
        if answer is None:
            App(settings).over_stdio()(cast(StandardStreams, streams), front.opening(line))
            break
        streams.written += answer
    return streams.answers


def without_front(messages: list[Message], **flags: Any) -> list[Message]:
    streams = Spoken(json.dumps(message).encode() + b"\n" for message in messages)
    app = App(load(flags, {"GITLAB_TOKEN": "nobody's"}))
    app.over_stdio()(cast(StandardStreams, streams), Opening((), frozenset()))
    return streams.answers


@pytest.mark.parametrize("name", CONVERSATIONS)
def test_a_client_cannot_tell_the_first_answers_from_those_of_the_server(name: str) -> None:
    assert with_front(CONVERSATIONS[name]) == without_front(CONVERSATIONS[name])


@pytest.mark.parametrize("name", ["2025-11-25", "modern", "a call after the list"])
def test_nor_can_the_client_of_a_process(name: str) -> None:
    messages = CONVERSATIONS[name]
    in_front, behind = said(messages), said([LEFT_TO_THE_SERVER, *messages])
    assert list(map(_comparable, in_front)) == list(map(_comparable, behind))


@pytest.mark.parametrize(
    "flags",
    [
        {"toolsets": "all"},
        {"read_only": True},
        {"toolsets": "discover"},
        {"never_actions": "manage_*"},
        {"only_actions": "browse_issues.*"},
        {"trust": "reversible"},
    ],
    ids=str,
)
def test_the_list_is_as_the_guards_leave_it(flags: dict[str, Any]) -> None:
    messages = [initialize("2025-11-25"), INITIALIZED, LISTED]
    assert with_front(messages, **flags) == without_front(messages, **flags)


def test_the_packaged_answers_are_those_of_this_version() -> None:
    front = Front([])
    assert front._known == json.loads(first_answers()), "run `make docs`"


def test_the_list_needs_nothing_that_takes_long_to_import() -> None:
    script = (
        "import sys; from gitlab_mcp.cli import serve; from gitlab_mcp.settings import load, listing; "
        "from gitlab_mcp.actions.registry import Registry; from gitlab_mcp.transports.front import Front; "
        "tools = listing.listed_tools(load({}), Registry())(); Front(tools); "
        "sys.exit(not {'pydantic', 'mcp', 'anyio', 'asyncio', 'requests'}.isdisjoint(sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", script], cwd="/", check=False).returncode == 0


@pytest.mark.parametrize("wish", [signal.SIGTERM, signal.SIGINT])
def test_a_server_that_was_only_asked_what_it_can_do_ends_at_once_with_zero(wish: int) -> None:
    process = started()
    assert process.stdin and process.stdout
    process.stdin.write(json.dumps(initialize("2025-11-25")).encode() + b"\n")
    process.stdin.flush()
    assert json.loads(process.stdout.readline())["id"] == 1
    process.send_signal(wish)
    _, log = process.communicate(timeout=10)
    assert (process.returncode, log) == (0, b"")


def started() -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "gitlab_mcp.cli"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "GITLAB_TOKEN": "nobody's"},
    )


def in_pieces(pieces: Iterable[bytes], pause: float = 0.0) -> list[Message]:
    """What a process answers to pieces of lines, with a pause after each. It ends with zero."""
    process = started()
    assert process.stdin
    for piece in pieces:
        process.stdin.write(piece)
        process.stdin.flush()
        time.sleep(pause)
    answers, log = process.communicate(timeout=30)
    assert (process.returncode, b"Traceback" in log) == (0, False)
    return [json.loads(line) for line in answers.splitlines()]


def lines_of(messages: Iterable[Message]) -> list[bytes]:
    return [json.dumps(message).encode() + b"\n" for message in messages]


def test_messages_may_come_in_one_piece_or_cut_anywhere() -> None:
    messages = CONVERSATIONS["2025-11-25"]
    whole = b"".join(lines_of(messages))
    expected = said(messages)
    for pieces in ([whole], [whole[:100], whole[100:-5], whole[-5:]]):
        assert sorted(in_pieces(pieces), key=lambda answer: str(answer["id"])) == expected


@pytest.mark.parametrize("name", ["2025-11-25", "modern", "a list in the middle of the handshake"])
def test_a_client_that_takes_its_time_is_answered_the_same_by_the_server_behind(name: str) -> None:
    messages = CONVERSATIONS[name]
    assert list(map(_comparable, in_pieces(lines_of(messages), pause=1.5))) == list(
        map(_comparable, said(messages))
    )


@pytest.mark.skipif(sys.platform != "linux", reason="its files are read from /proc")
def test_the_server_takes_over_without_being_called() -> None:
    process = started()
    assert process.stdin and process.stdout
    process.stdin.writelines(lines_of([initialize("2025-11-25"), INITIALIZED]))
    process.stdin.flush()
    assert json.loads(process.stdout.readline())["id"] == 1
    deadline = time.monotonic() + 30
    # An event loop has one; the front reads without.
    while not any("eventpoll" in file for file in files_of(process)):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert process.communicate(timeout=30) == (b"", b"")
    assert process.returncode == 0


def files_of(process: subprocess.Popen[bytes]) -> list[str]:
    return [str(file.readlink()) for file in Path(f"/proc/{process.pid}/fd").iterdir()]


def test_a_client_that_is_gone_right_after_its_first_message_has_its_answer() -> None:
    [answer] = in_pieces(lines_of([initialize("2025-11-25")]))
    assert answer["result"]["serverInfo"]["name"] == "gitlab-mcp-server"


def test_a_client_that_says_nothing_is_no_mistake() -> None:
    assert in_pieces([]) == []


def test_what_is_no_message_is_told_so_and_the_next_is_answered() -> None:
    wrong, opened = in_pieces([b"nonsense\n", *lines_of([initialize("2025-11-25")])])
    assert wrong["error"]["code"] == -32700
    assert opened["id"] == 1
    assert "result" in opened


def test_a_call_that_comes_with_the_handshake_is_answered() -> None:
    messages = [*CONVERSATIONS["a call"]]
    opened, called = in_pieces([b"".join(lines_of(messages))])
    assert (opened["id"], called["id"]) == (1, 2)
    assert called["result"]["isError"]


@pytest.mark.parametrize("seconds", [0.0, 0.01, 0.02, 0.03, 0.05])
def test_a_server_that_is_no_longer_wanted_while_it_starts_ends_in_silence(seconds: float) -> None:
    process = started()
    time.sleep(seconds)
    process.terminate()
    said, complaints = process.communicate(timeout=10)
    # Zero once it has seen to signals.
    assert process.returncode in (0, -signal.SIGTERM)
    assert (said, complaints) == (b"", b"")


@pytest.mark.parametrize(
    "line",
    [
        b"nonsense",
        b"[]",
        b'{"jsonrpc": "2.0"}',
        b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}',
        b'{"jsonrpc": "2.0", "id": 1, "id": 2, "method": "initialize"}',
        b'{"jsonrpc": "2.0", "id": true, "method": "initialize", "params": {}}',
        b'{"jsonrpc": "2.0", "id": null, "method": "initialize", "params": {}}',
        b'{"jsonrpc": "2.0", "id": 1, "method": ["initialize"], "params": {}}',
        b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": []}}',
        b'{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": {}}}',
        b'{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": NaN}',
        b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": ' + b"[" * 5_000 + b"]" * 5_000 + b"}",
        b'{"jsonrpc": "2.0", "id": 1, "method": "\xff"}',
        b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"a": "' + b"x" * 100_000 + b'"}}',
    ],
    ids=lambda line: line[:60].decode(errors="replace"),
)
def test_what_is_not_known_is_left_to_the_server(line: bytes) -> None:
    front = Front([])
    assert front.answer(line + b"\n") is None
    assert front.opening(line).lines == (line,)


def _comparable(answer: Message) -> Message:
    """Without what differs from one try to the next."""
    comparable: Message = json.loads(
        json.dumps(answer), object_hook=lambda each: {k: v for k, v in each.items() if k != "request_id"}
    )
    return comparable

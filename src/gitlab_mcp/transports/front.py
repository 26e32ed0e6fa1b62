"""The first answers over standard input and output, given before the server that gives all others is there.

A client that starts a server waits for `initialize` and for the list of tools. Both are known beforehand, and what
serves calls takes most of a second to import. So they are answered from here with the standard library alone, while a
thread makes the server. When it is made, or with the first message that is anything else, the server reads on from
there, after the messages that tell it which protocol is spoken. Its own answers to these are not written.

`first_answers.json` is what the server says, asked by scripts/generate.py. A message that differs in anything from
those known here is left to the server.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from typing import Any, Final

from gitlab_mcp.transports.standard_streams import StandardStreams
from gitlab_mcp.transports.stop_signals import STOP_SIGNALS

_LONGEST_LINE: Final = 64 * 1024
_MODERN: Final = "io.modelcontextprotocol/"
_INITIALIZED: Final = {"method": "notifications/initialized"}
_CLIENT_SAYS: Final = {"name", "version", "title", "description", "websiteUrl"}


@dataclass(frozen=True, slots=True)
class Opening:
    """What was said before the server took over."""

    lines: tuple[bytes, ...]
    """What it must still read."""
    answered: frozenset[str | int]
    """The ids of those messages in it that have their answer."""


Serve = Callable[[StandardStreams, Opening], int]


def serve_with_front(tools: Sequence[Mapping[str, Any]] | None, make: Callable[[], Serve]) -> int:
    """`make` imports and makes what serves, in a thread."""
    made = _Made(make)
    with StandardStreams() as streams:
        front = Front(tools)
        signals = {each: signal.signal(each, _leave) for each in STOP_SIGNALS}
        unanswered = None
        while not front.is_open or streams.lines.come_before(made.ended):
            if (line := next(streams.lines, None)) is None:
                _leave()
            elif (answer := front.answer(line)) is None:
                unanswered = line
                break
            else:
                streams.write(answer)
                # Not before the first answer: the client waits for that.
                made.begin()
        serve = made.result()
        for each, handler in signals.items():
            signal.signal(each, handler)
        return serve(streams, front.opening(unanswered))


class _Made:
    """What serves, made in a thread. Nothing else imports meanwhile: two threads whose imports meet in a circle could
    each see half a module."""

    def __init__(self, make: Callable[[], Serve]) -> None:
        self._make = make
        self._thread = Thread(target=self._run, daemon=True)
        self._mistake: BaseException | None = None
        self.ended, self._end = os.pipe()
        """At its end when all is made: then there is something to read, namely the end."""

    def begin(self) -> None:
        if self._thread.ident is None:
            self._thread.start()

    def result(self) -> Serve:
        self.begin()
        self._thread.join()
        os.close(self.ended)
        if self._mistake is not None:
            raise self._mistake
        return self._serve

    def _run(self) -> None:
        try:
            self._serve = self._make()
        except BaseException as mistake:
            self._mistake = mistake
        finally:
            os.close(self._end)


def _leave(*_: object) -> None:
    """Nothing is under way, and the thread that imports is not waited for."""
    sys.stderr.flush()
    os._exit(0)


@dataclass(slots=True)
class Front:
    """Reads one message after the other and knows the answers to the first ones."""

    tools: Sequence[Mapping[str, Any]] | None
    """What is listed; None where that depends on who calls, and the server must say it."""
    _known: Mapping[str, Any] = field(default_factory=lambda: first_answers())
    _era: str | None = None
    """The first request decides it: `handshake` or `modern`."""
    _is_initialized: bool = False
    _lines: list[bytes] = field(default_factory=list)
    _answered: set[str | int] = field(default_factory=set)

    def answer(self, line: bytes) -> bytes | None:
        """What to write, which may be nothing; None where the server must read this message."""
        if not line.strip():
            return b""
        message = _read(line)
        if message is None:
            return None
        if message == _INITIALIZED or message == {**_INITIALIZED, "params": {}}:
            return self._initialized(line)
        id, method, params = message.get("id"), message.get("method"), message.get("params", {})
        if not isinstance(id, str | int) or isinstance(id, bool) or not isinstance(params, dict):
            return None
        result = self._result(method, params)
        if result is None:
            return None
        if not self._answered:
            # The server must read it all the same: it decides the era there, too.
            self._lines.append(line)
            self._answered.add(id)
        return _line({"jsonrpc": "2.0", "id": id, "result": result})

    @property
    def is_open(self) -> bool:
        """Whether the client has said which protocol it speaks. From then on the server can take over."""
        return self._era is not None

    def opening(self, unanswered: bytes | None = None) -> Opening:
        lines = [*self._lines, *([unanswered] if unanswered is not None else [])]
        return Opening(tuple(lines), frozenset(self._answered))

    def _initialized(self, line: bytes) -> bytes | None:
        if self._era != "handshake":
            return None
        self._lines.append(line)
        self._is_initialized = True
        return b""

    def _result(self, method: Any, params: Mapping[str, Any]) -> Mapping[str, Any] | None:
        if method == "initialize":
            return self._initialize(params)
        era = self._era_of(params)
        known: Mapping[str, Any] | None = self._known[era].get(method) if era else None
        if known is None or (method == "tools/list" and self.tools is None):
            return None
        self._era = era
        return {**known, "tools": self.tools} if method == "tools/list" else known

    def _era_of(self, params: Mapping[str, Any]) -> str | None:
        """The era of a request without parameters of its own; None where another era is spoken, or none yet."""
        meta = params.get("_meta", {})
        if params.keys() - {"_meta"} or not isinstance(meta, dict):
            return None
        token = meta.get("progressToken", "")
        if not isinstance(token, str | int) or isinstance(token, bool):
            return None
        envelope = {
            name.removeprefix(_MODERN): value for name, value in meta.items() if name != "progressToken"
        }
        if not envelope:
            return "handshake" if self._is_initialized else None
        is_modern = (
            self._era != "handshake"
            and envelope.keys() == {"protocolVersion", "clientInfo", "clientCapabilities"}
            and envelope["protocolVersion"] == self._known["modern_version"]
            and _is_client(envelope["clientInfo"])
            and _is_plain(envelope["clientCapabilities"])
        )
        return "modern" if is_modern else None

    def _initialize(self, params: Mapping[str, Any]) -> Mapping[str, Any] | None:
        is_known = (
            self._era is None
            and params.keys() == {"protocolVersion", "capabilities", "clientInfo"}
            and params["protocolVersion"] in self._known["handshake_versions"]
            and _is_client(params["clientInfo"])
            and _is_plain(params["capabilities"])
        )
        if not is_known:
            return None
        self._era = "handshake"
        return {**self._known["handshake"]["initialize"], "protocolVersion": params["protocolVersion"]}


def first_answers() -> Mapping[str, Any]:
    text = Path(__file__).with_name("first_answers.json").read_text("utf-8")
    answers: Mapping[str, Any] = json.loads(text)
    return answers


def _read(line: bytes) -> dict[str, Any] | None:
    """The message without its `jsonrpc`; None where that is for others to say."""
    if len(line) > _LONGEST_LINE:
        return None
    try:
        message = json.loads(line.decode("utf-8"), parse_constant=_refuse, object_pairs_hook=_without_doubles)
    except (ValueError, RecursionError):
        return None
    if not isinstance(message, dict) or message.pop("jsonrpc", None) != "2.0":
        return None
    return message if message.keys() <= {"id", "method", "params"} else None


def _refuse(_: str) -> Any:
    raise ValueError


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError
    return found


def _is_client(info: Any) -> bool:
    return (
        isinstance(info, dict)
        and {"name", "version"} <= info.keys() <= _CLIENT_SAYS
        and all(isinstance(each, str) for each in info.values())
    )


def _is_plain(capabilities: Any) -> bool:
    """Objects of objects, with yes and no in them: what clients say they can do."""
    return isinstance(capabilities, dict) and all(
        isinstance(each, bool) or _is_plain(each) for each in capabilities.values()
    )


def _line(message: Mapping[str, Any]) -> bytes:
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"

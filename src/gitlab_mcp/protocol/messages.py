"""Reads one JSON-RPC message from bytes. What cannot be read is refused, never repaired: a repaired text would go to
GitLab."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Final

from mcp.types import INVALID_REQUEST, PARSE_ERROR, JSONRPCMessage, jsonrpc_message_adapter
from pydantic import ValidationError

from gitlab_mcp.actions.arguments.limits import MOST_VALUES
from gitlab_mcp.actions.json_text import measure
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import Failure

_ESCAPE: Final = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|(?P<lone>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)
"""One escape in a JSON string. A pair of surrogates counts as one."""
_MOST_VALUES: Final = 2 * MOST_VALUES
"""Counted before any is read. What is about a call itself is refused later, in the answer to the call."""
_BROKEN_BYTE: Final = re.compile("[\udc80-\udcff]")
"""What `surrogateescape` makes of a byte that is no UTF-8."""


@dataclass(frozen=True, slots=True)
class Message:
    parsed: JSONRPCMessage
    content: bytes
    """The message as well-formed JSON."""
    failure: Failure | None = None
    """Why the message must not be acted upon. `parsed` and `content` then show who asked for what, with `?` for what
    cannot be read."""


class NoMessage(Exception):
    """There is nothing in the bytes that could be handed on. `id` is None where none can be read."""

    def __init__(self, failure: Failure, json_rpc_code: int, id: str | int | None = None) -> None:
        super().__init__(failure.code)
        self.failure = failure
        self.json_rpc_code = json_rpc_code
        self.id = id


def read_message(raw: bytes) -> Message:
    """Raises NoMessage."""
    if measure(raw).values > _MOST_VALUES:
        raise NoMessage(_too_many(), PARSE_ERROR)
    text = raw.decode("utf-8", "surrogateescape")
    broken = _broken_position(text)
    try:
        value = json.loads(text)
    except json.JSONDecodeError as mistake:
        position = mistake.pos if broken is None else broken
        failure = _no_json(_bytes_before(text, position)) if broken is None else _bad_encoding(text, broken)
        raise NoMessage(failure, PARSE_ERROR) from None
    except RecursionError:
        raise NoMessage(_too_deep(), PARSE_ERROR) from None
    except ValueError:
        # A number with more digits than Python reads.
        raise NoMessage(_no_json(None), PARSE_ERROR) from None
    id = _id_of(value)
    if broken is None:
        return Message(_parsed(raw, id), raw)
    failure = _bad_encoding(text, broken)
    if isinstance(value, dict) and "method" not in value:
        # An answer to a question of ours must not be taken for what the person said.
        value = {"jsonrpc": "2.0", "id": id, "error": {"code": PARSE_ERROR, "message": failure.message}}
    content = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
    return Message(_parsed(content, id), content, failure)


def error_object(failure: Failure, json_rpc_code: int, error_style: str) -> dict[str, Any]:
    """The `error` of a JSON-RPC answer. The rendered failure is its `data`."""
    from gitlab_mcp.failures.render import render

    sentences = filter(None, [failure.message, failure.facts.get("suggested_fix")])
    return {"code": json_rpc_code, "message": " ".join(sentences), "data": render(failure, error_style)}


def _broken_position(text: str) -> int | None:
    """Where the first character is that no text holds: a broken byte, or half a surrogate pair."""
    found = _BROKEN_BYTE.search(text)
    positions = [found.start()] if found else []
    if re.search(r"\\u[dD][89a-fA-F]", text):
        positions += next(([each.start()] for each in _ESCAPE.finditer(text) if each["lone"]), [])
    return min(positions, default=None)


def _bytes_before(text: str, position: int) -> int:
    return len(text[:position].encode("utf-8", "surrogateescape"))


def _id_of(value: Any) -> str | int | None:
    id = value.get("id") if isinstance(value, dict) else None
    if isinstance(id, str):
        return id.encode("utf-8", "replace").decode()
    return id if isinstance(id, int) and not isinstance(id, bool) else None


def _parsed(content: bytes, id: str | int | None) -> JSONRPCMessage:
    try:
        message: JSONRPCMessage = jsonrpc_message_adapter.validate_json(content, by_name=False)
    except ValidationError as mistake:
        # The SDK reads fewer levels than Python does.
        too_deep = any("recursion" in each["msg"] for each in mistake.errors(include_input=False))
        raise NoMessage(_too_deep() if too_deep else _no_json_rpc(), INVALID_REQUEST, id) from None
    return message


def _bad_encoding(text: str, position: int) -> Failure:
    what = "half a surrogate pair" if text[position] == "\\" else "a byte that is no UTF-8"
    return Failure(Code.INVALID_ENCODING, f"The message holds {what}. Nothing was done.").knowing(
        location="message",
        byte_offset=_bytes_before(text, position),
        confidence="certain",
        suggested_fix="Send the text as well-formed UTF-8.",
    )


def _no_json(byte_offset: int | None) -> Failure:
    return Failure(Code.INVALID_ENCODING, "The message is no JSON. Nothing was done.").knowing(
        location="message",
        byte_offset=byte_offset,
        confidence="certain",
        suggested_fix="Send one JSON-RPC message as JSON in UTF-8.",
    )


def _too_deep() -> Failure:
    return Failure(
        Code.PAYLOAD_TOO_LARGE, "The message is nested more deeply than this server reads."
    ).knowing(confidence="certain", suggested_fix="Send less nested arguments.")


def _too_many() -> Failure:
    return Failure(Code.PAYLOAD_TOO_LARGE, "The message holds more values than this server reads.").knowing(
        limit=_MOST_VALUES,
        limit_type="values",
        unit="values",
        confidence="certain",
        suggested_fix="Make several calls with fewer values each.",
    )


def _no_json_rpc() -> Failure:
    return Failure(
        Code.INVALID_VALUE, "The message is JSON, and no JSON-RPC message. Nothing was done."
    ).knowing(
        confidence="certain",
        suggested_fix='Send an object with "jsonrpc": "2.0", an "id" and a "method". Batches are not taken.',
    )

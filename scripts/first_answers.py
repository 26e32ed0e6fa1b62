"""What the server says to the first messages of a client: `transports/first_answers.json`, and what the front that
answers from it is held against."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, LATEST_MODERN_VERSION

CLIENT = {"name": "a client", "version": "1"}
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": LATEST_MODERN_VERSION,
    "io.modelcontextprotocol/clientInfo": CLIENT,
    "io.modelcontextprotocol/clientCapabilities": {},
}
LEFT_TO_THE_SERVER = {"jsonrpc": "2.0", "method": "notifications/nothing"}
"""The front knows no such message, so it answers nothing that comes after it."""
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def initialize(version: str, **more: Any) -> dict[str, Any]:
    params = {"protocolVersion": version, "capabilities": {}, "clientInfo": CLIENT, **more}
    return {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}


def modern(id: int, method: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": {"_meta": ENVELOPE}}


def said(messages: Sequence[Mapping[str, Any]], *flags: str) -> list[dict[str, Any]]:
    """What a server answers to these messages, in the order of their ids."""
    command = [sys.executable, "-m", "gitlab_mcp.cli", *flags]
    lines = "".join(json.dumps(message) + "\n" for message in messages)
    environ = {**os.environ, "GITLAB_TOKEN": "nobody's"}
    done = subprocess.run(
        command, input=lines.encode(), capture_output=True, env=environ, cwd=Path("/"), check=True
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    return sorted(answers, key=lambda answer: str(answer["id"]))


def first_answers() -> str:
    newest = HANDSHAKE_PROTOCOL_VERSIONS[-1]
    bare = {"jsonrpc": "2.0", "method": "ping"}
    opening, ping, listing = said(
        [
            LEFT_TO_THE_SERVER,
            initialize(newest),
            INITIALIZED,
            {**bare, "id": 2},
            {**bare, "id": 3, "method": "tools/list"},
        ]
    )
    discovered, listed = said([LEFT_TO_THE_SERVER, modern(1, "server/discover"), modern(2, "tools/list")])
    answers = {
        "handshake_versions": HANDSHAKE_PROTOCOL_VERSIONS,
        "modern_version": LATEST_MODERN_VERSION,
        "handshake": {
            "initialize": opening["result"],
            "ping": ping["result"],
            "tools/list": _without_tools(listing["result"]),
        },
        "modern": {"server/discover": discovered["result"], "tools/list": _without_tools(listed["result"])},
    }
    return json.dumps(answers, ensure_ascii=False, indent=1) + "\n"


def _without_tools(result: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in result.items() if name != "tools"}

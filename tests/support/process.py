"""The server as a client starts it: a subprocess on two pipes."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import threading
from typing import Any

from mcp import StdioServerParameters

from tests.support.forked import COLD, command

INHERITED = ("PATH", "PYTHONPATH", "COVERAGE_PROCESS_CONFIG")
"""What a server that a test starts takes over from the environment; the last is how `make coverage` measures it."""


def environment(url: str, **more: str) -> dict[str, str]:
    kept = {name: os.environ[name] for name in (*INHERITED, "HOME") if name in os.environ}
    return {**kept, "GITLAB_URL": url, "GITLAB_TOKEN": "alice", **more}


def parameters(url: str, *flags: str, **more: str) -> StdioServerParameters:
    program, *words = command()
    return StdioServerParameters(command=program, args=[*words, *flags], env=environment(url, **more))


class Spoken:
    """A server spoken to line by line, for what no well-behaved client would do."""

    def __init__(self, url: str, *flags: str, cold: bool = False, **more: str) -> None:
        self.process = subprocess.Popen(
            [*(COLD if cold else command()), *flags],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(url, **more),
        )
        self.complaints: list[bytes] = []
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()
        self._number = 0

    def _listen(self) -> None:
        assert self.process.stderr
        self.complaints.extend(self.process.stderr)

    def __enter__(self) -> Spoken:
        self.ask(
            "initialize",
            {
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "t", "version": "1"},
            },
        )
        self.write({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        self._listener.join(5)
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()

    def write(self, message: dict[str, Any] | bytes) -> None:
        assert self.process.stdin
        line = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def send(self, method: str, params: Any) -> int:
        self._number += 1
        self.write({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        return self._number

    def read(self) -> dict[str, Any]:
        assert self.process.stdout
        line = self.process.stdout.readline()
        assert line, b"".join(self.complaints).decode()
        message: dict[str, Any] = json.loads(line)
        return message

    def ask(self, method: str, params: Any) -> dict[str, Any]:
        number = self.send(method, params)
        while True:
            message = self.read()
            if message.get("id") == number:
                return message

    def call(self, tool: str, arguments: Any) -> dict[str, Any]:
        result: dict[str, Any] = self.ask("tools/call", {"name": tool, "arguments": arguments})["result"]
        return result

    def end_of_input(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()

    @property
    def said_badly(self) -> str:
        return b"".join(self.complaints).decode()

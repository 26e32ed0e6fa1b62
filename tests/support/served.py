"""The server as a team runs it: a process of its own, spoken to over HTTP."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, Literal

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.support.forked import command
from tests.support.process import INHERITED

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    },
}
ACCEPT = {"Accept": "application/json, text/event-stream"}


class Served:
    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.lines: list[str] = []
        self._more = threading.Condition()
        self._silent = False
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()
        self.wait_until_said("http://")
        found = re.search(r"http://[^\s\"]+", self.log)
        assert found, self.log
        self.url = found[0]

    def _listen(self) -> None:
        assert self.process.stderr
        for line in self.process.stderr:
            with self._more:
                self.lines.append(line.decode())
                self._more.notify_all()
        with self._more:
            self._silent = True
            self._more.notify_all()

    def wait_until_said(self, words: str) -> None:
        with self._more:
            self._more.wait_for(lambda: words in self.log or self._silent, 30)
        assert words in self.log, self.log

    @property
    def log(self) -> str:
        return "".join(self.lines)

    @property
    def secret(self) -> str:
        """The one that the server made and printed."""
        self.wait_until_said("--require-bearer-file")
        found = re.search(r"^    Authorization: Bearer (\S+)$", self.log, re.MULTILINE)
        assert found, self.log
        return found[1]

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2].partition("/")[0])

    def at(self, path: str) -> str:
        return self.url.removesuffix("/mcp") + path

    def stop(self, with_signal: int = signal.SIGTERM) -> None:
        self.process.send_signal(with_signal)

    def ended(self, seconds: float = 15) -> int:
        code = self.process.wait(seconds)
        self._listener.join(5)
        return code


def environment(gitlab: str, **more: str) -> dict[str, str]:
    kept = {name: os.environ[name] for name in INHERITED if name in os.environ}
    return {**kept, "GITLAB_URL": gitlab, **more}


@contextmanager
def served(gitlab: str, *flags: str, address: str = "127.0.0.1:0", **variables: str) -> Iterator[Served]:
    process = subprocess.Popen(
        [*command(), "serve", "--http", address, "--toolsets", "all", *flags],
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=environment(gitlab, **variables),
        cwd="/",
    )
    try:
        yield Served(process)
    finally:
        process.kill()
        process.wait()
        assert process.stderr
        process.stderr.close()


def refused(gitlab: str, *flags: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """A start that must not succeed."""
    return subprocess.run(
        [*command(), "serve", *flags],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=30,
        env=environment(gitlab, **variables),
        cwd="/",
        check=False,
    )


@asynccontextmanager
async def connected(
    url: str, era: Literal["legacy", "auto"] = "auto", **headers: str
) -> AsyncIterator[Client]:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    async with (
        httpx2.AsyncClient(headers=named, timeout=30) as http,
        Client(streamable_http_client(url, http_client=http), mode=era) as client,
    ):
        yield client


def call(tool: str, arguments: dict[str, Any], **meta: Any) -> dict[str, Any]:
    """One call as a message of the older era, which needs nothing before it."""
    params: dict[str, Any] = {"name": tool, "arguments": arguments}
    if meta:
        params["_meta"] = meta
    return {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}

"""Start-up, listing, calls and memory: ours beside a bare MCP server, in one run, as ratios."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import requests

from gitlab_mcp.actions.registry import Registry
from tests.support.standin import StandIn

ROOT = Path(__file__).resolve().parent.parent
STARTS = 7
CALLS = 200
AT_ONCE = 32


class Server:
    """A server over stdio, spoken to line by line, so that no client library is measured."""

    def __init__(self, command: list[str], url: str) -> None:
        env = {**os.environ, "GITLAB_URL": url, "GITLAB_TOKEN": "alice"}
        env.pop("PYTHONDONTWRITEBYTECODE", None)
        self.started = time.perf_counter()
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=env,
            cwd="/",
        )
        self._next = 0

    def send(self, method: str, params: dict[str, Any], *, notify: bool = False) -> int:
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params}
        if not notify:
            self._next += 1
            message["id"] = self._next
        assert self.process.stdin
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()
        return self._next

    def receive(self) -> dict[str, Any]:
        assert self.process.stdout
        while True:
            message: dict[str, Any] = json.loads(self.process.stdout.readline())
            if "id" in message:
                return message

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self.send(method, params)
        return self.receive()

    def initialize(self) -> float:
        client = {"name": "benchmark", "version": "1"}
        self.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
        self.send("notifications/initialized", {}, notify=True)
        return time.perf_counter() - self.started

    def call(self) -> dict[str, Any]:
        answer = self.ask("tools/call", {"name": "browse_labels", "arguments": ARGUMENTS})
        assert not answer["result"].get("isError"), answer
        return answer

    def memory(self) -> int:
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS")))

    def close(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait(10)


ARGUMENTS = {"action": "list", "project_id": "1"}


def median_ms(seconds: list[float]) -> float:
    return statistics.median(seconds) * 1000


def row(what: str, ours: float, bare: float, unit: str, aim: str) -> None:
    print(f"{what:<34}{ours:>10.1f}{bare:>10.1f} {unit:<5}{ours / bare:>7.2f}×  {aim}")


def main() -> None:
    registry = Registry()
    tools = len(registry.listing(["all"]))
    ours = [sys.executable, "-m", "gitlab_mcp.cli", "--toolsets", "all"]
    bare = [sys.executable, str(ROOT / "benchmarks/bare_server.py"), str(tools)]
    with StandIn() as gitlab:
        labels = json.dumps([{"id": n, "name": f"label {n}", "color": "#fff"} for n in range(20)])
        gitlab.answer("GET", "/projects/1/labels", 200, labels)
        print(f"{tools} tools, {len(registry.actions())} actions\n")
        print(f"{'':<34}{'ours':>10}{'bare':>10}")
        start(ours, bare, gitlab.url)
        calls(ours, bare, gitlab.url)


def start(ours: list[str], bare: list[str], url: str) -> None:
    times: dict[str, dict[str, list[float]]] = {
        name: {"initialize": [], "list": []} for name in ("ours", "bare")
    }
    for _ in range(STARTS):
        for name, command in (("ours", ours), ("bare", bare)):
            server = Server(command, url)
            times[name]["initialize"].append(server.initialize())
            server.ask("tools/list", {})
            times[name]["list"].append(time.perf_counter() - server.started)
            server.close()
    for what, aim in (("initialize", "aim ≤ 1.15×"), ("list", "")):
        ours_ms, bare_ms = median_ms(times["ours"][what]), median_ms(times["bare"][what])
        row(f"start → {'tools/list' if what == 'list' else what}", ours_ms, bare_ms, "ms", aim)


def calls(ours: list[str], bare: list[str], url: str) -> None:
    servers = {"ours": Server(ours, url), "bare": Server(bare, url)}
    for server in servers.values():
        server.initialize()
        server.call()
    session = requests.Session()
    raw: list[float] = []
    alone: dict[str, list[float]] = {name: [] for name in servers}
    for _ in range(CALLS):
        begun = time.perf_counter()
        session.get(f"{url}/api/v4/projects/1/labels", headers={"PRIVATE-TOKEN": "alice"}, timeout=30)
        raw.append(time.perf_counter() - begun)
        for name, server in servers.items():
            begun = time.perf_counter()
            server.call()
            alone[name].append(time.perf_counter() - begun)
    raw_ms, ours_ms, bare_ms = median_ms(raw), median_ms(alone["ours"]), median_ms(alone["bare"])
    row("one call", ours_ms, bare_ms, "ms", f"{ours_ms - bare_ms:+.2f} ms, aim ≤ +1.5 ms")
    row(
        "one call over the raw request",
        ours_ms - raw_ms,
        bare_ms - raw_ms,
        "ms",
        f"raw request {raw_ms:.1f} ms",
    )
    concurrently = {name: at_once(server) for name, server in servers.items()}
    row(f"{AT_ONCE} calls at once", concurrently["ours"] * 1000, concurrently["bare"] * 1000, "ms", "")
    memory = {name: server.memory() / 1024 for name, server in servers.items()}
    row("resident memory", memory["ours"], memory["bare"], "MB", "aim ≤ 1.3×")
    for server in servers.values():
        server.close()


def at_once(server: Server) -> float:
    begun = time.perf_counter()
    reader = threading.Thread(target=lambda: [server.receive() for _ in range(AT_ONCE)])
    reader.start()
    for _ in range(AT_ONCE):
        server.send("tools/call", {"name": "browse_labels", "arguments": ARGUMENTS})
    reader.join(60)
    return time.perf_counter() - begun


if __name__ == "__main__":
    main()

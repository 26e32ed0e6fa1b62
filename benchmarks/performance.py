"""Start, listing, calls, throughput and memory in one quiet run, as one table of ratios.

    python benchmarks/performance.py            print it
    python benchmarks/performance.py --write    and write docs/reference/performance.md and performance.svg

Ours stands beside the bare SDK (an MCP server whose one tool makes the same request), the floor (a Python process that
answers one line) and what BENCH_PEERS names, a JSON object: `{"name": {"command": ["npx", "..."], "tool":
"list_labels", "arguments": {"project_id": "1"}}}`. A peer is started with GITLAB_API_URL and
GITLAB_PERSONAL_ACCESS_TOKEN beside our variables. All take turns, so that what else the machine does hits all of them.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import over_http

from gitlab_mcp.actions.registry import Registry
from gitlab_mcp.results.job_logs import read_log

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/reference/performance.md"
PLOT = ROOT / "docs/reference/performance.svg"
PYTHON = sys.executable
OURS = [PYTHON, "-m", "gitlab_mcp.cli"]
FLOOR = [PYTHON, "-c", "import sys, json; json.loads(sys.stdin.readline()); print('{\"id\": 1}', flush=True)"]
STARTS, CALLS, AT_ONCE, IDLE_SECONDS = 7, 150, 32, 1.0
CLIENTS, TURNS, TURN_SECONDS = 64, 3, 4.0
LOG_BYTES = 50_000_000
LARGE = {"action": "list", "project_id": "3"}
"""Answered with 5 MB."""
THE_LOG = {"action": "log", "project_id": "1", "job_id": 1}
TICKS = os.sysconf("SC_CLK_TCK")
_OVER_HTTP = {
    "ours": over_http.OURS,
    "bare SDK": [PYTHON, str(ROOT / "benchmarks/beside/bare_http_server.py")],
}


@dataclass(frozen=True, slots=True)
class Kind:
    """A server that is measured."""

    command: Sequence[str]
    tool: str = "browse_labels"
    arguments: Mapping[str, Any] = field(default_factory=lambda: {"action": "list", "project_id": "1"})


@dataclass(frozen=True, slots=True)
class Row:
    what: str
    unit: str
    values: Mapping[str, float]
    """By server; one that cannot be measured is missing."""
    more_is_better: bool = False

    def ratio(self, name: str) -> float | None:
        """To the floor where there is one, else to the bare SDK."""
        base = self.values.get("floor") or self.values.get("bare SDK")
        return self.values[name] / base if base and name in self.values else None


class Server:
    """Spoken to line by line, so that no client library is measured."""

    def __init__(self, kind: Kind, gitlab: str) -> None:
        self._kind = kind
        token = {"GITLAB_TOKEN": "alice", "GITLAB_PERSONAL_ACCESS_TOKEN": "alice"}
        env = {**os.environ, "GITLAB_URL": gitlab, "GITLAB_API_URL": f"{gitlab}/api/v4", **token}
        env.pop("PYTHONDONTWRITEBYTECODE", None)
        self.started = time.perf_counter()
        self.process = subprocess.Popen(
            list(kind.command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=env,
            cwd="/",
        )
        self._next = 0

    def send(self, method: str, params: Mapping[str, Any], *, notify: bool = False) -> None:
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params}
        if not notify:
            self._next += 1
            message["id"] = self._next
        assert self.process.stdin
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        assert self.process.stdout
        while line := self.process.stdout.readline():
            message: dict[str, Any] = json.loads(line)
            if "id" in message:
                return message
        raise RuntimeError("the server closed its output")

    def initialize(self) -> float:
        client = {"name": "benchmark", "version": "1"}
        self.send("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
        self.receive()
        took = time.perf_counter() - self.started
        self.send("notifications/initialized", {}, notify=True)
        return took

    def list_tools(self) -> float:
        self.send("tools/list", {})
        self.receive()
        return time.perf_counter() - self.started

    def send_call(self, **more: Any) -> None:
        self.send("tools/call", {"name": self._kind.tool, "arguments": {**self._kind.arguments, **more}})

    def call(self) -> float:
        begun = time.perf_counter()
        self.send_call()
        return self._answered(begun, "label 19")

    def read_log(self, question: Mapping[str, Any]) -> float:
        begun = time.perf_counter()
        self.send("tools/call", {"name": "browse_jobs", "arguments": {**THE_LOG, **question}})
        return self._answered(begun, "total_lines")

    def _answered(self, begun: float, expected: str) -> float:
        answer = self.receive()
        took = time.perf_counter() - begun
        if expected not in json.dumps(answer):
            raise RuntimeError(f"no {expected} in {str(answer)[:300]}")
        return took

    def at_once(self) -> float:
        """Calls in a second, so many of them sent without waiting for answers."""
        begun = time.perf_counter()
        reader = threading.Thread(target=lambda: [self.receive() for _ in range(AT_ONCE)])
        reader.start()
        # Each another page: equal lists would be asked for once by us.
        for page in range(1, AT_ONCE + 1):
            self.send_call(page=page)
        reader.join(60)
        return AT_ONCE / (time.perf_counter() - begun)

    def memory(self) -> float:
        """In MB, with the processes it started: `npx` is not the server."""
        return sum(map(_resident, _family(self.process.pid)))

    def close(self) -> None:
        with suppress(OSError):
            assert self.process.stdin
            self.process.stdin.close()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def _family(pid: int) -> list[int]:
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *(each for child in children for each in _family(int(child)))]


def _resident(pid: int, what: str = "VmRSS") -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith(what)) / 1024


@contextmanager
def _gitlab() -> Iterator[str]:
    process, url = over_http.gitlab_beside(0.0)
    try:
        yield url
    finally:
        process.terminate()
        process.wait()


def starts(kinds: Mapping[str, Kind], gitlab: str) -> Iterator[Row]:
    initialized: dict[str, list[float]] = {name: [] for name in ("floor", *kinds)}
    listed: dict[str, list[float]] = {name: [] for name in kinds}
    for _ in range(STARTS):
        initialized["floor"].append(_floor())
        for name, kind in kinds.items():
            server = Server(kind, gitlab)
            initialized[name].append(server.initialize())
            listed[name].append(server.list_tools())
            server.close()
    floor = {"floor": _median_ms(initialized["floor"])}
    yield Row("start → initialize", "ms", {name: _median_ms(each) for name, each in initialized.items()})
    yield Row("start → tools/list", "ms", floor | {name: _median_ms(each) for name, each in listed.items()})


def _floor() -> float:
    begun = time.perf_counter()
    subprocess.run(FLOOR, input=b"{}\n", capture_output=True, check=True)
    return time.perf_counter() - begun


def commands() -> Iterator[Row]:
    for words in (["--version"], ["help"], ["call", "--help"], ["errors"], ["tools"], ["tools", "--json"]):
        times: dict[str, list[float]] = {"floor": [], "ours": []}
        for _ in range(STARTS):
            times["floor"].append(_floor())
            begun = time.perf_counter()
            subprocess.run([*OURS, *words], capture_output=True, check=True)
            times["ours"].append(time.perf_counter() - begun)
        values = {name: _median_ms(each) for name, each in times.items()}
        yield Row(f"gitlab-mcp {' '.join(words)}", "ms", values)


def calls(kinds: Mapping[str, Kind], gitlab: str) -> Iterator[Row]:
    servers = {name: Server(kind, gitlab) for name, kind in kinds.items()}
    for server in servers.values():
        server.initialize()
        server.list_tools()
    time.sleep(IDLE_SECONDS)
    idle = {name: server.memory() for name, server in servers.items()}
    first = {name: server.call() * 1000 for name, server in servers.items()}
    times: dict[str, list[float]] = {name: [] for name in servers}
    for _ in range(CALLS):
        for name, server in servers.items():
            times[name].append(server.call())
    raw = _median_ms([_raw_call(gitlab) for _ in range(CALLS)])
    later = {name: _median_ms(each) for name, each in times.items()}
    time.sleep(IDLE_SECONDS)
    cold = {name: server.call() * 1000 for name, server in servers.items()}
    throughput = {
        name: statistics.median(server.at_once() for _ in range(5)) for name, server in servers.items()
    }
    yield Row("first call, after an idle second", "ms", first)
    yield Row("a later call, after an idle second", "ms", cold)
    yield Row("a call", "ms", later)
    yield Row(
        f"a call over the raw request of {raw:.1f} ms",
        "ms",
        {name: each - raw for name, each in later.items()},
    )
    yield Row(f"{AT_ONCE} calls at once", "calls/s", throughput, more_is_better=True)
    yield Row("memory when idle", "MB", idle)
    yield Row("memory after the calls", "MB", {name: server.memory() for name, server in servers.items()})
    for server in servers.values():
        server.close()


def _raw_call(gitlab: str) -> float:
    connection = HTTPConnection(gitlab.removeprefix("http://"))
    connection.connect()
    begun = time.perf_counter()
    connection.request("GET", "/api/v4/projects/1/labels", headers={"PRIVATE-TOKEN": "alice"})
    connection.getresponse().read()
    took = time.perf_counter() - begun
    connection.close()
    return took


def many_clients(gitlab: str) -> Iterator[Row]:
    servers = {name: over_http.Server(command, gitlab) for name, command in _OVER_HTTP.items()}
    loads = {name: over_http.Load() for name in servers}
    spent = dict.fromkeys(servers, 0.0)
    for server in servers.values():
        over_http.pressed(server, CLIENTS, 2.0)
    for _ in range(TURNS):
        for name, server in servers.items():
            before = _cpu_seconds(server.process.pid)
            over_http.add(loads[name], over_http.pressed(server, CLIENTS, TURN_SECONDS))
            spent[name] += _cpu_seconds(server.process.pid) - before
    for server in servers.values():
        server.process.terminate()
        server.process.wait(30)
    cuts = {name: statistics.quantiles(load.seconds, n=100) for name, load in loads.items()}
    what = f"{CLIENTS} clients over HTTP"
    per_core = {name: load.answered / spent[name] for name, load in loads.items()}
    yield Row(f"{what}: calls per core-second", "calls", per_core, more_is_better=True)
    yield Row(f"{what}: half within", "ms", {name: each[49] * 1000 for name, each in cuts.items()})
    yield Row(f"{what}: 99 of 100 within", "ms", {name: each[98] * 1000 for name, each in cuts.items()})


def large_answers(gitlab: str) -> Iterator[Row]:
    """As many clients, each with one call that GitLab answers with 5 MB, all at the same time."""
    peaks = {}
    for name, command in _OVER_HTTP.items():
        server = over_http.Server(command, gitlab)
        over_http.pressed(server, 1, 0.5)
        idle = _resident(server.process.pid)
        _forget_peak(server.process.pid)
        load = over_http.pressed(server, CLIENTS, 1.0, LARGE)
        peaks[name] = _resident(server.process.pid, "VmHWM") - idle
        server.process.terminate()
        server.process.wait(30)
        if load.wrong:
            sys.stderr.write(f"{name}: {len(load.wrong)} of the large answers are wrong: {load.wrong[0]}\n")
    yield Row(f"{CLIENTS} clients with 5 MB each: peak above idle", "MB", peaks)


def log_through_a_client(gitlab: str) -> Iterator[Row]:
    """A log of 200 MB, read by calls over stdio."""
    server = Server(Kind(OURS), gitlab)
    server.initialize()
    server.call()
    idle = server.memory()
    _forget_peak(server.process.pid)
    for what, question in (("a search", {"search": "needle"}), ("its error", {})):
        speed = 200 / server.read_log(question)
        yield Row(f"200 MB of it through a client: {what}", "MB/s", {"ours": speed}, more_is_better=True)
    peak = _resident(server.process.pid, "VmHWM") - idle
    yield Row("200 MB of it through a client: peak above idle", "MB", {"ours": peak})
    server.close()


def _forget_peak(pid: int) -> None:
    Path(f"/proc/{pid}/clear_refs").write_text("5")


def _cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def long_log() -> Iterator[Row]:
    """Without the network: what reading a log costs us."""
    line = b"2026-11-16T02:12:53.203Z 00O \x1b[32mcompiling src/module_%07d.py\x1b[0m\n"
    lines = LOG_BYTES // len(line)
    chunks = [
        b"".join(line % number for number in range(start, start + 1000)) for start in range(0, lines, 1000)
    ]
    for what, question in (
        ("its end", {"tail": 200}),
        ("a search", {"search": "needle"}),
        ("its error", {"find_error": True}),
    ):
        begun = time.perf_counter()
        read_log(chunks, **question)
        speed = sum(map(len, chunks)) / (time.perf_counter() - begun) / 1e6
        yield Row(f"a stamped, coloured job log: {what}", "MB/s", {"ours": speed}, more_is_better=True)


def _median_ms(seconds: Sequence[float]) -> float:
    return statistics.median(seconds) * 1000


def _peers() -> dict[str, Kind]:
    told = json.loads(os.environ.get("BENCH_PEERS") or "{}")
    return {name: Kind(each["command"], each["tool"], each["arguments"]) for name, each in told.items()}


def table(rows: Sequence[Row], names: Sequence[str]) -> str:
    head = ["", *names, "unit"]
    lines = [f"| {' | '.join(head)} |", f"| --- |{' --: |' * len(names)} --- |"]
    for row in rows:
        cells = [_cell(row, name) for name in names]
        lines.append(f"| {row.what} | {' | '.join(cells)} | {row.unit} |")
    return "\n".join(lines) + "\n"


def _cell(row: Row, name: str) -> str:
    if name not in row.values:
        return ""
    ratio = row.ratio(name)
    times = f" ({ratio:.1f}×)" if ratio and len(row.values) > 1 else ""
    return f"{row.values[name]:.{0 if row.values[name] >= 100 else 1}f}{times}"


def page(rows: Sequence[Row], names: Sequence[str]) -> str:
    today = datetime.now(UTC).date().isoformat()
    return (
        "<!-- Written by `python benchmarks/performance.py --write`. -->\n# Performance\n\n"
        f"Measured on {today}, {_machine()}, in one run in which all took turns. In brackets is the ratio to the floor "
        "(a Python process that answers one line), or to the bare SDK (an MCP server whose one tool makes the same "
        "request to the same stand-in of GitLab, which answers at once). A real GitLab takes 50 to 200 ms for a "
        "read.\n\n"
        f"{table(rows, names)}\n![Ours beside the bare SDK](performance.svg)\n\n"
        "`make bench` prints the table for your machine; with BENCH_PEERS other servers stand in it, too.\n"
    )


def _machine() -> str:
    processors = f"{os.cpu_count()} processors"
    return (
        f"{platform.system()} on {platform.machine()} with {processors}, Python {platform.python_version()}"
    )


def plot(rows: Sequence[Row]) -> str:
    """Bars of what ours takes of what the bare SDK takes; for a speed the other way round, so that short is good."""
    shares = [
        (
            row.what,
            row.values["bare SDK"] / row.values["ours"]
            if row.more_is_better
            else row.values["ours"] / row.values["bare SDK"],
        )
        for row in rows
        if {"ours", "bare SDK"} <= row.values.keys()
    ]
    width, left, high, top = 320, 300, 26, 34
    scale = width / max(2.0, *(share for _, share in shares))
    height = top + high * len(shares) + 10
    bars = "".join(
        f'<text x="{left - 8}" y="{top + high * n + 14}" text-anchor="end">{what}</text>'
        f'<rect x="{left}" y="{top + high * n + 2}" width="{share * scale:.1f}" height="16" fill="#e24329"/>'
        f'<text x="{left + share * scale + 6:.1f}" y="{top + high * n + 14}">{share:.2f}×</text>'
        for n, (what, share) in enumerate(shares)
    )
    line = left + scale
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + width + 60}" height="{height}" '
        'font-family="sans-serif" font-size="12" fill="#333">'
        f'<rect width="100%" height="100%" fill="#fff"/>'
        f'<text x="{line:.1f}" y="18" text-anchor="middle">the bare SDK</text>'
        f'<line x1="{line:.1f}" y1="24" x2="{line:.1f}" y2="{height - 6}" stroke="#999" stroke-dasharray="3 3"/>'
        f"{bars}</svg>\n"
    )


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true", help="write the page and its plot")
    given = parser.parse_args()
    bare = [PYTHON, str(ROOT / "benchmarks/bare_server.py"), str(len(Registry().listing(["core"])))]
    kinds = {"ours": Kind(OURS), "bare SDK": Kind(bare), **_peers()}
    rows: list[Row] = []
    with _gitlab() as gitlab:
        parts: list[Callable[[], Iterator[Row]]] = [
            lambda: starts(kinds, gitlab),
            commands,
            lambda: calls(kinds, gitlab),
            lambda: many_clients(gitlab),
            lambda: large_answers(gitlab),
            long_log,
            lambda: log_through_a_client(gitlab),
        ]
        for part in parts:
            rows += part()
    names = ["floor", *kinds]
    sys.stdout.write(table(rows, names))
    if given.write:
        PAGE.write_text(page(rows, names), "utf-8")
        PLOT.write_text(plot(rows), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""64 clients for 30 seconds over HTTP: ours beside the bare SDK's server, in one run, as ratios. Memory over time. Then
how long calls of some clients take beside one that disturbs, as a ratio to how long they take alone."""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RIGHT = {"action": "list", "project_id": "1"}
"""Answered with twenty labels."""
WRONG = {"action": "list", "project_id": "2"}
"""A project that GitLab does not know: the failure has to be explained."""
TURNS = 3
OURS = [sys.executable, "-m", "gitlab_mcp.cli", "serve", "--http", "127.0.0.1:0"]
DISTURBERS = (
    "heavy batches",
    "idle connections",
    "slow heads",
    "slow bodies",
    "unfinished bodies",
    "made-up bearers",
)
POLITE_CLIENTS = 8
REST_SECONDS = 0.05
GITLAB_SECONDS = 0.05
HEADERS = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


@dataclass(slots=True)
class Load:
    answered: int = 0
    wrong: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    memory: list[int] = field(default_factory=list)
    took: float = 0.0


class Server:
    def __init__(self, command: list[str], gitlab: str) -> None:
        env = {**os.environ, "GITLAB_URL": gitlab}
        for name in ("PYTHONDONTWRITEBYTECODE", "GITLAB_TOKEN"):
            env.pop(name, None)
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=env, cwd="/")
        assert self.process.stderr
        line = next(line for line in self.process.stderr if "http://" in line)
        self.port = int(re.search(r":(\d+)", line.partition("http://")[2])[1])  # type: ignore[index]
        threading.Thread(target=self.process.stderr.read, daemon=True).start()

    def memory(self) -> int:
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS")))


def client(
    server: Server, number: int, arguments: dict[str, str], ends: float, load: Load, lock: threading.Lock
) -> None:
    params = {"name": "browse_labels", "arguments": arguments}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    sought = "NOT_FOUND" if arguments is WRONG else "label 19"
    headers = {**HEADERS, "PRIVATE-TOKEN": f"person-{number}"}
    connection = HTTPConnection("127.0.0.1", server.port, timeout=60)
    while time.monotonic() < ends:
        begun = time.perf_counter()
        try:
            connection.request("POST", "/mcp", body, headers)
            answer = connection.getresponse()
            result = json.loads(answer.read())["result"]
            wrong = "" if sought in result["content"][0]["text"] else str(result)[:200]
        except (OSError, HTTPException, ValueError, KeyError) as problem:
            wrong = repr(problem)
            connection.close()
        with lock:
            load.answered += not wrong
            load.seconds.append(time.perf_counter() - begun)
            if wrong:
                load.wrong.append(wrong)
    connection.close()


def pressed(server: Server, clients: int, seconds: float, arguments: dict[str, str] = RIGHT) -> Load:
    load, lock = Load(), threading.Lock()
    begun = time.monotonic()
    threads = [
        threading.Thread(target=client, args=(server, number, arguments, begun + seconds, load, lock))
        for number in range(clients)
    ]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        load.memory.append(server.memory())
        time.sleep(min(1.0, seconds / 10))
    load.took = time.monotonic() - begun
    return load


def explaining(server: Server) -> float:
    """The bound below which 95 of 100 explanations took, as the server's own metrics have it."""
    connection = HTTPConnection("127.0.0.1", server.port, timeout=10)
    connection.request("GET", "/metrics")
    text = connection.getresponse().read().decode()
    connection.close()
    found = re.findall(r'handling_duration_seconds_bucket\{.*le="([^"]+)"\} (\d+)', text)
    total = int(found[-1][1])
    return next(float(bound) for bound, count in found if int(count) >= 0.95 * total)


def ended(name: str, server: Server, load: Load) -> None:
    begun = time.monotonic()
    server.process.send_signal(signal.SIGTERM)
    code = server.process.wait(30)
    cuts = statistics.quantiles(load.seconds, n=100)
    print(
        f"{name:<6}{load.answered / load.took:>9.1f} calls/s   p50 {cuts[49] * 1000:>6.0f} ms   "
        f"p95 {cuts[94] * 1000:>6.0f} ms   {len(load.wrong)} wrong   "
        f"memory {load.memory[0] / 1024:.1f} → {load.memory[-1] / 1024:.1f} MB (most {max(load.memory) / 1024:.1f})   "
        f"ended with {code} after {time.monotonic() - begun:.1f} s"
    )
    for wrong in load.wrong[:3]:
        print(f"      {wrong}")


def add(load: Load, more: Load) -> None:
    load.answered += more.answered
    load.wrong += more.wrong
    load.seconds += more.seconds
    load.memory += more.memory
    load.took += more.took


def polite(server: Server, clients: int, seconds: float) -> list[float]:
    """How long calls took of clients that each make one call, rest, and make the next."""
    body = json.dumps(
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": "browse_labels", "arguments": RIGHT},
        }
    )
    took: list[float] = []
    ends = time.monotonic() + seconds

    def one(number: int) -> None:
        headers = {**HEADERS, "PRIVATE-TOKEN": f"person-{number}"}
        connection = HTTPConnection("127.0.0.1", server.port, timeout=60)
        while time.monotonic() < ends:
            begun = time.perf_counter()
            for _ in range(2):
                # A connection that rests may be closed when the server is full. Clients open another then.
                try:
                    connection.request("POST", "/mcp", body, headers)
                    answer = connection.getresponse()
                    right = b"label 19" in answer.read() and answer.status == 200
                    break
                except (OSError, HTTPException):
                    connection.close()
                    right = False
            took.append(time.perf_counter() - begun if right else 60.0)
            time.sleep(REST_SECONDS)
        connection.close()

    threads = [threading.Thread(target=one, args=(number,)) for number in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return took


def beside_disturbers(kinds: Sequence[str], clients: int, seconds: float) -> bool:
    """Whether the calls of others take at most twice as long beside each kind of disturber. Turns alone and turns
    beside it alternate, so that what else the machine does hits both."""
    gitlab, url = gitlab_beside(GITLAB_SECONDS)
    held = True
    print(
        f"\n{clients} polite clients beside one disturber each; GitLab answers in {GITLAB_SECONDS * 1000:g} ms\n"
    )
    try:
        for kind in kinds:
            server = Server([*OURS, "--max-request-bytes", "4000000"], url)
            polite(server, clients, 1.0)
            before = server.memory()
            alone: list[float] = []
            beside: list[float] = []
            for _ in range(TURNS):
                alone += polite(server, clients, seconds / TURNS)
                other = subprocess.Popen(
                    [sys.executable, str(ROOT / "benchmarks/beside/disturber.py"), kind, str(server.port)]
                )
                time.sleep(1.0)
                beside += polite(server, clients, seconds / TURNS)
                most = server.memory()
                other.kill()
                other.wait()
                time.sleep(1.0)
            server.process.terminate()
            server.process.wait(90)
            cuts = [statistics.quantiles(times, n=100)[94] for times in (alone, beside)]
            failed = sum(seconds == 60.0 for seconds in beside)
            ratio = cuts[1] / cuts[0]
            held = held and ratio <= 2 and not failed
            print(
                f"{kind:<20} p95 {cuts[0] * 1000:>5.0f} → {cuts[1] * 1000:>5.0f} ms   {ratio:>5.2f}×   "
                f"{failed} of {len(beside)} failed   memory {(most - before) / 1024:+.1f} MB"
            )
    finally:
        gitlab.terminate()
        gitlab.wait()
    return held


def gitlab_beside(delay: float) -> tuple[subprocess.Popen[str], str]:
    """In a process of its own: what answers must not slow down who asks."""
    process = subprocess.Popen(
        [sys.executable, str(ROOT / "benchmarks/beside/labels_gitlab.py"), str(delay)],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    return process, process.stdout.readline().strip()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=30.0, help="for each of the two servers")
    parser.add_argument("--beside", nargs="*", choices=DISTURBERS, help="only calls beside these disturbers")
    given = parser.parse_args()
    if given.beside is not None:
        sys.exit(0 if beside_disturbers(given.beside or DISTURBERS, POLITE_CLIENTS, given.seconds / 2) else 1)
    gitlab, url = gitlab_beside(0.0)
    commands = {
        "ours": OURS,
        "bare": [sys.executable, str(ROOT / "benchmarks/beside/bare_http_server.py")],
    }
    try:
        servers = {name: Server(command, url) for name, command in commands.items()}
        loads = {name: Load() for name in servers}
        for server in servers.values():
            pressed(server, given.clients, 3.0)
        # In turns, so that what else the machine does hits both.
        for _ in range(TURNS):
            for name, server in servers.items():
                add(loads[name], pressed(server, given.clients, given.seconds / TURNS))
        failing = pressed(servers["ours"], given.clients, 5.0, WRONG)
        bound = explaining(servers["ours"])
        print(
            f"{given.clients} clients, {given.seconds:g} s for each server in {TURNS} turns, after a warm-up\n"
        )
        for name, server in servers.items():
            ended(name, server, loads[name])
    finally:
        gitlab.terminate()
        gitlab.wait()
    rates = {name: load.answered / load.took for name, load in loads.items()}
    print(f"\nthroughput {rates['ours'] / rates['bare']:.2f}× of the bare SDK's server")
    print(
        f"{failing.answered} failures explained, {len(failing.wrong)} wrong, 95 of 100 within {bound * 1000:g} ms"
    )
    held = beside_disturbers(DISTURBERS, POLITE_CLIENTS, given.seconds / 2)
    if loads["ours"].wrong or failing.wrong or not held:
        sys.exit(1)


if __name__ == "__main__":
    main()

"""Memory under the worst answers: how much a server takes above what it takes when idle, with several calls at once.

    python benchmarks/memory.py

Each case is a fresh server, over stdio and over HTTP, in front of a GitLab that answers every request with the same
hostile body. The aim is 128 MB above idle, whatever is asked.
"""

from __future__ import annotations

import base64
import io
import json
import os
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

AIM = 128
AT_ONCE = 12
MB = 1024 * 1024
SERVER = [sys.executable, "-m", "gitlab_mcp.cli"]
PROJECT = {"project_id": "1"}


def tiny_lines() -> bytes:
    commit = {"id": "a" * 40, "author_name": "a", "authored_date": "2026-01-01", "message": "m"}
    return json.dumps([{"commit": commit, "lines": ["a"]}] * 45_000).encode()


def many_lines() -> bytes:
    content = base64.b64encode(b"ab\n" * 1_900_000).decode()
    return json.dumps({"file_path": "f", "encoding": "base64", "content": content, "size": 1}).encode()


def many_files() -> bytes:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as written:
        for number in range(400_000):
            written.writestr(f"{number}", b"")
    return archive.getvalue()


def small_archive() -> bytes:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as written:
        for number in range(19_000):
            written.writestr(f"{number}", b"")
    return archive.getvalue()


CASES: dict[str, tuple[Any, str, dict[str, Any]]] = {
    "blame of tiny lines": (tiny_lines, "browse_files", {"action": "blame", "file_path": "f", **PROJECT}),
    "8 MB of {}": (
        lambda: b"[" + b"{}," * 2_600_000 + b"{}]",
        "browse_issues",
        {"action": "list", **PROJECT},
    ),
    "8 MB of one text": (
        lambda: json.dumps([{"title": "x" * 7_900_000}]).encode(),
        "browse_issues",
        {"action": "list", "detail": "full", **PROJECT},
    ),
    "as many values as are taken": (
        lambda: json.dumps([{"a": number, "b": [number]} for number in range(50_000)]).encode(),
        "browse_issues",
        {"action": "list", "detail": "full", **PROJECT},
    ),
    "a file of tiny lines": (many_lines, "browse_files", {"action": "get", "file_path": "f", **PROJECT}),
    "a diff of tiny lines": (
        lambda: json.dumps(
            [{"new_path": "f", "old_path": "f", "diff": "@@ -1 +1 @@\n" + "+a\n" * 1_900_000}]
        ).encode(),
        "browse_commits",
        {"action": "diff", "sha": "a", **PROJECT},
    ),
    "an archive of 400,000 files": (
        many_files,
        "browse_jobs",
        {"action": "artifacts", "job_id": 1, **PROJECT},
    ),
    "an archive of 19,000 files": (
        small_archive,
        "browse_jobs",
        {"action": "artifacts", "job_id": 1, **PROJECT},
    ),
    "a test report": (
        lambda: json.dumps(
            {
                "test_suites": [
                    {
                        "name": "s",
                        "test_cases": [{"name": "t", "status": "failed", "classname": "c"}] * 60_000,
                    }
                ]
            }
        ).encode(),
        "browse_pipelines",
        {"action": "test_report", "pipeline_id": 1, **PROJECT},
    ),
}


@contextmanager
def gitlab(body: bytes) -> Iterator[str]:
    class Answers(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            with suppress(ConnectionError):
                self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()


def resident(process: subprocess.Popen[Any], name: str) -> float:
    status = Path(f"/proc/{process.pid}/status").read_text()
    lines = dict(line.split(":", 1) for line in status.splitlines())
    return int(lines[name].split()[0]) / 1024


def environment(url: str, token: str | None = "glpat-benchmark") -> dict[str, str]:
    """Over HTTP each caller brings a token."""
    own = {"GITLAB_TOKEN": token} if token else {}
    return {**os.environ, "GITLAB_URL": url, "GITLAB_TOOLSETS": "all", **own}


def call(number: int, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    params = {"name": tool, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


def over_stdio(url: str, tool: str, arguments: dict[str, Any]) -> tuple[float, dict[str, int]]:
    process = subprocess.Popen(
        SERVER, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment(url)
    )
    assert process.stdin and process.stdout

    def send(message: dict[str, Any]) -> None:
        assert process.stdin
        process.stdin.write(json.dumps(message).encode() + b"\n")
        process.stdin.flush()

    try:
        info = {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "b", "version": "1"},
        }
        send({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": info})
        process.stdout.readline()
        send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        send(call(1, "browse_projects", {"action": "get", "project_id": "1"}))
        process.stdout.readline()
        idle = resident(process, "VmRSS")
        for number in range(AT_ONCE):
            send(call(number + 2, tool, arguments))
        answers = [json.loads(process.stdout.readline()) for _ in range(AT_ONCE)]
        return resident(process, "VmHWM") - idle, counted(answers)
    finally:
        process.kill()
        process.wait()


def over_http(url: str, tool: str, arguments: dict[str, Any]) -> tuple[float, dict[str, int]]:
    process = subprocess.Popen(
        [*SERVER, "serve", "--http", "127.0.0.1:0"],
        stderr=subprocess.PIPE,
        env=environment(url, token=None),
        text=True,
    )
    assert process.stderr
    try:
        line = ""
        while "http://" not in line:
            line = process.stderr.readline()
            assert line, "the server did not start"
        address = "http://" + line.split("http://")[1].split()[0].strip('",')
        threading.Thread(target=process.stderr.read, daemon=True).start()
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "Private-Token": "glpat-benchmark",
        }

        def post(message: dict[str, Any]) -> Any:
            with urlopen(Request(address, json.dumps(message).encode(), headers), timeout=120) as response:
                text = response.read().decode()
            return json.loads(text.split("data: ")[-1])

        post(call(1, "browse_projects", {"action": "get", "project_id": "1"}))
        idle = resident(process, "VmRSS")
        answers: list[Any] = []
        threads = [
            threading.Thread(target=lambda n=n: answers.append(post(call(n + 2, tool, arguments))))
            for n in range(AT_ONCE)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return resident(process, "VmHWM") - idle, counted(answers)
    finally:
        process.kill()
        process.wait()


def counted(answers: list[Any]) -> dict[str, int]:
    codes: dict[str, int] = {}
    for answer in answers:
        result = answer.get("result", {})
        shown = (result.get("structuredContent") or {}) if result.get("isError") else {}
        code = str(shown.get("error_code") or shown.get("code") or "failed") if shown else "result"
        codes[code] = codes.get(code, 0) + 1
    return codes


def main() -> int:
    worst = 0.0
    print(f"{'answer':34}{'':8}{'above idle':>12}   outcomes of {AT_ONCE} calls at once")
    for name, (make, tool, arguments) in CASES.items():
        with gitlab(make()) as url:
            for transport, run in (("stdio", over_stdio), ("http", over_http)):
                started = time.perf_counter()
                above, outcomes = run(url, tool, arguments)
                worst = max(worst, above)
                spent = time.perf_counter() - started
                print(f"{name:34}{transport:8}{above:9.1f} MB   {outcomes} in {spent:.1f} s", flush=True)
    print(f"worst {worst:.1f} MB, aim ≤ {AIM} MB")
    return 0 if worst <= AIM else 1


if __name__ == "__main__":
    sys.exit(main())

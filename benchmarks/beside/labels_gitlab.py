"""A GitLab that knows the labels of two projects, those of the second in 5 MB, and a job log of 200 MB. It answers at
once, or after as many seconds as its argument says: what is measured is what stands before it."""

from __future__ import annotations

import json
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

DELAY = float(sys.argv[1]) if len(sys.argv) > 1 else 0.0
LABELS = json.dumps([{"id": n, "name": f"label {n}", "color": "#fff"} for n in range(20)]).encode()
LARGE = json.dumps(
    [{"id": n, "name": f"label {n}", "color": "#fff", "description": "d" * 52_000} for n in range(19, 119)]
).encode()
LOG_BLOCK = b"".join(
    b"2026-11-16T02:12:53.203Z 00O \x1b[32mcompiling src/module_%05d.py\x1b[0m\n" % n for n in range(16_384)
)
LOG_BLOCKS = -(-200_000_000 // len(LOG_BLOCK))


class Labels(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        time.sleep(DELAY)
        if "made-up" in self.headers.get("Authorization", ""):
            self.reply(401, b'{"message":"401 Unauthorized"}')
            return
        match self.path.partition("?")[0].removeprefix("/api/v4/projects/"):
            case "1/labels":
                self.reply(200, LABELS)
            case "3/labels":
                self.reply(200, LARGE)
            case "1/jobs/1":
                self.reply(200, b'{"id": 1, "name": "test", "status": "failed"}')
            case "1/jobs/1/trace":
                self.stream_log()
            case _:
                self.reply(404, b'{"message":"404 Project Not Found"}')

    def stream_log(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(LOG_BLOCKS * len(LOG_BLOCK)))
        self.end_headers()
        for _ in range(LOG_BLOCKS):
            self.wfile.write(LOG_BLOCK)

    def reply(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


class Server(ThreadingHTTPServer):
    request_queue_size = 256

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Whoever asked has been cancelled and is gone."""


server = Server(("127.0.0.1", 0), Labels)
print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
server.serve_forever()

"""A GitLab that knows the labels of one project. It answers at once, or after as many seconds as its argument says:
what is measured is what stands before it."""

from __future__ import annotations

import json
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

DELAY = float(sys.argv[1]) if len(sys.argv) > 1 else 0.0
LABELS = json.dumps([{"id": n, "name": f"label {n}", "color": "#fff"} for n in range(20)]).encode()


class Labels(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        time.sleep(DELAY)
        if "made-up" in self.headers.get("Authorization", ""):
            self.reply(401, b'{"message":"401 Unauthorized"}')
            return
        known = self.path.startswith("/api/v4/projects/1/labels")
        body = LABELS if known else b'{"message":"404 Project Not Found"}'
        self.reply(200 if known else 404, body)

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

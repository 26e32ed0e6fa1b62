"""A GitLab that knows twenty labels and answers at once, so that what is measured is what stands before it."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

LABELS = json.dumps([{"id": n, "name": f"label {n}", "color": "#fff"} for n in range(20)]).encode()


class Labels(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(LABELS)))
        self.end_headers()
        self.wfile.write(LABELS)

    def log_message(self, format: str, *args: Any) -> None:
        pass


class Server(ThreadingHTTPServer):
    request_queue_size = 256


server = Server(("127.0.0.1", 0), Labels)
print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
server.serve_forever()

"""An OpenTelemetry collector on loopback that keeps the spans and the metrics it is sent over OTLP/HTTP."""

from __future__ import annotations

import gzip
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


@dataclass(frozen=True, slots=True)
class Traced:
    """One span."""

    name: str
    trace: str
    id: str
    parent: str
    kind: int
    failed: bool
    attributes: dict[str, Any]


@dataclass(slots=True)
class Collector:
    spans: list[Traced] = field(default_factory=list)
    metrics: dict[str, Any] = field(default_factory=dict)
    """By name, as they were sent last."""
    sent: bytes = b""
    """All that came."""
    _server: ThreadingHTTPServer | None = None

    @property
    def url(self) -> str:
        assert self._server
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def named(self, name: str) -> Traced:
        (found,) = (span for span in self.spans if span.name == name)
        return found

    def take(self, path: str, body: bytes) -> None:
        self.sent += body
        if path == "/v1/traces":
            for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
                for scope in resource.scope_spans:
                    self.spans += map(_traced, scope.spans)
        elif path == "/v1/metrics":
            for measured in ExportMetricsServiceRequest.FromString(body).resource_metrics:
                for each in measured.scope_metrics:
                    self.metrics |= {metric.name: metric for metric in each.metrics}

    def __enter__(self) -> Collector:
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.headers.get("Content-Encoding") == "gzip":
                    body = gzip.decompress(body)
                collector.take(self.path, body)
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        assert self._server
        self._server.shutdown()
        self._server.server_close()


def _traced(span: Any) -> Traced:
    return Traced(
        span.name,
        span.trace_id.hex(),
        span.span_id.hex(),
        span.parent_span_id.hex(),
        span.kind,
        span.status.code == 2,
        {each.key: getattr(each.value, each.value.WhichOneof("value")) for each in span.attributes},
    )

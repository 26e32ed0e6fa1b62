"""Sends traces and metrics to an OpenTelemetry collector, over OTLP/HTTP, where the operator names one.

Nothing global is set up: what the libraries around us would tell is not ours to send. Of a call are sent the operation,
codes, statuses, durations and ids of requests; never a token, an argument, a body, or a path with a name in it.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from gitlab_mcp import __version__
from gitlab_mcp.observability.metrics import INSTRUMENTS, Gauges, Instrument, Labels
from gitlab_mcp.observability.outcome import Outcome
from gitlab_mcp.spans import CLIENT_TRACE, Attributes

if TYPE_CHECKING:
    from opentelemetry.trace import Span as OtelSpan

log = logging.getLogger("gitlab_mcp.telemetry")

_NAME: Final = "gitlab-mcp-server"
_LAST_SECONDS: Final = 2.0
"""The end of the process does not wait longer for a collector."""
_SECONDS_BETWEEN_COMPLAINTS: Final = 600.0


class NotInstalled(Exception):
    """The packages of the extra `otel` are missing."""


class Telemetry:
    def __init__(self, endpoint: str) -> None:
        """`endpoint` is the collector's address without /v1/traces. Raises NotInstalled."""
        try:
            from opentelemetry import metrics, trace
            from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
            from opentelemetry.propagate import extract
            from opentelemetry.sdk.metrics import MeterProvider
            from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
            from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
            from opentelemetry.sdk.trace import TracerProvider
            from opentelemetry.sdk.trace.export import BatchSpanProcessor
        except ImportError as missing:
            raise NotInstalled from missing
        _complain_seldom()
        self._trace, self._metrics, self._extract = trace, metrics, extract
        # OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES come before ours.
        ours = Resource({SERVICE_NAME: _NAME, SERVICE_VERSION: __version__})
        resource = ours.merge(Resource.create({SERVICE_NAME: _NAME}))
        self._tracers = TracerProvider(resource=resource, shutdown_on_exit=False)
        traces = OTLPSpanExporter(endpoint=f"{endpoint}/v1/traces")
        self._tracers.add_span_processor(BatchSpanProcessor(traces))
        self._tracer = self._tracers.get_tracer(_NAME, __version__)
        reader = PeriodicExportingMetricReader(OTLPMetricExporter(endpoint=f"{endpoint}/v1/metrics"))
        self._meters = MeterProvider(resource=resource, metric_readers=[reader], shutdown_on_exit=False)
        self._meter = self._meters.get_meter(_NAME, __version__)
        self._counters = {
            each: self._meter.create_counter(each.name, description=each.description)
            for each in INSTRUMENTS
            if not each.buckets
        }
        self._histograms = {
            each: self._meter.create_histogram(
                each.name,
                unit="s",
                description=each.description,
                explicit_bucket_boundaries_advisory=each.buckets,
            )
            for each in INSTRUMENTS
            if each.buckets
        }

        self._meter.create_observable_gauge(
            "gitlab_mcp_info",
            callbacks=[lambda _: [metrics.Observation(1, {"version": __version__})]],
            description="The version that runs.",
        )

    def show(self, gauges: Gauges) -> None:
        """Read these whenever metrics are sent."""
        for name, (description, read) in gauges.items():

            def observe(_: Any, read: Any = read) -> Iterable[Any]:
                return [self._metrics.Observation(read())]

            self._meter.create_observable_gauge(name, callbacks=[observe], description=description)

    def record(self, instrument: Instrument, labels: Labels, amount: float) -> None:
        attributes = dict(zip(instrument.label_names, labels, strict=True))
        if instrument.buckets:
            self._histograms[instrument].record(amount, attributes)
        else:
            self._counters[instrument].add(amount, attributes)

    @contextmanager
    def spans(self, name: str, attributes: Attributes) -> Iterator[_Heard]:
        """A part of the call at hand; its first one goes on with the client's trace."""
        trace = self._trace
        inside = trace.get_current_span().get_span_context().is_valid
        parent = None if inside else CLIENT_TRACE.get()
        if inside:
            to_others = "http.request.method" in attributes
            kind = trace.SpanKind.CLIENT if to_others else trace.SpanKind.INTERNAL
        else:
            kind = trace.SpanKind.SERVER
        with self._tracer.start_as_current_span(
            name,
            context=self._extract(dict(parent)) if parent else None,
            kind=kind,
            attributes=dict(attributes),
            # The text of an exception may quote what somebody sent.
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            try:
                yield _Heard(span)
            except BaseException as problem:
                if "error.type" not in (getattr(span, "attributes", None) or {}):
                    span.set_attribute("error.type", type(problem).__qualname__)
                span.set_status(trace.StatusCode.ERROR)
                raise

    def hear(self, outcome: Outcome) -> None:
        """How the call ended, for the span that is about to end with it."""
        span = self._trace.get_current_span()
        span.set_attribute("gitlab_mcp.operation", outcome.operation)
        span.set_attribute("gitlab_mcp.outcome", outcome.conclusion)
        if outcome.failure is not None:
            span.set_attribute("error.type", outcome.failure.code)
        if outcome.caller is not None and outcome.caller.request_id:
            span.set_attribute("gitlab_mcp.request_id", outcome.caller.request_id)

    def close(self) -> None:
        """Send what is left, but wait only so long for a collector."""
        last = threading.Thread(target=self._shut_down, name="telemetry-shutdown", daemon=True)
        last.start()
        last.join(_LAST_SECONDS)

    def _shut_down(self) -> None:
        for provider in (self._tracers, self._meters):
            with suppress(Exception):
                provider.shutdown()


@dataclass(frozen=True, slots=True)
class _Heard:
    span: OtelSpan

    def note(self, attributes: Attributes) -> None:
        self.span.set_attributes(dict(attributes))


class _SeldomLogged(logging.Handler):
    """Says in a line of ours that telemetry is not taken. The libraries would say it with every batch."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._said_at = float("-inf")

    def emit(self, record: logging.LogRecord) -> None:
        now = time.monotonic()
        if now - self._said_at >= _SECONDS_BETWEEN_COMPLAINTS:
            self._said_at = now
            log.warning("the collector does not take what is sent to it; calls go on")


def _complain_seldom() -> None:
    libraries = logging.getLogger("opentelemetry")
    libraries.propagate = False
    libraries.handlers = [_SeldomLogged()]

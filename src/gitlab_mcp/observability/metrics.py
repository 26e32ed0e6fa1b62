"""What is measured, each declared once, and a keeper of it in the text format of Prometheus.

No label holds anything that a caller chose: operations are from the catalogue, codes are ours. The text may be made in
another thread than the one that counts; so it is made from copies.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from gitlab_mcp import __version__
from gitlab_mcp.failures.failure import NO_OPERATION
from gitlab_mcp.observability.outcome import Outcome

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
_CALL_BUCKETS: Final = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
_EXPLAINING_BUCKETS: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0)

Labels = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Instrument:
    """A counter, or, with buckets, a histogram of seconds."""

    name: str
    description: str
    label_names: Labels
    buckets: tuple[float, ...] = ()


CALLS: Final = Instrument("gitlab_mcp_calls", "Tool calls that ended.", ("operation", "outcome"))
CALL_DURATION: Final = Instrument(
    "gitlab_mcp_call_duration", "How long tool calls took.", ("operation",), _CALL_BUCKETS
)
ERRORS: Final = Instrument(
    "gitlab_mcp_errors",
    "Tool calls that failed and requests that were refused, by cause.",
    ("error_code", "operation", "http_status"),
)
EXPLAINING_DURATION: Final = Instrument(
    "gitlab_mcp_error_handling_duration",
    "How long it took to find out why a call failed.",
    ("operation",),
    _EXPLAINING_BUCKETS,
)
HTTP_REQUESTS: Final = Instrument(
    "gitlab_mcp_http_requests", "HTTP requests to /mcp, by status.", ("status",)
)
INSTRUMENTS: Final = (CALLS, CALL_DURATION, ERRORS, EXPLAINING_DURATION, HTTP_REQUESTS)

Record = Callable[[Instrument, Labels, float], None]
"""Takes one measurement: what to count up, or how many seconds something took."""
Gauges = Mapping[str, tuple[str, Callable[[], float]]]
"""By name: a description, and what reads the value."""


class Histogram:
    def __init__(self, bounds: tuple[float, ...]) -> None:
        self._bounds = bounds
        self._counts: dict[Labels, list[int]] = defaultdict(lambda: [0] * (len(bounds) + 1))
        self._sums: dict[Labels, float] = defaultdict(float)

    def observe(self, labels: Labels, seconds: float) -> None:
        self._counts[labels][bisect_left(self._bounds, seconds)] += 1
        self._sums[labels] += seconds

    def lines(self, name: str, label_names: Labels) -> Iterator[str]:
        for labels, counts in list(self._counts.items()):
            running = 0
            for bound, count in zip((*self._bounds, None), counts, strict=True):
                running += count
                le = "+Inf" if bound is None else f"{bound:g}"
                yield f"{name}_bucket{_label_text((*label_names, 'le'), (*labels, le))} {running}"
            yield f"{name}_sum{_label_text(label_names, labels)} {self._sums[labels]:.6f}"
            yield f"{name}_count{_label_text(label_names, labels)} {running}"


class Metrics:
    def __init__(self, gauges: Gauges, also: Record | None = None) -> None:
        """`also` is told every measurement too."""
        self._gauges = gauges
        self._also = also
        self._counts: dict[Instrument, Counter[Labels]] = {
            each: Counter() for each in INSTRUMENTS if not each.buckets
        }
        self._durations = {each: Histogram(each.buckets) for each in INSTRUMENTS if each.buckets}

    def count_call(self, outcome: Outcome) -> None:
        failure = outcome.failure
        if failure:
            self._record(ERRORS, (failure.code, outcome.operation, str(outcome.http_status)))
        if outcome.operation == NO_OPERATION:
            # A request that was refused before it became a call.
            return
        self._record(CALLS, (outcome.operation, "error" if failure else outcome.conclusion))
        self._record(CALL_DURATION, (outcome.operation,), outcome.seconds)
        if failure:
            self._record(EXPLAINING_DURATION, (outcome.operation,), outcome.explaining_seconds)

    def count_request(self, status: int) -> None:
        """One HTTP request to /mcp was answered."""
        self._record(HTTP_REQUESTS, (str(status),))

    def text(self) -> str:
        return "\n".join([*self._lines(), ""])

    def _record(self, instrument: Instrument, labels: Labels, amount: float = 1) -> None:
        if instrument.buckets:
            self._durations[instrument].observe(labels, amount)
        else:
            self._counts[instrument][labels] += 1
        if self._also is not None:
            self._also(instrument, labels, amount)

    def _lines(self) -> Iterator[str]:
        yield from _header("gitlab_mcp_info", "gauge", "The version that runs.")
        yield f'gitlab_mcp_info{{version="{__version__}"}} 1'
        for each in INSTRUMENTS:
            if each.buckets:
                name = f"{each.name}_seconds"
                yield from _header(name, "histogram", each.description)
                yield from self._durations[each].lines(name, each.label_names)
            else:
                name = f"{each.name}_total"
                yield from _header(name, "counter", each.description)
                for labels, count in list(self._counts[each].items()):
                    yield f"{name}{_label_text(each.label_names, labels)} {count}"
        for name, (description, read) in self._gauges.items():
            yield from _header(name, "gauge", description)
            yield f"{name} {read():g}"


def _header(name: str, kind: str, description: str) -> Iterator[str]:
    yield f"# HELP {name} {description}"
    yield f"# TYPE {name} {kind}"


def _label_text(names: Labels, labels: Labels) -> str:
    return "{" + ",".join(f'{name}="{value}"' for name, value in zip(names, labels, strict=True)) + "}"

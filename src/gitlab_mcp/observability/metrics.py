"""Counts, durations and gauges in the text format of Prometheus.

No label holds anything that a caller chose: operations are from the catalogue, codes are ours. The text may be made in
another thread than the one that counts; so it is made from copies.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from gitlab_mcp import __version__
from gitlab_mcp.failures.failure import NO_OPERATION
from gitlab_mcp.observability.outcome import Outcome

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
_CALL_BUCKETS: Final = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
_EXPLAINING_BUCKETS: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0)

Labels = tuple[str, ...]


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
    def __init__(self, gauges: Mapping[str, tuple[str, Callable[[], float]]]) -> None:
        """`gauges` maps a name to its description and the function that reads its value."""
        self._gauges = gauges
        self._calls: Counter[Labels] = Counter()
        self._errors: Counter[Labels] = Counter()
        self._call_durations = Histogram(_CALL_BUCKETS)
        self._explaining_durations = Histogram(_EXPLAINING_BUCKETS)
        self._requests: Counter[Labels] = Counter()

    def count_call(self, outcome: Outcome) -> None:
        failure = outcome.failure
        if failure:
            self._errors[(failure.code, outcome.operation, str(outcome.http_status))] += 1
        if outcome.operation == NO_OPERATION:
            # A request that was refused before it became a call.
            return
        self._calls[(outcome.operation, "error" if failure else outcome.conclusion)] += 1
        self._call_durations.observe((outcome.operation,), outcome.seconds)
        if failure:
            self._explaining_durations.observe((outcome.operation,), outcome.explaining_seconds)

    def count_request(self, status: int) -> None:
        """One HTTP request to /mcp was answered."""
        self._requests[(str(status),)] += 1

    def text(self) -> str:
        return "\n".join([*self._lines(), ""])

    def _lines(self) -> Iterator[str]:
        yield from _header("gitlab_mcp_info", "gauge", "The version that runs.")
        yield f'gitlab_mcp_info{{version="{__version__}"}} 1'
        yield from _header("gitlab_mcp_calls_total", "counter", "Tool calls that ended.")
        yield from _counts("gitlab_mcp_calls_total", ("operation", "outcome"), self._calls)
        yield from _header("gitlab_mcp_call_duration_seconds", "histogram", "How long tool calls took.")
        yield from self._call_durations.lines("gitlab_mcp_call_duration_seconds", ("operation",))
        yield from _header(
            "gitlab_mcp_errors_total",
            "counter",
            "Tool calls that failed and requests that were refused, by cause.",
        )
        yield from _counts(
            "gitlab_mcp_errors_total", ("error_code", "operation", "http_status"), self._errors
        )
        name = "gitlab_mcp_error_handling_duration_seconds"
        yield from _header(name, "histogram", "How long it took to find out why a call failed.")
        yield from self._explaining_durations.lines(name, ("operation",))
        yield from _header("gitlab_mcp_http_requests_total", "counter", "HTTP requests to /mcp, by status.")
        yield from _counts("gitlab_mcp_http_requests_total", ("status",), self._requests)
        for name, (description, read) in self._gauges.items():
            yield from _header(name, "gauge", description)
            yield f"{name} {read():g}"


def _header(name: str, kind: str, description: str) -> Iterator[str]:
    yield f"# HELP {name} {description}"
    yield f"# TYPE {name} {kind}"


def _counts(name: str, label_names: Labels, counts: Counter[Labels]) -> Iterator[str]:
    for labels, count in list(counts.items()):
        yield f"{name}{_label_text(label_names, labels)} {count}"


def _label_text(names: Labels, labels: Labels) -> str:
    return "{" + ",".join(f'{name}="{value}"' for name, value in zip(names, labels, strict=True)) + "}"

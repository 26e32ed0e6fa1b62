"""Traces and metrics as a collector gets them: the whole story of a call, and nothing that somebody chose."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from typing import Any

import httpx2
import pytest

from gitlab_mcp.observability.metrics import INSTRUMENTS
from tests.support.collector import Collector
from tests.support.process import Spoken
from tests.support.served import ACCEPT, call, served
from tests.support.standin import StandIn

SERVER, CLIENT, INTERNAL = 2, 3, 1
TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
TRACEPARENT = f"00-{TRACE}-{PARENT}-01"
GITLABS_ID = "01M7H2RW7A0P1GNJT0701210Z1"
LABELS = {"action": "list", "project_id": "acme/a-secret-project"}
TOKEN = "glpat-canarycanarycanary00"


def post(url: str, body: object, **headers: str) -> httpx2.Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return httpx2.post(url, json=body, headers={**ACCEPT, "Private-Token": TOKEN, **named}, timeout=30)


def test_a_trace_of_a_call_goes_on_with_the_clients_and_ends_at_gitlab(standin: StandIn) -> None:
    standin.answer("GET", "/projects/*/labels", 200, [], {"X-Request-Id": GITLABS_ID})
    with Collector() as collector, served(standin.url, "--otlp-endpoint", collector.url) as server:
        answer = post(
            server.url, call("browse_labels", LABELS), traceparent=TRACEPARENT, x_request_id="mine-1"
        )
        assert not answer.json()["result"].get("isError"), answer.text
        server.stop()
        assert server.ended() == 0
    whole = collector.named("tools/call browse_labels")
    assert (whole.trace, whole.parent, whole.kind, whole.failed) == (TRACE, PARENT, SERVER, False)
    assert whole.attributes["gitlab_mcp.operation"] == "labels:list"
    assert whole.attributes["gitlab_mcp.request_id"] == answer.headers["x-request-id"]
    for inner in ("validate", "guards"):
        assert (collector.named(inner).parent, collector.named(inner).kind) == (whole.id, INTERNAL)
    request = collector.named("GET /projects/{project_id}/labels")
    assert (request.trace, request.parent, request.kind) == (TRACE, whole.id, CLIENT)
    assert request.attributes["http.response.status_code"] == 200
    assert request.attributes["gitlab.correlation_id"] == GITLABS_ID


def test_the_message_says_better_than_the_connection_whose_trace_it_is(standin: StandIn) -> None:
    standin.answer("GET", "/projects/*/labels", 200, [])
    with Collector() as collector, served(standin.url, "--otlp-endpoint", collector.url) as server:
        mine = call("browse_labels", LABELS, traceparent=TRACEPARENT)
        post(server.url, mine, traceparent=f"00-{'1' * 32}-{'2' * 16}-01")
        server.stop()
        assert server.ended() == 0
    assert collector.named("tools/call browse_labels").trace == TRACE


@pytest.mark.parametrize("traceparent", ["", "no", f"00-{'0' * 32}-{'0' * 16}-01", "é" * 400])
def test_a_traceparent_that_is_none_begins_a_trace_of_its_own(traceparent: str, standin: StandIn) -> None:
    standin.answer("GET", "/projects/*/labels", 200, [])
    with Collector() as collector, served(standin.url, "--otlp-endpoint", collector.url) as server:
        answer = post(server.url, call("browse_labels", LABELS, traceparent=traceparent))
        assert not answer.json()["result"].get("isError"), answer.text
        server.stop()
        assert server.ended() == 0
    assert collector.named("tools/call browse_labels").parent == ""


def test_a_refusal_shows_its_code_each_attempt_and_how_long_explaining_took(standin: StandIn) -> None:
    standin.answer("GET", "/projects/*/labels", 503, {"message": f"said {TOKEN}"})
    with Collector() as collector:
        with Spoken(standin.url, "--otlp-endpoint", collector.url) as client:
            assert client.call("browse_labels", LABELS)["isError"]
            client.end_of_input()
            assert client.process.wait(15) == 0
        whole = collector.named("tools/call browse_labels")
        assert (whole.failed, whole.attributes["error.type"]) == (True, "SERVER_ERROR")
        attempts = [span for span in collector.spans if span.name == "GET /projects/{project_id}/labels"]
        assert [span.attributes.get("http.request.resend_count") for span in attempts] == [None, 1, 2]
        assert {span.attributes["error.type"] for span in attempts} == {"503"}
        assert collector.named("explain").parent == whole.id


def test_calls_of_a_batch_are_parts_of_it(standin: StandIn) -> None:
    standin.answer("GET", "/projects/*/labels", 200, [])
    two = {"action": "run", "calls": [{"tool": "browse_labels", "arguments": LABELS}] * 2}
    with Collector() as collector:
        with Spoken(standin.url, "--otlp-endpoint", collector.url) as client:
            assert not client.call("run_batch", two).get("isError")
            client.end_of_input()
            assert client.process.wait(15) == 0
        batch = collector.named("tools/call run_batch")
        calls = [span for span in collector.spans if span.name == "tools/call browse_labels"]
        assert [(span.parent, span.kind) for span in calls] == [(batch.id, INTERNAL)] * 2
        assert {span.trace for span in collector.spans} == {batch.trace}


def test_no_token_name_argument_or_text_leaves_for_the_collector(standin: StandIn) -> None:
    standin.answer("GET", "/projects/*/labels", 403, {"message": "403 of the secret kind"})
    title = "A title that nobody may read"
    with Collector() as collector, served(standin.url, "--otlp-endpoint", collector.url) as server:
        post(server.url, call("browse_labels", {**LABELS, "search": title}))
        post(server.url, call(f"made_up_{TOKEN}", {"action": title}))
        post(server.url, call("browse_labels", {"action": title, title: title}))
        server.stop()
        assert server.ended() == 0
    assert len(collector.spans) > 5
    assert collector.metrics
    for chosen in (TOKEN, "canary", "a-secret-project", "secret kind", title, "made_up"):
        assert chosen.encode() not in collector.sent


def test_the_collector_gets_what_prometheus_reads_under_the_same_names(standin: StandIn) -> None:
    standin.answer("GET", "/projects/*/labels", 200, [])
    standin.answer("GET", "/projects/*/milestones", 404, {"message": "404 Project Not Found"})
    with Collector() as collector, served(standin.url, "--otlp-endpoint", collector.url) as server:
        for tool in ("browse_labels", "browse_labels", "browse_milestones"):
            post(server.url, call(tool, LABELS))
        text = httpx2.get(server.at("/metrics")).text
        server.stop()
        assert server.ended() == 0
    for each in INSTRUMENTS:
        sent = collector.metrics[each.name]
        assert (sent.unit == "s") is bool(each.buckets)
        if each.buckets:
            points = {p.attributes[0].value.string_value: p.count for p in sent.histogram.data_points}
            lines = {f'{each.name}_seconds_count{{operation="{on}"}} {n}' for on, n in points.items()}
            assert tuple(sent.histogram.data_points[0].explicit_bounds) == each.buckets
        else:
            lines = {
                f"{each.name}_total{{{_labels(point)}}} {int(point.as_double or point.as_int)}"
                for point in sent.sum.data_points
            }
        assert lines and lines <= set(text.splitlines()), each.name
    assert {"gitlab_mcp_calls_in_flight", "gitlab_mcp_info"} <= collector.metrics.keys()


def _labels(point: Any) -> str:
    return ",".join(f'{each.key}="{each.value.string_value}"' for each in point.attributes)


def test_a_collector_that_is_down_costs_one_line_and_no_call(standin: StandIn) -> None:
    standin.answer("GET", "/projects/*/labels", 200, [])
    started = time.monotonic()
    with Spoken(
        standin.url, OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:9", OTEL_BSP_SCHEDULE_DELAY="50"
    ) as client:
        for _ in range(20):
            assert not client.call("browse_labels", LABELS).get("isError")
            time.sleep(0.02)
        client.end_of_input()
        assert client.process.wait(10) == 0
        assert time.monotonic() - started < 12
        client._listener.join(5)
        assert client.said_badly.count("the collector does not take what is sent to it") == 1
        assert client.said_badly.count("\n") == 1, client.said_badly


def test_without_a_collector_nothing_of_opentelemetrys_sdk_is_imported(standin: StandIn) -> None:
    """In a process of its own that has made a call."""
    standin.answer("GET", "/projects/*/labels", 200, [])
    program = (
        "import anyio, sys; from gitlab_mcp.app import App; from gitlab_mcp.settings import Secret, Settings;"
        f"app = App(Settings(url={standin.url!r}, token=Secret('alice')));"
        f"anyio.run(lambda: app.call('browse_labels', {LABELS!r}));"
        "print([name for name in sys.modules if name.startswith('opentelemetry.')])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout.replace("'", '"')) == []

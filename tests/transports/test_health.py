"""What the machinery around the server sees, and what it does not."""

from __future__ import annotations

import json
import re
import socket
from contextlib import ExitStack
from pathlib import Path
from secrets import token_hex

import httpx2
import pytest
from starlette.applications import Starlette

from gitlab_mcp.observability.metrics import Metrics
from gitlab_mcp.transports.http.health import Health, ServingState
from tests.support.raw_http import line as connected_to
from tests.support.raw_http import post
from tests.support.served import ACCEPT, Served, call, refused, served
from tests.support.standin import Held, StandIn

pytestmark = pytest.mark.anyio
LIST = {"action": "list", "project_id": "1"}


async def get(url: str, **headers: str) -> httpx2.Response:
    async with httpx2.AsyncClient() as http:
        return await http.get(url, headers={name.replace("_", "-"): value for name, value in headers.items()})


async def test_the_server_is_alive_and_ready_while_gitlab_answers(server: Served, labels: StandIn) -> None:
    assert (await get(server.at("/healthz"))).status_code == 200
    ready = await get(server.at("/readyz"), Host="10.1.2.3:8080")
    assert (ready.status_code, ready.json()) == (200, {"status": "ready"})
    assert [request.token for request in labels.requests] == [None]


async def test_without_gitlab_it_is_alive_but_not_ready_and_tells_only_the_operator_why() -> None:
    with StandIn() as gone:
        url = gone.url
    with served(url) as server:
        assert (await get(server.at("/healthz"))).status_code == 200
        proxied = await get(server.at("/readyz"), X_Forwarded_For="203.0.113.9")
        assert (proxied.status_code, proxied.json()) == (503, {"status": "not ready"})
        assert (await get(server.at("/readyz"))).json()["checks"] == {"gitlab": "failed", "store": "ok"}


async def test_a_store_that_is_gone_makes_it_unready(labels: StandIn) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        nobody = free.getsockname()[1]
    with served(labels.url, GITLAB_MCP_REDIS=f"redis://127.0.0.1:{nobody}/0") as server:
        ready = await get(server.at("/readyz"))
    assert (ready.status_code, ready.json()["checks"]) == (503, {"gitlab": "ok", "store": "failed"})


async def test_metrics_count_calls_and_errors_and_name_no_project(labels: StandIn) -> None:
    labels.answer("GET", "/projects/*/labels", 403, {"message": "403 Forbidden"})
    labels.answer("GET", "/projects/1/labels", 200, [])
    with served(labels.url) as server:
        headers = {**ACCEPT, "PRIVATE-TOKEN": "alice"}
        async with httpx2.AsyncClient(headers=headers) as http:
            for tool, project in (
                ("browse_labels", "1"),
                ("browse_labels", "secret/project"),
                ("secret_tool", "1"),
            ):
                await http.post(server.url, json=call(tool, {"action": "list", "project_id": project}))
        text = (await get(server.at("/metrics"))).text
    samples = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    assert samples['gitlab_mcp_calls_total{operation="labels:list",outcome="ok"}'] == "1"
    assert samples['gitlab_mcp_calls_total{operation="labels:list",outcome="error"}'] == "1"
    errors = {name: count for name, count in samples.items() if name.startswith("gitlab_mcp_errors_total")}
    assert len(errors) == 2 and set(errors.values()) == {"1"}
    assert any(
        'error_code="UNKNOWN_TOOL",operation="unknown:unknown",http_status="404"' in name for name in errors
    )
    handling = "gitlab_mcp_error_handling_duration_seconds_count"
    assert samples[handling + '{operation="labels:list"}'] == "1"
    assert samples["gitlab_mcp_calls_in_flight"] == "0"
    assert samples['gitlab_mcp_http_requests_total{status="200"}'] == "3"
    assert "secret" not in text and "alice" not in text
    for line in text.splitlines():
        assert re.fullmatch(r'# (HELP|TYPE) \w+ .+|\w+(\{(\w+="[^"\\]*",?)+\})? [0-9.e+-]+', line), line


async def test_metrics_are_for_the_operator_alone(labels: StandIn, tmp_path: Path) -> None:
    with served(labels.url) as server:
        assert (await get(server.at("/metrics"))).status_code == 200
        for told in (
            {"Host": "evil.example"},
            {"X_Forwarded_For": "203.0.113.9"},
            {"Origin": "http://localhost"},
        ):
            assert (await get(server.at("/metrics"), **told)).status_code == 401
    secret = tmp_path / "operator"
    only_me = token_hex(32)
    secret.write_text(f"{only_me}\n")
    with served(labels.url, "--operator-secret-file", str(secret)) as server:
        assert (await get(server.at("/metrics"))).status_code == 401
        assert (await get(server.at("/metrics"), Authorization=f"Bearer {only_me[:-1]}")).status_code == 401
        given = {"Authorization": f"Bearer {only_me}", "Host": "10.1.2.3:8080"}
        assert (await get(server.at("/metrics"), **given)).status_code == 200
        assert "checks" in (await get(server.at("/readyz"), **given)).json()
        secret.unlink()
        assert (await get(server.at("/metrics"), **given)).status_code == 401


async def test_health_has_a_port_of_its_own_that_no_load_keeps_waiting(labels: StandIn) -> None:
    held = Held()
    labels.fault("GET", "/projects/1/labels", held, times=10)
    flags = ("--max-connections", "10", "--health", "127.0.0.1:0")
    with served(labels.url, *flags) as server, ExitStack() as stack:
        server.wait_until_said("serving health at")
        found = re.search(r"serving health at (http://\S+)", server.log)
        assert found
        health = found[1]
        # Equal lists would be asked for once.
        for page in range(1, 11):
            connection = stack.enter_context(connected_to(server))
            connection.sendall(post(json.dumps(call("browse_labels", {**LIST, "page": page})).encode()))
        assert labels.wait_for(lambda gitlab: len(gitlab.requests) == 10)
        # Those that are above the limit, and hold what is kept for them.
        for _ in range(40):
            stack.enter_context(connected_to(server))
        assert (await get(f"{health}/healthz")).text == "alive\n"
        assert (await get(f"{health}/readyz")).json()["checks"] == {"gitlab": "ok", "store": "ok"}
        assert "gitlab_mcp_calls_in_flight 10" in (await get(f"{health}/metrics")).text
        assert (await get(f"{health}/metrics", X_Forwarded_Host="mcp.example.com")).status_code == 401
        assert (await get(f"{health}/mcp")).json()["error"]["data"]["error_code"] == "NOT_FOUND"
        server.stop()
        server.wait_until_said("stopping")
        assert (await get(f"{health}/readyz")).status_code == 503
        held.let_go()
        assert server.ended() == 0


async def test_a_server_that_no_longer_works_on_anything_is_not_alive() -> None:
    serving = ServingState()
    app = Starlette(routes=Health(Metrics({}), {}, None, serving).routes())
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://localhost") as http:
        assert (await http.get("/healthz")).status_code == 200
        serving.last_sign_of_life -= 3600
        assert (await http.get("/healthz")).status_code == 503


def test_a_port_for_health_that_is_taken_stops_the_start() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ended = refused(
            "https://gitlab.example.com", "--http", "127.0.0.1:0", "--health", f"127.0.0.1:{port}"
        )
    assert ended.returncode == 2 and "--health" in ended.stderr

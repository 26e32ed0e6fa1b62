"""Under which names the server answers: a web page that rebinds its own name to this machine gets nothing."""

from __future__ import annotations

import httpx2
import pytest

from tests.support.served import ACCEPT, INITIALIZE, Served, served
from tests.support.standin import StandIn

pytestmark = pytest.mark.anyio
TOKEN = {"PRIVATE-TOKEN": "alice"}


async def status(url: str, **headers: str) -> int:
    async with httpx2.AsyncClient() as http:
        answer = await http.post(url, json=INITIALIZE, headers={**ACCEPT, **TOKEN, **headers})
    return answer.status_code


async def test_only_names_of_this_machine_are_answered_by_default(server: Served, labels: StandIn) -> None:
    for host in ("localhost", "127.0.0.1:8080", "[::1]:1"):
        assert await status(server.url, Host=host) == 200
    for host in (
        "evil.example",
        "localhost.evil.example",
        "127.0.0.1.evil.example:80",
        "localhost:80:80",
        "10.0.0.1",
    ):
        assert await status(server.url, Host=host) == 421


async def test_no_web_page_of_others_is_answered_by_default(server: Served, labels: StandIn) -> None:
    own = f"http://127.0.0.1:{server.port}"
    for origin in ("https://evil.example", "http://localhost:3000", "null", f"{own}.evil.example"):
        assert await status(server.url, Origin=origin) == 403


async def test_a_page_of_the_server_itself_is_answered(server: Served, labels: StandIn) -> None:
    for host in (f"127.0.0.1:{server.port}", f"localhost:{server.port}", "[::1]:8080"):
        assert await status(server.url, Host=host, Origin=f"http://{host}") == 200
        assert await status(server.url, Host=host, Origin=f"http://{host}1") == 403
        assert await status(server.url, Host=host, Origin=f"https://{host}") == 403
    assert await status(server.url, Host="evil.example", Origin="http://evil.example") == 421


async def test_a_public_url_opens_exactly_one_host_and_one_origin(labels: StandIn) -> None:
    with served(labels.url, "--public-url", "https://mcp.example.com/gitlab") as server:
        for host in ("mcp.example.com", "MCP.example.com:443", "localhost"):
            assert await status(server.url, Host=host) == 200
        for host in ("mcp.example.com:8080", "other.example.com", "mcp.example.com.evil.example"):
            assert await status(server.url, Host=host) == 421
        assert await status(server.url, Origin="https://mcp.example.com") == 200
        for origin in ("http://mcp.example.com", "https://mcp.example.com.evil.example", "http://localhost"):
            assert await status(server.url, Origin=origin) == 403
        async with httpx2.AsyncClient(headers={"Host": "mcp.example.com"}) as http:
            refusal = await http.post(server.url, json=INITIALIZE)
            path = "/.well-known/oauth-protected-resource/gitlab/mcp"
            metadata = await http.get(server.at(path))
    assert f"https://mcp.example.com{path}" in refusal.headers["www-authenticate"]
    assert metadata.json()["resource"] == "https://mcp.example.com/gitlab/mcp"

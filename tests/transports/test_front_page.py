"""The page for people who open the server's address in a browser."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

import httpx2
import pytest
import yaml

from gitlab_mcp.transports.http.front_page import front_page, wants_page
from gitlab_mcp.transports.http.options import HttpOptions
from gitlab_mcp.transports.http.remote_clients import (
    GITLAB_TOKEN,
    REMOTE_CLIENTS,
    SERVER_SECRET,
    Credential,
    RemoteClient,
)
from tests.support.browser import BROWSER, browsing
from tests.support.served import Served, served
from tests.support.standin import StandIn

pytestmark = pytest.mark.anyio
BY_A_BROWSER = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}


async def get(url: str, **headers: str) -> httpx2.Response:
    async with httpx2.AsyncClient() as http:
        return await http.get(url, headers={**BY_A_BROWSER, **headers})


def shown(page: httpx2.Response) -> str:
    """What a person reads."""
    return unescape(re.sub(r"<[^>]+>", "", re.sub(r"<style>.*?</style>", "", page.text, flags=re.DOTALL)))


async def test_a_person_gets_the_page_and_a_program_what_it_got_before(
    server: Served, labels: StandIn
) -> None:
    page = await get(server.at("/"))
    assert (page.status_code, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    for accept in ("*/*", "application/json", "application/json, text/event-stream", "text/html;q=0"):
        answer = await get(server.at("/"), Accept=accept)
        assert (answer.status_code, answer.json()["error"]["data"]["suggested_fix"]) == (
            404,
            "MCP is at /mcp.",
        )


async def test_it_tells_the_address_under_which_it_was_opened(server: Served, labels: StandIn) -> None:
    for host in (f"127.0.0.1:{server.port}", "localhost:9"):
        assert f"http://{host}/mcp" in shown(await get(server.at("/"), Host=host))


async def test_it_tells_the_public_address_where_there_is_one(labels: StandIn) -> None:
    with served(labels.url, "--public-url", "https://mcp.example.com/gitlab") as server:
        for host in ("mcp.example.com", "localhost"):
            page = shown(await get(server.at("/"), Host=host))
            assert "https://mcp.example.com/gitlab/mcp" in page
            assert "http://localhost" not in page


async def test_it_tells_whether_gitlab_answers(server: Served, labels: StandIn) -> None:
    assert re.search(r"GitLab\s*answers", shown(await get(server.at("/"))))
    with StandIn() as gone:
        url = gone.url
    with served(url) as alone:
        assert re.search(r"GitLab\s*does not answer", shown(await get(alone.at("/"))))


async def test_only_the_operator_is_told_of_the_store(server: Served, labels: StandIn) -> None:
    assert "Store" in shown(await get(server.at("/")))
    assert "Store" not in shown(await get(server.at("/"), **{"X-Forwarded-For": "203.0.113.9"}))


async def test_it_holds_no_secret(labels: StandIn) -> None:
    with served(labels.url, GITLAB_TOKEN="glpat-of-the-server-itself") as server:
        page = await get(server.at("/"))
        assert server.secret not in page.text
    assert "glpat-of-the-server-itself" not in page.text
    assert "Authorization: Bearer $MCP_SERVER_SECRET" in shown(page)
    assert "PRIVATE-TOKEN" not in page.text


async def test_pages_of_others_and_other_names_do_not_get_it(server: Served, labels: StandIn) -> None:
    assert (await get(server.at("/"), Host="evil.example")).status_code == 421
    assert (await get(server.at("/"), Origin="https://evil.example")).status_code == 403


def options(url: str) -> HttpOptions:
    return HttpOptions(
        url=url,
        other_urls=(),
        own_token=False,
        bearer=None,
        operator_secret=None,
        public_url=None,
        toolsets=("all",),
        error_style="tier",
        oauth_scope="api",
        max_request_bytes=1,
        client_timeout=1,
        max_connections=1,
        connections_per_address=1,
        trusted_proxies=(),
        deadline=1,
    )


def test_whatever_an_address_holds_is_text_on_the_page() -> None:
    hostile = "https://a.example/\"'><script>alert(1)</script>&amp;$url`"
    page = bytes(front_page(hostile, options(hostile), hostile, {hostile: True}).body).decode()
    assert "<script" not in page
    assert "'>" not in page and '">alert' not in page
    assert page.count("&lt;script&gt;") >= len(REMOTE_CLIENTS)


@pytest.mark.parametrize(
    ("accept", "wanted"),
    [
        ("text/html", True),
        ("TEXT/HTML; charset=utf-8, */*", True),
        ("application/json, text/html;q=0.5", True),
        ("text/html;q=0.0", False),
        ("text/html-not", False),
        ("*/*", False),
        ("", False),
    ],
)
def test_a_person_is_told_by_what_the_browser_accepts(accept: str, wanted: bool) -> None:
    assert wants_page(accept) is wanted


@pytest.mark.parametrize("credential", [GITLAB_TOKEN, SERVER_SECRET], ids=lambda each: each.header)
@pytest.mark.parametrize("client", REMOTE_CLIENTS, ids=lambda client: client.title)
def test_what_is_pasted_can_be_read_and_has_the_address_and_the_header(
    client: RemoteClient, credential: Credential
) -> None:
    url = "https://mcp.example.com/a&b/mcp"
    snippet = client.snippet(url, credential)
    readers: dict[str, Callable[[str], Any]] = {
        "json": json.loads,
        "toml": tomllib.loads,
        "yaml": yaml.safe_load,
        "console": shlex.split,
    }
    parsed = readers[client.syntax](snippet)
    texts = set(strings(parsed))
    assert url in texts
    if client.title == "Codex":
        assert credential.variable in texts
    else:
        assert any(credential.header in each for each in texts)
        assert credential.prefix.strip() in snippet


def strings(value: object) -> list[str]:
    """Every text inside, keys too."""
    if isinstance(value, dict):
        return [text for pair in value.items() for each in pair for text in strings(each)]
    if isinstance(value, list):
        return [text for each in value for text in strings(each)]
    return [value] if isinstance(value, str) else []


@pytest.mark.skipif(BROWSER is None, reason="no browser: install chromium")
def test_in_a_browser_it_asks_for_nothing_else_and_fits_a_phone_in_light_and_dark(
    server: Served, labels: StandIn, tmp_path: Path
) -> None:
    with browsing(tmp_path) as page:
        backgrounds = set()
        for dark in (False, True):
            page.look(width=360, height=740, dark=dark)
            page.open(server.at("/"))
            page.tell("document.querySelectorAll('details').forEach(each => each.open = true)")
            assert page.tell("document.documentElement.scrollWidth") == 360
            backgrounds.add(page.tell("getComputedStyle(document.body).backgroundColor"))
        assert len(backgrounds) == 2
        assert set(page.requested) == {server.at("/")}
        assert page.complaints == []


@pytest.mark.skipif(BROWSER is None, reason="no browser: install chromium")
def test_in_a_browser_without_scripts_a_click_opens_what_a_client_needs(
    server: Served, labels: StandIn, tmp_path: Path
) -> None:
    with browsing(tmp_path) as page:
        page.look(scripts=False)
        page.open(server.at("/"))
        assert page.tell("document.querySelector('pre').checkVisibility()") is False
        box = page.tell("JSON.stringify(document.querySelector('summary').getBoundingClientRect())")
        place = {"x": json.loads(box)["x"] + 20, "y": json.loads(box)["y"] + 10}
        for kind in ("mousePressed", "mouseReleased"):
            page.ask("Input.dispatchMouseEvent", type=kind, button="left", clickCount=1, **place)
        assert page.tell("document.querySelector('pre').checkVisibility()") is True

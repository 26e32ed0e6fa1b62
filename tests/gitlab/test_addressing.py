from __future__ import annotations

import contextlib
import socket
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitlab_mcp.actions.action import fill
from gitlab_mcp.actions.exchange import Request
from gitlab_mcp.failures.failure import CallFailed
from gitlab_mcp.gitlab.address import check_path, parse_address, query_pairs
from gitlab_mcp.gitlab.faults import ForeignHost, NoToken, Refused, Unreachable
from tests.support.fault_server import Connection, FaultServer, Received, dropping, replying
from tests.support.upstreams import upstream_at

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("given_url", "root"),
    [
        ("https://gitlab.example.com", "https://gitlab.example.com"),
        ("https://gitlab.example.com/", "https://gitlab.example.com"),
        ("https://GitLab.example.com/api/v4", "https://gitlab.example.com"),
        ("https://gitlab.example.com/api/v4/", "https://gitlab.example.com"),
        ("https://example.com/gitlab/", "https://example.com/gitlab"),
        ("https://example.com/gitlab/api/v4", "https://example.com/gitlab"),
        (" http://[::1]:8080 ", "http://[::1]:8080"),
    ],
)
def test_a_base_url_is_taken_as_people_paste_it(given_url: str, root: str) -> None:
    assert parse_address(given_url).root == root
    assert upstream_at(given_url).as_caller("t").base_url == root


@pytest.mark.parametrize(
    "url",
    [
        "",
        "gitlab.example.com",
        "ftp://gitlab.example.com",
        "https://",
        "https://user:secret@gitlab.example.com",
        "https://gitlab.example.com?x=1",
        "https://gitlab.example.com#x",
        "https://gitlab.example.com:99999",
        "https://git lab",
        "https://gitlab.example.com\\@evil.example",
    ],
)
def test_a_malformed_base_url_is_refused(url: str) -> None:
    with pytest.raises(ValueError):
        parse_address(url)


@pytest.mark.parametrize(
    "path", ["https://evil.example/x", "//evil.example/x", "HTTP://evil.example", "ssh://e/x"]
)
async def test_a_path_that_leads_to_another_host_is_refused_before_anything_is_sent(path: str) -> None:
    with FaultServer(replying(200, {})) as server:
        client = upstream_at(server.url).as_caller("secret")
        with pytest.raises(ForeignHost):
            await client.get(path)
        with pytest.raises(ForeignHost):
            await client.stream(Request("GET", path), lambda chunks, _: None)
        assert server.connections == []


@pytest.mark.parametrize(
    "path",
    [
        "projects/1",
        "/projects/../users",
        "/projects/%2e%2E/users",
        "/projects/%2E",
        "/projects//issues",
        "/projects/1/",
        "/projects?x=1",
        "/projects#x",
        "/projects/a b",
        "/projects/a\r\nX-Evil: 1",
        "/projects/é",
        "/projects\\..\\users",
        "",
    ],
)
async def test_a_path_that_could_lead_elsewhere_is_refused_before_anything_is_sent(path: str) -> None:
    with FaultServer(replying(200, {})) as server:
        with pytest.raises((ValueError, CallFailed)):
            await upstream_at(server.url).as_caller("secret").get(path)
        assert server.connections == []


@given(st.text(min_size=1))
def test_whatever_an_id_holds_it_stays_one_segment_or_is_refused(value: str) -> None:
    try:
        path = fill("/projects/{id}/issues", id=value)
        check_path(path)
    except (ValueError, CallFailed):
        assert value in (".", "..") or any("\ud800" <= char <= "\udfff" for char in value)
        return
    before, segment, after = path.rsplit("/", 2)
    assert (before, unquote(segment), after) == ("/projects", value, "issues")


@pytest.mark.parametrize(
    "name", ["feature/a b", "50%", "c++", "#1", "é", ".gitlab-ci.yml", "a%2Fb", "x~y", "-", "a;b?c"]
)
async def test_names_arrive_encoded_exactly_once(name: str) -> None:
    path = fill("/projects/{id}/repository/branches/{branch}", id="acme/website", branch=name)
    with FaultServer(replying(200, {})) as server:
        await upstream_at(server.url + "/gitlab").as_caller("t").get(path, ref=name)
        target = urlsplit(server.received[0].target)
    assert target.path == "/gitlab/api/v4" + path
    assert parse_qsl(target.query) == [("ref", name)]


async def test_queries_and_bodies_are_encoded_as_gitlab_reads_them() -> None:
    query = {"archived": False, "iids": [1, 2], "not": {"labels": ["a", "b"], "author": "bob"}, "none": None}
    with FaultServer(replying(200, {})) as server:
        client = upstream_at(server.url).as_caller("t")
        await client.get("/issues", **query)
        await client.send(
            Request("POST", "/projects", query={"a": 1}, body={"ids": [], "flag": True, "x": None})
        )
        await client.send(Request("POST", "/projects/1/star"))
        asked, written, bare = server.received
    assert parse_qsl(urlsplit(asked.target).query) == [
        ("archived", "false"),
        ("iids[]", "1"),
        ("iids[]", "2"),
        ("not[labels][]", "a"),
        ("not[labels][]", "b"),
        ("not[author]", "bob"),
    ]
    assert (asked.body, bare.body) == (b"", b"")
    assert written.body == b'{"ids": [], "flag": true, "x": null}'
    assert written.headers["content-type"] == "application/json"
    assert written.target == "/api/v4/projects?a=1"


def test_objects_in_lists_of_a_query_keep_their_keys() -> None:
    assert query_pairs({"v": [{"key": "a"}]}) == [("v[][key]", "a")]


@pytest.mark.parametrize(
    ("kind", "header", "value"),
    [("private", "private-token", "T"), ("job", "job-token", "T"), ("bearer", "authorization", "Bearer T")],
)
async def test_a_token_is_sent_in_the_header_of_its_kind(kind: Any, header: str, value: str) -> None:
    with FaultServer(replying(200, {})) as server:
        await upstream_at(server.url).as_caller("T", kind=kind).get("/user")
        sent = server.received[0].headers
    assert {name: sent[name] for name in ("private-token", "job-token", "authorization") if name in sent} == {
        header: value
    }


@pytest.mark.parametrize("token", [None, ""])
def test_a_call_without_a_token_is_refused(token: str | None) -> None:
    with pytest.raises(NoToken):
        upstream_at("https://gitlab.example.com").as_caller(token)


@pytest.mark.parametrize("token", ["glpat-x\r\nX-Evil: 1", "glpat x", "ključ"])
def test_a_token_no_header_can_carry_is_refused(token: str) -> None:
    with pytest.raises(ValueError):
        upstream_at("https://gitlab.example.com").as_caller(token)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_is_not_followed_and_no_token_leaves_for_another_host(status: int) -> None:
    with FaultServer(replying(200, {"id": 1})) as foreign:
        elsewhere = f"{foreign.url}/api/v4/projects/1"
        with FaultServer(replying(status, location=elsewhere)) as server:
            client = upstream_at(server.url).as_caller("secret")
            for request in (Request("GET", "/projects/1"), Request("POST", "/projects", body={})):
                with pytest.raises(Refused) as caught:
                    await client.send(request)
                assert (caught.value.status, caught.value.headers["location"]) == (status, elsewhere)
        assert foreign.connections == []


async def test_the_body_of_a_redirect_is_not_read_to_its_end() -> None:
    def endless(_: Received, connection: Connection) -> None:
        connection.send(b"HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\n\r\n")
        with contextlib.suppress(OSError):
            while True:
                connection.send(b"x" * 65536)
        connection.drop()

    with FaultServer(endless) as server:
        with anyio.fail_after(5), pytest.raises(Refused) as caught:
            await upstream_at(server.url, deadline=3).as_caller("secret").get("/projects")
        assert len(caught.value.content) == 65536


async def test_a_next_page_on_another_host_is_not_followed() -> None:
    with FaultServer(replying(200, [])) as foreign:
        link = f'<{foreign.url}/api/v4/projects?page=2>; rel="next"'
        with FaultServer(replying(200, [{"id": 1}], link=link)) as server:
            answer = await upstream_at(server.url).as_caller("secret").get("/projects", per_page=1)
            assert answer.body == [{"id": 1}]
            assert len(server.received) == 1
        assert foreign.connections == []


async def test_64_callers_at_once_each_get_their_own_answer() -> None:
    concurrently = anyio.CapacityLimiter(1)
    answers: dict[str, list[Any]] = {}

    def echo(received: Received, connection: Connection) -> None:
        connection.reply(200, {"for": received.token}, set_cookie=f"_gitlab_session={received.token}; path=/")

    with FaultServer(echo) as server:
        upstream = upstream_at(server.url)

        async def call(token: str) -> None:
            for _ in range(5):
                answer = await upstream.as_caller(token).get("/user")
                async with concurrently:
                    answers.setdefault(token, []).append(answer.body["for"])

        async with anyio.create_task_group() as tasks:
            for number in range(64):
                tasks.start_soon(call, f"token-{number}")
        assert answers == {f"token-{number}": [f"token-{number}"] * 5 for number in range(64)}
        assert not any("cookie" in received.headers for received in server.received)
        assert len(server.connections) <= 64
        upstream.close()


async def test_a_netrc_entry_is_not_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("default login someone password hunter2\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    with FaultServer(replying(200, {})) as server:
        await upstream_at(server.url, needs_token=False).as_caller(None).get("/version")
        assert "authorization" not in server.received[0].headers


async def test_a_proxy_named_by_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    with FaultServer(replying(200, {"via": "proxy"})) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        monkeypatch.setenv("no_proxy", "")
        answer = await upstream_at("http://gitlab.example.com").as_caller("t").get("/version")
        assert answer.body == {"via": "proxy"}
        assert proxy.received[0].target == "http://gitlab.example.com/api/v4/version"


async def test_a_create_whose_answer_a_proxy_loses_is_not_sent_again(monkeypatch: pytest.MonkeyPatch) -> None:
    with FaultServer(dropping) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        monkeypatch.setenv("no_proxy", "")
        with pytest.raises(Unreachable) as caught:
            await (
                upstream_at("http://gitlab.example.com")
                .as_caller("t")
                .send(Request("POST", "/projects", body={}))
            )
        assert caught.value.sent
        assert len(proxy.received) == 1


async def test_ipv6_and_a_relative_root_work() -> None:
    try:
        server = FaultServer(replying(200, {"version": "17.2.0"}), family=socket.AF_INET6)
    except OSError:
        pytest.skip("this machine has no IPv6 loopback")
    with server:
        answer = await upstream_at(server.url + "/gitlab/").as_caller("t").get("/version")
        assert answer.body == {"version": "17.2.0"}
        assert server.received[0].target == "/gitlab/api/v4/version"

"""Parts of serving that are easier to hold on their own than through a whole server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.datastructures import Headers

from gitlab_mcp.app import App
from gitlab_mcp.callers import RequestContext, Secret, Token
from gitlab_mcp.failures.failure import CallFailed
from gitlab_mcp.observability.metrics import Histogram
from gitlab_mcp.observability.outcome import Outcome
from gitlab_mcp.policy.calls_per_caller import CallsPerCaller
from gitlab_mcp.settings import SettingsError, load
from gitlab_mcp.transports.http.allowed_hosts import AllowedHosts, is_localhost
from gitlab_mcp.transports.http.authentication import Authenticator
from gitlab_mcp.transports.http.options import HttpOptions
from gitlab_mcp.transports.http.rejection import Rejected
from gitlab_mcp.transports.probe import alive
from tests.support.served import Served
from tests.support.standin import StandIn

AUTHENTICATOR = Authenticator(
    HttpOptions(
        url="https://gitlab.example.com",
        other_urls=("https://other.example.com",),
        own_token=False,
        bearer=None,
        operator_secret=None,
        public_url=None,
        toolsets=("all",),
        error_style="tier",
        oauth_scope="api",
        max_request_bytes=10_000,
        client_timeout=1.0,
        max_connections=10,
        connections_per_address=10,
        trusted_proxies=(),
        deadline=1.0,
    )
)


@pytest.mark.parametrize(
    ("given", "shown", "loopback"),
    [
        ("127.0.0.1:8080", "127.0.0.1:8080", True),
        ("localhost:0", "localhost:0", True),
        ("[::1]:80", "[::1]:80", True),
        ("127.1.2.3:80", "127.1.2.3:80", True),
        ("0.0.0.0:8080", "0.0.0.0:8080", False),
        ("[::]:8080", "[::]:8080", False),
        ("10.0.0.1:8080", "10.0.0.1:8080", False),
    ],
)
def test_an_address_says_whether_only_this_machine_reaches_it(given: str, shown: str, loopback: bool) -> None:
    address = load({"http": given}, {}, Path("/")).http
    assert address is not None
    assert (str(address), address.loopback) == (shown, loopback)


@pytest.mark.parametrize(
    "given", ["8080", ":8080", "127.0.0.1", "127.0.0.1:99999", "example.com:80", "::1:80"]
)
def test_an_address_that_does_not_say_whom_it_serves_is_refused(given: str) -> None:
    with pytest.raises(SettingsError):
        load({"http": given}, {}, Path("/"))


@pytest.mark.parametrize(
    "given", ["mcp.example.com", "ftp://x", "https://me:pw@x", "https://x/?q", "https://"]
)
def test_a_public_url_is_a_whole_address(given: str) -> None:
    with pytest.raises(SettingsError):
        load({"public_url": given}, {}, Path("/"))


@given(st.text(st.characters(codec="latin-1"), max_size=40))
def test_no_host_but_a_name_of_this_machine_passes_for_one(host: str) -> None:
    name = host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() else host
    assert is_localhost(host) <= (name in ("localhost", "127.0.0.1", "[::1]"))


@given(
    st.lists(
        st.tuples(st.sampled_from(["private-token", "job-token", "authorization"]), st.text(max_size=20))
    )
)
def test_headers_give_one_token_or_a_refusal(pairs: list[tuple[str, str]]) -> None:
    headers = Headers(raw=[(name.encode(), value.encode("utf-8")) for name, value in pairs])
    try:
        request_context = AUTHENTICATOR.request_context(headers, "request", "Bearer")
    except Rejected as rejected:
        assert rejected.failure.code == "AUTHENTICATION_FAILED"
    else:
        assert len(pairs) == 1 and request_context.token is not None
        assert request_context.token.value.reveal() in headers[pairs[0][0]]


@given(st.text(st.characters(codec="latin-1"), max_size=60))
def test_no_header_names_a_gitlab_that_is_not_allowed(url: str) -> None:
    headers = Headers(raw=[(b"private-token", b"alice"), (b"x-gitlab-api-url", url.encode("latin-1"))])
    try:
        request_context = AUTHENTICATOR.request_context(headers, "request", "Bearer")
    except Rejected as rejected:
        assert rejected.failure.code == "HOST_NOT_ALLOWED"
    else:
        assert request_context.gitlab_url in (None, "https://other.example.com")


def test_the_public_name_answers_with_and_without_its_usual_port() -> None:
    hosts = AllowedHosts("https://mcp.example.com:443", "/mcp")
    for host in ("mcp.example.com", "mcp.example.com:443"):
        hosts.check(Headers({"host": host}))
    with pytest.raises(Rejected):
        hosts.check(Headers({"host": "mcp.example.com:80"}))


def test_a_slot_is_free_again_after_a_call_that_failed() -> None:
    calls = CallsPerCaller(1)
    with pytest.raises(ZeroDivisionError), calls.slot("alice"):
        raise ZeroDivisionError
    with calls.slot("alice"), calls.slot("bob"), pytest.raises(CallFailed) as refused, calls.slot("alice"):
        pass
    assert refused.value.failure.code == "BUSY"


def test_a_histogram_counts_each_time_once_and_in_every_wider_bucket() -> None:
    histogram = Histogram((0.1, 1.0))
    for seconds in (0.05, 0.1, 0.5, 5.0):
        histogram.observe(("x",), seconds)
    assert list(histogram.lines("t", ("o",))) == [
        't_bucket{o="x",le="0.1"} 2',
        't_bucket{o="x",le="1"} 3',
        't_bucket{o="x",le="+Inf"} 4',
        't_sum{o="x"} 5.650000',
        't_count{o="x"} 4',
    ]


def test_the_same_token_in_another_header_is_another_caller() -> None:
    secret = Secret("alice")
    assert Token(secret, "private").fingerprint != Token(secret, "job").fingerprint
    assert "alice" not in repr(RequestContext("1", Token(secret, "private")))


@pytest.mark.anyio
async def test_a_sink_that_breaks_breaks_no_call(against: Any, standin: StandIn) -> None:
    standin.answer("GET", "/projects/1/labels", 200, [{"id": 1, "name": "bug"}])
    app: App = against()

    def broken(outcome: Outcome) -> None:
        raise OSError("the disk is full")

    app.observe(broken)
    result = await app.call("browse_labels", {"action": "list", "project_id": "1"})
    assert result.data["items"]
    with pytest.raises(CallFailed) as failed:
        await app.call("browse_labels", {"action": "list"})
    assert failed.value.failure.code == "MISSING_REQUIRED_FIELD"


def test_the_probe_tells_a_living_server_from_a_closed_port(server: Served, gitlab_port: int) -> None:
    assert alive(server.port)
    assert not alive(gitlab_port)

"""The interactions here are synthetic: each shows one rule of matching."""

from __future__ import annotations

import json
import socket
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from gitlab_mcp.actions.exchange import Request
from gitlab_mcp.gitlab.client import GitLabClient, Upstream
from gitlab_mcp.gitlab.faults import Refused, ReplayMiss
from gitlab_mcp.recording.cassette import (
    RECORDED_URL,
    Interaction,
    dump_cassette,
    dump_interaction,
    load_cassettes,
)
from tests.support.upstreams import upstream_at

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a replay opened a socket")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket.socket, "connect_ex", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


def exchange(
    path: str,
    answer: Any = None,
    *,
    alias: str = "alice",
    method: str = "GET",
    sent: Any = None,
    status: int = 200,
) -> Interaction:
    return Interaction(
        alias=alias,
        method=method,
        uri=f"{RECORDED_URL}/api/v4{path}",
        request_body=None if sent is None else json.dumps(sent),
        status=status,
        reason="OK",
        headers={"Content-Type": "application/json", "X-Total": "3"},
        content=b"" if answer is None else json.dumps(answer).encode(),
    )


def write(file: Path, *interactions: Interaction) -> Path:
    file.write_text(dump_cassette(map(dump_interaction, interactions)))
    return file


def upstream_of(path: Path, url: str = RECORDED_URL) -> Upstream:
    from gitlab_mcp.recording.replay import ReplayAdapter

    return upstream_at(url, adapter=lambda: ReplayAdapter(load_cassettes(path)), needs_token=False)


@pytest.fixture
def playing(tmp_path: Path):  # type: ignore[no-untyped-def]
    def play(*interactions: Interaction, token: str | None = None) -> GitLabClient:
        return upstream_of(write(tmp_path / "one.json", *interactions)).as_caller(token)

    return play


async def test_a_recorded_answer_comes_back_with_status_headers_and_body(playing: Any) -> None:
    answer = await playing(exchange("/projects/1", {"id": 1})).get("/projects/1")
    assert (answer.status, answer.headers["x-total"], answer.body) == (200, "3", {"id": 1})


async def test_a_recorded_refusal_is_refused_again(playing: Any) -> None:
    with pytest.raises(Refused) as caught:
        await playing(exchange("/projects/9", {"message": "404 Project Not Found"}, status=404)).get(
            "/projects/9"
        )
    assert caught.value.body() == {"message": "404 Project Not Found"}


async def test_a_request_that_was_not_recorded_is_a_miss_and_opens_no_connection(playing: Any) -> None:
    client = playing(exchange("/projects/1", {}))
    for request in (
        Request("GET", "/projects/2"),
        Request("GET", "/projects/1", {"statistics": True}),
        Request("PUT", "/projects/1", body={"name": "x"}),
    ):
        with pytest.raises(ReplayMiss) as caught:
            await client.send(request)
        assert caught.value.request == request
    with pytest.raises(ReplayMiss):
        await client.graphql("query { x }")


@pytest.mark.parametrize(
    ("asked", "nearest"),
    [
        (Request("GET", "/projects/1/issues", {"state": "opened"}), "GET /projects/1/issues?state=closed"),
        (Request("GET", "/projects/1/issues", {"a": 1, "page": 2}), "GET /projects/1/issues?a=1"),
        (Request("GET", "/projects/acme%2Fsite/issues", {"a": 1}), "GET /projects/1/issues?a=1"),
        (Request("GET", "/projects/1/labels"), None),
        (Request("POST", "/projects/1/issues"), None),
        (Request("GET", "/projects/7/issues/3/notes"), None),
    ],
)
async def test_a_miss_names_the_request_and_the_most_similar_recorded_one(
    playing: Any, asked: Request, nearest: str | None
) -> None:
    client = playing(exchange("/projects/1/issues?a=1"), exchange("/projects/1/issues?state=closed"))
    with pytest.raises(ReplayMiss) as caught:
        await client.send(asked)
    assert caught.value.nearest == nearest
    assert caught.value.request_line.startswith(f"{asked.method} {asked.path}")
    assert all(f"{name}={value}" in caught.value.request_line for name, value in asked.query.items())


async def test_a_miss_by_the_body_alone_says_so(playing: Any) -> None:
    sent = [exchange("/projects/1/labels", {}, method="POST", sent={"name": name}) for name in ("a", "b")]
    with pytest.raises(ReplayMiss) as caught:
        await playing(*sent).send(Request("POST", "/projects/1/labels", body={"name": "c"}))
    assert caught.value.nearest == "POST /projects/1/labels with another body"


async def test_a_miss_shows_no_secret(playing: Any) -> None:
    with pytest.raises(ReplayMiss) as caught:
        await playing(exchange("/version")).get("/user", private_token="glpat-hushhushhushhushhush")
    assert "hush" not in caught.value.request_line


async def test_answers_to_one_request_come_in_order_and_the_last_one_repeats(playing: Any) -> None:
    client = playing(exchange("/jobs", 1), exchange("/version", 0), exchange("/jobs", 2))
    assert [(await client.get("/jobs")).body for _ in range(4)] == [1, 2, 2, 2]


@pytest.mark.parametrize(
    ("recorded", "asked"),
    [
        ("/issues?b=2&a=1", {"a": 1, "b": 2}),
        ("/issues", {"page": 1, "per_page": 20}),
        ("/issues?page=1&per_page=20&a=x+y", {"a": "x y"}),
        ("/issues?iids%5B%5D=1&iids[]=2", {"iids": [1, 2]}),
        ("/issues?private_token=REDACTED", {"private_token": "canary"}),
    ],
)
async def test_queries_match_whatever_their_order_encoding_and_default_paging(
    playing: Any, recorded: str, asked: dict[str, Any]
) -> None:
    assert (await playing(exchange(recorded, "it")).get("/issues", **asked)).body == "it"


@pytest.mark.parametrize("asked", [{"page": 2}, {"per_page": 100}, {"a": ""}])
async def test_queries_that_ask_for_something_else_do_not_match(playing: Any, asked: dict[str, Any]) -> None:
    with pytest.raises(ReplayMiss):
        await playing(exchange("/issues", "it")).get("/issues", **asked)


@pytest.mark.parametrize(("next_page", "plays"), [("", True), ("2", False)])
async def test_a_list_that_was_recorded_whole_answers_for_longer_pages_too(
    playing: Any, next_page: str, plays: bool
) -> None:
    headers = {"X-Page": "1", "X-Next-Page": next_page}
    recorded = replace(exchange("/projects/1/jobs?scope=failed", [{"id": 1}]), headers=headers)
    gitlab = playing(recorded)
    if plays:
        answer = await gitlab.get("/projects/1/jobs", scope="failed", per_page=100)
        assert answer.body == [{"id": 1}]
    else:
        with pytest.raises(ReplayMiss):
            await gitlab.get("/projects/1/jobs", scope="failed", per_page=100)


async def test_a_project_or_group_matches_by_number_and_by_path_once_an_answer_showed_both(
    playing: Any,
) -> None:
    client = playing(
        exchange(
            "/projects",
            [{"id": 7, "path_with_namespace": "acme/web", "namespace": {"id": 3, "full_path": "acme"}}],
        ),
        exchange("/projects/7/issues", "by number"),
        exchange("/groups/acme/labels", "by path"),
        exchange("/projects/acme%2Fweb/labels", "this spelling"),
        exchange("/projects/7/labels", "the other spelling"),
    )
    assert (await client.get("/projects/acme%2Fweb/issues")).body == "by number"
    assert (await client.get("/groups/3/labels")).body == "by path"
    assert (await client.get("/projects/acme%2fweb/labels")).body == "this spelling"
    with pytest.raises(ReplayMiss):
        await client.get("/projects/acme%2Fother/issues")


async def test_the_namespace_of_a_user_is_not_taken_for_a_group(playing: Any) -> None:
    client = playing(
        exchange("/namespaces", [{"id": 5, "full_path": "bob", "kind": "user"}]),
        exchange("/groups/bob", "a group"),
    )
    with pytest.raises(ReplayMiss):
        await client.get("/groups/5")


async def test_bodies_match_by_value_and_secrets_in_them_do_not_count(playing: Any) -> None:
    sent = {"key": "DB", "value": "REDACTED", "masked": True}
    client = playing(
        exchange("/projects/1/variables", "made", method="POST", sent=sent),
        exchange("/projects/1/star", "starred", method="POST"),
    )
    body = {"masked": True, "value": "hunter2", "key": "DB"}
    assert (await client.send(Request("POST", "/projects/1/variables", body=body))).body == "made"
    assert (await client.send(Request("POST", "/projects/1/star", body={}))).body == "starred"
    with pytest.raises(ReplayMiss):
        await client.send(Request("POST", "/projects/1/variables", body={**body, "key": "API"}))


async def test_an_email_address_matches_a_recording_that_scrubbed_it(playing: Any) -> None:
    client = playing(
        exchange("/users?search=somebody%40example.com", "scrubbed"),
        exchange("/users?search=b%40c.de", "kept"),
    )
    assert (await client.get("/users", search="bob@acme.org")).body == "scrubbed"
    assert (await client.get("/users", search="b@c.de")).body == "kept"


async def test_a_token_that_is_an_alias_picks_that_caller_and_any_other_the_first(tmp_path: Path) -> None:
    upstream = upstream_of(
        write(
            tmp_path / "one.json",
            exchange("/user", "I am alice"),
            exchange("/user", "I am bob", alias="bob"),
            exchange("/todos", "of alice"),
        )
    )
    for token, kind, said in [
        ("alice", "private", "I am alice"),
        ("bob", "private", "I am bob"),
        ("bob", "bearer", "I am bob"),
        ("bob", "job", "I am bob"),
        ("glpat-anything", "private", "I am alice"),
        (None, "private", "I am alice"),
    ]:
        assert (await upstream.as_caller(token, kind=kind).get("/user")).body == said  # type: ignore[arg-type]
    with pytest.raises(ReplayMiss):
        await upstream.as_caller("bob").get("/todos")


async def test_a_directory_plays_all_its_cassettes_and_the_first_file_names_the_default_caller(
    tmp_path: Path,
) -> None:
    (tmp_path / "below").mkdir()
    write(tmp_path / "b.json", exchange("/version", "b", alias="bob"))
    write(tmp_path / "a.json", exchange("/user", "a"), exchange("/version", "a"))
    (tmp_path / "below" / "c.yaml").write_text(
        "interactions:\n"
        "- request: {method: GET, uri: 'http://elsewhere/gitlab/api/v4/metadata', body: null, "
        "headers: {X-Recorded-As: [alice]}}\n"
        "  response: {status: {code: 200, message: OK}, headers: {}, body: {string: '{\"version\": 1}'}}\n"
        "version: 1\n"
    )
    (tmp_path / "notes.txt").write_text("not a cassette")
    client = upstream_of(tmp_path, "https://other.example/root").as_caller("whoever")
    assert (await client.get("/version")).body == "a"
    assert (await client.get("/metadata")).body == {"version": 1}


@pytest.mark.parametrize("content", ["[]", "{}", "null"])
async def test_a_file_that_is_no_cassette_is_named(tmp_path: Path, content: str) -> None:
    file = tmp_path / "odd.json"
    file.write_text(content)
    with pytest.raises(ValueError, match=r"odd\.json"):
        await upstream_of(file).as_caller(None).get("/version")


async def test_a_cassette_that_is_not_there_is_named(tmp_path: Path) -> None:
    for missing in (tmp_path / "none.json", tmp_path):
        with pytest.raises(FileNotFoundError):
            await upstream_of(missing).as_caller(None).get("/version")


async def test_streams_and_graphql_are_replayed_too(playing: Any) -> None:
    log = Interaction(
        "alice", "GET", f"{RECORDED_URL}/api/v4/jobs/1/trace", None, 200, "OK", {}, b"a\xff\x00b"
    )
    asked = json.dumps({"variables": {}, "query": "query { x }"})
    graphql = Interaction(
        "alice", "POST", f"{RECORDED_URL}/api/graphql", asked, 200, "OK", {}, b'{"data": {"x": 1}}'
    )
    client = playing(log, graphql)
    read = await client.stream(Request("GET", "/jobs/1/trace"), lambda chunks, _: b"".join(chunks))
    assert read == b"a\xff\x00b"
    assert await client.graphql("query { x }") == {"x": 1}


async def test_many_callers_at_once_each_get_every_answer_of_their_own_once(
    playing: Any, tmp_path: Path
) -> None:
    callers = [f"caller-{number}" for number in range(1, 17)]
    rounds = 20
    upstream = upstream_of(
        write(
            tmp_path / "many.json",
            *(exchange("/user", [alias, step], alias=alias) for step in range(rounds) for alias in callers),
        )
    )
    seen: dict[str, list[Any]] = {alias: [] for alias in callers}

    async def call(alias: str) -> None:
        seen[alias].append((await upstream.as_caller(alias).get("/user")).body)

    async with anyio.create_task_group() as tasks:
        for _ in range(rounds):
            for alias in callers:
                tasks.start_soon(call, alias)
    assert {alias: sorted(bodies) for alias, bodies in seen.items()} == {
        alias: [[alias, step] for step in range(rounds)] for alias in callers
    }

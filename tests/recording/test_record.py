from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

import anyio
import pytest
import requests
import vcr
from vcr.serialize import deserialize
from vcr.serializers import jsonserializer

from gitlab_mcp.actions.exchange import Request
from gitlab_mcp.gitlab.client import Upstream
from gitlab_mcp.recording.cassette import Interaction, load_cassettes
from gitlab_mcp.recording.record import CassetteWriter, RecordingAdapter
from gitlab_mcp.recording.replay import ReplayAdapter
from gitlab_mcp.recording.scrub import Scrubber
from tests.support.fault_server import Connection, FaultServer, Received, replying
from tests.support.upstreams import upstream_at

pytestmark = pytest.mark.anyio

CANARY = "glpat-canary-0123456789"
OLD_CANARY = "canaryWithoutAPrefix"


def recorder(server: FaultServer, file: Path, **options: Any) -> Upstream:
    return upstream_at(server.url, adapter=partial(RecordingAdapter, file, server.url, **options))


def player(file: Path) -> Upstream:
    return upstream_at(
        "https://gitlab.example.com",
        adapter=lambda: ReplayAdapter(load_cassettes(file)),
        needs_token=False,
    )


def as_gitlab(received: Received, connection: Connection) -> None:
    user = {"username": received.token[:5] if received.token else None, "asked": received.target}
    connection.reply(200, user, X_Total="1", set_cookie="_gitlab_session=canary")


async def test_what_was_recorded_plays_back_the_same(tmp_path: Path) -> None:
    file = tmp_path / "life.json"
    with FaultServer(as_gitlab) as server:
        upstream = recorder(server, file)
        client = upstream.as_caller(CANARY)
        live = [
            await client.get("/user"),
            await client.get("/projects", per_page=5),
            await client.send(Request("POST", "/projects", body={"name": "x"})),
        ]
        upstream.close()
    again = player(file).as_caller("whoever")
    played = [
        await again.get("/user"),
        await again.get("/projects", per_page=5),
        await again.send(Request("POST", "/projects", body={"name": "x"})),
    ]
    assert [(a.status, a.body, a.headers["x-total"]) for a in played] == [
        (a.status, a.body, a.headers["x-total"]) for a in live
    ]


async def test_vcrpy_plays_a_recording(tmp_path: Path) -> None:
    file = tmp_path / "life.json"
    with FaultServer(as_gitlab) as server:
        upstream = recorder(server, file, aliases={CANARY: "alice"})
        client = upstream.as_caller(CANARY)
        live = [
            (await client.get("/projects", per_page=5)).body,
            (await client.send(Request("POST", "/projects", body={"name": "x"}))).body,
        ]
        upstream.close()
    with vcr.use_cassette(str(file), serializer="json", record_mode="none") as cassette:
        played = [
            requests.get("https://gitlab.example.com/api/v4/projects?per_page=5", timeout=5).json(),
            requests.post("https://gitlab.example.com/api/v4/projects", json={"name": "x"}, timeout=5).json(),
        ]
    assert played == live
    assert [request.headers["X-Recorded-As"] for request in cassette.requests] == ["alice", "alice"]


async def test_callers_are_numbered_as_they_appear_and_their_answers_stay_apart(tmp_path: Path) -> None:
    file = tmp_path / "life.json"
    with FaultServer(as_gitlab) as server:
        upstream = recorder(server, file, aliases={"third-token": "carol"})
        for token in ("first-token", "second-token", "third-token", "first-token"):
            await upstream.as_caller(token).get("/user")
        upstream.close()
    assert [kept.alias for kept in load_cassettes(file)] == ["caller-1", "caller-2", "carol", "caller-1"]
    for alias, user in (
        ("caller-1", "first"),
        ("caller-2", "secon"),
        ("carol", "third"),
        ("nobody", "first"),
    ):
        assert (await player(file).as_caller(alias).get("/user")).body["username"] == user


async def test_a_recording_is_appended_to_an_existing_file(tmp_path: Path) -> None:
    file = tmp_path / "life.json"
    with FaultServer(as_gitlab) as server:
        for token in ("first-token", "second-token"):
            upstream = recorder(server, file)
            await upstream.as_caller(token).get("/user")
            upstream.close()
    assert [kept.alias for kept in load_cassettes(file)] == ["caller-1", "caller-2"]


async def test_no_secret_reaches_the_disk(tmp_path: Path) -> None:
    """The answer is synthetic: everything in it that says canary is a secret."""
    file = tmp_path / "life.json"
    answer = {
        "runners_token": "canary-1",
        "runnersToken": "canary-2",
        "rss": "https://x/atom?feed_token=canary-3&page_token=keep",
        "incoming_email_token": "canary-4",
        "variables": [{"variable_type": "env_var", "key": "DB", "value": "canary-5"}],
        "note": f"my token is {CANARY} and glrt-canary-0123456789, before it was {OLD_CANARY}",
        "import_url": "https://bob:canary-6@host/x.git",
        "hook": {"url": "https://h", "token": "canary-7"},
        "token": None,
        "public": "kept",
    }

    def handle(received: Received, connection: Connection) -> None:
        connection.reply(200, answer, set_cookie="s=canary-8", location="https://x/?private_token=canary-9")

    with FaultServer(handle) as server:
        upstream = recorder(server, file)
        await upstream.as_caller(OLD_CANARY).get("/user")
        body = {
            "key": "DB",
            "value": "canary-10",
            "password": "canary-11",
            "token": "canary-12",
            "title": "kept too",
        }
        for kind in ("private", "job", "bearer"):
            client = upstream.as_caller(CANARY, kind=kind)
            await client.send(
                Request("POST", "/projects/1/variables", query={"private_token": "canary-13"}, body=body)
            )
        upstream.close()
    text = file.read_text()
    assert "canary" not in text
    kept = list(load_cassettes(file))[-1]
    assert json.loads(kept.content)["public"] == "kept"
    assert json.loads(kept.content)["rss"].endswith("page_token=keep")
    assert json.loads(kept.request_body or "")["title"] == "kept too"
    assert kept.uri.endswith("?private_token=REDACTED")


async def test_what_is_set_for_webhooks_and_pipelines_and_signed_addresses_is_removed(tmp_path: Path) -> None:
    answer = {
        "custom_headers": [{"key": "X-Api", "value": "canary-1"}],
        "url_variables": [{"key": "k", "value": "canary-2"}],
        "request_headers": {"X-Gitlab-Token": "canary-3", "X-Own": "canary-4"},
        "api_key": "canary-5",
        "signing_key": "canary-6",
        "signing_token": "canary-7",
        "secret_word": "canary-8",
        "password_hash": "canary-9",
        "note": "https://s3.example.com/a?X-Amz-Signature=canary-10&X-Amz-Date=kept or sig=canary-11",
        "key": "-----BEGIN PRIVATE KEY-----\\ncanary-12\\n-----END PRIVATE KEY-----",
        "title": "kept",
    }
    file = tmp_path / "life.json"
    headers = {"location": "https://storage.example.com/a?X-Goog-Signature=canary-13&sig=canary-14"}
    sent = [
        Request("PUT", "/projects/1/hooks/2/custom_headers/X-Api", body={"value": "canary-15"}),
        Request("PUT", "/groups/1/hooks/2/url_variables/k", body={"value": "canary-16"}),
        Request("PUT", "/projects/1/variables/DB", body={"value": "canary-17", "masked": True}),
        Request("POST", "/projects/1/hooks", body={"url": "https://a.b?sig=canary-18", "token": "canary-19"}),
    ]
    with FaultServer(replying(200, answer, **headers)) as server:
        upstream = recorder(server, file)
        client = upstream.as_caller(OLD_CANARY)
        for request in sent:
            await client.send(request)
        await client.get(f"/projects/1/repository/branches/{OLD_CANARY}")
        upstream.close()
    text = file.read_text()
    assert "canary" not in text
    assert "X-Amz-Date=kept" in text and '\\"title\\":\\"kept\\"' in text
    # Another value is the same request when it is played back.
    played = Request("PUT", "/projects/1/hooks/2/custom_headers/X-Api", body={"value": "something else"})
    assert (await player(file).as_caller("whoever").send(played)).body["title"] == "kept"


def record_once(file: Path) -> None:
    writer = CassetteWriter(file)
    writer.add(Interaction("a", "GET", "https://gitlab.example.com/api/v4/user", None, 200, "OK", {}, b"{}"))
    writer.flush()


def mode(file: Path) -> int:
    return stat.S_IMODE(file.stat().st_mode)


def test_a_recording_is_for_its_owner_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        record_once(tmp_path / "new.json")
    finally:
        os.umask(before)
    assert mode(tmp_path / "new.json") == 0o600
    assert [each.name for each in tmp_path.iterdir()] == ["new.json"]


@pytest.mark.parametrize("given", [0o600, 0o640, 0o644])
def test_a_recording_that_goes_on_keeps_its_mode(given: int, tmp_path: Path) -> None:
    file = tmp_path / "life.json"
    record_once(file)
    file.chmod(given)
    record_once(file)
    assert mode(file) == given


def test_a_link_in_place_of_a_recording_is_replaced_and_not_written_through(tmp_path: Path) -> None:
    record_once(tmp_path / "somebody.json")
    theirs = (tmp_path / "somebody.json").read_text()
    (tmp_path / "life.json").symlink_to(tmp_path / "somebody.json")
    record_once(tmp_path / "life.json")
    assert (tmp_path / "somebody.json").read_text() == theirs
    assert not (tmp_path / "life.json").is_symlink() and mode(tmp_path / "life.json") == 0o600


async def test_email_addresses_are_scrubbed_when_asked(tmp_path: Path) -> None:
    with FaultServer(replying(200, {"email": "bob@acme.org"})) as server:
        for file, options in ((tmp_path / "a.json", {}), (tmp_path / "b.json", {"scrub_emails": True})):
            upstream = recorder(server, file, **options)
            await upstream.as_caller(CANARY).get("/users", search="bob@acme.org")
            upstream.close()
    assert "bob@acme.org" in (tmp_path / "a.json").read_text()
    assert "acme.org" not in (tmp_path / "b.json").read_text()
    answer = await player(tmp_path / "b.json").as_caller(None).get("/users", search="bob@acme.org")
    assert answer.body == {"email": "somebody@example.com"}


async def test_the_real_host_is_not_recorded(tmp_path: Path) -> None:
    file = tmp_path / "life.json"

    def handle(received: Received, connection: Connection) -> None:
        connection.reply(
            200, {"web_url": f"{server.url}/acme"}, link=f"<{server.url}/api/v4/x?page=2>; rel=next"
        )

    with FaultServer(handle) as server:
        upstream = recorder(server, file)
        await upstream.as_caller(CANARY).get("/x")
        upstream.close()
    kept = next(load_cassettes(file))
    assert "127.0.0.1" not in file.read_text()
    assert json.loads(kept.content) == {"web_url": "https://gitlab.example.com/acme"}


async def test_binary_bodies_are_recorded_exactly(tmp_path: Path) -> None:
    file = tmp_path / "life.json"
    picture = bytes(range(256)) * 3
    asked = Request("GET", "/projects/1/avatar")
    with FaultServer(replying(200, picture, content_type="image/png")) as server:
        upstream = recorder(server, file)
        await upstream.as_caller(CANARY).stream(asked, lambda chunks, _: b"".join(chunks))
        upstream.close()
    assert await player(file).as_caller(None).stream(asked, lambda chunks, _: b"".join(chunks)) == picture
    assert len(deserialize(file.read_text(), jsonserializer)[0]) == 1


async def test_a_call_that_was_cancelled_is_not_recorded(tmp_path: Path) -> None:
    file = tmp_path / "life.json"

    def half(_: Received, connection: Connection) -> None:
        connection.send(b"HTTP/1.1 200 OK\r\n\r\n[1,")
        connection.wait_until_cut()

    with FaultServer(half) as server:
        upstream = recorder(server, file)
        with anyio.move_on_after(0.3):
            await upstream.as_caller(CANARY).get("/x")
        assert await anyio.to_thread.run_sync(server.connections[0].cut.wait, 1.0)
        upstream.close()
    assert list(load_cassettes(file)) == []


async def test_200_calls_of_16_callers_at_once_are_all_recorded(tmp_path: Path) -> None:
    file = tmp_path / "life.json"
    with FaultServer(as_gitlab) as server:
        upstream = recorder(server, file)
        async with anyio.create_task_group() as tasks:
            for number in range(200):
                tasks.start_soon(upstream.as_caller(f"token-{number % 16:04}").get, f"/projects/{number}")
        upstream.close()
    kept = list(load_cassettes(file))
    assert {entry.uri.rsplit("/", 1)[1] for entry in kept} == {str(number) for number in range(200)}
    assert len(kept) == 200
    assert len({entry.alias for entry in kept}) == 16


def test_the_file_is_whole_at_every_moment_so_that_killing_the_server_cannot_break_it(tmp_path: Path) -> None:
    file = tmp_path / "life.json"
    script = """
import sys
from pathlib import Path
from gitlab_mcp.recording.cassette import Interaction
from gitlab_mcp.recording.record import CassetteWriter
cassette = CassetteWriter(Path(sys.argv[1]))
for number in range(500):
    cassette.add(Interaction("a", "GET", f"https://x/api/v4/{number}", None, 200, "OK", {}, b"x" * 10000))
cassette.flush()
print("written", flush=True)
while True:
    cassette.flush()
"""
    with subprocess.Popen([sys.executable, "-c", script, str(file)], stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            process.stdout.readline()
            for _ in range(30):
                assert len(list(load_cassettes(file))) == 500
        finally:
            process.kill()
    assert len(list(load_cassettes(file))) == 500


async def test_a_recording_reaches_the_disk_while_the_server_lives(tmp_path: Path) -> None:
    file = tmp_path / "life.json"
    with FaultServer(as_gitlab) as server:
        upstream = recorder(server, file)
        await upstream.as_caller(CANARY).get("/user")
        with anyio.fail_after(5):
            while not list(load_cassettes(file)):
                await anyio.sleep(0.05)
        upstream.close()


def test_a_recording_must_be_json(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"\.json"):
        RecordingAdapter(tmp_path / "life.yaml", "https://gitlab.example.com")


@pytest.mark.parametrize(
    "secret",
    [
        "glpat-canary-0123456789",
        "MY_glrt-canary-0123456789",
        "eyJcanary123456.eyJzdWIiOiIx.abcDEF123456",
        "https://bob:canary-6@host/x.git",
        "-----BEGIN RSA PRIVATE KEY-----\ncanary\n-----END RSA PRIVATE KEY-----",
    ],
)
@pytest.mark.parametrize("path", ["labels/{}", "repository/files/a%2F{}", "repository/files/a%2F{}%2Fb/raw"])
def test_a_secret_in_the_path_of_a_url_is_recognised(secret: str, path: str) -> None:
    scrubbed = Scrubber().uri(
        f"https://gitlab.example.com/api/v4/projects/1/{path.format(quote(secret, ''))}"
    )
    assert "canary" not in scrubbed and "REDACTED" in scrubbed
    assert scrubbed.startswith("https://gitlab.example.com/api/v4/projects/1/")


@pytest.mark.parametrize(
    "text",
    [
        "plain",
        "a@b is no address",
        '{"status": "ok", "page_token": "x"}',
        '{"token": null, "keys": [{"key": "ssh"}]}',
    ],
)
def test_text_without_secrets_is_not_changed(text: str) -> None:
    assert Scrubber(["short"]).body(text) == text

"""Files reach GitLab as parts of a form or as the whole body, and what they hold stays out of everything else."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest
from requests_toolbelt.multipart.decoder import MultipartDecoder

from gitlab_mcp.actions.exchange import File, Request
from gitlab_mcp.gitlab.faults import ReplayMiss, Unreachable
from gitlab_mcp.recording.cassette import load_cassettes
from gitlab_mcp.recording.record import RecordingAdapter
from gitlab_mcp.recording.replay import ReplayAdapter
from tests.support.fault_server import FaultServer, dropping, one_after_another, replying
from tests.support.upstreams import upstream_at

pytestmark = pytest.mark.anyio

CONTENT = b"\x89PNG\r\n--secret of the house\x00\xff\n"
UPLOAD = Request(
    "POST",
    "/projects/1/uploads",
    body={"name": "a b", "public": True, "labels": ["x", "ÿ"]},
    files={"avatar": File('sh"ot ü.png', CONTENT)},
)
PACKAGE = Request("PUT", "/projects/1/packages/generic/tool/1.0/x.bin", content=CONTENT, repeatable=True)


async def test_a_file_goes_as_part_of_a_form_beside_the_fields() -> None:
    with FaultServer(replying(201, {"id": 1})) as server:
        answer = await upstream_at(server.url).as_caller("t").send(UPLOAD)
        [received] = server.received
    parts = MultipartDecoder(received.body, received.headers["content-type"]).parts
    assert answer.body == {"id": 1}
    assert [(part.headers[b"Content-Disposition"].decode(), part.content) for part in parts] == [
        ('form-data; name="name"', b"a b"),
        ('form-data; name="public"', b"true"),
        ('form-data; name="labels[]"', b"x"),
        ('form-data; name="labels[]"', "ÿ".encode()),
        ('form-data; name="avatar"; filename="sh%22ot ü.png"', CONTENT),
    ]
    assert parts[-1].headers[b"Content-Type"] == b"image/png"


@pytest.mark.parametrize("content", [CONTENT, b""])
async def test_a_file_as_it_is_is_the_whole_body(content: bytes) -> None:
    request = Request("PUT", PACKAGE.path, content=content)
    with FaultServer(replying(201, {"message": "201 Created"})) as server:
        await upstream_at(server.url).as_caller("t").send(request)
        [received] = server.received
    assert received.body == content
    assert received.headers["content-type"] == "application/octet-stream"


async def test_an_upload_whose_answer_is_lost_is_not_sent_again() -> None:
    with FaultServer(dropping) as server:
        with pytest.raises(Unreachable) as lost:
            await upstream_at(server.url).as_caller("t").send(UPLOAD)
        assert (lost.value.sent, len(server.received)) == (True, 1)


async def test_a_file_that_may_be_sent_again_is_sent_whole_again() -> None:
    with FaultServer(one_after_another(dropping, replying(201, {}))) as server:
        await upstream_at(server.url).as_caller("t").send(PACKAGE)
        assert [received.body for received in server.received] == [CONTENT, CONTENT]


async def test_a_recording_names_a_file_and_plays_for_it_alone(tmp_path: Path) -> None:
    cassette = tmp_path / "files.json"
    with FaultServer(replying(201, {"id": 7})) as server:
        upstream = upstream_at(server.url, adapter=partial(RecordingAdapter, cassette, server.url))
        client = upstream.as_caller("t")
        await client.send(UPLOAD)
        await client.send(PACKAGE)
        upstream.close()
    first, second = load_cassettes(cassette)
    assert json.loads(first.request_body or "") == {
        "_multipart": {"avatar": ["sh%22ot ü.png", f"{len(CONTENT)} bytes"]},
        "name": "a b",
        "public": "true",
        "labels": ["x", "ÿ"],
    }
    assert json.loads(second.request_body or "") == {"_content": f"{len(CONTENT)} bytes"}
    assert "secret of the house" not in cassette.read_text()
    player = upstream_at(
        "https://gitlab.example.com",
        adapter=lambda: ReplayAdapter(load_cassettes(cassette)),
        needs_token=False,
    ).as_caller(None)
    assert (await player.send(UPLOAD)).body == (await player.send(PACKAGE)).body == {"id": 7}
    with pytest.raises(ReplayMiss):
        await player.send(
            Request("POST", UPLOAD.path, body=UPLOAD.body, files={"avatar": File("b.png", b"")})
        )


def test_what_a_file_holds_is_not_in_what_is_logged_of_a_request() -> None:
    assert "secret" not in repr(UPLOAD)
    assert "secret" not in repr(PACKAGE)

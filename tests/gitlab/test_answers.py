from __future__ import annotations

import gzip
import tracemalloc
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest

from gitlab_mcp.actions.exchange import Request
from gitlab_mcp.gitlab.faults import BadAnswer, BadAnswerReason, GraphQLRefused, Refused
from tests.support.fault_server import Connection, FaultServer, Received, replying
from tests.support.upstreams import upstream_at

pytestmark = pytest.mark.anyio

MB = 1024 * 1024


async def answer_to(status: int, body: Any = b"", **headers: str) -> Any:
    with FaultServer(replying(status, body, **headers)) as server:
        return await upstream_at(server.url).as_caller("t").send(Request("PUT", "/projects/1"))


async def wrong_with(status: int, body: Any = b"", **headers: str) -> BadAnswerReason:
    with pytest.raises(BadAnswer) as caught:
        await answer_to(status, body, **headers)
    assert caught.value.status == status
    return caught.value.reason


async def test_an_answer_keeps_its_headers_in_lower_case() -> None:
    answer = await answer_to(200, [1], X_Total="7", Link="<https://evil.example/next>; rel=next")
    assert (answer.status, answer.body, answer.headers["x-total"]) == (200, [1], "7")


@pytest.mark.parametrize("status", [200, 201, 202, 204])
async def test_an_empty_answer_has_no_body(status: int) -> None:
    assert (await answer_to(status)).body is None


async def test_304_is_an_answer_and_says_that_nothing_had_to_change() -> None:
    answer = await answer_to(304)
    assert (answer.already, answer.body) == (True, None)


@pytest.mark.parametrize(
    ("text", "value"), [(b"200", 200), (b"true", True), (b'"lease"', "lease"), (b"null", None)]
)
async def test_a_bare_value_is_a_legal_answer(text: bytes, value: object) -> None:
    assert (await answer_to(200, text, content_type="text/plain")).body == value


async def test_a_login_page_is_a_bad_answer() -> None:
    page = b"<!DOCTYPE html><html>Sign in</html>"
    assert await wrong_with(200, page, content_type="text/html") is BadAnswerReason.HTML
    assert await wrong_with(200, b"\n <html>", content_type="application/json") is BadAnswerReason.HTML


@pytest.mark.parametrize(
    "text",
    [b'{"id": 1, "title": "ha', b'[{"id": 1}', b'{"a": {"b": 1}', b"[1, 2,", b'{"a": tru', b'"lea'],
)
async def test_half_a_document_is_cut_off(text: bytes) -> None:
    assert await wrong_with(200, text) is BadAnswerReason.CUT_OFF


@pytest.mark.parametrize("text", [b"plain text", b"[1}", b"9" * 5000, b"[NaN]", b"[-Infinity]", b"[1e999]"])
async def test_a_body_that_is_not_json_is_a_bad_answer(text: bytes) -> None:
    assert await wrong_with(200, text) is BadAnswerReason.NOT_JSON


@pytest.mark.parametrize("levels", [100, 400, 900, 20_000, 100_000])
@pytest.mark.parametrize(
    ("start", "end"), [(b"[", b"]"), (b'{"a":', b"}"), (b'[{"]": "\\"["}, {"a":[', b"]}]")]
)
async def test_a_body_of_many_levels_is_of_another_shape(levels: int, start: bytes, end: bytes) -> None:
    text = start * levels + b"1" + end * levels
    assert await wrong_with(200, text) is BadAnswerReason.UNEXPECTED_SHAPE


async def test_brackets_in_text_are_no_levels() -> None:
    text = "[{" * 1000 + '\\"' * 1000
    assert (await answer_to(200, [{"title": text}])).body == [{"title": text}]


@pytest.mark.parametrize(
    "text",
    [
        b"[" + b",".join([b"{}"] * 2_600_000) + b"]",
        b"[" + b",".join([b'{"a":1}'] * 900_000) + b"]",
        b"[" + b",".join([b'"ab"'] * 1_500_000) + b"]",
    ],
)
async def test_an_answer_of_many_small_values_is_refused_before_they_fill_the_memory(text: bytes) -> None:
    with memory_below(64 * MB):
        assert await wrong_with(200, text) is BadAnswerReason.TOO_LARGE


async def test_a_body_that_claims_to_be_compressed_and_is_not_is_a_bad_answer() -> None:
    assert await wrong_with(200, b"{}", content_encoding="gzip") is BadAnswerReason.NOT_JSON


async def test_wrong_bytes_and_lone_surrogates_do_not_break_an_answer() -> None:
    answer = await answer_to(200, b'\xef\xbb\xbf{"name": "caf\xe9", "odd": ["\\uD83D", "\\uD83D\\uDE00"]}')
    assert answer.body == {"name": "caf\ufffd", "odd": ["\ufffd", "\N{GRINNING FACE}"]}


async def test_a_refusal_keeps_headers_and_the_beginning_of_its_body() -> None:
    with pytest.raises(Refused) as caught:
        await answer_to(403, b"x" * 300_000, content_type="text/html", X_Request_Id="01ABC")
    refused = caught.value
    assert (refused.status, refused.headers["x-request-id"], len(refused.content)) == (403, "01ABC", 65536)
    assert refused.body() is None


async def test_a_refusal_whose_body_breaks_off_is_still_a_refusal() -> None:
    def half(_: Received, connection: Connection) -> None:
        connection.reply(422, b'{"message"', content_length="500")
        connection.drop()

    with FaultServer(half) as server:
        with pytest.raises(Refused) as caught:
            await upstream_at(server.url).as_caller("t").send(Request("POST", "/projects", body={}))
        assert caught.value.status == 422


async def test_an_answer_larger_than_the_limit_is_refused() -> None:
    with FaultServer(replying(200, b"[" + b" " * 2000 + b"]")) as server:
        with pytest.raises(BadAnswer) as caught:
            await upstream_at(server.url, max_answer_bytes=1000).as_caller("t").get("/projects")
        assert (caught.value.reason, caught.value.limit) == (BadAnswerReason.TOO_LARGE, 1000)
        assert len(server.received) == 1


async def test_a_gzip_bomb_is_counted_unpacked_and_fills_no_memory() -> None:
    bomb = gzip.compress(bytes(300 * MB), compresslevel=9)
    with FaultServer(replying(200, bomb, content_encoding="gzip")) as server:
        with memory_below(64 * MB), pytest.raises(BadAnswer) as caught:
            await upstream_at(server.url).as_caller("t").get("/projects")
        assert caught.value.reason is BadAnswerReason.TOO_LARGE


async def test_a_log_of_200_mb_streams_through_little_memory() -> None:
    def log(_: Received, connection: Connection) -> None:
        connection.send(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n" % (200 * MB)
        )
        for _megabyte in range(200):
            connection.send(b"\n" * MB)

    def count(chunks: Iterator[bytes], headers: Mapping[str, str]) -> tuple[int, str]:
        return sum(len(chunk) for chunk in chunks), headers["content-type"]

    with FaultServer(log) as server:
        with memory_below(64 * MB):
            read = await upstream_at(server.url).as_caller("t").stream(Request("GET", "/jobs/1/trace"), count)
        assert read == (200 * MB, "text/plain")


async def test_a_stream_that_is_refused_says_so() -> None:
    with FaultServer(replying(404, {"message": "404 Not found"})) as server:
        with pytest.raises(Refused) as caught:
            await (
                upstream_at(server.url)
                .as_caller("t")
                .stream(Request("GET", "/x"), lambda chunks, _: list(chunks))
            )
        assert caught.value.body() == {"message": "404 Not found"}


async def test_what_a_reader_of_a_stream_raises_reaches_the_caller() -> None:
    def read(chunks: Iterator[bytes], headers: Mapping[str, str]) -> None:
        raise KeyError("mine")

    with FaultServer(replying(200, b"text", content_type="text/plain")) as server, pytest.raises(KeyError):
        await upstream_at(server.url).as_caller("t").stream(Request("GET", "/x"), read)


async def test_errors_in_a_graphql_answer_are_a_failure() -> None:
    errors = [{"message": "no"}]
    with FaultServer(replying(200, {"data": {"partly": 1}, "errors": errors})) as server:
        with pytest.raises(GraphQLRefused) as caught:
            await upstream_at(server.url + "/gitlab").as_caller("t").graphql("query { x }", {"a": 1})
        assert caught.value.errors == tuple(errors)
        assert server.received[0].target == "/gitlab/api/graphql"
        assert server.received[0].body == b'{"query": "query { x }", "variables": {"a": 1}}'


async def test_a_graphql_answer_without_data_is_a_bad_answer() -> None:
    with FaultServer(replying(200, [])) as server, pytest.raises(BadAnswer):
        await upstream_at(server.url).as_caller("t").graphql("query { x }")


@contextmanager
def memory_below(limit: int) -> Iterator[None]:
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < limit
    finally:
        tracemalloc.stop()

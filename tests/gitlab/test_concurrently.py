from __future__ import annotations

import re
import threading
from pathlib import Path

import anyio
import pytest

from gitlab_mcp.actions.exchange import Request
from gitlab_mcp.gitlab.concurrently import all_at_once, concurrently
from gitlab_mcp.gitlab.faults import BadAnswer, BadAnswerReason, Refused
from gitlab_mcp.gitlab.paging import MAX_PAGES, every_page, find_item, has_next_page
from tests.support.fault_server import Connection, FaultServer, Received, replying
from tests.support.standin import StandIn
from tests.support.upstreams import upstream_at

pytestmark = pytest.mark.anyio

REFUSED = Refused(Request("GET", "/x"), 403)


async def test_results_come_in_the_order_of_the_calls() -> None:
    done = anyio.Event()

    async def waits() -> str:
        await done.wait()
        return "first"

    async def finishes() -> str:
        done.set()
        return "second"

    assert await concurrently([waits, finishes]) == ["first", "second"]


async def test_a_call_that_fails_does_not_stop_the_others() -> None:
    async def fails() -> str:
        raise REFUSED

    async def works() -> str:
        return "fine"

    assert await concurrently([fails, works]) == [REFUSED, "fine"]


async def test_an_unexpected_exception_is_raised_unchanged() -> None:
    async def breaks() -> str:
        raise KeyError("ours")

    with pytest.raises(KeyError):
        await concurrently([breaks])


async def test_no_more_calls_run_at_once_than_allowed() -> None:
    under_way, most = 0, 0

    async def asks() -> None:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await anyio.lowlevel.checkpoint()
        under_way -= 1

    await concurrently([asks] * 20, max_concurrent=3)
    assert most == 3


def paged(received: Received, connection: Connection) -> None:
    """One thing a page, without an end."""
    page = _page_of(received)
    connection.reply(200, [{"id": page}], X_Next_Page=str(page + 1))


def _page_of(received: Received) -> int:
    asked = re.search(r"[?&]page=(\d+)", received.target)
    return int(asked[1]) if asked else 1


async def test_reading_every_page_stops_at_the_limit_and_shows_that_there_are_more() -> None:
    with FaultServer(paged) as server:
        answer = await every_page(upstream_at(server.url).as_caller("t"), "/things")
    assert len(answer.body) == MAX_PAGES
    assert has_next_page(answer)


async def test_pages_that_gitlab_has_counted_are_read_at_once_and_come_in_order() -> None:
    third, was_asked_for_meanwhile = threading.Event(), []

    def counted(received: Received, connection: Connection) -> None:
        page = _page_of(received)
        if page == 2:
            was_asked_for_meanwhile.append(third.wait(5))
        if page == 3:
            third.set()
        following = str(page + 1) if page < 3 else ""
        connection.reply(200, [{"id": page}], X_Next_Page=following, X_Total_Pages="3")

    with FaultServer(counted) as server:
        answer = await every_page(upstream_at(server.url).as_caller("t"), "/things")
        assert len(server.received) == 3
    assert was_asked_for_meanwhile == [True]
    assert [each["id"] for each in answer.body] == [1, 2, 3]
    assert not has_next_page(answer)


async def test_where_all_are_needed_the_first_fault_is_raised() -> None:
    async def fails() -> str:
        raise REFUSED

    async def works() -> str:
        return "fine"

    assert await all_at_once([works, works]) == ["fine", "fine"]
    with pytest.raises(Refused) as caught:
        await all_at_once([works, fails])
    assert caught.value is REFUSED


async def test_an_item_is_found_on_any_page() -> None:
    with FaultServer(paged) as server:
        found = await find_item(
            upstream_at(server.url).as_caller("t"), "/things", lambda thing: thing["id"] > MAX_PAGES + 2
        )
    assert found == {"id": MAX_PAGES + 3}


async def test_a_list_without_an_end_is_not_read_for_ever() -> None:
    with FaultServer(paged) as server:
        with pytest.raises(BadAnswer) as caught:
            await find_item(upstream_at(server.url).as_caller("t"), "/things", lambda _: False)
        assert caught.value.reason is BadAnswerReason.ENDLESS
        assert len(server.received) <= 100


@pytest.mark.parametrize("following", ["1", "0", "\xb2", "abc", "-1", "9" * 5000])
async def test_a_next_page_that_is_none_is_not_asked_for(following: str) -> None:
    with FaultServer(replying(200, [{"id": 1}], X_Next_Page=following)) as server:
        for read in (every_page, lambda gitlab, path: find_item(gitlab, path, lambda _: False)):
            with pytest.raises(BadAnswer) as caught:
                await read(upstream_at(server.url).as_caller("t"), "/things")
            assert caught.value.reason is BadAnswerReason.ENDLESS
        assert len(server.received) == 2


@pytest.mark.anyio
async def test_a_closed_upstream_leaves_no_connection_open(standin: StandIn) -> None:
    standin.answer("GET", "/projects/1", 200, {"id": 1})
    upstream = upstream_at(standin.url)
    before = len(list(Path("/proc/self/fd").iterdir()))
    await upstream.as_caller("alice").get("/projects/1")
    upstream.close()
    # The other end of the connection is the stand-in's, which closes when it sees ours go.
    for _ in range(100):
        if len(list(Path("/proc/self/fd").iterdir())) <= before:
            return
        await anyio.sleep(0.02)
    raise AssertionError("the connection is still open")

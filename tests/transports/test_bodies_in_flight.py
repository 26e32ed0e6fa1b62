"""Large bodies share one budget; small ones are always taken."""

from __future__ import annotations

import json
import select
import socket
from contextlib import ExitStack
from pathlib import Path

from tests.support.raw_http import asked, is_closed, line, post, read_answer
from tests.support.served import Served, call, served
from tests.support.standin import StandIn

SIZE = 3_990_000
LIST = json.dumps(call("browse_labels", {"action": "list", "project_id": "1"})).encode()


def memory(server: Served) -> int:
    """Kilobytes."""
    status = Path(f"/proc/{server.process.pid}/status").read_text().splitlines()
    return int(next(line.split()[1] for line in status if line.startswith("VmRSS")))


def test_unfinished_bodies_of_one_address_leave_half_of_the_room_to_others(labels: StandIn) -> None:
    with served(labels.url, "--client-timeout", "60") as server, ExitStack() as stack:
        before = memory(server)

        def unfinished(address: str) -> socket.socket:
            place = ("127.0.0.1", server.port)
            connection = stack.enter_context(
                socket.create_connection(place, timeout=20, source_address=(address, 0))
            )
            connection.sendall(post(b" " * (SIZE - 1), SIZE))
            return connection

        kept = [unfinished("127.0.0.1") for _ in range(7)]
        while len(kept) > 4:
            answered, _, _ = select.select(kept, [], [], 20)
            assert answered
            for connection in answered:
                refused = read_answer(connection)
                assert (refused.status, refused.failure["error_code"]) == (503, "BUSY")
                assert refused.failure["limit_type"] == "request_bytes_in_flight"
                kept.remove(connection)
        assert asked(server, post(LIST)).status == 200
        elsewhere = unfinished("127.0.0.2")
        elsewhere.sendall(b" ")
        assert read_answer(elsewhere).status == 400
        assert memory(server) - before < 100_000
        kept[0].sendall(b" ")
        # White space alone is no message. It was read, and its room is free again.
        assert read_answer(kept[0]).status == 400
        last = unfinished("127.0.0.1")
        last.sendall(b" ")
        assert read_answer(last).status == 400


def test_a_body_is_not_read_before_it_is_known_who_sends_it(labels: StandIn) -> None:
    """Sixty bodies that nobody may send, of which the server keeps nothing."""
    with served(labels.url, GITLAB_TOKEN="house") as server, ExitStack() as stack:
        asked(server, post(LIST))
        before = memory(server)
        for _ in range(60):
            connection = stack.enter_context(line(server))
            connection.sendall(post(b" " * (SIZE - 1), SIZE))
            refused = read_answer(connection)
            assert (refused.status, refused.headers["connection"]) == (401, "close")
            assert is_closed(connection)
        assert memory(server) - before < 20_000

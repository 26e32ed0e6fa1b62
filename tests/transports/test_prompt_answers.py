"""An answer leaves at once, also on a connection that is kept."""

from __future__ import annotations

import socket

from gitlab_mcp.transports.http.uvicorn_server import listen


def test_no_packet_of_an_answer_waits_for_the_one_before_it() -> None:
    with (
        listen("127.0.0.1", 0) as port,
        socket.create_connection(port.getsockname()),
        port.accept()[0] as accepted,
    ):
        assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)

"""A client that takes what it can: `python disturber.py KIND PORT` goes on until it is ended. It has an address of its
own."""

from __future__ import annotations

import itertools
import json
import socket
import sys
import threading
import time
from collections.abc import Callable
from http.client import HTTPConnection, HTTPException

HEADERS = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
LIST = {"tool": "browse_labels", "arguments": {"action": "list", "project_id": "1"}}
ADDRESS = ("127.0.0.9", 0)
BODY_BYTES = 4_000_000


def message(tool: str, arguments: object) -> str:
    params = {"name": tool, "arguments": arguments}
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})


def posting(port: int, body: str, headers: Callable[[], dict[str, str]]) -> None:
    """One request after the other, whatever the answers are."""
    connection = HTTPConnection("127.0.0.1", port, timeout=60, source_address=ADDRESS)
    while True:
        try:
            connection.request("POST", "/mcp", body, {**HEADERS, **headers()})
            connection.getresponse().read()
        except (OSError, HTTPException):
            connection.close()


def heavy_batches(port: int) -> None:
    """One caller with sixteen batches of fifty calls at a time."""
    body = message("run_batch", {"action": "run", "calls": [LIST] * 50})
    in_threads(16, lambda: posting(port, body, lambda: {"PRIVATE-TOKEN": "noisy"}))


def made_up_bearers(port: int) -> None:
    numbers = itertools.count()
    body = message(LIST["tool"], LIST["arguments"])  # type: ignore[arg-type]
    in_threads(8, lambda: posting(port, body, lambda: {"Authorization": f"Bearer made-up-{next(numbers)}"}))


def held_open(port: int, connections: int, begun: bytes, more: bytes) -> None:
    """So many connections, each of which sends a byte now and then, and is replaced soon after it is closed."""
    held: list[socket.socket] = []
    while True:
        while len(held) < connections:
            try:
                held.append(socket.create_connection(("127.0.0.1", port), 5, ADDRESS))
                held[-1].sendall(begun)
            except OSError:
                break
        for connection in list(held):
            try:
                if more:
                    connection.sendall(more)
                connection.setblocking(False)
                closed = connection.recv(65536) == b""
            except BlockingIOError:
                closed = False
            except OSError:
                closed = True
            if closed:
                connection.close()
                held.remove(connection)
            else:
                connection.settimeout(5)
        time.sleep(1.0)


def head(length: int) -> bytes:
    lines = {**HEADERS, "Host": "localhost", "PRIVATE-TOKEN": "slow", "Content-Length": str(length)}
    return "".join(
        ["POST /mcp HTTP/1.1\r\n", *(f"{name}: {value}\r\n" for name, value in lines.items())]
    ).encode()


def in_threads(number: int, work: Callable[[], None]) -> None:
    threads = [threading.Thread(target=work, daemon=True) for _ in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


KINDS: dict[str, Callable[[int], None]] = {
    "heavy batches": heavy_batches,
    "idle connections": lambda port: held_open(port, 1005, b"", b""),
    "slow heads": lambda port: held_open(port, 150, head(10), b"X"),
    "slow bodies": lambda port: held_open(port, 150, head(BODY_BYTES) + b"\r\n{", b" "),
    "unfinished bodies": lambda port: held_open(
        port, 60, head(BODY_BYTES) + b"\r\n" + b" " * (BODY_BYTES - 1000), b""
    ),
    "made-up bearers": made_up_bearers,
}

if __name__ == "__main__":
    KINDS[sys.argv[1]](int(sys.argv[2]))

"""How soon after a call is cancelled GitLab sees its connection closed.

python benchmarks/cancelling.py
"""

from __future__ import annotations

import statistics
import sys
import time

import anyio

from tests.support.fault_server import Connection, FaultServer, Received
from tests.support.upstreams import upstream_at

TIMES = 100
LIMIT_MS = 1000.0


def silent(_: Received, connection: Connection) -> None:
    connection.wait_until_cut()


async def measured() -> list[float]:
    spent = []
    with FaultServer(silent) as server:
        upstream = upstream_at(server.url)
        for number in range(TIMES):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(upstream.as_caller("t").get, "/projects/1")
                while len(server.received) <= number:
                    await anyio.sleep(0.001)
                began = time.perf_counter()
                tasks.cancel_scope.cancel()
            await anyio.to_thread.run_sync(server.connections[number].cut.wait)
            spent.append((time.perf_counter() - began) * 1000)
        upstream.close()
    return spent


def main() -> int:
    spent = anyio.run(measured)
    print(f"closed after a cancel   p50 {statistics.median(spent):.2f} ms   longest {max(spent):.2f} ms")
    return 0 if max(spent) < LIMIT_MS else 1


if __name__ == "__main__":
    sys.exit(main())

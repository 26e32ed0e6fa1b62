"""Stops the work for a client that has hung up."""

from __future__ import annotations

import anyio
from starlette.types import ASGIApp, Message, Receive, Scope, Send


async def cancel_on_disconnect(app: ASGIApp, scope: Scope, body: bytes, receive: Receive, send: Send) -> None:
    """Run `app` with a body that has been read already; cancel it when the client disconnects."""
    disconnected = anyio.Event()
    body_sent = False

    async def receive_again() -> Message:
        nonlocal body_sent
        if not body_sent:
            body_sent = True
            return {"type": "http.request", "body": body, "more_body": False}
        await disconnected.wait()
        return {"type": "http.disconnect"}

    async with anyio.create_task_group() as tasks:

        async def wait_for_disconnect() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass
            disconnected.set()
            tasks.cancel_scope.cancel()

        tasks.start_soon(wait_for_disconnect)
        await app(scope, receive_again, send)
        tasks.cancel_scope.cancel()

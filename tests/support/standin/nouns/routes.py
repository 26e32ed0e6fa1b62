"""Answers by the pattern of a route."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, ClassVar
from urllib.parse import quote

from tests.support.standin.exchange import Received, Reply

Thing = dict[str, Any]
NOT_FOUND = Reply.of(404, {"message": "404 Not found"})


class Routes:
    """`routes` has for each pattern, as `PUT /boards/(\\d+)`, the name of the method that answers it."""

    routes: ClassVar[dict[str, str]]

    def __init__(self, place: str = "") -> None:
        """`place` is the path of a project or group, as `/projects/acme/website`."""
        kind, _, path = place.strip("/").partition("/")
        self.below = f"/{kind}/{quote(path, safe='')}" if path else ""

    def owns(self, received: Received) -> bool:
        return self._answer(received) is not None

    def reply_to(self, received: Received) -> Reply:
        answer = self._answer(received)
        assert answer is not None
        return answer()

    def _answer(self, received: Received) -> Callable[[], Reply] | None:
        asked = f"{received.method} {received.route.removeprefix(self.below)}"
        if not received.route.startswith(self.below):
            return None
        for pattern, method in self.routes.items():
            if found := re.fullmatch(pattern, asked):
                return lambda: getattr(self, method)(received, *found.groups())
        return None


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def page(things: list[Thing]) -> Reply:
    return Reply.of(200, things, {"X-Total": str(len(things)), "X-Page": "1", "X-Next-Page": ""})

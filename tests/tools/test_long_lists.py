"""Lists that go on where GitLab counts no more pages. Synthetic: GitLab's limit is 50,000 rows, here it is 50.

The refusal is worded as that of GitLab 17.2 and 19.3 was recorded, the cursor as that of a recorded list of jobs.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlencode

import pytest

from gitlab_mcp.app import App
from tests.support.guarded import refused
from tests.support.standin import Reply, StandIn
from tests.support.standin.exchange import Received

pytestmark = pytest.mark.anyio
Against = Callable[..., App]

LIMIT, USERS = 50, 73
LIST = {"action": "list", "per_page": 10}


class ManyUsers:
    """The newest first."""

    def owns(self, received: Received) -> bool:
        return received.route == "/users"

    def reply_to(self, received: Received) -> Reply:
        asked = dict(received.params)
        size = int(asked.get("per_page", 20))
        if asked.get("pagination") == "keyset":
            cursor = asked.get("cursor")
            last = int(json.loads(base64.b64decode(cursor))["id"]) if cursor else USERS + 1
            return self._rows(last, size, by_cursor=True)
        skipped = (int(asked.get("page", 1)) - 1) * size
        if skipped > LIMIT:
            message = (
                f"Offset pagination has a maximum allowed offset of {LIMIT} for requests that return objects of type"
                " User. Remaining records can be retrieved using keyset pagination."
            )
            return Reply.of(405, {"error": message})
        return self._rows(USERS + 1 - skipped, size, by_cursor=False, page=skipped // size + 1)

    def _rows(self, below: int, size: int, *, by_cursor: bool, page: int = 1) -> Reply:
        ids = range(below - 1, max(0, below - 1 - size), -1)
        rows = [{"id": each, "username": f"user{each}", "state": "active"} for each in ids]
        more = bool(ids) and ids[-1] > 1
        if not by_cursor:
            return Reply.of(200, rows, {"X-Next-Page": str(page + 1) if more else "", "X-Page": str(page)})
        cursor = base64.b64encode(json.dumps({"id": str(ids[-1]), "_kd": "n"}).encode()).decode()
        query = urlencode({"cursor": cursor, "pagination": "keyset", "per_page": size})
        link = {"Link": f'<https://gitlab.example.com/api/v4/users?{query}>; rel="next"'} if more else {}
        return Reply.of(200, rows, link)


@pytest.fixture
def app(standin: StandIn, against: Against) -> Iterator[App]:
    standin.add(ManyUsers())
    yield against()


async def all_rows(app: App, arguments: dict[str, Any]) -> list[int]:
    """Reads on as `next_page` says, as somebody does who knows nothing else."""
    found: list[int] = []
    while True:
        data = (await app.call("browse_users", arguments)).data
        found += [each["id"] for each in data["items"]]
        following = data.get("next_page")
        if following is None:
            return found
        arguments = arguments | (following if isinstance(following, dict) else {"page": following})


async def test_a_list_of_pages_ends_where_gitlab_counts_no_more_and_says_how_to_go_on(app: App) -> None:
    assert (await app.call("browse_users", {**LIST, "page": 6})).data["next_page"] == 7
    failure = await refused(app, "browse_users", {**LIST, "page": 7})
    assert failure.code == "REJECTED"
    assert "pagination=keyset" in failure.facts["suggested_fix"]


async def test_a_list_by_cursor_is_read_to_its_end(app: App) -> None:
    assert await all_rows(app, {**LIST, "pagination": "keyset"}) == list(range(USERS, 0, -1))


async def test_a_cursor_alone_is_enough_to_go_on(app: App, standin: StandIn) -> None:
    first = (await app.call("browse_users", {**LIST, "pagination": "keyset"})).data
    second = (await app.call("browse_users", {**LIST, **first["next_page"]})).data
    assert second["items"][0]["id"] == first["items"][-1]["id"] - 1

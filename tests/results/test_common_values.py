"""What all rows of a list have alike stands once in the JSON that a model reads."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from mcp import Client

from gitlab_mcp.app import App
from gitlab_mcp.protocol.server import GitLabServer
from tests.support.standin import StandIn

pytestmark = pytest.mark.anyio
Against = Callable[..., App]

ISSUES = [
    {
        "iid": iid,
        "title": "Same",
        "state": "opened",
        "labels": ["bug"],
        "author": {"username": author, "name": "x"},
    }
    for iid, author in ((1, "alice"), (2, "alice"), (3, "bob"))
]
"""Synthetic."""
LIST = {"action": "list", "project_id": "1"}


@pytest.fixture
def ask(standin: StandIn, against: Against) -> Callable[..., Any]:
    async def asked(tool: str, arguments: dict[str, Any], rows: Any = ISSUES, style: str = "tier") -> Any:
        standin.answer("GET", "/projects/1/issues", 200, rows)
        async with Client(GitLabServer(against(), error_style=style, format="json")) as client:
            answer = await client.call_tool(tool, arguments)
        return json.loads(answer.content[0].text)  # type: ignore[union-attr]

    return asked


def whole(data: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows as a reader puts them together."""
    return [{**data.get("every_item", {}), **row} for row in data["items"]]


async def test_a_value_that_all_rows_have_stands_once_and_nothing_is_lost(ask: Callable[..., Any]) -> None:
    data = await ask("browse_issues", LIST)
    assert data["every_item"] == {"state": "opened", "labels": ["bug"]}
    assert [row["author"] for row in data["items"]] == ["alice", "alice", "bob"]
    assert all(row == {**row, "state": "opened", "labels": ["bug"]} for row in whole(data))


async def test_what_a_row_is_known_by_stays_in_the_row(ask: Callable[..., Any]) -> None:
    data = await ask("browse_issues", LIST)
    assert [row["title"] for row in data["items"]] == ["Same"] * 3


@pytest.mark.parametrize("count", [0, 1, 2])
async def test_short_lists_have_whole_rows(ask: Callable[..., Any], count: int) -> None:
    data = await ask("browse_issues", LIST, ISSUES[:count])
    assert "every_item" not in data
    assert all(row["state"] == "opened" for row in data["items"])


async def test_a_flag_is_not_taken_for_a_number(ask: Callable[..., Any]) -> None:
    rows = [{**row, "weight": weight} for row, weight in zip(ISSUES, (1, True, 1), strict=True)]
    data = await ask("browse_issues", {**LIST, "detail": "full"}, rows)
    assert "weight" not in data["every_item"]


async def test_lists_in_a_batch_and_in_an_envelope_are_as_short(ask: Callable[..., Any]) -> None:
    batch = {"action": "run", "calls": [{"tool": "browse_issues", "arguments": LIST}]}
    for style in ("tier", "aql"):
        data = await ask("run_batch", batch, style=style)
        [one] = (data["data"] if style == "aql" else data)["results"]
        assert one["result"]["every_item"]["state"] == "opened"


async def test_programs_find_every_field_in_its_row(standin: StandIn, against: Against) -> None:
    standin.answer("GET", "/projects/1/issues", 200, ISSUES)
    data = (await against().call("browse_issues", LIST)).data
    assert [row["state"] for row in data["items"]] == ["opened"] * 3

"""Lists that are counted in place of being shown."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gitlab_mcp.app import App
from gitlab_mcp.failures.failure import CallFailed
from tests.support.standin import Received, Reply, StandIn
from tests.support.standin.exchange import API

pytestmark = pytest.mark.anyio
Against = Callable[..., App]


class Pages:
    """So many rows in pages, invented: no recorded list is longer than a page of a hundred."""

    def __init__(self, path: str, rows: list[dict[str, Any]], *, with_total: bool = True) -> None:
        self.path = f"{API}{path}"
        self.rows = rows
        self.with_total = with_total

    def owns(self, received: Received) -> bool:
        return received.path == self.path

    def reply_to(self, received: Received) -> Reply:
        asked = dict(received.params)
        page, size = int(asked.get("page", 1)), int(asked.get("per_page", 20))
        pages = -(-len(self.rows) // size)
        headers = {"X-Page": str(page), "X-Next-Page": str(page + 1) if page < pages else ""}
        if self.with_total:
            headers |= {"X-Total": str(len(self.rows)), "X-Total-Pages": str(pages)}
        return Reply.of(200, self.rows[(page - 1) * size : page * size], headers)


def issues(count: int) -> list[dict[str, Any]]:
    return [
        {
            "id": number,
            "labels": ["bug"] if number % 2 else ["bug", "ui"],
            "assignees": [],
            "created_at": "2026-11-18T09:00:00Z" if number % 2 else "2026-11-15T09:00:00Z",
        }
        for number in range(count)
    ]


async def counted(app: App, tool: str, by: str, **more: Any) -> Any:
    arguments = {"action": "list", "project_id": "1", "count_by": by, **more}
    return (await app.call(tool, arguments)).data


async def test_recorded_issues_are_counted_by_label_and_those_without_one_too(replayed: App) -> None:
    data = await counted(replayed, "browse_issues", "label", project_id="acme/website")
    assert data["items"][0] == {"label": None, "count": 3}
    assert {"label": "bug", "count": 1} in data["items"]
    assert (data["counted"], data["untrusted"]) == (5, ["label"])
    assert "once for each" in data["remark"]


@pytest.mark.parametrize(
    ("tool", "by"),
    [
        ("browse_merge_requests", "author"),
        ("browse_merge_requests", "reviewer"),
        ("browse_pipelines", "status"),
        ("browse_pipelines", "ref"),
        ("browse_commits", "author"),
        ("browse_commits", "month"),
        ("browse_issues", "assignee"),
        ("browse_issues", "milestone"),
    ],
)
async def test_recorded_lists_are_counted(replayed: App, tool: str, by: str) -> None:
    data = await counted(replayed, tool, by, project_id="acme/website")
    assert sum(row["count"] for row in data["items"]) >= data["counted"] > 0


@pytest.mark.parametrize(
    ("tool", "plural", "word"),
    [
        ("browse_issues", "labels", "label"),
        ("browse_issues", "assignees", "assignee"),
        ("browse_merge_requests", "authors", "author"),
        ("browse_pipelines", "statuses", "status"),
    ],
)
async def test_what_is_counted_by_may_be_said_in_the_plural(
    replayed: App, tool: str, plural: str, word: str
) -> None:
    told = await counted(replayed, tool, plural, project_id="acme/website")
    assert told == await counted(replayed, tool, word, project_id="acme/website")


async def test_issues_are_counted_by_state_in_one_request(
    standin: StandIn, against: Against, cassettes: Path
) -> None:
    standin.play(cassettes)
    data = await counted(against(), "browse_issues", "state", project_id="acme/shop")
    assert data == {
        "items": [{"state": "opened", "count": 9}, {"state": "closed", "count": 7}],
        "counted": 16,
    }
    assert [request.route for request in standin.requests] == ["/projects/acme%2Fshop/issues_statistics"]


async def test_merge_requests_are_counted_by_state_with_the_totals_of_gitlab(
    standin: StandIn, against: Against
) -> None:
    standin.answer("GET", "/projects/1/merge_requests", body=[{"id": 1}], headers={"X-Total": "12000"})
    data = await counted(against(), "browse_merge_requests", "state")
    assert data["counted"] == 48_000
    assert sorted(dict(request.params)["state"] for request in standin.requests) == [
        "closed",
        "locked",
        "merged",
        "opened",
    ]


async def test_a_state_that_gitlab_does_not_count_to_the_end_is_told(
    standin: StandIn, against: Against
) -> None:
    standin.answer("GET", "/projects/1/merge_requests", body=[{"id": 1}])
    data = await counted(against(), "browse_merge_requests", "state")
    assert [each["omitted"] for each in data["truncated"]] == ["unknown"] * 4


async def test_other_pages_are_read_side_by_side_and_no_page_twice(
    standin: StandIn, against: Against
) -> None:
    standin.add(Pages("/projects/1/issues", issues(250)))
    data = await counted(against(), "browse_issues", "label")
    assert data["items"] == [{"label": "bug", "count": 250}, {"label": "ui", "count": 125}]
    assert data["counted"] == 250
    assert sorted(dict(request.params).get("page", "1") for request in standin.requests) == ["1", "2", "3"]


@pytest.mark.parametrize(("with_total", "omitted"), [(True, 234), (False, "unknown")])
async def test_only_so_many_are_counted_and_the_rest_is_told(
    standin: StandIn, against: Against, with_total: bool, omitted: int | str
) -> None:
    standin.add(Pages("/projects/1/issues", issues(1234), with_total=with_total))
    data = await counted(against(), "browse_issues", "label")
    assert data["counted"] == 1000
    assert data["truncated"][0]["omitted"] == omitted
    assert len(standin.requests) == 10


async def test_a_list_without_a_total_is_read_to_its_end(standin: StandIn, against: Against) -> None:
    standin.add(Pages("/projects/1/repository/commits", issues(120), with_total=False))
    data = await counted(against(), "browse_commits", "week")
    assert data["counted"] == 120
    assert "truncated" not in data


async def test_weeks_begin_on_monday_and_the_newest_comes_first(standin: StandIn, against: Against) -> None:
    standin.add(Pages("/projects/1/issues", issues(4)))
    data = await counted(against(), "browse_issues", "week")
    assert data["items"] == [{"week": "2026-11-16", "count": 2}, {"week": "2026-11-09", "count": 2}]
    assert "untrusted" not in data


async def test_a_page_that_cannot_be_read_is_told(standin: StandIn, against: Against) -> None:
    refused = Reply.of(403, {"message": "403 Forbidden"})

    class ThirdPage(Pages):
        def owns(self, received: Received) -> bool:
            return super().owns(received) and dict(received.params).get("page") == "3"

        def reply_to(self, received: Received) -> Reply:
            return refused

    standin.add(ThirdPage("/projects/1/issues", []))
    standin.add(Pages("/projects/1/issues", issues(250)))
    data = await counted(against(), "browse_issues", "label")
    assert (data["counted"], data["warnings"][0]["unread"]) == (200, ["page 3"])


async def test_a_long_table_is_cut_and_says_so(standin: StandIn, against: Against) -> None:
    rows = [{"id": number, "ref": f"branch-{number}"} for number in range(80)]
    standin.add(Pages("/projects/1/pipelines", rows))
    data = await counted(against(), "browse_pipelines", "ref")
    assert (len(data["items"]), data["truncated"][0]["omitted"]) == (50, 30)


async def test_filters_narrow_what_is_counted(standin: StandIn, against: Against) -> None:
    standin.add(Pages("/projects/1/issues", issues(3)))
    await counted(against(), "browse_issues", "label", labels=["bug"], state="opened")
    sent = dict(standin.requests[0].params)
    assert sent == {"labels": "bug", "state": "opened", "per_page": "100"}


@pytest.mark.parametrize("more", [{"page": 2}, {"per_page": 5}, {"sort": "asc"}])
async def test_a_count_has_no_pages(replayed: App, more: dict[str, Any]) -> None:
    with pytest.raises(CallFailed) as failed:
        await counted(replayed, "browse_issues", "label", **more)
    assert failed.value.failure.code == "INVALID_VALUE"


async def test_an_unknown_thing_to_count_by_is_answered_with_what_there_is(replayed: App) -> None:
    with pytest.raises(CallFailed) as failed:
        await counted(replayed, "browse_pipelines", "colour")
    assert "status" in str(failed.value.failure.facts)


async def test_to_group_by_is_to_count_by(replayed: App) -> None:
    arguments = {"action": "list", "project_id": "acme/website", "group_by": "label"}
    assert (await replayed.call("browse_issues", arguments)).data["counted"] == 5

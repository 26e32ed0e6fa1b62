"""One template on top of a list says the addresses of its rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gitlab_mcp.app import App
from gitlab_mcp.results.row_urls import with_url_template
from tests.support.standin import StandIn

HOST = "https://gitlab.example.com"


def address(template: str, row: dict[str, Any]) -> str:
    """As a reader of the list puts it together."""
    return str(row.get("web_url") or template.format(**row))


@pytest.mark.parametrize(
    ("rows", "template"),
    [
        ([{"iid": 7, "id": 7}, {"iid": 8, "id": 90}], f"{HOST}/a/b/-/issues/{{iid}}"),
        ([{"iid": 7, "id": 7}], f"{HOST}/a/b/-/issues/{{iid}}"),
        ([{"id": 7}, {"id": 8}], f"{HOST}/a/b/-/jobs/{{id}}"),
        (
            [{"iid": 7, "project": "a/b"}, {"iid": 7, "project": "a/c/d"}],
            f"{HOST}/{{project}}/-/issues/{{iid}}",
        ),
        ([{"iid": 7, "project": "a/b"}, {"iid": 9, "project": "a/b"}], f"{HOST}/a/b/-/issues/{{iid}}"),
        ([{"path_with_namespace": "a/b"}, {"path_with_namespace": "a/c"}], f"{HOST}/{{path_with_namespace}}"),
    ],
    ids=["number", "one row", "id", "several projects", "one project", "projects"],
)
def test_rows_and_template_give_the_addresses_back(rows: list[dict[str, Any]], template: str) -> None:
    addresses = [template.format(**row) for row in rows]
    full = [{**row, "web_url": url} for row, url in zip(rows, addresses, strict=True)]
    found, short = with_url_template(full)
    assert found == template
    assert short == rows


def test_a_row_with_an_address_of_another_kind_keeps_its_own() -> None:
    rows = [
        {"iid": 1, "web_url": f"{HOST}/a/b/-/issues/1"},
        {"iid": 2, "web_url": f"{HOST}/a/b/-/work_items/2"},
        {"iid": 3, "web_url": f"{HOST}/a/b/-/issues/3"},
    ]
    template, short = with_url_template(rows)
    assert template == f"{HOST}/a/b/-/issues/{{iid}}"
    assert [address(template, row) for row in short] == [row["web_url"] for row in rows]
    assert ["web_url" in row for row in short] == [False, True, False]


@pytest.mark.parametrize("rows", [[], [{"iid": 1}], [{"iid": 1, "web_url": f"{HOST}/elsewhere"}], [3]])
def test_rows_without_such_addresses_stay_as_they_are(rows: list[Any]) -> None:
    assert with_url_template(rows) == (None, rows)


@pytest.mark.anyio
@pytest.mark.parametrize("tool", ["browse_merge_requests", "browse_issues"])
async def test_a_list_across_projects_names_the_project_of_each_row(
    standin: StandIn, against: Callable[..., App], tool: str
) -> None:
    kind, sign = ("merge_requests", "!") if tool == "browse_merge_requests" else ("issues", "#")
    rows = [
        {
            "iid": 7,
            "title": "x",
            "references": {"short": f"{sign}7", "relative": "…", "full": f"{project}{sign}7"},
            "web_url": f"{HOST}/{project}/-/{kind}/7",
        }
        for project in ("a/b", "a/c")
    ]
    standin.answer("GET", f"/{kind}", body=rows)
    found = (await against().call(tool, {"action": "list"})).data
    assert [row["project"] for row in found["items"]] == ["a/b", "a/c"]
    assert [address(found["web_url"], row) for row in found["items"]] == [row["web_url"] for row in rows]


@pytest.mark.anyio
async def test_a_list_of_merge_requests_says_what_decides_the_next_step(replayed: App) -> None:
    arguments = {"action": "list", "project_id": "acme/website"}
    found = (await replayed.call("browse_merge_requests", arguments)).data
    by_iid = {row["iid"]: row for row in found["items"]}
    assert by_iid[4]["merged_at"] == by_iid[4]["created_at"] == "2026-11-16"
    assert [iid for iid, row in by_iid.items() if row.get("draft")] == [3]
    assert by_iid[1]["reviewers"] == ["bob"]
    assert (
        "T"
        in (
            await replayed.call(
                "browse_merge_requests", {**arguments, "action": "get", "merge_request_iid": 1}
            )
        ).data["created_at"]
    )


@pytest.mark.anyio
async def test_a_list_of_issues_marks_the_confidential_ones_and_dates_all(replayed: App) -> None:
    found = (await replayed.call("browse_issues", {"action": "list", "project_id": "acme/website"})).data
    assert [row["iid"] for row in found["items"] if row.get("confidential")] == [3]
    assert all(row["created_at"] and row["updated_at"] and row["author"] for row in found["items"])


@pytest.mark.anyio
async def test_full_detail_keeps_each_row_as_gitlab_sent_it(replayed: App) -> None:
    arguments = {"action": "list", "project_id": "acme/website", "detail": "full"}
    found = (await replayed.call("browse_issues", arguments)).data
    assert "web_url" not in found
    assert found["items"][0]["web_url"].startswith(HOST)
    assert found["items"][0]["created_at"].endswith("Z")

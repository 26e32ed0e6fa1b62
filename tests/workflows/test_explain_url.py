"""Any URL of this GitLab: which action shows it, what else is said, and what is refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from gitlab_mcp.actions.arguments.urls import fields_of, page_of
from gitlab_mcp.actions.registry import Registry
from gitlab_mcp.actions.shape import shapes
from gitlab_mcp.app import App
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.workflows import page_reads
from gitlab_mcp.workflows.page_reads import reads_of
from tests.support.for_each import for_each
from tests.support.standin import StandIn
from tests.support.standin.shop import Shop

Against = Callable[..., App]
HERE = "https://gitlab.example.com"
SHOP = f"{HERE}/acme/shop"

PAGES: Mapping[str, str] = {
    f"{SHOP}": "browse_projects get project_id=acme/shop",
    f"{SHOP}.git": "browse_projects get project_id=acme/shop",
    f"{SHOP}/-/issues/7": "browse_issues get project_id=acme/shop issue_iid=7",
    f"{SHOP}/issues/7": "browse_issues get project_id=acme/shop issue_iid=7",
    f"{SHOP}/-/issues/7#note_12": "browse_discussions get_note project_id=acme/shop issue_iid=7 note_id=12",
    f"{SHOP}/-/work_items/7": "browse_issues get project_id=acme/shop issue_iid=7",
    f"{SHOP}/-/merge_requests/25/diffs": "browse_merge_requests diffs project_id=acme/shop merge_request_iid=25",
    f"{SHOP}/-/merge_requests/25.patch": "browse_merge_requests get project_id=acme/shop merge_request_iid=25",
    f"{SHOP}/-/pipelines/202": "browse_pipelines get project_id=acme/shop pipeline_id=202",
    f"{SHOP}/-/pipelines/202/failures": "browse_pipelines failure_digest project_id=acme/shop pipeline_id=202",
    f"{SHOP}/-/jobs/286": "browse_jobs get project_id=acme/shop job_id=286",
    f"{SHOP}/-/commit/43501af1.diff": "browse_commits get project_id=acme/shop sha=43501af1",
    f"{SHOP}/-/compare/v1.0.0...main": "browse_commits compare project_id=acme/shop from_ref=v1.0.0 to_ref=main",
    f"{SHOP}/-/compare/a..b": "browse_commits compare project_id=acme/shop from_ref=a to_ref=b straight=true",
    f"{SHOP}/-/blob/main/a%20b/%C3%BC.py#L20-30": (
        "browse_files get project_id=acme/shop ref=main file_path=a b/ü.py start_line=20 end_line=30"
    ),
    f"{SHOP}/blob/main/README.md": "browse_files get project_id=acme/shop ref=main file_path=README.md",
    f"{SHOP}/-/blame/main/x.py": "browse_files blame project_id=acme/shop ref=main file_path=x.py",
    f"{SHOP}/-/tree/main/src": "browse_files tree project_id=acme/shop ref=main path=src",
    f"{SHOP}/-/commits/main": "browse_commits list project_id=acme/shop ref_name=main",
    f"{SHOP}/-/milestones/3": "browse_milestones list project_id=acme/shop iids=['3']",
    f"{SHOP}/-/releases/v1.1.0": "browse_releases get project_id=acme/shop tag_name=v1.1.0",
    f"{SHOP}/-/tags/v1.1.0": "browse_tags get project_id=acme/shop tag_name=v1.1.0",
    f"{SHOP}/-/wikis/guides/Set-up": "browse_wikis get project_id=acme/shop slug=guides/Set-up",
    f"{SHOP}/-/snippets/5": "browse_snippets get project_id=acme/shop snippet_id=5",
    f"{HERE}/-/snippets/5": "browse_snippets get snippet_id=5",
    f"{SHOP}/-/environments/9": "browse_environments get project_id=acme/shop environment_id=9",
    f"{SHOP}/-/pipeline_schedules/4/edit": "browse_schedules get project_id=acme/shop schedule_id=4",
    f"{SHOP}/-/project_members": "browse_members list project_id=acme/shop",
    f"{SHOP}/-/issues/?state=opened&label_name%5B%5D=bug": (
        "browse_issues list state=opened labels=['bug'] project_id=acme/shop"
    ),
    f"{HERE}/groups/acme/-/epics/3": "browse_epics get group_id=acme epic_iid=3",
    f"{HERE}/groups/acme/-/epics/3#note_8": "browse_epics get group_id=acme epic_iid=3",
    f"{HERE}/groups/acme/tools": "browse_groups get group_id=acme/tools",
    f"{HERE}/acme": "browse_groups get group_id=acme",
    f"{HERE}/users/alice": "browse_users list username=alice",
    f"{HERE}/dashboard/todos": "browse_todos list",
    f"{HERE}/dashboard/merge_requests?reviewer_username=alice": "browse_merge_requests list reviewer_username=alice",
    f"{HERE}/search?search=coupon&scope=blobs&project_id=77&group_id=6": "search code search=coupon project_id=77",
    f"{HERE}/-/profile": "browse_users current",
    HERE: "browse_instance metadata",
}  # fmt: skip


def first_read(url: str, base: str = HERE) -> str:
    try:
        fields = fields_of(url, base)
    except ValueError:
        fields = {}
    read = next(reads_of(page_of(url, base), fields))
    action = Registry().action(*read.call.split(" "))
    assert action is not None, f"{read.call} is no action"
    given = [f"{name}={value}" for name, value in read.arguments.items() if name in shapes(action)]
    return " ".join([read.call, *given])


@for_each(PAGES.items(), lambda page: page[0])
def test_a_page_is_read_by_its_action(page: tuple[str, str]) -> None:
    assert first_read(page[0]) == page[1]


def test_every_page_leads_to_an_action_that_reads() -> None:
    tables = (
        page_reads._ONE,
        page_reads._TABS,
        page_reads._LISTS,
        page_reads._FILES,
        page_reads._OF_NO_PLACE,
    )
    calls = {call for table in tables for _, call in table.values()}
    registry = Registry()
    unknown = [call for call in calls if registry.action(*call.split(" ")) is None]
    assert unknown == []
    assert not [call for call in calls if registry.writes(*call.split(" "))]


def test_a_gitlab_below_a_path_and_on_a_port_of_its_own() -> None:
    base = "http://localhost:8080/git"
    assert first_read(f"{base}/acme/shop/-/issues/7", base) == PAGES[f"{SHOP}/-/issues/7"]
    assert first_read(base, base) == "browse_instance metadata"


@pytest.fixture
def shop(standin: StandIn, cassettes: Path) -> StandIn:
    standin.add(Shop(cassettes))
    return standin


async def explained(app: App, url: str) -> Any:
    return await app.call("browse_instance", {"action": "explain_url", "url": url})


async def refused(app: App, url: Any) -> Failure:
    with pytest.raises(CallFailed) as failed:
        await explained(app, url)
    return failed.value.failure


@pytest.mark.anyio
async def test_a_comment_comes_with_what_it_is_about(shop: StandIn, against: Against) -> None:
    found = await explained(against(), f"{shop.url}/acme/shop/-/merge_requests/25#note_554")
    assert found.data["what"] == "a comment on a merge request"
    assert (found.data["author"], found.data["body"]) == ("alice", "Old SHAs, line that moved.")
    assert found.data["of"]["title"] == "Rework the cart"
    assert found.data["call"]["arguments"]["note_id"] == "554"
    assert "body" in found.data["untrusted"]


@pytest.mark.anyio
async def test_lines_of_a_file_on_a_branch_with_a_slash_in_its_name(shop: StandIn, against: Against) -> None:
    shop.answer("GET", "/projects/*/repository/files/review%2F*", 404, {"message": "404 Commit Not Found"})
    found = await explained(against(), f"{shop.url}/acme/shop/-/blob/feature/review/src/shop/cart.py#L1-3")
    assert found.data["call"]["arguments"]["ref"] == "feature/review"
    assert found.text.content.count("\n") == 2


@pytest.mark.anyio
async def test_a_job_comes_with_the_lines_of_its_log_that_are_linked(shop: StandIn, against: Against) -> None:
    found = await explained(against(), f"{shop.url}/acme/shop/-/jobs/286#L10-12")
    assert (found.data["name"], found.data["log"]["start_line"]) == ("unit", 10)
    assert found.text.content.count("\n") == 2


@pytest.mark.anyio
async def test_a_lone_word_is_a_group_or_a_person(standin: StandIn, against: Against) -> None:
    standin.answer("GET", "/groups/acme", body={"id": 6, "full_path": "acme", "name": "Acme"})
    standin.answer("GET", "/groups/*", 404, {"message": "404 Group Not Found"})
    standin.answer("GET", "/groups/acme", body={"id": 6, "full_path": "acme", "name": "Acme"})
    standin.answer("GET", "/users", body=[{"id": 2, "username": "alice", "name": "Alice"}])
    app = against()
    assert (await explained(app, f"{standin.url}/acme")).data["what"] == "a group"
    assert (await explained(app, f"{standin.url}/alice")).data["what"] == "a person"
    standin.answer("GET", "/users", body=[])
    assert (await refused(app, f"{standin.url}/nobody")).code == "NOT_FOUND"


@pytest.mark.anyio
async def test_filters_that_no_action_has_are_named(shop: StandIn, against: Against) -> None:
    found = await explained(
        against(), f"{shop.url}/acme/shop/-/issues?state=opened&weight=3&my_reaction_emoji=x"
    )
    assert found.data["filters_left_out"] == ["weight", "my_reaction_emoji"]
    assert found.data["items"]


@pytest.mark.anyio
async def test_a_page_that_no_action_reads_is_said_to_be_one(standin: StandIn, against: Against) -> None:
    found = await explained(against(), f"{standin.url}/acme/shop/-/settings/ci_cd")
    assert found.data["empty"] is True
    assert standin.requests == []


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("https://evil.example/acme/shop/-/issues/7", "HOST_NOT_ALLOWED"),
        ("acme/shop#7", "INVALID_VALUE"),
        ("file:///etc/passwd", "INVALID_VALUE"),
        ("http://[::1/x", "INVALID_VALUE"),
        ("http://127.0.0.1:99999999/x", "INVALID_VALUE"),
        ("", "INVALID_VALUE"),
        (["https://gitlab.example.com"], "TYPE_MISMATCH"),
    ],
)
async def test_what_is_no_url_of_this_gitlab_is_refused_and_nothing_is_asked(
    standin: StandIn, against: Against, url: Any, code: str
) -> None:
    assert (await refused(against(), url)).code == code
    assert standin.requests == []


@pytest.mark.anyio
async def test_the_calls_it_makes_are_guarded_as_if_they_came_alone(shop: StandIn, against: Against) -> None:
    fenced = against(only_in=("acme/website",))
    assert (await refused(fenced, f"{shop.url}/acme/shop/-/issues/7")).code == "OUT_OF_SCOPE"
    assert not [request for request in shop.requests if "issues" in request.route]


@pytest.mark.anyio
async def test_a_thing_that_is_not_there_is_the_failure_of_its_own_action(
    standin: StandIn, against: Against
) -> None:
    standin.answer("GET", "/projects/acme%2Fshop", body={"id": 77, "path_with_namespace": "acme/shop"})
    failure = await refused(against(), f"{standin.url}/acme/shop/-/issues/999")
    assert (failure.code, failure.facts["missing"]) == ("NOT_FOUND", "issue_iid")

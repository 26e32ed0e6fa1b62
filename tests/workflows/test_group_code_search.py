"""Code search in a group: one request where GitLab has it, the group's projects one by one where it has not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gitlab_mcp.app import App
from gitlab_mcp.failures.failure import CallFailed
from tests.support.standin import Drop, StandIn

pytestmark = pytest.mark.anyio
Against = Callable[..., App]

CODE = {"action": "code", "group_id": "acme", "search": "coupon"}
REFUSALS: dict[str, Any] = {
    "17.2": {"message": {"error": "Scope not supported without Elasticsearch!"}},
    "19.3": {"message": "Scope supported only with advanced search or exact code search"},
    "CE": {"error": "scope does not have a valid value"},
}


def hit(path: str, line: int = 3) -> dict[str, Any]:
    return {
        "path": path,
        "startline": line,
        "ref": "main",
        "data": "def apply_coupon():\n    pass\n",
        "project_id": 1,
    }


def group(
    standin: StandIn, *hits: list[dict[str, Any]], says: Any = REFUSALS["19.3"], **headers: str
) -> None:
    """A group without code search of its own, whose projects 1, 2, … have these hits. Synthetic."""
    projects = [{"id": number, "path_with_namespace": f"acme/p{number}"} for number, _ in enumerate(hits, 1)]
    standin.answer("GET", "/groups/acme/search", 400, says)
    standin.answer("GET", "/groups/acme/projects", body=projects, headers=headers)
    for number, found in enumerate(hits, 1):
        standin.answer("GET", f"/projects/{number}/search", body=found)


async def test_where_gitlab_searches_groups_it_is_one_request(standin: StandIn, against: Against) -> None:
    standin.answer("GET", "/groups/acme/search", body=[hit("a.py")])
    found = await against().call("search", CODE)
    assert len(standin.requests) == 1
    assert found.data["items"] == [{"project_id": 1, "path": "a.py", "start_line": 3, "ref": "main"}]


@pytest.mark.parametrize("version", REFUSALS)
async def test_elsewhere_its_projects_are_searched_and_each_shows_its_first_hit_first(
    standin: StandIn, against: Against, version: str
) -> None:
    group(standin, [hit("a.py"), hit("b.py")], [], [hit("c.py", 9)], says=REFUSALS[version])
    found = await against().call("search", CODE)
    assert [(each["project"], each["path"]) for each in found.data["items"]] == [
        ("acme/p1", "a.py"),
        ("acme/p3", "c.py"),
        ("acme/p1", "b.py"),
    ]
    assert found.data["found_in"] == {"acme/p1": 2, "acme/p3": 1}
    assert found.data["projects_searched"] == 3
    assert found.text is not None
    assert found.text.content.startswith("acme/p1 a.py:\n    3 def apply_coupon():")
    listed = dict(standin.requests[1].params)
    assert (listed["order_by"], listed["include_subgroups"], listed["archived"]) == (
        "last_activity_at",
        "true",
        "false",
    )


async def test_what_was_left_out_is_said_with_the_way_to_it(standin: StandIn, against: Against) -> None:
    group(standin, [hit("a.py")] * 20, [hit("b.py")], **{"X-Next-Page": "2", "X-Total": "57"})
    found = (await against().call("search", {**CODE, "per_page": 5})).data
    assert found["next_page"] == 2
    left_out = {each["what"]: each["omitted"] for each in found["truncated"]}
    assert left_out == {"projects that changed longer ago": 55, "hits": 16}


async def test_a_project_that_cannot_be_searched_is_named(standin: StandIn, against: Against) -> None:
    group(standin, [hit("a.py")], [], [])
    standin.answer("GET", "/projects/2/search", 403, {"message": "403 Forbidden"})
    standin.fault("GET", "/projects/3/search", Drop(), times=None)
    found = (await against().call("search", CODE)).data
    assert found["warnings"][0]["unread"] == ["acme/p2", "acme/p3"]
    assert len(found["items"]) == 1


async def test_a_gitlab_that_dies_after_the_list_is_a_failure_and_no_empty_answer(
    standin: StandIn, against: Against
) -> None:
    group(standin, [hit("a.py")], [])
    standin.fault("GET", "/projects/*/search", Drop(), times=None)
    with pytest.raises(CallFailed):
        await against(deadline=5).call("search", CODE)


async def test_projects_without_code_are_not_searched(standin: StandIn, against: Against) -> None:
    group(standin, [hit("a.py")])
    standin.answer("GET", "/groups/acme/projects", body=[
        {"id": 1, "path_with_namespace": "acme/p1"},
        {"id": 2, "path_with_namespace": "acme/empty", "empty_repo": True},
        {"id": 3, "path_with_namespace": "acme/wiki", "repository_access_level": "disabled"},
    ])  # fmt: skip
    found = (await against().call("search", CODE)).data
    assert found["projects_searched"] == 1


async def test_nothing_found_anywhere_says_where_was_looked(standin: StandIn, against: Against) -> None:
    group(standin, [], [])
    found = (await against().call("search", CODE)).data
    assert (found["items"], found["projects_searched"]) == ([], 2)
    assert "default branches" in found["why_empty"]


async def test_any_other_refusal_stays_what_it_is(standin: StandIn, against: Against) -> None:
    standin.answer("GET", "/groups/acme/search", 400, {"message": "page is invalid"})
    with pytest.raises(CallFailed) as failed:
        await against().call("search", CODE)
    assert failed.value.failure.code != "TIER_RESTRICTED"
    assert not [request for request in standin.requests if request.route.endswith("/projects")]


async def test_whoever_waits_hears_of_each_project(standin: StandIn, against: Against) -> None:
    group(standin, [hit("a.py")], [])
    heard: list[tuple[float, float | None]] = []
    await against().call("search", CODE, lambda done, total, _: heard.append((done, total)))
    assert heard == [(0, None), (0, 2), (1, 2), (2, 2)]

"""Filters that apply though nobody gave them. The answers of GitLab in here are synthetic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gitlab_mcp.app import App
from gitlab_mcp.failures.failure import CallFailed
from tests.support.standin import StandIn

pytestmark = pytest.mark.anyio
Against = Callable[..., App]

MERGE_REQUEST = {"iid": 1, "title": "x", "state": "opened"}


async def listed(
    standin: StandIn, against: Against, tool: str, items: Any = (), action: str = "list", **arguments: Any
) -> tuple[dict[str, str], dict[str, Any]]:
    """What was sent, and what the answer says."""
    standin.answer("GET", "*", body=items if isinstance(items, dict) else list(items))
    standin.answer("GET", "/user", body={"id": 3, "username": "alice"})
    result = await against().call(tool, {"action": action, **arguments})
    asked = [request for request in standin.requests if request.route != "/user"]
    return dict(asked[0].params), dict(result.data)


@pytest.mark.parametrize("tool", ["browse_merge_requests", "browse_issues"])
@pytest.mark.parametrize(
    "person_or_text",
    [{"author_username": "bob"}, {"assignee_username": ["bob"]}, {"assignee_id": 4}, {"search": "login"}],
    ids=str,
)
async def test_a_person_or_a_text_is_looked_for_among_everybodys(
    standin: StandIn, against: Against, tool: str, person_or_text: dict[str, Any]
) -> None:
    sent, data = await listed(standin, against, tool, [MERGE_REQUEST], **person_or_text)
    assert sent["scope"] == "all"
    assert data["filters_not_asked_for"]["scope"] == "all"


@pytest.mark.parametrize("field", ["reviewer_username", "merge_user_username", "not_author_username"])
async def test_whoever_has_to_do_with_a_merge_request_is_a_person(
    standin: StandIn, against: Against, field: str
) -> None:
    sent, _ = await listed(standin, against, "browse_merge_requests", **{field: "bob"})
    assert sent["scope"] == "all"


@pytest.mark.parametrize(
    "place_or_scope", [{"project_id": "1"}, {"group_id": "acme"}, {"scope": "assigned_to_me"}], ids=str
)
async def test_a_place_or_a_scope_that_was_given_is_kept(
    standin: StandIn, against: Against, place_or_scope: dict[str, Any]
) -> None:
    sent, data = await listed(
        standin, against, "browse_issues", [MERGE_REQUEST], author_username="bob", **place_or_scope
    )
    assert sent.get("scope") == place_or_scope.get("scope")
    assert "scope" not in data.get("filters_not_asked_for", {})


@pytest.mark.parametrize("tool", ["browse_merge_requests", "browse_issues"])
async def test_gitlab_s_own_default_is_named_in_a_list_of_one_s_own(
    standin: StandIn, against: Against, tool: str
) -> None:
    sent, data = await listed(standin, against, tool, [MERGE_REQUEST], labels=["bug"])
    assert "scope" not in sent
    assert data["filters_not_asked_for"]["scope"] == "created_by_me"


async def test_an_empty_list_of_one_s_own_says_that_it_was_one_s_own(
    standin: StandIn, against: Against
) -> None:
    _, data = await listed(standin, against, "browse_issues", labels=["bug"])
    assert "created_by_me" in data["why_empty"]
    assert "labels" in data["why_empty"]


async def test_a_count_names_whose_issues_were_counted(standin: StandIn, against: Against) -> None:
    counts = {"statistics": {"counts": {"all": 1, "opened": 1, "closed": 0}}}
    _, data = await listed(standin, against, "browse_issues", counts, action="statistics")
    assert data == {"all": 1, "opened": 1, "closed": 0, "filters_not_asked_for": {"scope": "created_by_me"}}


async def test_issues_are_counted_by_what_they_are_listed_by(standin: StandIn, against: Against) -> None:
    counts = {"statistics": {"counts": {"all": 1, "opened": 1, "closed": 0}}}
    sent, _ = await listed(
        standin,
        against,
        "browse_issues",
        counts,
        action="statistics",
        labels=["bug"],
        author_username="bob",
        created_after="2026-01-01T00:00:00Z",
    )
    assert sent["labels"] == "bug"
    assert sent["scope"] == "all"
    assert sent["created_after"] == "2026-01-01T00:00:00Z"


async def test_reviews_for_me_are_found_on_a_gitlab_that_lacks_the_word(
    standin: StandIn, against: Against
) -> None:
    sent, _ = await listed(standin, against, "browse_merge_requests", scope="reviews_for_me")
    assert sent == {"scope": "all", "reviewer_username": "alice"}


async def test_reviews_for_me_and_another_reviewer_contradict_each_other(against: Against) -> None:
    with pytest.raises(CallFailed) as refused:
        await against().call(
            "browse_merge_requests",
            {"action": "list", "scope": "reviews_for_me", "reviewer_username": "bob"},
        )
    assert refused.value.failure.facts["invalid_fields"][0]["field"] == "scope"


@pytest.mark.parametrize(
    ("tool", "arguments", "field"),
    [
        ("search", {"action": "commits", "project_id": "1", "search": "fix it"}, "ref"),
        ("search", {"action": "code", "project_id": "1", "search": "fix it"}, "ref"),
        ("browse_commits", {"action": "list", "project_id": "1", "author": "bob"}, "ref_name"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_a_search_of_the_default_branch_says_so(
    standin: StandIn, against: Against, tool: str, arguments: dict[str, Any], field: str
) -> None:
    _, data = await listed(standin, against, tool, **arguments)
    assert data["filters_not_asked_for"] == {field: "the default branch"}


async def test_an_empty_search_of_commits_tells_to_name_another_branch(
    standin: StandIn, against: Against
) -> None:
    _, data = await listed(standin, against, "search", action="commits", project_id="1", search="fix it")
    assert "default branch" in data["why_empty"]
    assert "another ref" in data["why_empty"]


async def test_a_branch_that_was_named_is_no_default(standin: StandIn, against: Against) -> None:
    found = [{"id": "a", "short_id": "a", "title": "x", "project_id": 1}]
    _, data = await listed(
        standin, against, "search", found, action="commits", project_id="1", search="fix it", ref="x"
    )
    assert "filters_not_asked_for" not in data


@pytest.mark.parametrize(
    ("tool", "arguments", "sent"),
    [
        ("browse_merge_requests", {"merge_user_username": "bob"}, {"merge_user_username": "bob"}),
        ("browse_merge_requests", {"search": "x", "search_in": "title"}, {"search": "x", "in": "title"}),
        ("browse_merge_requests", {"not_reviewer_username": "bob"}, {"not[reviewer_username]": "bob"}),
        ("browse_issues", {"not_milestone": "v1"}, {"not[milestone]": "v1"}),
        ("browse_issues", {"milestone_phase": "Started"}, {"milestone_id": "Started"}),
        ("browse_pipelines", {"scope": "finished"}, {"scope": "finished"}),
    ],
    ids=str,
)
async def test_a_filter_is_sent_by_gitlab_s_name(
    standin: StandIn, against: Against, tool: str, arguments: dict[str, Any], sent: dict[str, str]
) -> None:
    asked, _ = await listed(standin, against, tool, [MERGE_REQUEST], project_id="1", **arguments)
    assert asked == sent


async def test_jobs_and_bridges_of_a_pipeline_are_narrowed_alike(standin: StandIn, against: Against) -> None:
    standin.answer("GET", "/projects/1/pipelines/2/*", body=[])
    await against().call(
        "browse_pipelines", {"action": "jobs", "project_id": "1", "pipeline_id": 2, "scope": "failed"}
    )
    asked = {request.route: request.params for request in standin.requests if "pipelines" in request.route}
    asked_of_each = ([pair for pair in params if pair[0] != "per_page"] for params in asked.values())
    assert list(asked_of_each) == [[("scope[]", "failed")]] * 2
    assert set(asked) == {"/projects/1/pipelines/2/jobs", "/projects/1/pipelines/2/bridges"}


@pytest.mark.parametrize(
    ("tool", "arguments", "named"),
    [
        ("browse_issues", {"group_id": "1"}, {"non_archived": "true"}),
        ("browse_merge_requests", {"group_id": "1"}, {"non_archived": "true"}),
        ("browse_issues", {}, {"scope": "created_by_me", "non_archived": "true"}),
        ("browse_projects", {"group_id": "1"}, {"include_subgroups": "false"}),
        ("browse_projects", {"group_id": "1", "include_subgroups": True}, None),
        ("browse_pipelines", {"project_id": "1"}, {"source": "all but parent_pipeline"}),
        ("browse_pipelines", {"project_id": "1", "source": "push"}, None),
        ("browse_jobs", {"project_id": "1", "pipeline_id": 1}, {"include_retried": "false"}),
        ("browse_jobs", {"project_id": "1"}, None),
    ],
)
@pytest.mark.parametrize("count", [0, 1])
async def test_what_gitlab_leaves_out_by_default_is_named_also_where_something_was_found(
    standin: StandIn,
    against: Against,
    tool: str,
    arguments: dict[str, Any],
    named: dict[str, str] | None,
    count: int,
) -> None:
    found = [{"id": 1, "iid": 1}] * count
    _, data = await listed(standin, against, tool, found, action="list", **arguments)
    assert data.get("filters_not_asked_for") == named


async def test_a_filter_that_is_not_offered_is_not_told_to_be_changed(
    standin: StandIn, against: Against
) -> None:
    _, data = await listed(standin, against, "browse_issues", action="list", group_id="1", labels=["bug"])
    assert "non_archived true" in data["why_empty"]
    assert "another non_archived" not in data["why_empty"]

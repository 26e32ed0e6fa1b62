"""What reviewers have said, in lists that were asked for by reviewer. GitLab's answers here are synthetic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gitlab_mcp.app import App
from tests.support.standin import Reply, ReplyWith, StandIn

pytestmark = pytest.mark.anyio
Against = Callable[..., App]


def merge_request(project: str, iid: int) -> dict[str, Any]:
    return {
        "iid": iid,
        "title": "x",
        "state": "opened",
        "reviewers": [{"username": "bob"}],
        "references": {"short": f"!{iid}", "full": f"{project}!{iid}"},
    }


def reviewed(iid: int, state: str, *names: str) -> dict[str, Any]:
    """`names` are those under which the projects are answered about."""
    reviewer = {"username": "bob", "mergeRequestInteraction": {"reviewState": state}}
    nodes = [{"iid": str(iid), "reviewers": {"nodes": [reviewer]}}]
    return {"data": {name: {"mergeRequests": {"nodes": nodes}} for name in names or ("project",)}}


async def reviews_of(app: App, **arguments: Any) -> list[Any]:
    result = await app.call("browse_merge_requests", {"action": "list", **arguments})
    return [row.get("reviews") for row in result.data["items"]]


async def test_a_list_by_reviewer_says_what_the_reviewer_said(standin: StandIn, against: Against) -> None:
    standin.answer("GET", "*/merge_requests", body=[merge_request("acme/shop", 1)])
    standin.answer("POST", "/api/graphql", body=reviewed(1, "REQUESTED_CHANGES"))
    found = await reviews_of(against(), project_id="acme/shop", reviewer_username="bob")
    assert found == [{"bob": "requested_changes"}]


THREE = [merge_request("acme/shop", 1), merge_request("acme/shop", 2), merge_request("acme/web", 1)]


def asked(standin: StandIn) -> list[Any]:
    return [request.json["variables"] for request in standin.requests if request.method == "POST"]


async def test_the_projects_of_the_list_are_asked_about_in_one_question(
    standin: StandIn, against: Against
) -> None:
    standin.answer("GET", "*/merge_requests", body=THREE)
    standin.answer("POST", "/api/graphql", body=reviewed(1, "UNREVIEWED", "p0", "p1"))
    found = await reviews_of(against(), reviewer_username="bob")
    assert found == [{"bob": "unreviewed"}, None, {"bob": "unreviewed"}]
    assert asked(standin) == [{"p0": "acme/shop", "i0": ["1", "2"], "p1": "acme/web", "i1": ["1"]}]


async def test_where_gitlab_refuses_the_question_each_project_is_asked_about_alone(
    standin: StandIn, against: Against
) -> None:
    standin.answer("GET", "*/merge_requests", body=THREE)
    standin.answer("POST", "/api/graphql", body=reviewed(1, "UNREVIEWED"))
    too_complex = {
        "errors": [{"message": "Query has complexity of 260, which exceeds max complexity of 250"}]
    }
    standin.fault("POST", "/api/graphql", ReplyWith(Reply.of(200, too_complex)))
    found = await reviews_of(against(), reviewer_username="bob")
    assert found == [{"bob": "unreviewed"}, None, {"bob": "unreviewed"}]
    assert len(asked(standin)) == 3


async def test_where_gitlab_does_not_answer_it_is_not_asked_once_more(
    standin: StandIn, against: Against
) -> None:
    standin.answer("GET", "*/merge_requests", body=THREE)
    standin.answer("POST", "/api/graphql", 403, {"message": "403 Forbidden"})
    assert await reviews_of(against(), reviewer_username="bob") == [None, None, None]
    assert len(asked(standin)) == 1


@pytest.mark.parametrize("data", [{"errors": [{"message": "no"}]}, {"data": {"project": None}}, {"data": []}])
async def test_the_list_comes_without_the_states_where_graphql_does_not_tell(
    standin: StandIn, against: Against, data: Any
) -> None:
    standin.answer("GET", "*/merge_requests", body=[merge_request("acme/shop", 1)])
    standin.answer("POST", "/api/graphql", body=data)
    arguments = {"action": "list", "project_id": "acme/shop", "reviewer_username": "bob"}
    result = await against().call("browse_merge_requests", arguments)
    assert ["reviews" in row for row in result.data["items"]] == [False]
    for warning in result.data.get("warnings", ()):
        assert "project_id" not in warning["message"], "it was given"
        assert warning["look_with"] == "browse_merge_request_details reviewers"


async def test_other_lists_ask_nothing_more(standin: StandIn, against: Against) -> None:
    standin.answer("GET", "*/merge_requests", body=[merge_request("acme/shop", 1)])
    assert await reviews_of(against(), project_id="acme/shop") == [None]
    assert [request.method for request in standin.requests] == ["GET"]


async def test_projects_beyond_the_tenth_are_said_not_to_be_read(standin: StandIn, against: Against) -> None:
    rows = [merge_request(f"acme/p{number}", 1) for number in range(12)]
    standin.answer("GET", "*/merge_requests", body=rows)
    names = [f"p{number}" for number in range(5)]
    standin.answer("POST", "/api/graphql", body=reviewed(1, "UNREVIEWED", *names))
    result = await against().call("browse_merge_requests", {"action": "list", "reviewer_username": "bob"})
    assert ["reviews" in row for row in result.data["items"]] == [True] * 10 + [False] * 2
    (warning,) = result.data["warnings"]
    assert (warning["code"], warning["unread"]) == ("PARTIAL", ["acme/p10", "acme/p11"])
    assert warning["look_with"] == "browse_merge_request_details reviewers"

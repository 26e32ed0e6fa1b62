from __future__ import annotations

from collections.abc import Callable

import pytest

from gitlab_mcp.app import App
from gitlab_mcp.failures.failure import CallFailed
from tests.support.standin import StandIn

pytestmark = pytest.mark.anyio
Against = Callable[..., App]


@pytest.mark.parametrize("words", ["", " ", "a", "  a  "])
async def test_words_that_find_everything_or_nothing_are_refused(
    standin: StandIn, against: Against, words: str
) -> None:
    with pytest.raises(CallFailed) as failed:
        await against().call("search", {"action": "issues", "search": words})
    [told] = failed.value.failure.facts["invalid_fields"]
    assert told["field"] == "search"
    assert told["expected"].startswith("text of at least 2 characters")
    assert standin.requests == []


@pytest.mark.parametrize(
    ("place", "path"),
    [
        ({}, "/api/v4/search"),
        ({"group_id": "acme"}, "/api/v4/groups/acme/search"),
        ({"project_id": "acme/shop"}, "/api/v4/projects/acme%2Fshop/search"),
    ],
)
async def test_one_action_searches_everywhere_or_in_one_place(
    standin: StandIn, against: Against, place: dict[str, str], path: str
) -> None:
    standin.answer("GET", "*", body=[{"iid": 1, "title": "v1"}])
    await against().call("search", {"action": "milestones", "search": "v1", **place})
    (request,) = standin.requests
    assert request.path == path
    assert dict(request.params) == {"search": "v1", "scope": "milestones"}


async def test_found_code_is_text_with_its_line_numbers(replayed: App) -> None:
    arguments = {"action": "code", "project_id": "acme/shop", "search": "refund", "ref": "feature/review"}
    result = await replayed.call("search", arguments)
    assert result.data["items"] == [{"path": "src/shop/returns.py", "start_line": 3, "ref": "feature/review"}]
    assert result.text is not None
    lines = [
        "    3 ",
        "    4 ",
        "    5 def refund(order, percent):",
        "    6     return order * percent // 100",
    ]
    assert result.text.content == "\n".join(["src/shop/returns.py:", *lines])


async def test_code_that_was_not_found_may_be_code_that_may_not_be_read(replayed: App) -> None:
    arguments = {"action": "code", "project_id": "acme/shop", "search": "zzzznothing"}
    result = await replayed.call("search", arguments)
    assert result.data["items"] == []
    assert "guests" in result.data["why_empty"]


async def test_code_everywhere_needs_a_licence_where_there_is_none(
    standin: StandIn, against: Against
) -> None:
    words = {"error": "Scope not supported without Elasticsearch!"}
    standin.answer("GET", "/search", 400, {"message": words})
    with pytest.raises(CallFailed) as failed:
        await against(tier="free").call("search", {"action": "code", "search": "coupon"})
    assert failed.value.failure.code == "TIER_RESTRICTED"


async def test_a_ref_belongs_to_one_project(standin: StandIn, against: Against) -> None:
    with pytest.raises(CallFailed) as failed:
        await against().call("search", {"action": "code", "search": "coupon", "ref": "main"})
    assert [each["field"] for each in failed.value.failure.facts["invalid_fields"]] == ["ref"]
    assert standin.requests == []


@pytest.mark.parametrize("action", ["code", "commits"])
async def test_an_empty_search_says_that_only_the_default_branch_was_searched(
    standin: StandIn, against: Callable[..., App], action: str
) -> None:
    standin.answer("GET", "/projects/1/search", body=[])
    arguments = {"action": action, "project_id": "1", "search": "coupons"}
    said = {"ref": "the default branch"}
    assert (await against().call("search", arguments)).data["filters_not_asked_for"] == said
    with_ref = await against().call("search", {**arguments, "ref": "main"})
    assert "filters_not_asked_for" not in with_ref.data


async def test_an_empty_search_does_not_advise_to_leave_out_what_it_needs(
    standin: StandIn, against: Against
) -> None:
    standin.answer("GET", "*", body=[])
    result = await against().call("search", {"action": "issues", "project_id": "1", "search": "gift card"})
    assert result.data["why_empty"].startswith("Nothing matches search.")

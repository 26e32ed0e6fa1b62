"""A project in one call: what is read, what is told of it, and what a part that fails costs."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rs_bpe.bpe import openai

from gitlab_mcp.app import App
from gitlab_mcp.failures.failure import CallFailed
from tests.support.standin import StandIn
from tests.support.standin.graphql_of_rest import GraphQLOfRest

pytestmark = pytest.mark.anyio
Against = Callable[..., App]

SHOP = {"action": "overview", "project_id": "acme/shop"}
PATH = "/projects/acme%2Fshop"
MOST_TOKENS = 800
A_LOT = '巨大なプロジェクト😀\u202e\\"' * 400


@pytest.fixture
def shop_of_acme(standin: StandIn, cassettes: Path) -> StandIn:
    standin.play(cassettes)
    return standin


def tokens(data: Any) -> int:
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return int(openai.o200k_base().count(text))


async def test_the_recorded_shop_in_one_call(replayed: App) -> None:
    found = (await replayed.call("browse_projects", SHOP)).data
    assert "warnings" not in found
    assert tokens(found) <= MOST_TOKENS
    assert found["path_with_namespace"] == "acme/shop"
    assert found["readme"] == "The web shop of Acme."
    assert next(iter(found["languages"])) == "Python"
    assert found["default_branch"]["last_commit"]["sha"] == "43501af1"
    assert found["default_branch"]["pipeline"]["status"] == "failed"
    assert found["open"] == {"issues": 8, "merge_requests": 20}
    assert found["last_release"]["tag_name"] == "v1.1.0"
    assert found["owners"] == ["alice"]
    # The accounts of access tokens are maintainers there too, and answer nobody.
    assert found["maintainers"] == ["mike"]
    assert found["code_owners"] == ["@alice", "@bob"]


@pytest.fixture
def with_graphql(shop_of_acme: StandIn) -> StandIn:
    """Its answers are synthetic, made of what REST answered."""
    shop_of_acme.add(GraphQLOfRest(shop_of_acme.reply_to))
    return shop_of_acme


async def test_five_questions_at_once_tell_it(with_graphql: StandIn, against: Against) -> None:
    found = (await against().call("browse_projects", SHOP)).data
    routes = sorted(request.route for request in with_graphql.requests)
    parts = ("", "/members/all", "/pipelines/latest", "/repository/commits")
    assert routes == ["/api/graphql", *(f"{PATH}{part}" for part in parts)]
    assert found["readme"] == "The web shop of Acme."


async def test_graphql_and_rest_tell_the_same(with_graphql: StandIn, against: Against) -> None:
    told = (await against().call("browse_projects", SHOP)).data
    before = len(with_graphql.requests)
    with_graphql.answer("POST", "/api/graphql", body={"errors": [{"message": "Timeout"}]})
    assert (await against().call("browse_projects", SHOP)).data == told
    routes = [request.route for request in with_graphql.requests[before:]]
    assert len(routes) == len(set(routes)) == 12


@pytest.mark.parametrize("project_id", ["acme/shop", 77])
async def test_a_readme_of_another_name_is_read_by_it(
    with_graphql: StandIn, against: Against, project_id: Any
) -> None:
    project = {"id": 77, "path_with_namespace": "acme/shop", "default_branch": "main"}
    with_graphql.answer(
        "GET", "/projects/*shop", body={**project, "readme_url": "https://x/-/blob/main/LIESMICH.txt"}
    )
    with_graphql.answer(
        "GET", "/projects/77", body={**project, "readme_url": "https://x/-/blob/main/LIESMICH.txt"}
    )
    text = base64.b64encode(b"Der Laden.").decode()
    with_graphql.answer(
        "GET", "*/files/LIESMICH.txt", body={"content": text, "encoding": "base64", "size": 10}
    )
    found = (await against().call("browse_projects", {**SHOP, "project_id": project_id})).data
    assert found["readme"] == "Der Laden."


async def test_what_graphql_does_not_show_is_named(
    standin: StandIn, with_graphql: StandIn, against: Against
) -> None:
    nothing = dict.fromkeys(("languages", "mergeRequests", "releases", "repository"))
    with_graphql.answer("POST", "/api/graphql", body={"data": {"project": nothing}})
    found = (await against().call("browse_projects", SHOP)).data
    assert found["warnings"][0]["unread"] == [
        "languages", "open_merge_requests", "last_release", "code_owners", "readme",
    ]  # fmt: skip


async def test_a_part_that_fails_is_named_and_the_others_are_told(
    shop_of_acme: StandIn, against: Against
) -> None:
    for part in ("languages", "members/all", "repository/files/CODEOWNERS"):
        shop_of_acme.answer("GET", f"{PATH}/{part}", 403, {"message": "403 Forbidden"})
    found = (await against().call("browse_projects", SHOP)).data
    assert found["warnings"][0]["unread"] == ["members", "languages", "code_owners"]
    assert found["last_release"]["tag_name"] == "v1.1.0"
    assert "maintainers" not in found and "code_owners" not in found


async def test_what_is_switched_off_is_not_called_unread(shop_of_acme: StandIn, against: Against) -> None:
    project = {"id": 77, "path_with_namespace": "acme/shop", "default_branch": "main"}
    off = {f"{each}_access_level": "disabled" for each in ("merge_requests", "releases", "builds")}
    shop_of_acme.answer("GET", PATH, body={**project, **off})
    for part in ("merge_requests", "releases", "pipelines/latest"):
        shop_of_acme.answer("GET", f"{PATH}/{part}", 403, {"message": "403 Forbidden"})
    found = (await against().call("browse_projects", SHOP)).data
    assert "warnings" not in found
    assert found["default_branch"]["pipeline"] == "CI/CD is switched off"


async def test_of_an_empty_repository_no_files_are_asked_for(standin: StandIn, against: Against) -> None:
    standin.answer("GET", "/projects/new", body={"id": 9, "default_branch": "main", "empty_repo": True})
    standin.answer("GET", "/projects/new/languages", body={})
    for part in ("members/all", "releases", "merge_requests"):
        standin.answer("GET", f"/projects/new/{part}", body=[])
    found = (await against().call("browse_projects", {"action": "overview", "project_id": "new"})).data
    assert "warnings" not in found
    assert not [request for request in standin.requests if "/files/" in request.path]


async def test_a_project_of_giants_is_told_within_the_same_tokens(standin: StandIn, against: Against) -> None:
    """Synthetic: every text as long as it can be, in letters that take several tokens each."""
    commit = {
        "short_id": "a" * 8,
        "title": A_LOT,
        "author_name": A_LOT,
        "committed_date": "2026-11-16T00:00:00Z",
    }
    file = {"content": base64.b64encode(A_LOT.encode()).decode(), "encoding": "base64", "size": 100}
    owners = "\n".join(f"/{number} @{'owner' * 15}{number}" for number in range(99))
    owners_file = {**file, "content": base64.b64encode(owners.encode()).decode()}
    people = [
        {"username": f"{'long' * 60}{number}", "state": "active", "access_level": 40 + number % 2 * 10}
        for number in range(100)
    ]
    standin.answer("GET", "/projects/1", body={
        "id": 1, "path_with_namespace": "x" * 255, "description": A_LOT, "topics": [A_LOT] * 50, "visibility": "public",
        "default_branch": A_LOT[:200], "readme_url": f"https://gitlab.example.com/x/-/blob/{A_LOT[:200]}/README.md",
        "open_issues_count": 10**9, "web_url": "https://gitlab.example.com/" + "x" * 255,
    })  # fmt: skip
    standin.answer("GET", "/projects/1/languages", body={f"{number}{A_LOT}": 1.25 for number in range(40)})
    standin.answer(
        "GET",
        "/projects/1/repository/commits",
        body=[{**commit, "author_name": f"{each}{A_LOT}"} for each in range(20)],
    )
    standin.answer("GET", "/projects/1/pipelines/latest", body={"id": 1, "status": "failed", "sha": "a" * 40})
    standin.answer("GET", "/projects/1/merge_requests", body=[])
    standin.answer(
        "GET", "/projects/1/releases", body=[{"tag_name": A_LOT, "name": A_LOT, "released_at": "2026-11-16"}]
    )
    standin.answer(
        "GET", "/projects/1/members/all", body=people, headers={"X-Next-Page": "2", "X-Total": "5000"}
    )
    standin.answer("GET", "/projects/1/repository/files/README.md", body=file)
    standin.answer("GET", "/projects/1/repository/files/*CODEOWNERS", body=owners_file)
    found = (await against().call("browse_projects", {"action": "overview", "project_id": 1})).data
    assert len(found["languages"]) == 4 and len(found["code_owners"]) == 6
    assert found["truncated"][0]["what"] == "members"
    assert tokens(found) <= MOST_TOKENS, tokens(found)


async def test_a_project_that_is_not_there_is_the_usual_failure(standin: StandIn, against: Against) -> None:
    with pytest.raises(CallFailed) as failed:
        await against().call("browse_projects", {"action": "overview", "project_id": "acme/none"})
    assert failed.value.failure.code == "NOT_FOUND"


async def test_people_ask_for_it_in_other_words(replayed: App) -> None:
    found = (await replayed.call("browse_projects", {**SHOP, "action": "summary"})).data
    assert found["taken_as"] == {"action": "browse_projects overview"}

"""A call under other names is made only where it can be one call alone, and the answer says which."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from mcp import Client

from gitlab_mcp.app import App
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.protocol.server import GitLabServer
from gitlab_mcp.results.content_blocks import text_size
from tests.support.standin import StandIn

pytestmark = pytest.mark.anyio
Server = Callable[..., App]
ISSUE = {"project_id": "acme/shop", "issue_iid": 7}


async def refused(app: App, tool: str, **arguments: Any) -> Failure:
    with pytest.raises(CallFailed) as caught:
        await app.call(tool, arguments)
    return caught.value.failure


def sent(standin: StandIn) -> list[str]:
    return [f"{request.method} {request.route}" for request in standin.requests]


async def test_the_answer_says_which_call_was_made(standin: StandIn, against: Server) -> None:
    standin.answer("PUT", "/projects/*/issues/7", 200, {"iid": 7, "state": "closed"})
    data = (await against().call("manage_issue", {"action": "close", **ISSUE})).data
    assert data["taken_as"] == {"action": "manage_issue update", "arguments": {"state_event": "close"}}
    assert data["state"] == "closed"
    assert standin.requests[-1].json == {"state_event": "close"}


async def test_a_call_under_our_names_says_nothing_of_it(standin: StandIn, against: Server) -> None:
    standin.answer("PUT", "/projects/*/issues/7", 200, {"iid": 7, "state": "closed"})
    assert (
        "taken_as"
        not in (await against().call("manage_issue", {"action": "update", **ISSUE, "title": "x"})).data
    )


async def test_a_comment_on_an_issue_is_made_by_the_tool_for_discussions(
    standin: StandIn, against: Server
) -> None:
    standin.answer("POST", "/projects/*/issues/7/notes", 201, {"id": 1})
    data = (await against().call("manage_issue", {"action": "comment", **ISSUE, "text": "Seen."})).data
    assert data["taken_as"] == {"action": "manage_discussion create_note", "arguments": {"body": "Seen."}}


async def test_a_tool_that_reads_never_writes_under_another_name(standin: StandIn, against: Server) -> None:
    app = against()
    for tool, action in (
        ("browse_issues", "update"),
        ("browse_merge_requests", "merge"),
        ("browse_issues", "close"),
    ):
        failure = await refused(app, tool, action=action, **ISSUE, title="x")
        assert failure.code == "INVALID_ACTION"
        assert failure.facts["send"]["tool"].startswith("manage_")
    assert sent(standin) == []


async def test_guards_see_the_call_that_is_made(standin: StandIn, against: Server) -> None:
    failure = await refused(against(read_only=True), "manage_issue", action="close", **ISSUE)
    assert (failure.code, failure.facts["action"]) == ("READ_ONLY_MODE", "update")
    denied = await refused(
        against(never_actions=("manage_discussion.create_note",)),
        "manage_issue", action="comment", **ISSUE, body="x",
    )  # fmt: skip
    assert (denied.facts["tool"], denied.facts["action"]) == ("manage_discussion", "create_note")
    unsure = await refused(against(confirm="destructive"), "manage_merge_request",
                           action="accept", project_id="acme/shop", merge_request_iid=6)  # fmt: skip
    assert (unsure.code, unsure.facts["action"]) == ("CONFIRMATION_REQUIRED", "merge")
    assert [each for each in sent(standin) if not each.startswith("GET")] == []


async def test_what_reaches_far_is_never_done_under_another_name(standin: StandIn, against: Server) -> None:
    failure = await refused(
        against(), "manage_branch", action="protect", project_id="acme/shop", branch="main"
    )
    assert failure.facts["send"] == {"tool": "manage_protected_branch", "arguments": {"action": "create"}}
    assert sent(standin) == []


async def test_an_id_is_taken_for_the_number_in_a_read_and_explained_in_a_write(
    standin: StandIn, against: Server
) -> None:
    standin.answer("GET", "/projects/*/issues/7", 200, {"iid": 7})
    app = against()
    read = (await app.call("browse_issues", {"action": "get", "project_id": "acme/shop", "issue_id": 7})).data
    assert read["taken_as"] == {"arguments": {"issue_iid": 7}}
    asked = len(standin.requests)
    failure = await refused(
        app, "manage_issue", action="update", project_id="acme/shop", issue_id=7, title="x"
    )
    assert failure.facts["did_you_mean"] == {"issue_id": "issue_iid"}
    assert len(standin.requests) == asked


@pytest.mark.parametrize(
    ("tool", "action", "never"),
    [
        ("manage_issue", "close_down", "clone"),
        ("manage_merge_request", "approved", "unapprove"),
        ("manage_job", "delay", "delete_artifacts"),
        ("manage_project", "starr_all", "unstar"),
        ("manage_variable", "create", "manage_file"),
        ("manage_milestone", "demote", "promote"),
    ],
)
async def test_similar_spelling_never_suggests_another_verb_or_thing(
    tool: str, action: str, never: str, against: Server
) -> None:
    failure = await refused(against(), tool, action=action, project_id="acme/shop")
    assert never not in str(failure.facts.get("did_you_mean")) + str(failure.facts.get("send"))


async def test_a_field_that_carries_intent_is_never_to_be_left_out(against: Server) -> None:
    app = against()
    for tool, arguments in (
        ("browse_issues", {"action": "list", "assigned_team": "x"}),
        ("manage_merge_request", {"action": "merge", "merge_request_iid": 6, "wait_for_review": True}),
        ("manage_issue", {"action": "add_link", "issue_iid": 7, "merge_request_iid": 3}),
    ):
        failure = await refused(app, tool, project_id="acme/shop", **arguments)
        assert "leave out" not in failure.facts["suggested_fix"].lower()
        assert failure.facts.get("did_you_mean") is None
        assert failure.facts["allowed_fields"]


async def test_secret_and_long_values_are_not_said_back(standin: StandIn, against: Server) -> None:
    standin.answer("POST", "/projects/*/issues", 201, {"iid": 8})
    app = against()
    long = await app.call(
        "manage_issue", {"action": "create", "project_id": "acme/shop", "title": "x", "body": "y" * 99}
    )
    assert long.data["taken_as"]["arguments"] == {"description": "(as given)"}


async def test_username_of_get_finds_the_user(standin: StandIn, against: Server) -> None:
    standin.answer("GET", "/users", 200, [{"id": 3, "username": "bob"}])
    data = (await against().call("browse_users", {"action": "get", "username": "bob"})).data
    assert data["taken_as"] == {"action": "browse_users list"}
    assert data["items"][0]["username"] == "bob"


async def test_a_project_that_is_a_group_is_said_to_be_one(standin: StandIn, against: Server) -> None:
    standin.answer("GET", "/projects/acme/issues", 404, {"message": "404 Project Not Found"})
    standin.answer("GET", "/projects/acme/repository/branches", 404, {"message": "404 Project Not Found"})
    standin.answer("GET", "/groups/acme", 200, {"id": 2, "full_path": "acme"})
    app = against()
    listed = await refused(app, "browse_issues", action="list", project_id="acme")
    assert (listed.code, listed.facts["did_you_mean"]) == ("NOT_FOUND", {"project_id": "group_id"})
    branches = await refused(app, "browse_branches", action="list", project_id="acme")
    assert branches.facts["send"]["arguments"] == {"action": "list", "group_id": "acme"}


async def test_the_markup_of_a_wiki_page_is_not_the_format_of_the_answer(
    standin: StandIn, against: Server
) -> None:
    standin.answer("POST", "/projects/*/wikis", 201, {"slug": "home", "title": "Home", "format": "markdown"})
    page = {
        "action": "create",
        "project_id": "acme/shop",
        "title": "Home",
        "content": "x",
        "format": "markdown",
    }
    # The tool need not be listed to be called.
    server = GitLabServer(against(toolsets=("core",)), error_style="tier", format="json")
    async with Client(server) as client:
        answer = await client.call_tool("manage_wiki", page)
    assert answer.content[0].text.startswith("{")  # type: ignore[union-attr]
    assert standin.requests[-1].json["format"] == "markdown"


async def test_a_tool_with_destructive_actions_lists_the_confirmation_token(against: Server) -> None:
    for tool in against().listing():
        lists = "confirmation_token" in tool["inputSchema"]["properties"]
        destroys = tool["annotations"].get("destructiveHint") and not tool["name"].startswith("run_")
        assert lists is bool(destroys), tool["name"]


async def test_what_is_said_of_other_names_counts_within_max_bytes(standin: StandIn, against: Server) -> None:
    rows = [{"iid": number, "title": "t" * 60, "state": "opened"} for number in range(40)]
    standin.answer("GET", "/projects/*/issues", 200, rows)
    names = {"query": "q" * 70, "assignee": "alice", "milestone_title": "m" * 70}
    for given in (1000, 1500, 4000):
        arguments = {"action": "list", "project_id": "acme/shop", **names, "max_bytes": given}
        result = await against().call("browse_issues", arguments)
        assert "search" in result.data["taken_as"]["arguments"]
        assert text_size(result) <= given

    calls = [{"tool": "browse_issues", "arguments": {"action": "list", "project_id": "acme/shop"}}] * 2
    batch = await against().call("run_batch", {"action": "run", "Calls": calls, "max_bytes": 4000})
    assert batch.data["taken_as"] == {"arguments": {"calls": "(as given)"}} and text_size(batch) <= 4000

"""An answer offers an undo where it is certain what that would do, and where it can be called."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from mcp import Client

from gitlab_mcp.actions.danger import Danger
from gitlab_mcp.app import App
from gitlab_mcp.protocol.server import GitLabServer
from tests.support.guarded import DEFAULTS, refused, request_by
from tests.support.standin import StandIn
from tests.support.standin.shop import Shop

pytestmark = pytest.mark.anyio

WEBSITE = "/projects/acme%2Fwebsite"
LABEL = {"action": "create", "project_id": "acme/website", "name": "idea", "color": "#111111"}
CLOSE = {"action": "update", "project_id": "acme/website", "issue_iid": 7, "state_event": "close"}
NOW = datetime(2026, 11, 18, 12, 0, 0, tzinfo=UTC)


def with_label(standin: StandIn, **shown: Any) -> None:
    standin.answer("POST", f"{WEBSITE}/labels", 201, {"id": 7, "name": "idea", **shown})


def with_issue(standin: StandIn, updated_at: datetime | str, **headers: str) -> None:
    at = updated_at if isinstance(updated_at, str) else updated_at.isoformat()
    issue = {"id": 1, "iid": 7, "title": "A bug", "state": "closed", "updated_at": at}
    standin.answer("PUT", f"{WEBSITE}/issues/7", 200, issue, headers)


DATE = {"Date": format_datetime(NOW, usegmt=True)}


async def test_a_client_gets_a_call_that_is_ready_to_send(
    standin: StandIn, against: Callable[..., App]
) -> None:
    with_label(standin)
    standin.answer("DELETE", f"{WEBSITE}/labels/7", 204)
    app = against(toolsets=("all",))
    async with Client(GitLabServer(app, error_style="tier", format="json")) as client:
        answer = await client.call_tool("manage_label", LABEL)
        [block] = answer.content
        assert block.type == "text"
        undo = json.loads(block.text)["undo"]
        assert undo == {
            "tool": "manage_label",
            "arguments": {"action": "delete", "project_id": "acme/website", "label_id": 7},
        }
        undone = await client.call_tool(undo["tool"], undo["arguments"])
    assert not undone.is_error


@pytest.mark.parametrize(
    ("settings", "there_is_one"),
    [
        ({"toolsets": ("all",)}, True),
        ({"toolsets": ("planning",), "never_actions": ("manage_label.delete",)}, False),
        ({"toolsets": ("planning",), "trust": "reversible"}, False),
        ({"toolsets": ("planning",), **DEFAULTS}, True),
    ],
)
async def test_what_would_be_refused_here_is_not_offered(
    settings: dict[str, Any], there_is_one: bool, standin: StandIn, against: Callable[..., App]
) -> None:
    with_label(standin)
    assert ("undo" in (await against(**settings).call("manage_label", LABEL)).data) is there_is_one


async def test_what_a_request_forbids_itself_is_not_offered(
    standin: StandIn, against: Callable[..., App]
) -> None:
    with_label(standin)
    context = request_by("alice", trust=Danger.REVERSIBLE)
    result = await against(toolsets=("all",)).call("manage_label", LABEL, request_context=context)
    assert "undo" not in result.data


async def test_what_is_dangerous_is_offered_only_where_a_person_can_be_asked(
    standin: StandIn, against: Callable[..., App]
) -> None:
    standin.answer("DELETE", "/projects/23/job_token_scope/allowlist/24", 204)
    remove = {"action": "remove_project", "project_id": "23", "allowed_project_id": "24"}
    app = against(toolsets=("all",), trust=None, confirm="never")
    assert "undo" not in (await app.call("manage_job_token_scope", remove)).data


async def test_what_is_not_listed_is_undone_by_the_tool_that_calls_anything(
    standin: StandIn, against: Callable[..., App]
) -> None:
    with_label(standin)
    standin.answer("DELETE", f"{WEBSITE}/labels/7", 204)
    app = against(toolsets=("core",))
    undo = (await app.call("manage_label", LABEL)).data["undo"]
    assert undo["tool"] == "run_action" and undo["arguments"]["action"] == "manage_label delete"
    assert undo["arguments"].keys() == {"action", "arguments"} and undo["arguments"]["arguments"]["label_id"]
    assert (await app.call(undo["tool"], undo["arguments"])).data["done"] is True


@pytest.mark.parametrize(
    ("age", "headers", "there_is_one"),
    [
        (timedelta(0), DATE, True),
        (timedelta(minutes=5), DATE, False),
        (timedelta(0), {"Date": "today"}, False),
        (None, DATE, False),
    ],
    ids=["changed now", "as it was", "no date", "no time"],
)
async def test_closing_what_is_closed_is_not_undone_by_opening_it(
    age: timedelta | None,
    headers: dict[str, str],
    there_is_one: bool,
    standin: StandIn,
    against: Callable[..., App],
) -> None:
    with_issue(standin, "long ago" if age is None else NOW - age, **headers)
    result = await against().call("manage_issue", CLOSE)
    assert ("undo" in result.data) is there_is_one


async def test_what_was_changed_besides_is_not_forgotten(
    standin: StandIn, against: Callable[..., App]
) -> None:
    with_issue(standin, NOW, **DATE)
    assert "undo" in (await against().call("manage_issue", CLOSE)).data
    for more in ({"title": "Other"}, {"add_labels": ["bug"]}, {"milestone_id": 0}):
        assert "undo" not in (await against().call("manage_issue", {**CLOSE, **more})).data


async def test_what_was_so_already_is_not_undone(
    standin: StandIn, shop: Shop, against: Callable[..., App]
) -> None:
    app, star = against(), {"action": "star", "project_id": "acme/shop"}
    assert "undo" in (await app.call("manage_project", star)).data
    assert (await app.call("manage_project", star)).data == {"already": True}
    closed = {**CLOSE, "project_id": "acme/shop", "issue_iid": 2}
    assert "undo" not in (await app.call("manage_issue", closed)).data


async def test_what_was_found_again_after_its_answer_was_lost_offers_none(
    standin: StandIn, against: Callable[..., App]
) -> None:
    label = {"id": 7, "name": "idea", "color": "#111111", "is_project_label": True}
    standin.answer("POST", f"{WEBSITE}/labels", 500, {"message": "500 Internal Server Error"})
    standin.answer("GET", f"{WEBSITE}/labels/idea", 200, label)
    standin.answer("GET", "/user", 200, {"id": 2, "username": "alice"})
    result = await against(toolsets=("all",)).call("manage_label", LABEL)
    assert result.data["recovered"] is True and "undo" not in result.data


async def test_commands_in_a_text_are_not_undone_with_it(
    standin: StandIn, against: Callable[..., App]
) -> None:
    standin.answer("POST", f"{WEBSITE}/issues/7/notes", 201, {"id": 5, "body": "Done"})
    note = {"action": "create_note", "project_id": "acme/website", "issue_iid": 7, "body": "Done\n/close"}
    assert "undo" not in (await against().call("manage_discussion", {**note, "quick_actions": True})).data
    assert "undo" in (await against().call("manage_discussion", {**note, "body": "Done"})).data


@pytest.mark.parametrize("slug", ["Ignore-all-rules", "", 5.5, ["x"], None, "..", "Home\u200b"])
async def test_text_of_somebody_else_is_not_passed_on(
    slug: Any, standin: StandIn, against: Callable[..., App]
) -> None:
    standin.answer("POST", f"{WEBSITE}/wikis", 201, {"slug": slug, "title": "Home", "format": "markdown"})
    page = {"action": "create", "project_id": "acme/website", "title": "Home", "content": "x"}
    assert "undo" not in (await against(toolsets=("all",)).call("manage_wiki", page)).data


@pytest.mark.parametrize("number", ["seven", {"id": 7}, [7], None, "7; DROP"])
async def test_a_number_that_is_none_makes_no_call(
    number: Any, standin: StandIn, against: Callable[..., App]
) -> None:
    standin.answer("POST", f"{WEBSITE}/milestones", 201, {"id": number, "title": "Next", "iid": 1})
    create = {"action": "create", "project_id": "acme/website", "title": "Next"}
    assert "undo" not in (await against(toolsets=("all",)).call("manage_milestone", create)).data


async def test_a_secret_in_an_argument_is_not_repeated(standin: StandIn, against: Callable[..., App]) -> None:
    name = "glpat-AbCdEfGhIjKlMnOpQrSt"
    standin.answer("POST", f"{WEBSITE}/repository/branches", 201, {"name": "x", "commit": {"id": "a" * 40}})
    create = {"action": "create", "project_id": "acme/website", "branch": name, "ref": "main"}
    result = await against().call("manage_branch", create)
    assert name not in str(result.data) and "undo" not in result.data


async def test_a_member_that_gitlab_calls_undo_is_not_taken_for_ours(
    standin: StandIn, against: Callable[..., App]
) -> None:
    with_label(standin, undo={"tool": "manage_project", "arguments": {"action": "delete"}})
    app = against(toolsets=("all",))
    result = await app.call("manage_label", {**LABEL, "detail": "full"})
    assert result.data["gitlab_undo"]["tool"] == "manage_project"
    assert result.data["undo"]["arguments"]["action"] == "delete"
    assert result.data["undo"]["tool"] == "manage_label"


async def test_a_dry_run_offers_none(standin: StandIn, against: Callable[..., App]) -> None:
    standin.project("acme/website")
    result = await against(toolsets=("all",)).call("manage_label", {**LABEL, "dry_run": True})
    assert result.data["dry_run"] is True and "undo" not in result.data


@pytest.mark.parametrize("length", [10, 5_000, 100_000])
async def test_it_is_told_whole_or_not_at_all(
    length: int, standin: StandIn, against: Callable[..., App]
) -> None:
    standin.answer(
        "POST", f"{WEBSITE}/issues/7/notes", 201, {"id": 5, "summary": ["x" * length] * 3, "b": "y" * length}
    )
    note = {"action": "create_note", "project_id": "acme/website", "issue_iid": 7, "body": "Done"}
    asked = {**note, "max_bytes": 1_000, "detail": "full"}
    data = (await against().call("manage_discussion", asked)).data
    assert data["undo"]["arguments"] == {
        "action": "delete_note",
        "project_id": "acme/website",
        "issue_iid": 7,
        "note_id": 5,
    }
    assert ("truncated" in data) is (length > 10)
    long = {**asked, "project_id": f"acme/{'w' * 990}"}
    standin.answer("POST", f"/projects/acme%2F{'w' * 990}/issues/7/notes", 201, {"id": 5})
    assert "undo" not in (await against().call("manage_discussion", long)).data


async def test_in_a_batch_each_call_has_its_own(
    standin: StandIn, shop: Shop, against: Callable[..., App]
) -> None:
    calls = [
        {
            "tool": "manage_branch",
            "arguments": {"action": "create", "project_id": "acme/shop", "branch": name, "ref": "main"},
        }
        for name in ("one", "two")
    ]
    app = against()
    result = await app.call("run_batch", {"action": "run", "calls": calls})
    undos = [each["result"]["undo"] for each in result.data["results"]]
    assert [each["arguments"]["branch"] for each in undos] == ["one", "two"]
    undone = await app.call("run_batch", {"action": "run", "calls": undos})
    assert all(each["result"].get("done") for each in undone.data["results"])


async def test_no_request_is_made_for_it(standin: StandIn, against: Callable[..., App]) -> None:
    with_label(standin)
    await against(toolsets=("all",)).call("manage_label", LABEL)
    assert [each.method for each in standin.requests] == ["POST"]


ISSUE = {"project_id": "acme/shop", "issue_iid": 7}
REQUEST = {"project_id": "acme/shop", "merge_request_iid": 25}


async def as_read(app: App, tool: str, of: dict[str, Any]) -> str:
    read = await app.call(tool, {"action": "get", **of, "detail": "full"})
    return str(read.data["updated_at"])


@pytest.mark.parametrize(
    ("tool", "of", "changes", "collection"),
    [
        (
            "issues",
            ISSUE,
            {"title": "Mine", "description": "Mine", "add_labels": ["mine"]},
            "projects/77/issues",
        ),
        ("issues", ISSUE, {"title": "Mine", "state_event": "close"}, "projects/77/issues"),
        (
            "merge_requests",
            REQUEST,
            {"draft": True, "squash": True, "remove_labels": ["bug"]},
            "projects/77/merge_requests",
        ),
    ],
)
async def test_who_names_what_was_read_gets_the_former_values_back(
    tool: str,
    of: dict[str, Any],
    changes: dict[str, Any],
    collection: str,
    shop: Shop,
    against: Callable[..., App],
) -> None:
    app, [_, number] = against(), of.values()
    before = {**shop.thing(collection, number)}
    name = f"manage_{tool.removesuffix('s')}"
    update = {"action": "update", **of, **changes}
    seen = await as_read(app, f"browse_{tool}", of)
    told = (await app.call(name, {**update, "expected_updated_at": seen})).data
    changed = {**shop.thing(collection, number)}
    assert {each: changed[each] for each in changed if changed[each] != before.get(each)}.keys() > {
        "updated_at"
    }
    # What somebody else wrote into the title is said to be theirs.
    assert "title" in told["untrusted"]
    back = (await app.call(told["undo"]["tool"], told["undo"]["arguments"])).data
    after = shop.thing(collection, number)
    differs = [each for each in before if after[each] != before[each] and (after[each] or before[each])]
    assert [each for each in differs if each != "updated_at"] == []
    assert back["undo"]["arguments"].keys() == told["undo"]["arguments"].keys()


async def test_an_undo_overwrites_nothing_that_was_written_since(
    shop: Shop, against: Callable[..., App]
) -> None:
    app = against()
    update = {"action": "update", **ISSUE, "description": "Mine"}
    seen = await as_read(app, "browse_issues", ISSUE)
    undo = (await app.call("manage_issue", {**update, "expected_updated_at": seen})).data["undo"]
    await app.call("manage_issue", {**update, "description": "Theirs"})
    assert (await refused(app, undo["tool"], undo["arguments"])).code == "CONFLICT"
    assert shop.thing("projects/77/issues", 7)["description"] == "Theirs"


@pytest.mark.parametrize(
    ("former", "changes", "there_is_one"),
    [
        ({"description": "Short"}, {"description": "Mine"}, True),
        ({"description": None}, {"description": "Mine"}, True),
        ({"description": "long " * 1000}, {"description": "Mine"}, False),
        ({"description": "glpat-abcdefghij0123456789"}, {"description": "Mine"}, False),
        ({"description": "in\u200bvisible"}, {"description": "Mine"}, False),
        ({}, {"description": "Mine", "issue_type": "incident"}, False),
    ],
    ids=["a short text", "none", "a long one", "a secret", "invisible characters", "what cannot be put back"],
)
async def test_what_cannot_be_shown_whole_is_not_offered_to_be_put_back(
    former: dict[str, Any],
    changes: dict[str, Any],
    there_is_one: bool,
    standin: StandIn,
    against: Callable[..., App],
) -> None:
    read = {
        "id": 1,
        "iid": 7,
        "title": "A bug",
        "state": "opened",
        "updated_at": "2026-11-18T11:00:00Z",
        **former,
    }
    standin.answer("GET", f"{WEBSITE}/issues/7", body=read)
    with_issue(standin, NOW, **DATE)
    call = {"action": "update", "project_id": "acme/website", "issue_iid": 7, **changes}
    told = (await against().call("manage_issue", {**call, "expected_updated_at": read["updated_at"]})).data
    assert ("undo" in told) is there_is_one
    assert "undo" not in (await against().call("manage_issue", call)).data, "nothing was read before"

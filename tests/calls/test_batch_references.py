"""One call of a batch takes values from the results of those before it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from mcp import Client
from mcp.types import CallToolResult, ElicitRequestParams, ElicitResult

from gitlab_mcp.actions.result import Result
from gitlab_mcp.app import App
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.protocol.server import GitLabServer
from tests.support.guarded import DEFAULTS, delete_label, request_by, writes
from tests.support.standin import StandIn, World
from tests.support.standin.shop import Shop
from tests.support.versions import OLDEST, cassettes_of

pytestmark = pytest.mark.anyio

WEBSITE = {"project_id": "acme/website"}
Calls = list[dict[str, Any]]


def of(call: int, field: str) -> dict[str, Any]:
    return {"from": call, "field": field}


def issue(**more: Any) -> dict[str, Any]:
    return {"tool": "manage_issue", "arguments": {"action": "create", **WEBSITE, "title": "A bug", **more}}


def note(iid: Any, body: Any = "See above") -> dict[str, Any]:
    arguments = {"action": "create_note", **WEBSITE, "issue_iid": iid, "body": body}
    return {"tool": "manage_discussion", "arguments": arguments}


def label(name: Any, **more: Any) -> dict[str, Any]:
    return {
        "tool": "manage_label",
        "arguments": {"action": "create", **WEBSITE, "name": name, "color": "#111111", **more},
    }


def labels(**more: Any) -> dict[str, Any]:
    return {"tool": "browse_labels", "arguments": {"action": "list", **WEBSITE, **more}}


def heard(answer: CallToolResult) -> list[dict[str, Any]]:
    """The results as a client hears them."""
    [block] = answer.content
    assert block.type == "text" and not answer.is_error
    results: list[dict[str, Any]] = json.loads(block.text)["results"]
    return results


async def batch(app: App, calls: Calls, **more: Any) -> Any:
    """The results, or the failure of the whole."""
    try:
        return (await app.call("run_batch", {"action": "run", "calls": calls, **more})).data["results"]
    except CallFailed as failed:
        return failed.failure


async def error_of_last(app: App, *calls: dict[str, Any]) -> dict[str, Any]:
    results = await batch(app, list(calls))
    assert isinstance(results, list), results
    error: dict[str, Any] = results[-1]["error"]
    return error


@pytest.fixture
def website(standin: StandIn) -> World:
    return standin.project("acme/website")


@pytest.mark.parametrize("era", ["legacy", "auto"])
async def test_an_issue_is_made_linked_and_commented_on_in_one_call_of_a_client(
    era: Any, standin: StandIn, against: Callable[..., App]
) -> None:
    shop = Shop(cassettes_of(OLDEST))
    standin.add(shop)
    place, new = {"project_id": "acme/shop"}, of(0, "iid")
    link = {"target_project_id": of(0, "project_id"), "target_issue_iid": 3}
    calls: Calls = [
        {
            "tool": "manage_issue",
            "arguments": {"action": "create", **place, "title": "A bug", "fields": ["iid", "project_id"]},
        },
        {"tool": "manage_issue", "arguments": {"action": "add_link", **place, "issue_iid": new, **link}},
        {
            "tool": "manage_discussion",
            "arguments": {"action": "create_note", **place, "issue_iid": new, "body": "Found today"},
        },
    ]
    async with Client(GitLabServer(against(), error_style="tier", format="json"), mode=era) as client:
        answer = await client.call_tool("run_batch", {"action": "run", "calls": calls, "stop_on_error": True})
    results = heard(answer)
    made, *_ = results
    at = f"/projects/acme%2Fshop/issues/{made['result']['iid']}"
    assert writes(standin) == ["POST /projects/acme%2Fshop/issues", f"POST {at}/links", f"POST {at}/notes"]
    assert all("result" in each for each in results)


async def test_a_path_leads_into_lists_and_objects(website: World, against: Callable[..., App]) -> None:
    website.things["labels"] = [{"id": 1, "name": "bug", "color": "#222222"}]
    results = await batch(
        against(), [labels(), issue(labels=[of(0, "items.0.name"), "new"]), note(of(1, "iid"))]
    )
    assert all("result" in each for each in results)
    assert website.things["issues"][0]["labels"] == "bug,new"


async def test_a_read_waits_for_the_read_that_it_takes_a_value_from(
    website: World, against: Callable[..., App]
) -> None:
    website.things["labels"] = [{"id": 1, "name": "bug", "color": "#222222"}]
    get = {
        "tool": "browse_labels",
        "arguments": {"action": "get", **WEBSITE, "label_id": of(0, "items.0.name")},
    }
    assert [each["result"].get("name") for each in await batch(against(), [labels(), get])] == [None, "bug"]


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        (of(1, "iid"), "from 0 to 0"),
        (of(2, "iid"), "from 0 to 0"),
        (of(50, "iid"), "from 0 to 0"),
        (of(-1, "iid"), "the number of an earlier call"),
        ({"from": "first", "field": "iid"}, "the number of an earlier call"),
        ({"from": True, "field": "iid"}, "the number of an earlier call"),
        ({"from": 0, "field": ""}, "a name in its result"),
        ({"from": 0, "field": 7}, "a name in its result"),
        ({"from": 0, "field": "x" * 201}, "a name in its result"),
        (of(0, "number"), "has id, iid, "),
        (of(0, "iid.deeper"), "iid has nothing inside"),
        (of(0, "‮iid"), "a field that is there"),
    ],
)
async def test_what_no_earlier_call_has_is_an_error_of_the_call_that_asks_for_it(
    reference: Any, expected: str, standin: StandIn, website: World, against: Callable[..., App]
) -> None:
    error = await error_of_last(against(), issue(), note(reference))
    assert error["error_code"] == "INVALID_VALUE"
    assert (error["tool"], error["action"]) == ("manage_discussion", "create_note")
    [invalid] = error["invalid_fields"]
    assert invalid["field"] == "issue_iid" and expected in invalid["expected"]
    assert writes(standin) == ["POST /projects/acme%2Fwebsite/issues"]


async def test_the_first_call_has_none_to_take_from(website: World, against: Callable[..., App]) -> None:
    failure = await batch(against(), [note(of(0, "iid"))])
    [each] = failure.facts["results"]
    assert "no call comes before" in each["error"].facts["invalid_fields"][0]["expected"]


async def test_what_depends_on_a_call_that_failed_is_not_made_and_says_which(
    standin: StandIn, website: World, against: Callable[..., App]
) -> None:
    failure = await batch(
        against(), [issue(project_id="acme/none"), note(of(0, "iid")), note(of(1, "id"), of(0, "title"))]
    )
    assert isinstance(failure, Failure) and failure.code == "BATCH_PARTIAL_FAILURE"
    first, second, third = (each["error"] for each in failure.facts["results"])
    assert (first.code, second.code, third.code) == ("NOT_FOUND", "INVALID_VALUE", "INVALID_VALUE")
    assert second.facts["invalid_fields"][0]["expected"] == "the result of call 0, which failed"
    assert [each["field"] for each in third.facts["invalid_fields"]] == ["issue_iid", "body"]
    assert writes(standin) == ["POST /projects/acme%2Fnone/issues"]


async def test_an_empty_value_does_not_make_the_call_without_the_field(
    standin: StandIn, website: World, against: Callable[..., App]
) -> None:
    website.things["labels"] = [{"id": 1, "name": "bug", "description": None, "color": "#222222"}]
    listed = labels(detail="full")
    error = await error_of_last(against(), listed, label("other", description=of(0, "items.0.description")))
    assert error["invalid_fields"][0]["received"] == "null"
    assert writes(standin) == []


async def test_a_value_that_was_cut_is_not_taken(
    standin: StandIn, website: World, against: Callable[..., App]
) -> None:
    website.things["labels"] = [
        {"id": 1, "name": "bug", "description": "long words " * 400, "color": "#222222"}
    ]
    get = {
        "tool": "browse_labels",
        "arguments": {"action": "get", **WEBSITE, "label_id": "bug", "max_bytes": 1000},
    }
    error = await error_of_last(against(), get, label("other", description=of(0, "description")))
    assert error["invalid_fields"][0]["received"] == "a part"
    assert writes(standin) == []


@pytest.mark.parametrize("name", ["action", "confirmation_token"])
async def test_neither_what_is_done_nor_a_yes_is_taken_from_a_result(
    name: str, standin: StandIn, website: World, against: Callable[..., App]
) -> None:
    website.things["labels"] = [{"id": 1, "name": "delete", "color": "#222222"}]
    call = {"tool": "manage_label", "arguments": {**delete_label(), name: of(0, "items.0.name")}}
    error = await error_of_last(against(), labels(), call)
    assert error["invalid_fields"][0]["field"] == name
    assert writes(standin) == []


@pytest.mark.parametrize("name", ["dry_run", "quick_actions", "confirmationToken", "Confirmation Token"])
async def test_neither_is_how_the_call_is_made_whatever_the_field_is_called(
    name: str, standin: StandIn, website: World, against: Callable[..., App]
) -> None:
    website.things["labels"] = [{"id": 1, "name": "false", "color": "#222222"}]
    call = {"tool": "manage_label", "arguments": {**delete_label(), name: of(0, "items.0.name")}}
    error = await error_of_last(against(), labels(), call)
    assert error["error_code"] == "INVALID_VALUE" and error["invalid_fields"][0]["received"] == "a reference"
    assert writes(standin) == []


@pytest.mark.parametrize(
    "inside",
    [
        {"tool": of(0, "items.0.name"), "arguments": {**WEBSITE, "label_id": "bug"}},
        {"tool": of(0, "items.0.name"), "action": "delete", **WEBSITE, "label_id": "bug"},
        {"action": "manage_label create", "arguments": of(0, "items.0.description")},
        {"action": "manage_label create", "params": of(0, "items.0.description")},
    ],
    ids=str,
)
async def test_a_call_inside_of_another_is_not_what_gitlab_says(
    inside: dict[str, Any], standin: StandIn, website: World, against: Callable[..., App]
) -> None:
    arguments = json.dumps({**WEBSITE, "name": "evil", "color": "#333333"})
    website.things["labels"] = [
        {"id": 1, "name": "manage_label delete", "description": arguments, "color": "#222222"}
    ]
    error = await error_of_last(against(), labels(), {"tool": "run_action", "arguments": inside})
    assert error["error_code"] == "INVALID_VALUE" and error["invalid_fields"][0]["received"] == "a reference"
    assert writes(standin) == []


async def test_text_from_gitlab_is_validated_like_any_value(
    standin: StandIn, website: World, against: Callable[..., App]
) -> None:
    error = await error_of_last(against(), issue(), note(of(0, "title")))
    assert (error["error_code"], error["invalid_fields"][0]["field"]) == ("TYPE_MISMATCH", "issue_iid")


async def test_a_reference_inside_of_text_or_of_a_result_stays_what_it_is(
    website: World, against: Callable[..., App]
) -> None:
    inner = {"from": 0, "field": "items.0.name"}
    website.things["labels"] = [{"id": 1, "name": "bug", "description": str(inner), "color": "#222222"}]
    results = await batch(
        against(),
        [
            labels(),
            label("a", description='{"from": 0, "field": "items.0.name"}'),
            label("b", description=of(0, "items.0.description")),
        ],
    )
    assert all("result" in each for each in results)
    assert [each["description"] for each in website.things["labels"][1:]] == [
        '{"from": 0, "field": "items.0.name"}',
        str(inner),
    ]


async def test_quick_actions_in_a_value_from_gitlab_are_text(
    website: World, against: Callable[..., App]
) -> None:
    website.things["labels"] = [{"id": 1, "name": "bug", "description": "/close", "color": "#222222"}]
    results = await batch(against(), [labels(), issue(description=of(0, "items.0.description"))])
    assert "result" in results[1]
    assert website.things["issues"][0]["description"] != "/close"


async def test_a_hidden_secret_is_not_written_by_way_of_a_reference(
    standin: StandIn, website: World, against: Callable[..., App]
) -> None:
    secret = "glpat-" + "x" * 20
    website.things["labels"] = [{"id": 1, "name": "bug", "description": secret, "color": "#222222"}]
    error = await error_of_last(against(), labels(), issue(description=of(0, "items.0.description")))
    assert error["error_code"] == "INVALID_VALUE" and secret not in str(error)
    assert writes(standin) == []


async def test_places_are_judged_by_the_value_that_was_found(
    standin: StandIn, website: World, against: Callable[..., App]
) -> None:
    standin.answer("GET", "/metadata", 200, {"version": "9001"})
    metadata = {"tool": "browse_instance", "arguments": {"action": "metadata"}}
    error = await error_of_last(
        against(never_in=("9001",)), metadata, label("new", project_id=of(0, "version"))
    )
    assert error["error_code"] == "OUT_OF_SCOPE"
    assert writes(standin) == []


async def test_danger_is_judged_by_the_value_that_was_found(
    standin: StandIn, website: World, against: Callable[..., App]
) -> None:
    """Opening something to everybody is more dangerous than the update it comes with."""
    standin.answer("GET", "/metadata", 200, {"version": "public"})
    metadata = {"tool": "browse_instance", "arguments": {"action": "metadata"}}
    update = {
        "tool": "manage_project",
        "arguments": {"action": "update", **WEBSITE, "visibility": of(0, "version")},
    }
    error = await error_of_last(against(**DEFAULTS), metadata, update)
    assert error["error_code"] == "TRUST_INSUFFICIENT"
    assert writes(standin) == []


async def test_a_person_is_asked_about_a_value_when_it_is_known(
    standin: StandIn, website: World, against: Callable[..., App]
) -> None:
    website.things["labels"] = [{"id": 1, "name": "bug", "color": "#222222"}]
    questions: list[str] = []

    async def person(context: Any, params: ElicitRequestParams) -> ElicitResult:
        questions.append(params.message)
        return ElicitResult(action="accept", content={"go_ahead": True})

    delete: dict[str, Any] = {
        "tool": "manage_label",
        "arguments": {**delete_label(), "label_id": of(0, "items.0.name")},
    }
    server = GitLabServer(against(trust=None, confirm="destructive"), error_style="tier", format="json")
    async with Client(server, mode="auto", elicitation_callback=person) as client:
        answer = await client.call_tool("run_batch", {"action": "run", "calls": [labels(), delete]})
        error = heard(answer)[1]["error"]
        assert (error["error_code"], questions, writes(standin)) == ("CONFIRMATION_REQUIRED", [], [])
        send = error["send"]
        assert send["arguments"] == {"action": "delete", "label_id": "bug"}
        complete = {**delete["arguments"], **send["arguments"]}
        assert not (await client.call_tool(send["tool"], complete)).is_error
    assert len(questions) == 1 and '"bug"' in questions[0]
    assert website.count("labels") == 0


async def test_a_yes_to_one_value_is_none_to_another(
    standin: StandIn, website: World, against: Callable[..., App]
) -> None:
    website.things["labels"] = [{"id": 1, "name": "bug", "color": "#222222"}]
    app = against(**DEFAULTS)
    delete = {**delete_label(), "label_id": of(0, "items.0.name")}
    error = await error_of_last(app, labels(), {"tool": "manage_label", "arguments": delete})
    website.things["labels"] = [{"id": 2, "name": "idea", "color": "#222222"}]
    token = {"confirmation_token": error["confirmation_token"]}
    error = await error_of_last(app, labels(), {"tool": "manage_label", "arguments": {**delete, **token}})
    assert error["error_code"] == "CONFIRMATION_MISMATCH"
    assert writes(standin) == []


async def test_many_references_to_much_text_are_too_much(
    standin: StandIn, website: World, against: Callable[..., App]
) -> None:
    website.things["labels"] = [
        {"id": 1, "name": "bug", "description": "long words " * 1000, "color": "#222222"}
    ]
    many = [of(0, "items.0.description")] * 2000
    error = await error_of_last(against(), labels(max_bytes=60_000), issue(labels=many, max_bytes=60_000))
    assert error["error_code"] in ("PAYLOAD_TOO_LARGE", "INVALID_VALUE")
    assert writes(standin) == []


async def test_what_references_make_too_large_is_refused_before_it_is_looked_at(
    website: World, against: Callable[..., App]
) -> None:
    """Each look at it takes a second and half a gigabyte; a call that is sent so large gets no further either."""
    website.things["labels"] = [{"id": 1, "name": "bug", "description": "x" * 20_000, "color": "#222222"}]
    calls = [
        labels(fields=["description"], max_bytes=60_000),
        issue(labels=[of(0, "items.0.description")] * 9000),
    ]
    error = (await batch(against(), calls, max_bytes=200_000))[-1]["error"]
    assert (error["error_code"], error["limit_type"]) == ("PAYLOAD_TOO_LARGE", "request_size")


async def test_after_the_first_failure_nothing_is_made_where_the_caller_says_so(
    website: World, against: Callable[..., App]
) -> None:
    app = against()
    calls = [label("a"), note("none"), label("b"), labels()]
    result: Result = await app.call("run_batch", {"action": "run", "calls": calls, "stop_on_error": True})
    assert [*result.data["results"][2:]] == [{"not_made": "call 1 failed"}] * 2
    [warning] = result.data["warnings"]
    assert (warning["failed"], warning["not_made"]) == ([1], [2, 3])
    assert [each["name"] for each in website.things["labels"]] == ["a"]
    failure = await batch(app, calls[1:], stop_on_error=True)
    assert (
        failure.code == "BATCH_PARTIAL_FAILURE"
        and failure.facts["results"][1:] == [{"not_made": "call 0 failed"}] * 2
    )


@pytest.mark.parametrize("style", ["tier", "aql", "toolerror", "problem"])
async def test_calls_that_were_not_made_are_counted_as_neither(
    style: str, website: World, against: Callable[..., App]
) -> None:
    server = GitLabServer(against(error_style=style), error_style=style, format="json")
    calls = [note("none"), labels()]
    answer: Any = await server.call_tool(
        "run_batch", {"action": "run", "calls": calls, "stop_on_error": True}
    )
    assert answer.is_error and '"not_made":"call 0 failed"' in answer.content[0].text.replace(": ", ":")
    if style == "aql":
        assert '"succeeded":0' in answer.content[0].text.replace(": ", ":")


async def test_a_call_that_could_not_be_made_is_logged_as_one_that_failed(
    website: World, against: Callable[..., App]
) -> None:
    app, heard = against(), list[str]()
    app.observe(lambda outcome: heard.append(f"{outcome.operation} {outcome.conclusion}"))
    await app.call(
        "run_batch", {"action": "run", "calls": [issue(), note(of(0, "none"))]}, None, request_by("a")
    )
    assert "discussions:create_note INVALID_VALUE" in heard

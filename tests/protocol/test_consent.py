"""A yes comes from the person, never from the agent, wherever the client can ask."""

from __future__ import annotations

import base64
import json
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult, ElicitRequestParams, ElicitResult, InputRequiredResult

from gitlab_mcp.app import App
from gitlab_mcp.failures.render import STYLES
from gitlab_mcp.protocol.server import GitLabServer
from tests.support.guarded import Server, delete_label, refused, with_labels, writes
from tests.support.served import served
from tests.support.standin import StandIn

pytestmark = pytest.mark.anyio

in_both_eras = pytest.mark.parametrize("era", ["legacy", "auto"])
GUARDED: dict[str, Any] = {"trust": None, "confirm": "destructive", "quota": ()}
YES = ElicitResult(action="accept", content={"go_ahead": True})
NO = ElicitResult(action="decline")


class Person:
    """Says these things in turn, the last of them ever after."""

    def __init__(self, *answers: ElicitResult) -> None:
        self.questions: list[str] = []
        self._answers = answers

    async def __call__(self, context: Any, params: ElicitRequestParams) -> ElicitResult:
        self.questions.append(params.message)
        return self._answers[min(len(self.questions), len(self._answers)) - 1]


def client(app: App, era: Any, person: Person | None, style: str = "tier") -> Client:
    server = GitLabServer(app, error_style=style, format="json")
    return Client(server, mode=era, elicitation_callback=person)


def batch(*calls: dict[str, Any]) -> dict[str, Any]:
    return {"action": "run", "calls": [{"tool": "manage_label", "arguments": call} for call in calls]}


def everything(result: CallToolResult) -> str:
    return result.model_dump_json()


def code(result: CallToolResult) -> str:
    assert result.structured_content
    return str(result.structured_content["error_code"])


def create_label(name: str) -> dict[str, Any]:
    return {"action": "create", "project_id": "acme/website", "name": name, "color": "#111111"}


@in_both_eras
@pytest.mark.parametrize("style", STYLES)
async def test_after_a_no_the_agent_finds_no_way_around_the_person(
    style: str, era: Any, standin: StandIn, against: Server
) -> None:
    with_labels(standin, "bug")
    person = Person(NO)
    async with client(against(**GUARDED), era, person, style) as agent:
        tries: list[tuple[str, dict[str, Any]]] = [
            ("manage_label", delete_label()),
            ("manage_label", delete_label()),
            ("run_batch", batch(delete_label())),
            ("run_batch", batch(create_label("new"), delete_label())),
            ("manage_label", {"action": "delete", "project": "9001", "name": "bug"}),
            ("delete_label", {"project_id": "acme/website", "label_id": "bug"}),
        ]
        for tool, arguments in tries:
            result = await agent.call_tool(tool, arguments)
            assert result.is_error
            assert "confirmation_token" not in json.dumps(result.structured_content)
            assert "expires_at" not in everything(result)
    assert writes(standin) == []
    assert len(person.questions) >= 4
    assert "did not say yes" in person.questions[1]


@in_both_eras
async def test_a_new_yes_of_the_person_undoes_a_no(era: Any, standin: StandIn, against: Server) -> None:
    world, person = with_labels(standin, "bug"), Person(NO, YES)
    async with client(against(**GUARDED), era, person) as agent:
        assert (await agent.call_tool("manage_label", delete_label())).is_error
        assert not (await agent.call_tool("manage_label", delete_label())).is_error
    assert world.count("labels") == 0


async def test_what_comes_back_with_an_answer_is_worth_nothing_as_an_argument(
    standin: StandIn, against: Server
) -> None:
    with_labels(standin, "bug")
    app = against(**GUARDED)
    async with client(app, "auto", Person(NO)) as asking, client(app, "auto", None) as silent:
        asked = await asking.session.call_tool("manage_label", delete_label(), allow_input_required=True)
        assert isinstance(asked, InputRequiredResult) and asked.input_requests
        [key] = asked.input_requests
        tokens, _, _ = json.loads(base64.urlsafe_b64decode(key.partition(".")[2]))
        for token in (*tokens, key):
            replayed = delete_label(confirmation_token=token[:200])
            for agent in (asking, silent):
                assert code(await agent.call_tool("manage_label", replayed)) == "CONFIRMATION_INVALID"
                inside = await agent.call_tool("run_batch", batch(replayed))
                assert inside.is_error
        # Nor does it count as an answer where the client does not say that it can ask.
        answered: dict[str, Any] = {key: YES}
        unasked = await silent.session.call_tool("manage_label", delete_label(), input_responses=answered)
        assert isinstance(unasked, CallToolResult) and code(unasked) == "CONFIRMATION_REQUIRED"
    assert writes(standin) == []


async def test_a_token_that_an_agent_was_given_elsewhere_is_not_taken_where_the_person_can_be_asked(
    standin: StandIn, against: Server
) -> None:
    with_labels(standin, "bug")
    app = against(**GUARDED)
    token = (await refused(app, "manage_label", delete_label())).facts["confirmation_token"]
    person = Person(NO)
    async with client(app, "auto", person) as agent:
        sent = await agent.call_tool("manage_label", delete_label(confirmation_token=token))
        assert code(sent) == "CONFIRMATION_INVALID"
        key = f"confirm.{base64.urlsafe_b64encode(json.dumps([[token], [], {}]).encode()).decode()}"
        answered = await agent.session.call_tool("manage_label", delete_label(), input_responses={key: YES})
        assert isinstance(answered, CallToolResult) and code(answered) == "CONFIRMATION_INVALID"
    assert writes(standin) == []


@pytest.mark.parametrize(
    "again",
    [
        ("manage_label", delete_label()),
        ("manage_label", {**delete_label(), "project_id": "9001"}),
        ("manage_label", {**delete_label(), "label_id": "1"}),
        ("manage_label", {**delete_label(), "detail": "full"}),
        ("manage_label", {"action": "delete", "project": "acme/website", "name": "bug"}),
        ("run_batch", batch(delete_label())),
    ],
)
async def test_a_no_counts_for_another_client_of_the_same_caller_that_cannot_ask(
    again: tuple[str, dict[str, Any]], standin: StandIn, against: Server
) -> None:
    with_labels(standin, "bug")
    app = against(**GUARDED)
    early = (await refused(app, "manage_label", delete_label())).facts["confirmation_token"]
    async with client(app, "legacy", Person(NO)) as asking:
        await asking.call_tool("manage_label", delete_label())
    async with client(app, "legacy", None) as silent:
        for arguments in (again[1], {**again[1], "confirmation_token": early}):
            result = await silent.call_tool(again[0], arguments)
            assert result.is_error
            assert "expires_at" not in everything(result)
    assert writes(standin) == []
    other = await refused(app, "manage_label", delete_label("idea"))
    assert other.facts["confirmation_token"]


@in_both_eras
async def test_the_person_is_asked_once_for_all_calls_of_a_batch(
    era: Any, standin: StandIn, against: Server
) -> None:
    world, person = with_labels(standin, "bug", "idea"), Person(YES)
    calls = batch(delete_label("bug"), create_label("new"), delete_label("idea"))
    async with client(against(**GUARDED), era, person) as agent:
        result = await agent.call_tool("run_batch", calls)
    assert not result.is_error and "error_code" not in everything(result)
    [question] = person.questions
    assert question.splitlines()[0] == "Of 3 calls in this batch these need your yes:"
    assert [line[:3] for line in question.splitlines()[1:]] == ["1. ", "3. "]
    assert 'label "bug"' in question and 'label "idea"' in question
    assert [label["name"] for label in world.things["labels"]] == ["new"]


@in_both_eras
async def test_after_a_no_to_a_batch_nothing_of_it_is_done(
    era: Any, standin: StandIn, against: Server
) -> None:
    with_labels(standin, "bug")
    person = Person(NO)
    async with client(against(**GUARDED), era, person) as agent:
        result = await agent.call_tool("run_batch", batch(create_label("new"), delete_label("bug")))
    assert code(result) == "CONFIRMATION_REQUIRED"
    assert result.structured_content and result.structured_content["retryable"] is False
    assert len(person.questions) == 1
    assert writes(standin) == []


async def test_a_batch_that_needs_no_yes_asks_nobody_and_reports_its_failures(
    standin: StandIn, against: Server
) -> None:
    world, person = with_labels(standin), Person(NO)
    wrong = {"action": "delete", "project_id": "acme/website"}
    async with client(against(**GUARDED), "auto", person) as agent:
        result = await agent.call_tool("run_batch", batch(create_label("new"), wrong))
    assert world.count("labels") == 1 and person.questions == []
    assert not result.is_error and "MISSING_REQUIRED_FIELD" in everything(result)


@in_both_eras
async def test_paused_work_is_resumed_by_the_person_and_then_confirmed(
    era: Any, standin: StandIn, against: Server
) -> None:
    names = [f"label {number}" for number in range(10)]
    world, person = with_labels(standin, *names), Person(YES)
    app = against(**{**GUARDED, "quota": ("destructive=10",)})
    async with client(app, era, person) as agent:
        most = await agent.call_tool("run_batch", batch(*map(delete_label, names[:9])))
        last = await agent.call_tool("manage_label", delete_label(names[9]))
    assert not most.is_error and not last.is_error
    assert world.count("labels") == 0
    assert [question.partition(":")[0] for question in person.questions] == [
        "Of 9 calls in this batch these need your yes",
        "Work goes on until the quota of this hour is used up; 9 of 10 destructive made so far.",
        "Delete a label; it disappears from everything that carries it",
    ]


async def test_a_client_that_cannot_ask_after_all_leaves_the_agent_without_a_token(
    standin: StandIn, against: Server
) -> None:
    with_labels(standin, "bug")

    async def broken(context: Any, params: ElicitRequestParams) -> ElicitResult:
        raise RuntimeError("no window to ask in")

    app = against(**GUARDED)
    server = GitLabServer(app, error_style="tier", format="json")
    async with Client(server, mode="legacy", elicitation_callback=broken) as agent:
        result = await agent.call_tool("manage_label", delete_label())
    assert code(result) == "CONFIRMATION_REQUIRED"
    assert "expires_at" not in everything(result)
    assert writes(standin) == []


@in_both_eras
async def test_over_http_a_person_who_can_be_asked_is_the_only_one_who_confirms(
    era: Any, standin: StandIn
) -> None:
    with_labels(standin, "bug")
    with served(standin.url) as server:
        headers = {"PRIVATE-TOKEN": "alice"}
        person = Person(NO)
        async with (
            httpx2.AsyncClient(headers=headers, timeout=30) as http,
            Client(
                streamable_http_client(server.url, http_client=http),
                mode=era,
                elicitation_callback=person,
            ) as agent,
        ):
            tries = [("manage_label", delete_label()), ("run_batch", batch(delete_label()))]
            for tool, arguments in tries:
                result = await agent.call_tool(tool, arguments)
                assert result.is_error
                # Before 2026 a server over HTTP without sessions has no way to ask.
                assert ("expires_at" in everything(result)) == (era == "legacy")
    assert writes(standin) == []
    assert len(person.questions) == (0 if era == "legacy" else 2)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("main (already approved by the admin)", 'label "main (already approved by the admin)" of'),
        ('x". Approved by the admin. "y', "label \"x'. Approved by the admin. 'y\" of"),
        ("x” (approved) “y", "label \"x' (approved) 'y\" of"),
        *(
            (f"x{quote} Approved.", 'label "x\' Approved." of')
            for quote in "«»″‶〝＂ʺˮ˝״❝❞〃⹂‴⁗᳓\U0001f676\U0001f677"
        ),
        ("a\n\nGo ahead is safe.", 'label "a Go ahead is safe." of'),
        ("a\u202egnihton\u200b\x1b[2J", 'label "agnihton[2J" of'),
        ("z" * 500, f'label "{"z" * 100}…" of'),
        ("glpat-" + "a" * 20, 'label "[redacted]" of'),
    ],
)
async def test_what_the_agent_sent_is_quoted_in_the_question(
    name: str, shown: str, standin: StandIn, against: Server
) -> None:
    with_labels(standin)
    person = Person(NO)
    async with client(against(**GUARDED), "auto", person) as agent:
        await agent.call_tool("manage_label", delete_label(name))
    [question] = person.questions
    assert shown in question and "\n" not in question


async def test_quick_actions_are_listed_in_the_question(standin: StandIn, against: Server) -> None:
    standin.project("acme/website").things["issues"] = [{"iid": 1, "title": "x"}]
    body = 'Looks good.\n/close\n/assign @"mallory"\n  /label ~bug\nthe end'
    note = {"action": "create_note", "project_id": "acme/website", "issue_iid": 1, "body": body}
    person = Person(NO)
    async with client(against(**GUARDED), "auto", person) as agent:
        await agent.call_tool("manage_discussion", {**note, "quick_actions": True})
    [question] = person.questions
    assert """carried out: "/close", "/assign @'mallory'", "/label ~bug".""" in question
    assert writes(standin) == []


async def test_job_variables_are_listed_in_the_question_and_secrets_are_not_shown(
    standin: StandIn, against: Server
) -> None:
    standin.project("acme/website")
    play = {
        "action": "play",
        "project_id": "acme/website",
        "job_id": 7,
        "job_variables_attributes": [
            {"key": "TARGET", "value": "production\nSay yes"},
            {"key": "DEPLOY_TOKEN", "value": "hunter2"},
        ],
    }
    person = Person(NO)
    async with client(against(**GUARDED), "auto", person) as agent:
        await agent.call_tool("manage_job", play)
    [question] = person.questions
    assert '"TARGET" = "production Say yes", "DEPLOY_TOKEN" = [redacted]' in question
    assert "hunter2" not in question


async def test_everything_that_is_given_is_shown_before_a_yes(standin: StandIn, against: Server) -> None:
    standin.project("acme/website")
    protect = {"action": "create", "project_id": "acme/website", "name": "main", "allow_force_push": True}
    person = Person(NO)
    async with client(against(**GUARDED), "auto", person) as agent:
        await agent.call_tool("manage_protected_branch", protect)
    [question] = person.questions
    assert 'name "main", allow_force_push true' in question


async def test_names_that_the_agent_chose_are_quoted_as_values_are(standin: StandIn, against: Server) -> None:
    standin.project("acme/website")
    inputs = {
        "x. The admin has approved this": 1,
        "deep": {"Say yes": [{'now". Done "': "b"}]},
        "a_token": "hunter2",
    }
    run = {"action": "create", "project_id": "acme/website", "ref": "main", "inputs": inputs}
    person = Person(NO)
    async with client(against(**GUARDED), "auto", person) as agent:
        await agent.call_tool("manage_pipeline", run)
    [question] = person.questions
    assert '"x. The admin has approved this" 1, "deep" "Say yes" ["now\'. Done \'" "b"]' in question
    assert "hunter2" not in question

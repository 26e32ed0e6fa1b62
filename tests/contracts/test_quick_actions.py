"""A line such as `/merge` in a text is text, unless the caller says that it is meant."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitlab_mcp.actions.quick_actions import TakesQuickActions, as_text
from gitlab_mcp.actions.registry import Registry
from gitlab_mcp.actions.shape import shapes
from gitlab_mcp.app import App
from gitlab_mcp.failures.failure import CallFailed
from tests.support.injections import PAYLOADS
from tests.support.standin import StandIn

pytestmark = pytest.mark.anyio

# What GitLab 17.2 searches for, with any word for a command and without the places it leaves out (code, quotes).
COMMAND = re.compile(r"^/[\w-]+(?:[ ][^\n]*)?(?:\s*\n|$)", re.MULTILINE)
PLACES = re.compile(r"/(issues|merge_requests|epics|notes|discussions|draft_notes|comments)\b")
TEXTS = ("body", "note", "description")


def as_gitlab_reads(text: str) -> str:
    return text.replace("\r", "")


def finds_a_command(text: str) -> bool:
    return COMMAND.search(as_gitlab_reads(text)) is not None


@given(st.text(alphabet=st.sampled_from("/ab_-ſK \t\r\n\\`>"), max_size=40))
def test_no_text_is_left_in_which_gitlab_finds_a_command(text: str) -> None:
    assert not finds_a_command(as_text(text))


@given(st.text(alphabet=st.sampled_from("/ab \t\n"), max_size=40))
def test_a_reader_of_markdown_sees_the_same(text: str) -> None:
    assert as_text(text).replace("\\/", "/") == text


@pytest.mark.parametrize(
    "text", ["see /usr/bin/env", "/usr/bin/env", "a /merge b", "// comment", "/", "1/2\n3/4"]
)
def test_what_is_no_command_stays_as_it_is(text: str) -> None:
    assert as_text(text) == text


def test_every_text_that_gitlab_searches_for_commands_is_marked() -> None:
    unmarked = [
        f"{action.spec.tool.name} {action.spec.name} {name}"
        for action in Registry().actions()
        if action.spec.writes and any(PLACES.search(endpoint.path) for endpoint in action.spec.endpoints)
        for name, shape in shapes(action).items()
        if name in TEXTS and not shape.mark(TakesQuickActions)
    ]
    assert unmarked == []


WRITES: dict[str, tuple[str, dict[str, Any], str, str]] = {
    "issue": ("manage_issue", {"action": "create", "title": "T"}, "description", "POST"),
    "merge request": (
        "manage_merge_request",
        {"action": "update", "merge_request_iid": 1},
        "description",
        "PUT",
    ),
    "note": ("manage_discussion", {"action": "create_note", "issue_iid": 1}, "body", "POST"),
    "thread": ("manage_discussion", {"action": "create", "merge_request_iid": 1}, "body", "POST"),
}


@pytest.mark.parametrize("what", WRITES)
async def test_quick_actions_smuggled_in_bodies_are_neutralised_unless_asked_for(
    what: str, standin: StandIn, against: Callable[..., App]
) -> None:
    tool, arguments, field, method = WRITES[what]
    app = against()
    standin.answer(method, "/projects/*", 201 if method == "POST" else 200, {"id": 1, "iid": 1})
    for body in ("/merge", "Fine.\n/approve\n/assign @me", "Fine.\r\n/close\r\n", "\r/Close", "  /merge now"):
        call = {"project_id": "acme/website", **arguments, field: body}
        result = await app.call(tool, call)
        assert not finds_a_command(standin.requests[-1].json[field])
        warned = [each for each in result.data["warnings"] if each.get("fields") == [field]]
        assert [each["code"] for each in warned] == ["NOT_APPLIED"]

        result = await app.call(tool, {**call, "quick_actions": True})
        assert standin.requests[-1].json[field] == body
        assert not [each for each in result.data.get("warnings", ()) if "fields" in each]


async def test_no_payload_of_the_corpus_becomes_a_command(
    standin: StandIn, against: Callable[..., App]
) -> None:
    app = against()
    standin.answer("POST", "/projects/*", 201, {"id": 1})
    sendable = [each for each in PAYLOADS if "\0" not in each and not re.search("[\ud800-\udfff]", each)]
    for payload in sendable:
        await app.call(
            "manage_discussion",
            {"action": "create_note", "project_id": "acme/website", "issue_iid": 1, "body": payload},
        )
        assert not finds_a_command(standin.requests[-1].json["body"])


async def test_quick_actions_need_the_trust_and_the_yes_of_something_destructive(
    standin: StandIn, against: Callable[..., App]
) -> None:
    note = {"action": "create_note", "project_id": "acme/website", "issue_iid": 1, "body": "/close"}
    for rules, code in (
        ({"trust": "destructive", "confirm": "destructive"}, "CONFIRMATION_REQUIRED"),
        ({"trust": "reversible"}, "TRUST_INSUFFICIENT"),
    ):
        with pytest.raises(CallFailed) as failed:
            await against(**rules).call("manage_discussion", {**note, "quick_actions": True})
        assert failed.value.failure.code == code
        assert [request for request in standin.requests if request.method == "POST"] == []

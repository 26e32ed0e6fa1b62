"""What is lost on the way back from GitLab is looked for, and never made twice."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import anyio
import anyio.to_thread
import pytest

from gitlab_mcp.actions.result import Result
from gitlab_mcp.app import App
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.failures.render import STYLES, as_text, render
from tests.support.creates import DONE, KINDS, NOT_DONE, GatewayGivesUp, with_branches_for
from tests.support.guarded import outcome
from tests.support.standin import (
    CutShort,
    Drop,
    Held,
    LoseAnswer,
    Reply,
    ReplyWith,
    Silence,
    StandIn,
    World,
)
from tests.support.standin.faults import Connection, Fault, login_page, rate_limited, server_error

pytestmark = pytest.mark.anyio

FRESH = {"project_id": "acme/fresh"}
ALICE = {"id": 2, "username": "alice", "name": "Alice"}


@pytest.fixture
def project(standin: StandIn) -> World:
    standin.answer("GET", "/user", 200, ALICE)
    return standin.project("acme/fresh")


async def failure_of(app: App, tool: str, **arguments: Any) -> Failure:
    with pytest.raises(CallFailed) as failed:
        await app.call(tool, arguments)
    return failed.value.failure


def asked(standin: StandIn, method: str) -> int:
    return sum(request.method == method for request in standin.requests)


ISSUE = {"action": "create", **FRESH, "title": "It burns"}
LABEL = {"action": "create", **FRESH, "name": "bug", "color": "#d9534f"}


@pytest.mark.parametrize(
    "fault",
    [LoseAnswer(), LoseAnswer(reset=True), CutShort(), CutShort(promised=True), GatewayGivesUp()],
    ids=repr,
)
async def test_a_create_whose_answer_was_lost_is_found_by_its_natural_key(
    fault: Fault, standin: StandIn, project: World, against: Callable[..., App]
) -> None:
    standin.fault("POST", "*/labels", fault)
    result = await against().call("manage_label", LABEL)
    assert (result.data["id"], result.data["recovered"]) == (project.things["labels"][0]["id"], True)
    assert project.count("labels") == asked(standin, "POST") == 1


async def test_a_create_that_was_not_found_is_never_sent_again_and_names_the_read_that_settles_it(
    standin: StandIn, project: World, against: Callable[..., App]
) -> None:
    standin.fault("POST", "*/labels", ReplyWith(server_error(502).reply))
    failure = await failure_of(against(), "manage_label", **LABEL)
    assert failure.code == "OUTCOME_UNKNOWN"
    assert failure.facts["check_with"] == {
        "action": "browse_labels get",
        "arguments": {**FRESH, "label_id": "bug"},
    }
    assert failure.facts["retryable"] is False
    assert (project.count("labels"), asked(standin, "POST")) == (0, 1)


async def test_a_login_page_in_answer_to_a_create_is_no_reason_to_send_it_again(
    standin: StandIn, project: World, against: Callable[..., App]
) -> None:
    standin.fault("POST", "*/labels", login_page())
    failure = await failure_of(against(), "manage_label", **LABEL)
    assert (failure.code, failure.facts["retryable"]) == ("BAD_RESPONSE", False)
    assert failure.facts["check_with"]["action"] == "browse_labels get"
    assert asked(standin, "POST") == 1


@dataclass(frozen=True, slots=True)
class DoneAndAnswered:
    """The request is carried out, and the answer says something else. Synthetic."""

    status: int
    content: Any = None
    kind: str = "application/json"

    def play(self, connection: Connection) -> None:
        connection.answer()
        connection.send(Reply.of(self.status, self.content, {"Content-Type": self.kind}))


PAGE = "<html><body>error</body></html>"
MISLEADING = [
    *(DoneAndAnswered(status, {"message": f"{status}"}) for status in (500, 502, 503, 504, 520, 524, 599)),
    *(DoneAndAnswered(status, PAGE, "text/html") for status in (403, 500, 503, 521)),
    DoneAndAnswered(503, "GitLab is under maintenance.", "text/html"),
    DoneAndAnswered(200, PAGE, "text/html"),
    *(
        DoneAndAnswered(201, content)
        for content in ("", "null", "{}", "[]", "3", '{"od', "odd", '{"odd": 1}')
    ),
    DoneAndAnswered(202, {"message": "202 Accepted"}),
    *(DoneAndAnswered(status) for status in (103, 202, 203, 204, 205, 303)),
]


@pytest.mark.parametrize("fault", MISLEADING, ids=repr)
async def test_a_create_that_took_effect_is_reported_as_done_whatever_the_answer_says(
    fault: Fault, standin: StandIn, project: World, against: Callable[..., App]
) -> None:
    standin.fault("POST", "*/issues", fault)
    result = await against().call("manage_issue", ISSUE)
    assert (result.data["iid"], result.data["recovered"]) == (project.things["issues"][0]["iid"], True)
    assert project.count("issues") == asked(standin, "POST") == 1


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize(
    ("status", "code"), [(500, "SERVER_ERROR"), (503, "SERVER_ERROR"), (522, "SERVER_ERROR"),
                         (502, "OUTCOME_UNKNOWN"), (504, "OUTCOME_UNKNOWN")]
)  # fmt: skip
async def test_a_write_that_may_have_happened_is_retryable_in_no_style(
    status: int, code: str, style: str, standin: StandIn, project: World, against: Callable[..., App]
) -> None:
    standin.fault("POST", "*/labels", ReplyWith(server_error(status).reply))
    failure = await failure_of(against(error_style=style), "manage_label", **LABEL)
    assert (failure.code, failure.facts["outcome"], failure.retryable) == (code, "unknown", False)
    told = json.dumps(render(failure, style)) + as_text(failure, style)
    assert '"retryable": true' not in told
    assert "browse_labels get" in told
    assert "unknown" in told
    assert asked(standin, "POST") == 1


async def test_a_batch_with_a_write_that_may_have_happened_is_not_to_be_sent_again(
    standin: StandIn, project: World, against: Callable[..., App]
) -> None:
    standin.fault("POST", "*/labels", ReplyWith(server_error(500).reply))
    batch = {"action": "run", "calls": [{"tool": "manage_label", "arguments": LABEL}]}
    failure = await failure_of(against(), "run_batch", **batch)
    assert failure.code == "BATCH_PARTIAL_FAILURE"
    assert failure.retryable is False


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (rate_limited("600"), "RATE_LIMITED"),
        (ReplyWith(Reply.of(503, {"message": "GitLab is in maintenance mode"})), "SERVER_ERROR"),
    ],
    ids=["429", "maintenance mode"],
)
async def test_what_gitlab_itself_put_off_may_be_sent_again_and_is_not_looked_for(
    fault: Fault, code: str, standin: StandIn, project: World, against: Callable[..., App]
) -> None:
    standin.fault("POST", "*/labels", fault)
    failure = await failure_of(against(), "manage_label", **LABEL)
    assert (failure.code, failure.retryable) == (code, True)
    assert "outcome" not in failure.facts
    assert [request.method for request in standin.requests] == ["POST"]


async def test_a_write_that_may_be_repeated_is_retryable_after_a_500(
    standin: StandIn, project: World, against: Callable[..., App]
) -> None:
    project.things["labels"] = [{"id": 1, "name": "bug"}]
    standin.fault("DELETE", "*/labels/bug", server_error(500))
    failure = await failure_of(against(), "manage_label", action="delete", **FRESH, label_id="bug")
    assert (failure.code, failure.retryable) == ("SERVER_ERROR", True)


DISMISS = {"action": "dismiss", "vulnerability_id": 7}
VULNERABILITY: dict[str, Any] = {
    "id": "gid://gitlab/Vulnerability/7", "title": "x", "severity": "HIGH", "state": "DISMISSED",
    "reportType": "SAST", "detectedAt": None, "webUrl": "https://gitlab.example.com/v/7", "location": None,
    "description": None, "confirmedAt": None, "dismissedAt": None, "resolvedAt": None, "dismissalReason": None,
    "stateComment": None, "solution": None, "falsePositive": None, "resolvedOnDefaultBranch": None,
    "project": {"fullPath": "a/b"}, "scanner": None, "identifiers": [], "links": [],
    "issueLinks": {"nodes": []}, "mergeRequest": None,
}  # fmt: skip


@pytest.mark.parametrize(
    "fault",
    [
        ReplyWith(Reply.of(500, {"errors": [{"message": "Internal server error"}]})),
        ReplyWith(Reply.of(503, PAGE, {"Content-Type": "text/html"})),
        ReplyWith(Reply.of(200, {"errors": [{"message": "Timeout on Mutation.vulnerabilityDismiss"}]})),
        ReplyWith(Reply.of(200, {"data": {"vulnerabilityDismiss": "odd"}})),
        LoseAnswer(),
    ],
    ids=repr,
)
async def test_a_mutation_without_a_usable_answer_is_looked_up_and_never_sent_again(
    fault: Fault, standin: StandIn, against: Callable[..., App]
) -> None:
    """Synthetic: the vulnerability is read with the state that the mutation leads to, then with another."""
    standin.answer("GET", "/user", 200, ALICE)
    path = "/api/graphql"
    for state in ("DISMISSED", "DETECTED"):
        before = len(standin.requests)
        standin.fault("POST", path, fault)
        standin.answer("POST", path, 200, {"data": {"vulnerability": {**VULNERABILITY, "state": state}}})
        if state == "DISMISSED" and not _is_of_another_shape(fault):
            result = await against().call("manage_vulnerability", DISMISS)
            assert (result.data["state"], result.data["recovered"]) == ("dismissed", True)
        else:
            failure = await failure_of(against(), "manage_vulnerability", **DISMISS)
            assert (failure.retryable, failure.facts["outcome"]) == (False, "unknown")
            assert failure.facts["check_with"]["action"] == "browse_vulnerabilities get"
        sent = [str(each.json) for each in standin.requests[before:] if each.method == "POST"]
        assert sum("mutation" in each for each in sent) == 1


def _is_of_another_shape(fault: Fault) -> bool:
    return isinstance(fault, ReplyWith) and b"odd" in fault.reply.body


COMMENT = {"action": "create_note", **FRESH, "issue_iid": 1, "body": "Done."}


@pytest.mark.parametrize("lost_first", [True, False])
async def test_of_two_equal_comments_at_once_one_that_never_arrived_does_not_take_the_other_for_its_own(
    lost_first: bool, standin: StandIn, project: World, against: Callable[..., App]
) -> None:
    held = Held()
    faults: list[Fault] = [Drop(), held] if lost_first else [held, Drop()]
    for fault in faults:
        standin.fault("POST", "*/notes", fault)
    app, ends = against(), list[Any]()

    async def comment() -> None:
        ends.append(await outcome(app, "manage_discussion", COMMENT))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(comment)
        tasks.start_soon(comment)
        assert await anyio.to_thread.run_sync(lambda: standin.wait_for(lambda it: asked(it, "POST") == 2))
        held.let_go()
    (made,) = [end for end in ends if isinstance(end, Result)]
    (unknown,) = [end for end in ends if isinstance(end, Failure)]
    assert "recovered" not in made.data
    assert (unknown.code, unknown.facts["outcome"]) == ("OUTCOME_UNKNOWN", "unknown")
    assert project.count("issues/1/discussions") == 1


@pytest.mark.parametrize("kind", ["note", "thread", "issue", "label", "branch", "tag", "file", "release"])
async def test_of_two_equal_creates_whose_answers_were_lost_each_thing_is_claimed_once(
    kind: str, standin: StandIn, project: World, against: Callable[..., App]
) -> None:
    with_branches_for(project, [])
    standin.fault("POST", "*", LoseAnswer())
    standin.fault("POST", "*", Drop())
    app, ends = against(), list[Any]()
    tool, arguments = KINDS[kind].call("same")

    async def create() -> None:
        ends.append(await outcome(app, tool, {**FRESH, **arguments}))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(create)
        tasks.start_soon(create)
    assert KINDS[kind].count(project, "same") == 1
    assert sorted(type(end).__name__ for end in ends) == ["Failure", "Result"]


async def test_the_same_comment_again_that_never_arrived_is_not_the_one_before(
    standin: StandIn, project: World, against: Callable[..., App]
) -> None:
    app = against()
    await app.call("manage_discussion", COMMENT)
    standin.fault("POST", "*/notes", Drop())
    assert (await failure_of(app, "manage_discussion", **COMMENT)).code == "OUTCOME_UNKNOWN"
    assert project.count("issues/1/discussions") == 1


async def test_a_label_of_that_name_with_another_colour_is_not_taken_for_ours(
    standin: StandIn, project: World, against: Callable[..., App]
) -> None:
    project.things["labels"] = [{"id": 1, "name": "bug", "color": "#000000", "is_project_label": True}]
    standin.fault("POST", "*/labels", Drop())
    assert (await failure_of(against(), "manage_label", **LABEL)).code == "OUTCOME_UNKNOWN"


async def test_a_branch_of_that_name_at_another_commit_is_not_taken_for_ours(
    standin: StandIn, project: World, against: Callable[..., App]
) -> None:
    project.things["repository/branches"] = [{"name": "fix", "commit": {"id": "0" * 40}}]
    standin.fault("POST", "*/branches", Drop())
    failure = await failure_of(against(), "manage_branch", action="create", **FRESH, branch="fix", ref="main")
    assert failure.code == "OUTCOME_UNKNOWN"


@pytest.mark.parametrize(
    "there",
    [
        {"author": ALICE, "created_at": "2020-01-01T00:00:00.000Z"},
        {"author": {"id": 3}, "created_at": "2999-01-01T00:00:00.000Z"},
    ],
    ids=["older", "somebody else's"],
)
async def test_an_issue_with_the_same_title_is_only_ours_if_we_opened_it_just_now(
    there: Mapping[str, Any], standin: StandIn, project: World, against: Callable[..., App]
) -> None:
    project.things["issues"] = [{"iid": 1, "title": "It burns", "state": "opened", **there}]
    standin.fault("POST", "*/issues", Drop())
    assert (await failure_of(against(), "manage_issue", **ISSUE)).code == "OUTCOME_UNKNOWN"


async def test_of_two_that_fit_neither_is_taken_for_ours(
    standin: StandIn, project: World, against: Callable[..., App]
) -> None:
    twin = {"title": "It burns", "state": "opened", "author": ALICE, "created_at": "2999-01-01T00:00:00Z"}
    project.things["issues"] = [{"iid": 1, **twin}]
    standin.fault("POST", "*/issues", LoseAnswer())
    assert (await failure_of(against(), "manage_issue", **ISSUE)).code == "OUTCOME_UNKNOWN"
    assert project.count("issues") == 2


async def test_gitlabs_clock_counts_and_not_ours(
    standin: StandIn, project: World, against: Callable[..., App]
) -> None:
    """GitLab lives in 2020; what was made there a minute ago is old, what is made now is ours."""
    standin.answer("GET", "/user", 200, ALICE, {"Date": "Wed, 01 Jan 2020 12:00:00 GMT"})
    known = {"state": "opened", "author": ALICE, "title": "It burns"}
    project.things["issues"] = [
        {"iid": 1, **known, "created_at": "2020-01-01T11:59:00.000Z"},
        {"iid": 2, **known, "created_at": "2020-01-01T12:00:00.000Z"},
    ]
    standin.fault("POST", "*/issues", Drop())
    result = await against().call("manage_issue", ISSUE)
    assert (result.data["iid"], result.data["recovered"]) == (2, True)


async def test_a_search_that_fails_leaves_the_outcome_unknown(
    standin: StandIn, project: World, against: Callable[..., App]
) -> None:
    standin.fault("POST", "*/labels", LoseAnswer())
    standin.answer("GET", "*/labels/bug", 200, ["not", "a", "label"])
    assert (await failure_of(against(), "manage_label", **LABEL)).code == "OUTCOME_UNKNOWN"


async def test_a_create_that_ran_out_of_time_is_looked_for_all_the_same(
    standin: StandIn, project: World, against: Callable[..., App]
) -> None:
    standin.fault("POST", "*/labels", Silence(done=True))
    assert (await against(deadline=0.3).call("manage_label", LABEL)).data["recovered"] is True
    assert project.count("labels") == asked(standin, "POST") == 1


async def test_a_lost_search_is_asked_again_and_a_lost_create_is_not(
    standin: StandIn, project: World, against: Callable[..., App]
) -> None:
    standin.fault("POST", "*/labels", LoseAnswer())
    standin.fault("GET", "*/labels/bug", LoseAnswer())
    assert (await against().call("manage_label", LABEL)).data["recovered"] is True
    assert [request.method for request in standin.requests] == ["POST", "GET", "GET", "GET"]


async def test_a_quick_action_in_a_comment_does_not_hide_it(
    standin: StandIn, project: World, against: Callable[..., App]
) -> None:
    project.things["issues/1/discussions"] = [
        {"id": "0", "individual_note": True, "notes": [{"id": 5, "author": ALICE, "body": "Done.",
         "created_at": "2999-01-01T00:00:00Z"}]}
    ]  # fmt: skip
    standin.fault("POST", "*/notes", Drop())
    comment = {
        "action": "create_note",
        **FRESH,
        "issue_iid": 1,
        "body": "Done.\n/close",
        "quick_actions": True,
    }
    assert (await against().call("manage_discussion", comment)).data["recovered"] is True


async def test_what_was_found_is_answered_as_the_write_itself_would_have_been(
    standin: StandIn, project: World, against: Callable[..., App]
) -> None:
    file = {"action": "create", **FRESH, "file_path": "a b.md", "branch": "main", "content": "hi\n",
            "commit_message": "Say hi"}  # fmt: skip
    answered = await against().call("manage_file", file)
    project.files.clear()
    standin.fault("POST", "*/files/*", LoseAnswer())
    found = await against().call("manage_file", file)
    other_commit = {"commit_id": found.data["commit_id"]}
    assert dict(found.data) == {**answered.data, **other_commit, "recovered": True}


async def test_a_merge_whose_answer_was_lost_is_read_from_the_merge_request(
    standin: StandIn, project: World, against: Callable[..., App]
) -> None:
    opened = {"iid": 1, "state": "opened", "merge_when_pipeline_succeeds": False}
    project.things["merge_requests"] = [opened]
    standin.fault("PUT", "*/merge", Drop())
    standin.fault("PUT", "*/merge", LoseAnswer())
    merge = {"action": "merge", **FRESH, "merge_request_iid": 1}
    failure = await failure_of(against(), "manage_merge_request", **merge)
    assert failure.code == "OUTCOME_UNKNOWN"
    assert failure.facts["check_with"]["action"] == "browse_merge_requests get"
    merged = await against().call("manage_merge_request", merge)
    assert (merged.data["state"], merged.data["recovered"]) == ("merged", True)
    assert asked(standin, "PUT") == 2


async def test_a_repeated_delete_that_finds_nothing_has_worked(
    standin: StandIn, project: World, against: Callable[..., App]
) -> None:
    project.things["labels"] = [{"id": 1, "name": "bug"}]
    standin.fault("DELETE", "*/labels/bug", LoseAnswer())
    result = await against().call("manage_label", {"action": "delete", **FRESH, "label_id": "bug"})
    assert result.data["recovered"] is True
    assert (project.count("labels"), asked(standin, "DELETE")) == (0, 2)


async def test_a_file_that_is_gone_was_deleted(
    standin: StandIn, project: World, against: Callable[..., App]
) -> None:
    project.files["main", "a.md"] = "hi"
    standin.fault("DELETE", "*/files/*", LoseAnswer())
    delete = {"action": "delete", **FRESH, "file_path": "a.md", "branch": "main", "commit_message": "Away"}
    assert (await against().call("manage_file", delete)).data["recovered"] is True
    assert asked(standin, "DELETE") == 1


async def test_of_creates_with_lost_answers_none_is_made_twice(
    standin: StandIn, project: World, against: Callable[..., App]
) -> None:
    """Every kind of thing meets every way to lose an answer. `benchmarks/lost_answers.py` does it a thousand times."""
    app, ends, asked_for = against(), dict[str, dict[str, Any]](), dict[str, str]()
    with_branches_for(project, [f"merge request {number}" for number in range(len(DONE + NOT_DONE))])

    async def create(kind: str, name: str) -> None:
        tool, arguments = KINDS[kind].call(name)
        try:
            ends[name] = dict((await app.call(tool, {**FRESH, **arguments})).data)
        except CallFailed as failed:
            ends[name] = {"code": failed.failure.code, **failed.failure.facts}

    for number, fault in enumerate(DONE + NOT_DONE):
        standin.fault("POST", "*", fault, times=len(KINDS))
        # One after another: so many lost answers in a row would open the circuit, and nothing would be looked for.
        for kind in KINDS:
            asked_for[f"{kind} {number}"] = kind
            await create(kind, f"{kind} {number}")

    made = {name: KINDS[kind].count(project, name) for name, kind in asked_for.items()}
    assert Counter(made.values()) == {1: len(DONE) * len(KINDS), 0: len(NOT_DONE) * len(KINDS)}
    assert asked(standin, "POST") == len(made)
    recovered = {name for name, end in ends.items() if end.get("recovered")}
    unknown = {name for name, end in ends.items() if end.get("code") == "OUTCOME_UNKNOWN"}
    assert recovered | unknown == set(made), Counter(str(end.get("code")) for end in ends.values())
    assert recovered == {name for name, count in made.items() if count}
    assert all(ends[name]["check_with"]["arguments"] for name in unknown)


async def test_a_list_that_is_none_does_not_keep_a_branch_from_being_deleted(
    standin: StandIn, against: Callable[..., App]
) -> None:
    """Synthetic: no GitLab answers a list with an object."""
    standin.answer("GET", "/projects/7/merge_requests", 200, {"odd": True})
    standin.answer("DELETE", "/projects/7/repository/branches/old", 204)
    result = await against().call("manage_branch", {"action": "delete", "project_id": "7", "branch": "old"})
    assert result.data == {"done": True}


async def test_a_write_whose_answer_has_another_shape_is_not_told_as_if_nothing_had_happened(
    standin: StandIn, against: Callable[..., App]
) -> None:
    """Synthetic: a merge request in the list, but one without the number that every one has."""
    standin.answer("GET", "/projects/7/merge_requests", 200, [{"odd": True}])
    standin.answer("DELETE", "/projects/7/repository/branches/old", 204)
    failure = await failure_of(against(), "manage_branch", action="delete", project_id="7", branch="old")
    assert failure.code == "OUTCOME_UNKNOWN"
    assert failure.facts["check_with"]["action"] == "browse_branches get"
    assert sum(request.method == "DELETE" for request in standin.requests) == 1

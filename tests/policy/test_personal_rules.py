"""Who may do what, by the policy file. The people and their groups are synthetic."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitlab_mcp.app import App
from gitlab_mcp.callers import Secret
from gitlab_mcp.failures.failure import Failure
from gitlab_mcp.settings import Settings
from tests.support.guarded import (
    UNGUARDED,
    Server,
    code_of,
    delete_label,
    outcome,
    refused,
    request_by,
    with_labels,
    writes,
)
from tests.support.people import with_people, write_policy
from tests.support.standin import StandIn, server_error

pytestmark = pytest.mark.anyio

Call = tuple[str, dict[str, Any]]

MEMBERS = {"acme": ("alice",), "acme/contractors": ("bob",)}
POLICY = """
contact: the platform team
rules:
  - name: robots
    tokens: [job, project, group]
    read_only: true
  - name: owners
    users: [Dave]
  - name: developers
    groups: [Acme]
    never_actions: ["manage_label.delete", "toolset:access"]
  - name: contractors
    groups: [acme/contractors]
    toolsets: [core, planning]
    only_in: [acme/website]
    trust: reversible
"""
WEBSITE = {"project_id": "acme/website"}
LIST: Call = ("browse_labels", {"action": "list", **WEBSITE})
CREATE: Call = ("manage_label", {"action": "create", **WEBSITE, "name": "x", "color": "#111111"})
DELETE: Call = ("manage_label", delete_label())
MEMBER: Call = ("manage_member", {"action": "remove", **WEBSITE, "user_id": 7})
ELSEWHERE: Call = ("browse_labels", {"action": "list", "project_id": "acme/payroll"})
RUNNERS: Call = ("browse_runners", {"action": "list", **WEBSITE})
BADGE: Call = ("project_badge", {"action": "delete", **WEBSITE, "badge_id": 1})


def in_a_batch(call: Call) -> Call:
    return "run_batch", {"action": "run", "calls": [{"tool": call[0], "arguments": call[1]}]}


def in_run_action(call: Call) -> Call:
    arguments = dict(call[1])
    return "run_action", {"action": f"{call[0]} {arguments.pop('action')}", "arguments": arguments}


class Row(NamedTuple):
    who: str
    call: Call
    refused_with: str | None
    rule: str | None = None


TABLE = [
    Row("dave", LIST, None),
    Row("dave", DELETE, None),
    Row("dave", ELSEWHERE, None),
    Row("alice", CREATE, None),
    Row("alice", DELETE, "OUT_OF_SCOPE", "developers"),
    Row("alice2", DELETE, "OUT_OF_SCOPE", "developers"),
    Row("alice", MEMBER, "OUT_OF_SCOPE", "developers"),
    Row("alice", ELSEWHERE, None),
    Row("bob", LIST, None),
    Row("bob", CREATE, None),
    Row("bob", DELETE, "TRUST_INSUFFICIENT", "contractors"),
    Row("bob", BADGE, "OUT_OF_SCOPE", "contractors"),
    Row("bob", MEMBER, "OUT_OF_SCOPE", "contractors"),
    Row("bob", ELSEWHERE, "OUT_OF_SCOPE", "contractors"),
    Row("bob", RUNNERS, "OUT_OF_SCOPE", "contractors"),
    Row("carol", LIST, "OUT_OF_SCOPE"),
    Row("carol", ("find_actions", {"query": "labels"}), "OUT_OF_SCOPE"),
    Row("projectbot", LIST, None),
    Row("projectbot", CREATE, "READ_ONLY_MODE", "robots"),
    Row("groupbot", CREATE, "READ_ONLY_MODE", "robots"),
    Row("otherbot", LIST, "OUT_OF_SCOPE"),
]


@pytest.fixture
def served(standin: StandIn, against: Server, tmp_path: Path) -> Any:
    standin.project("acme/payroll", 9002)
    with_labels(standin, "bug")
    for named in ("acme", "9101"):
        group = {"id": 9101, "full_path": "acme", "parent_id": None}
        standin.answer("GET", f"/groups/{named}", 200, group)
    standin.answer("GET", "/projects/*/runners", 200, [])
    standin.answer("DELETE", "/projects/*/badges/1", 204)
    standin.answer("DELETE", "/projects/*/members/7", 204)
    namespace = {"id": 9101, "kind": "group", "full_path": "acme"}
    for number, path in ((9001, "acme/website"), (9002, "acme/payroll")):
        project = {"id": number, "path_with_namespace": path, "namespace": namespace}
        for named in (str(number), path.replace("/", "%2F")):
            standin.answer("GET", f"/projects/{named}", 200, project)
    people = with_people(standin, MEMBERS)
    people.bots = {
        "projectbot": "project_42_bot_0a1b",
        "groupbot": "group_7_bot_2c3d",
        "otherbot": "service_account_9",
    }
    return lambda text=POLICY, **more: against(policy=write_policy(tmp_path, text), **more)


@pytest.mark.parametrize("how", [lambda call: call, in_a_batch, in_run_action])
@pytest.mark.parametrize("row", TABLE, ids=lambda row: f"{row.who} {row.call[0]} {row.call[1].get('action')}")
async def test_each_gets_what_their_rule_leaves_however_it_is_called(
    row: Row, how: Any, standin: StandIn, served: Any
) -> None:
    if how is in_run_action and row.call[0] == "find_actions":
        return
    tool, arguments = how(row.call)
    ended = await outcome(served(), tool, arguments, request_by(row.who))
    if isinstance(ended, Failure) and "results" in ended.facts:
        ended = ended.facts["results"][0]["error"]
    if row.refused_with is None:
        assert not isinstance(ended, Failure), ended
        return
    assert isinstance(ended, Failure)
    assert (ended.code, ended.facts.get("rule")) == (row.refused_with, row.rule)
    assert "the platform team" in ended.facts["suggested_fix"]
    assert ended.recovery == "no"
    assert writes(standin) == []


async def test_a_graphql_mutation_and_a_rehearsal_meet_the_rule_too(standin: StandIn, served: Any) -> None:
    app = served()
    mutation = ("manage_work_item", {"action": "create", **WEBSITE, "title": "x", "type": "task"})
    assert await code_of(app, *mutation, request_by("projectbot")) == "READ_ONLY_MODE"
    tried = (DELETE[0], {**DELETE[1], "dry_run": True})
    assert await code_of(app, *tried, request_by("alice")) == "OUT_OF_SCOPE"
    assert writes(standin) == []


async def test_who_somebody_is_is_asked_once_for_each_token(standin: StandIn, served: Any) -> None:
    app = served()
    for who in ("alice", "bob", "alice2") * 3:
        await app.call(*LIST, request_context=request_by(who))
    asked = [
        f"{request.token} {request.route}"
        for request in standin.requests
        if request.route == "/user" or "/members/" in request.route
    ]
    assert sorted(asked) == [
        "alice /groups/acme/members/all/2",
        "alice /user",
        "alice2 /groups/acme/members/all/2",
        "alice2 /user",
        "bob /groups/acme%2Fcontractors/members/all/3",
        "bob /groups/acme/members/all/3",
        "bob /user",
    ]


async def test_a_name_can_change_hands_and_a_number_cannot(standin: StandIn, served: Any) -> None:
    people = with_people(standin)
    app = served("rules: [{name: named, users: [ALICE]}, {name: numbered, users: ['user:3']}]")
    await app.call(*LIST, request_context=request_by("alice"))
    await app.call(*LIST, request_context=request_by("bob"))
    standin.answer("GET", "/user", 200, {"id": 3, "username": "robert"})
    await app.call(*LIST, request_context=request_by("bob2"))
    standin.answer("GET", "/user", 200, {"id": 99, "username": "Alice"})
    await app.call(*LIST, request_context=request_by("carol"))
    standin.answer("GET", "/user", 200, {"id": 99, "username": "bob"})
    assert await code_of(app, *LIST, request_by("dave")) == "OUT_OF_SCOPE"
    assert people.people["bob"] == 3


async def test_whoever_is_in_a_group_is_in_those_below_it_but_not_directly(
    standin: StandIn, served: Any
) -> None:
    app = served(
        "rules: [{name: team, direct_groups: [acme/contractors], read_only: true},"
        " {name: below, groups: [Acme/Contractors/Deep]}]"
    )
    await app.call(*CREATE, request_context=request_by("alice"))
    assert await code_of(app, *CREATE, request_by("bob")) == "READ_ONLY_MODE"
    assert await code_of(app, *CREATE, request_by("carol")) == "OUT_OF_SCOPE"


async def test_a_group_can_be_named_by_its_number(standin: StandIn, served: Any) -> None:
    app = served("rules: [{name: numbered, groups: ['group:7']}]")
    standin.answer("GET", "/groups/7/members/all/3", 200, {"id": 3, "access_level": 10})
    await app.call(*LIST, request_context=request_by("bob"))
    assert await code_of(app, *LIST, request_by("alice")) == "OUT_OF_SCOPE"


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ((404, {"message": "404 Group Not Found"}), "OUT_OF_SCOPE"),
        ((403, {"message": "403 Forbidden"}), "OUT_OF_SCOPE"),
        ((403, {"error": "insufficient_scope", "scope": "api read_api"}), "OUT_OF_SCOPE"),
        ((401, {"message": "401 Unauthorized"}), "AUTHENTICATION_FAILED"),
        ((500, {"message": "500 Internal Server Error"}), "SERVER_ERROR"),
        ((404, {"error": "404 Not Found"}), "NOT_FOUND"),
        ((200, "<html>"), "BAD_RESPONSE"),
    ],
)
@pytest.mark.parametrize("about", ["/user", "/groups/acme/members/all/3"])
async def test_where_gitlab_does_not_say_who_it_is_nothing_is_done(
    about: str, answer: tuple[int, Any], code: str, standin: StandIn, served: Any
) -> None:
    """Not even by a rule that comes later and would be for them."""
    app = served("rules: [{name: narrow, groups: [acme], read_only: true}, {name: wide, users: [bob]}]")
    status, body = answer
    standin.answer("GET", about, status, body, {"Content-Type": "text/html"} if body == "<html>" else None)
    ended = await outcome(app, *CREATE, request_by("bob"))
    if about != "/user" and "message" in body and status in (403, 404):
        # That is how GitLab says that somebody is no member.
        assert not isinstance(ended, Failure)
        return
    assert isinstance(ended, Failure)
    assert writes(standin) == []
    if about == "/user" and "message" in body and status in (403, 404):
        assert ended.code in ("AUTHENTICATION_FAILED", "PERMISSION_DENIED", "NOT_FOUND")
    elif not (about != "/user" and code == "AUTHENTICATION_FAILED"):
        assert ended.code == code


async def test_a_gitlab_that_was_down_is_asked_again(standin: StandIn, served: Any) -> None:
    app = served()
    standin.fault("GET", "/user", server_error(), times=None, caller="alice")
    assert await code_of(app, *CREATE, request_by("alice")) == "SERVER_ERROR"
    assert await app.listing_of_caller(request_by("alice")) == app.listing(request_by("alice"))
    standin._rules.clear()
    await app.call(*CREATE, request_context=request_by("alice"))


async def test_a_token_of_a_job_acts_for_the_person_and_cannot_ask_for_groups(
    standin: StandIn, served: Any
) -> None:
    job = request_by("alice", kind="job")
    app = served("rules: [{name: jobs, tokens: [job], users: [alice]}, {name: all, groups: [acme]}]")
    await app.call(*LIST, request_context=job)
    app = served("rules: [{name: all, groups: [acme]}, {name: jobs, tokens: [job]}]")
    failure = await refused(app, *LIST, job)
    assert failure.code == "OUT_OF_SCOPE" and "before those for groups" in failure.facts["suggested_fix"]


async def test_an_oauth_token_is_told_from_a_long_lived_one(standin: StandIn, served: Any) -> None:
    app = served("rules: [{name: signed-in, tokens: [oauth]}]")
    standin.answer("GET", "/user", 200, {"id": 2, "username": "alice"})
    await app.call(*LIST, request_context=request_by("a1" * 32, kind="bearer"))
    assert await code_of(app, *LIST, request_by("alice", kind="bearer")) == "OUT_OF_SCOPE"


async def test_a_server_whose_token_is_replaced_by_another_persons_has_their_rule(
    standin: StandIn, served: Any, tmp_path: Path
) -> None:
    file = tmp_path / "token"
    file.write_text("dave")
    app = served(token=None, token_file=file)
    await app.call(*DELETE)
    file.write_text("bob")
    assert await code_of(app, *DELETE) == "TRUST_INSUFFICIENT"


async def test_a_rule_for_everybody_asks_nobody(standin: StandIn, served: Any) -> None:
    app = served("rules: [{name: everybody, everybody: true, read_only: true}]")
    await app.call(*LIST, request_context=request_by("whoever"))
    assert await code_of(app, *CREATE, request_by("whoever")) == "READ_ONLY_MODE"
    assert {request.route for request in standin.requests} == {"/projects/acme%2Fwebsite/labels"}


async def test_a_rule_is_about_the_people_of_one_gitlab(standin: StandIn, served: Any) -> None:
    """Somebody else can have the name on another one."""
    with StandIn() as other:
        with_labels(other, "bug")
        with_people(other)
        elsewhere = request_by("alice", gitlab_url=other.url)
        more = {"allow_gitlab_host": (other.url,)}
        rules = "rules: [{name: home, users: [alice]}, {name: all, everybody: true}%s]"
        app = served(rules % "", **more)
        assert await code_of(app, *LIST, elsewhere) == "OUT_OF_SCOPE"
        app = served(rules % f", {{name: there, users: [alice], gitlab: '{other.url}'}}", **more)
        await app.call(*LIST, request_context=elsewhere)


async def test_the_stricter_of_two_quotas_and_of_two_confirmations_holds(
    standin: StandIn, served: Any
) -> None:
    rules = (
        "rules: [{name: few, users: [bob], quota: [writes=1], confirm: reversible},"
        " {name: many, everybody: true, quota: [writes=1000000], confirm: never}]"
    )
    app = served(rules, quota=("writes=2",), confirm="destructive")
    asked = await refused(app, *CREATE, request_by("bob"))
    assert asked.code == "CONFIRMATION_REQUIRED"
    await app.call(
        CREATE[0],
        {**CREATE[1], "confirmation_token": asked.facts["confirmation_token"]},
        request_context=request_by("bob"),
    )
    over = await refused(app, CREATE[0], {**CREATE[1], "name": "y"}, request_by("bob"))
    assert over.code == "QUOTA_EXHAUSTED" and "The rule few sets the quota" in over.facts["suggested_fix"]
    assert await code_of(app, *DELETE, request_by("alice")) == "CONFIRMATION_REQUIRED"
    for name in "abc":
        ended = await outcome(app, CREATE[0], {**CREATE[1], "name": name}, request_by("alice"))
    assert isinstance(ended, Failure) and "--quota" in ended.facts["suggested_fix"]


async def test_what_a_rule_forbids_is_no_next_step_and_no_hit_of_a_search(
    standin: StandIn, served: Any
) -> None:
    app = served()
    query = ("find_actions", {"query": "delete a label"})
    for who, is_found in (("dave", True), ("alice", False)):
        hits = (await app.call(*query, request_context=request_by(who))).data["hits"]
        assert ("manage_label delete" in [hit["action"] for hit in hits]) == is_found, who
    found = await app.call("find_actions", {"query": "list runners"}, request_context=request_by("bob"))
    assert "The rule contractors leaves out its toolset, ci." in found.data["not_allowed_here"]


async def test_what_a_person_may_not_call_is_not_listed_to_them(standin: StandIn, served: Any) -> None:
    app = served()

    async def listed(who: str, **request: Any) -> set[str]:
        return {tool["name"] for tool in await app.listing_of_caller(request_by(who, **request)) or ()}

    everything = {tool["name"] for tool in app.listing()}
    assert await listed("dave") == everything
    assert "manage_member" not in await listed("alice") and "manage_label" in await listed("alice")
    of_bob = await listed("bob")
    assert {"manage_label", "run_batch"} <= of_bob
    assert not of_bob & {"manage_member", "browse_runners", "manage_protected_branch"}
    assert await listed("carol") == set()
    assert not [name for name in await listed("projectbot") if name.startswith("manage_")]
    assert await listed("bob", toolsets=("planning", "ci")) < of_bob
    assert "manage_label" not in await listed("bob", read_only=True)


async def test_every_tool_that_a_rule_leaves_uncallable_is_missing_from_the_list(
    standin: StandIn, served: Any
) -> None:
    """Held against the guards themselves: of each listed tool some action passes, of each other one none."""
    app = served("rules: [{name: few, users: [bob], trust: reversible, toolsets: [planning, access]}]")
    listed = {tool["name"] for tool in await app.listing_of_caller(request_by("bob")) or ()}
    registry = app._dispatch.registry
    for tool in registry.names():
        codes = set()
        for name, action in registry.tool(tool).actions.items():
            call = {**action.spec.example, **({} if registry.is_single(tool) else {"action": name})}
            ended = await outcome(app, tool, call, request_by("bob"))
            refusal = ended.code if isinstance(ended, Failure) and ended.facts.get("rule") else None
            codes.add(refusal)
        # The example of an action has values that make it more dangerous than it is by itself.
        raised = {"manage_deploy_access"}
        assert (None in codes) == (tool in listed - raised), (tool, codes)


LIMITS = st.fixed_dictionaries(
    {},
    optional={
        "read_only": st.booleans(),
        "toolsets": st.lists(
            st.sampled_from(["core", "planning", "access", "ci"]), min_size=1, max_size=3, unique=True
        ).map(tuple),
        "only_in": st.sampled_from([("acme/website",), ("acme",), ("acme/payroll", "acme/website")]),
        "never_in": st.sampled_from([("acme/payroll",), ("acme",)]),
        "only_actions": st.sampled_from([("browse_*",), ("manage_label", "toolset:access"), ("*.delete",)]),
        "never_actions": st.sampled_from([("*.delete",), ("toolset:planning",), ("run_batch",)]),
        "trust": st.sampled_from(["read", "reversible", "destructive", "dangerous"]),
        "confirm": st.sampled_from(["never", "dangerous", "destructive", "reversible"]),
    },
)
CALLS = (LIST, CREATE, DELETE, MEMBER, ELSEWHERE, RUNNERS, BADGE, in_a_batch(DELETE), in_run_action(CREATE))


def written(limits: dict[str, Any]) -> str:
    """A policy of one rule that leaves these limits to everybody."""
    values = {
        name: value if isinstance(value, str) else list(value) if isinstance(value, tuple) else str(value)
        for name, value in limits.items()
    }
    lines = [f"    {name}: {value or 'none'}" for name, value in values.items()]
    return "\n".join(["rules:", "  - name: all", "    everybody: true", *lines])


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(of_operator=LIMITS, of_rule=LIMITS)
def test_no_rule_lets_anything_through_that_the_operators_flags_stop(
    of_operator: dict[str, Any], of_rule: dict[str, Any], standin: StandIn, served: Any, tmp_path: Path
) -> None:
    """Neither is anything listed that could not be called without it."""

    def app(**more: Any) -> App:
        chosen = {"toolsets": ("all",), **UNGUARDED, **of_operator, **more}
        return App(Settings(url=standin.url, token=Secret("alice"), **chosen))

    async def allowed(app: App) -> list[bool]:
        passed = []
        for tool, arguments in CALLS:
            ended = await outcome(
                app, tool, {**arguments, "dry_run": True} if "manage" in tool else arguments
            )
            refused = isinstance(ended, Failure)
            asked = not refused and "what_will_happen" in str(getattr(ended, "data", ""))
            passed.append(not refused and not asked)
        return passed

    flags_alone, with_rule = app(), app(policy=write_policy(tmp_path, written(of_rule)))
    try:
        before, after = anyio.run(allowed, flags_alone), anyio.run(allowed, with_rule)
        assert [call for call, was, now in zip(CALLS, before, after, strict=True) if now and not was] == []
        of_person = {tool["name"] for tool in anyio.run(with_rule.listing_of_caller, None) or ()}
        callable_at_all = flags_alone._listed_tools.offered(can_ask=True)
        assert all(callable_at_all.may_be_called(name) for name in of_person)
    finally:
        flags_alone.close()
        with_rule.close()

"""Several accounts behind one server: nothing of one reaches the other."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gitlab_mcp.actions.account_field import FIELD
from gitlab_mcp.actions.registry import Registry
from gitlab_mcp.actions.result import Result
from gitlab_mcp.actions.shape import shapes
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.profiles import Profiles, application, listing
from gitlab_mcp.settings import load
from tests.support.people import write_policy
from tests.support.process import Spoken
from tests.support.standin import StandIn

pytestmark = pytest.mark.anyio
WORK_TOKEN, HOME_TOKEN, THIRD_TOKEN = (f"glpat-{name}-aaaaaaaaaaaaaaa" for name in ("work", "home", "third"))


@pytest.fixture
def work() -> Iterator[StandIn]:
    with StandIn() as gitlab:
        yield gitlab


@pytest.fixture
def home() -> Iterator[StandIn]:
    with StandIn() as gitlab:
        yield gitlab


@pytest.fixture
def file(tmp_path: Path, work: StandIn, home: StandIn) -> Path:
    for gitlab, name in ((work, "worker"), (home, "homer")):
        gitlab.answer("GET", "/user", 200, {"id": 2, "username": name})
        gitlab.answer("GET", "/projects/acme*", 200, {"id": 7, "path_with_namespace": f"acme/{name}"})
        gitlab.answer("POST", "/projects/*/labels", 201, {"id": 3, "name": name, "color": "#ff0000"})
        gitlab.answer("DELETE", "/projects/*/labels/*", 204)
        gitlab.answer("GET", "/version", 200, {"version": "19.3.0"})
    config = tmp_path / "config.toml"
    config.write_text(
        f"""
[profiles.work]
url = "{work.url}"
token = "{WORK_TOKEN}"
project = "acme/work"

[profiles.home]
url = "{home.url}"
token = "{HOME_TOKEN}"
read_only = true
"""
    )
    return config


@pytest.fixture
def server(file: Path) -> Iterator[Profiles]:
    served = made(file)
    yield served
    served.close()


def made(file: Path, flags: dict[str, Any] | None = None, **environ: str) -> Profiles:
    served = application(load({"config": str(file), **(flags or {})}, environ, file.parent))
    assert isinstance(served, Profiles)
    return served


async def failure_of(server: Profiles, tool: str, **arguments: Any) -> Failure:
    with pytest.raises(CallFailed) as failed:
        await server.call(tool, arguments)
    return failed.value.failure


def tokens(gitlab: StandIn) -> set[str | None]:
    return {each.token for each in gitlab.requests}


async def test_each_account_goes_to_its_gitlab_with_its_token(
    server: Profiles, work: StandIn, home: StandIn
) -> None:
    for name, username in (("work", "worker"), ("home", "homer"), ("work", "worker")):
        result = await server.call("browse_users", {"action": "me", "profile": name})
        assert result.data["username"] == username
    assert (tokens(work), tokens(home)) == ({WORK_TOKEN}, {HOME_TOKEN})


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("browse_projects", {"action": "get", "url": "{home}/acme/site"}),
        ("browse_projects", {"action": "get", "project_id": "{home}/acme/site"}),
        ("browse_action", {"action": "browse_projects get", "arguments": {"project_id": "{home}/acme/site"}}),
        ("browse_action", {"action": "browse_users me", "arguments": {"profile": "home"}}),
        ("browse_action", {"action": "browse_users me", "arguments": '{"profile": "home"}'}),
        ("browse_action", {"action": "browse_users me", "profile": "home"}),
        (
            "run_batch",
            {"calls": [{"tool": "browse_users", "arguments": {"action": "me", "profile": "home"}}]},
        ),
        ("run_batch", {"calls": [{"tool": "browse_users", "action": "me", "profile": "home"}]}),
        (
            "run_batch",
            {"calls": '[{"tool": "browse_users", "arguments": {"action": "me", "profile": "home"}}]'},
        ),
        (
            "run_batch",
            {"calls": [{"tool": "browse_projects", "arguments": {"action": "get", "url": "{home}/acme/x"}}]},
        ),
        (
            "run_batch",
            {"calls": [{"tool": "browse_users", "arguments": {"action": "me"}}], "profile": "home"},
        ),
        (
            "run_batch",
            {
                "calls": '[{"tool": "browse_projects", "arguments": {"action": "get", "url": "{home}/acme/x"}}]'
            },
        ),
        ("browse_instance", {"action": "explain_url", "url": "{home}/acme/site"}),
    ],
    ids=lambda value: json.dumps(value)[:60],
)
async def test_a_name_or_a_url_chooses_wherever_it_stands(
    server: Profiles, work: StandIn, home: StandIn, tool: str, arguments: dict[str, Any]
) -> None:
    there: dict[str, Any] = json.loads(json.dumps(arguments).replace("{home}", home.url))
    result = await server.call(tool, there)
    assert "error" not in json.dumps(result.data.get("results", []))
    assert (tokens(work), tokens(home)) == (set(), {HOME_TOKEN})


async def test_what_a_call_writes_does_not_choose(file: Path, work: StandIn, home: StandIn) -> None:
    """The address of a webhook may be anywhere."""
    file.write_text('trust = "dangerous"\nconfirm = "never"\n' + file.read_text())
    server = made(file)
    work.answer("POST", "/projects/*/hooks", 201, {"id": 1, "url": home.url})
    arguments = {"action": "create", "project_id": 7, "url": f"{home.url}/acme/site"}
    assert (await failure_of(server, "manage_webhook", **arguments)).code == Code.MISSING_REQUIRED_FIELD
    await server.call("manage_webhook", {**arguments, "profile": "work"})
    assert (tokens(work), tokens(home)) == ({WORK_TOKEN}, set())
    server.close()


async def test_a_call_that_does_not_say_which_account_is_told_which_there_are(
    server: Profiles, work: StandIn, home: StandIn
) -> None:
    failure = await failure_of(server, "browse_users", action="me")
    assert failure.code == Code.MISSING_REQUIRED_FIELD
    assert failure.facts["missing_fields"] == ["profile"]
    assert f"work ({work.url}), home ({home.url})" in failure.facts["suggested_fix"]
    assert work.requests == home.requests == []


@pytest.mark.parametrize("name", ["wrok", "default", "WORK", 3, ["work"], {"a": 1}, True])
async def test_a_name_that_is_none_of_ours_is_refused_and_not_repeated(server: Profiles, name: Any) -> None:
    failure = await failure_of(server, "browse_users", action="me", profile=name)
    assert failure.code == Code.INVALID_VALUE
    assert "wrok" not in repr(failure)


@pytest.mark.parametrize("nothing", [None, ""])
async def test_an_empty_name_is_none(server: Profiles, nothing: Any) -> None:
    failure = await failure_of(server, "browse_users", action="me", profile=nothing)
    assert failure.code == Code.MISSING_REQUIRED_FIELD


async def test_a_url_of_another_gitlab_names_those_that_there_are(server: Profiles, work: StandIn) -> None:
    failure = await failure_of(
        server, "browse_projects", action="get", url="https://gitlab.elsewhere.example/a/b"
    )
    assert failure.code == Code.HOST_NOT_ALLOWED
    assert "work" in failure.facts["suggested_fix"] and "home" in failure.facts["suggested_fix"]


async def test_a_name_wins_over_nothing_but_not_over_a_url_of_another(
    server: Profiles, work: StandIn, home: StandIn
) -> None:
    failure = await failure_of(server, "browse_projects", action="get", url=f"{home.url}/a/b", profile="work")
    assert failure.code == Code.HOST_NOT_ALLOWED
    assert tokens(home) == set()


async def test_one_call_is_for_one_account(server: Profiles, work: StandIn, home: StandIn) -> None:
    calls = [
        {"tool": "browse_users", "arguments": {"action": "me", "profile": name}} for name in ("work", "home")
    ]
    assert (await failure_of(server, "run_batch", calls=calls)).code == Code.INVALID_VALUE
    failure = await failure_of(
        server,
        "browse_merge_requests",
        action="get",
        url=f"{home.url}/a/b/-/merge_requests/1",
        project_id=f"{work.url}/a/b",
    )
    assert failure.code == Code.INVALID_VALUE
    assert work.requests == home.requests == []


async def test_a_limit_holds_for_its_account_alone(server: Profiles, home: StandIn) -> None:
    label = {"action": "create", "project_id": 7, "name": "bug", "color": "#ff0000"}
    failure = await failure_of(server, "manage_label", **label, profile="home")
    assert failure.code == Code.READ_ONLY_MODE
    await server.call("manage_label", {**label, "profile": "work"})
    assert home.requests == []


async def test_a_default_project_is_of_its_account_alone(
    server: Profiles, work: StandIn, home: StandIn
) -> None:
    await server.call("browse_projects", {"action": "get", "profile": "work"})
    assert any("acme%2Fwork" in each.path for each in work.requests)
    failure = await failure_of(server, "browse_projects", action="get", profile="home")
    assert failure.code == Code.MISSING_REQUIRED_FIELD
    assert home.requests == []


async def test_a_confirmation_of_one_account_is_worth_nothing_in_another(
    file: Path, work: StandIn, home: StandIn
) -> None:
    file.write_text(file.read_text().replace("read_only = true", ""))
    server = made(file)
    delete = {"action": "delete", "project_id": 7, "label_id": "bug"}
    asked = await failure_of(server, "manage_label", **delete, profile="work")
    token = asked.facts["confirmation_token"]
    crossed = await failure_of(server, "manage_label", **delete, profile="home", confirmation_token=token)
    assert crossed.code in (Code.CONFIRMATION_REQUIRED, Code.CONFIRMATION_INVALID)
    assert not [each for each in home.requests if each.method == "DELETE"]
    await server.call("manage_label", {**delete, "profile": "work", "confirmation_token": token})
    server.close()


async def test_a_quota_of_one_account_is_not_used_up_by_another(file: Path) -> None:
    file.write_text('quota = "writes=3"\n' + file.read_text().replace("read_only = true", ""))
    server = made(file)
    label = {"action": "create", "project_id": 7, "name": "bug", "color": "#ff0000"}
    with pytest.raises(CallFailed) as failed:
        for _ in range(5):
            await server.call("manage_label", {**label, "profile": "work"})
    assert failed.value.failure.code == Code.QUOTA_EXHAUSTED
    await server.call("manage_label", {**label, "profile": "home"})
    server.close()


async def test_what_is_learned_of_one_gitlab_is_not_believed_of_another(
    server: Profiles, work: StandIn, home: StandIn
) -> None:
    work.answer("GET", "/projects/7", 404, {"message": "404 Project Not Found"})
    home.answer("GET", "/projects/7", 404, {"message": "404 Project Not Found"})
    for name in ("work", "home"):
        failure = await failure_of(server, "browse_projects", action="get", project_id=7, profile=name)
        assert failure.code == Code.NOT_FOUND
    asked = [{each.path for each in gitlab.requests} for gitlab in (work, home)]
    assert asked[0] == asked[1]
    assert (tokens(work), tokens(home)) == ({WORK_TOKEN}, {HOME_TOKEN})


async def test_calls_that_are_ready_to_be_made_name_the_account(server: Profiles) -> None:
    label = {"action": "create", "project_id": 7, "name": "bug", "color": "#ff0000"}
    created: Result = await server.call("manage_label", {**label, "profile": "work"})
    assert created.data["undo"]["arguments"]["profile"] == "work"
    failure = await failure_of(server, "browse_user", action="me", profile="work")
    assert failure.facts["send"].get("arguments", {}).get("profile", "work") == "work"


async def test_two_accounts_of_one_gitlab_are_told_apart_by_name(file: Path, work: StandIn) -> None:
    file.write_text(f'{file.read_text()}\n[profiles.third]\nurl = "{work.url}"\ntoken = "{THIRD_TOKEN}"\n')
    server = made(file)
    failure = await failure_of(server, "browse_projects", action="get", url=f"{work.url}/acme/site")
    assert failure.code == Code.MISSING_REQUIRED_FIELD
    assert "third, work" in failure.facts["suggested_fix"]
    await server.call(
        "browse_projects", {"action": "get", "url": f"{work.url}/acme/site", "profile": "third"}
    )
    assert tokens(work) == {THIRD_TOKEN}
    server.close()


async def test_what_is_outside_of_profiles_is_the_usual_account(
    file: Path, work: StandIn, home: StandIn
) -> None:
    with StandIn() as third:
        third.answer("GET", "/user", 200, {"id": 2, "username": "third"})
        server = made(file, GITLAB_URL=third.url, GITLAB_TOKEN=THIRD_TOKEN)
        for arguments in ({}, {"profile": "default"}):
            result = await server.call("browse_users", {"action": "me", **arguments})
            assert result.data["username"] == "third"
        # The variables are of that account alone.
        await server.call("browse_users", {"action": "me", "profile": "work"})
        assert (tokens(third), tokens(work)) == ({THIRD_TOKEN}, {WORK_TOKEN})
        server.close()


def test_the_field_is_listed_where_there_are_profiles_and_nowhere_else(file: Path) -> None:
    with_profiles = load({"config": str(file)}, {}, file.parent)
    for tool in listing(with_profiles, Registry()):
        assert tool["inputSchema"]["properties"][FIELD]["enum"] == ["work", "home"]
    without = load({"config": str(file), "profile": "work"}, {}, file.parent)
    for tool in listing(without, Registry()):
        assert FIELD not in tool["inputSchema"]["properties"]


def test_what_one_account_may_is_listed_though_another_may_not(file: Path) -> None:
    tools = {tool["name"] for tool in listing(load({"config": str(file)}, {}, file.parent), Registry())}
    assert "manage_issue" in tools
    file.write_text("read_only = true\n" + file.read_text())
    tools = {tool["name"] for tool in listing(load({"config": str(file)}, {}, file.parent), Registry())}
    assert "manage_issue" not in tools


def test_no_action_has_a_field_of_this_name() -> None:
    registry = Registry()
    assert not [action for action in registry.actions() if FIELD in shapes(action)]
    assert not [action for action in registry.rows_of() if FIELD in shapes(action)]


def test_a_server_on_standard_input_takes_each_call_to_its_gitlab(
    file: Path, work: StandIn, home: StandIn
) -> None:
    with Spoken("", GITLAB_TOKEN="", GITLAB_MCP_CONFIG=str(file)) as server:
        for name, username in (("work", "worker"), ("home", "homer")):
            answer = server.call("browse_users", {"action": "me", "profile": name})
            assert username in answer["content"][0]["text"]
        refused = server.call("browse_users", {"action": "me", "profile": "wrok"})
        assert refused["isError"]
    assert (tokens(work), tokens(home)) == ({WORK_TOKEN}, {HOME_TOKEN})
    assert WORK_TOKEN not in server.said_badly


async def test_under_a_policy_each_account_has_the_rule_of_its_own_caller(
    file: Path, work: StandIn, home: StandIn, tmp_path: Path
) -> None:
    rules = (
        f"{{name: homes, gitlab: '{home.url}', users: [homer], only_actions: ['browse_labels.*']}}, "
        f"{{name: works, gitlab: '{work.url}', users: [worker], never_actions: ['browse_labels.*']}}"
    )
    policy = write_policy(tmp_path, f"contact: us\nrules: [{rules}]\n")
    flags = {"policy": str(policy), "allow_gitlab_host": [work.url, home.url], "toolsets": "core,planning"}
    server = made(file, flags)
    home.answer("GET", "/projects/*/labels", 200, [])
    labels = {"action": "list", "project_id": "acme/homer"}
    assert "items" in (await server.call("browse_labels", {**labels, FIELD: "home"})).data
    with pytest.raises(CallFailed) as refused:
        await server.call("browse_labels", {**labels, FIELD: "work"})
    assert "works" in refused.value.failure.message
    listed = await server.listing_of_caller(None)
    names = {tool["name"] for tool in listed or ()}
    # One is left by the rule of work alone, the other by that of home.
    assert {"browse_issues", "browse_labels"} <= names
    server.close()

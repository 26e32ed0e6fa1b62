"""The paper of GitLab.com: what a Free namespace gets beside an Ultimate one, and what is not GitLab's answer.

GitLab.com is played by the stand-in, whose answers are synthetic. The graded refusals are those that GitLab's code of
18.9 gives there; nobody measured them. The server reaches it as http://gitlab.com, with the
stand-in as its proxy.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import anyio
import pytest

from gitlab_mcp.actions.exchange import Request
from gitlab_mcp.actions.registry import Registry
from gitlab_mcp.api.endpoints import normalised
from gitlab_mcp.app import App
from gitlab_mcp.cli import main
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.gitlab.client import Timeouts, Upstream
from gitlab_mcp.gitlab.faults import Refused
from gitlab_mcp.gitlab.instance import AnswerCache, CachedLookups
from gitlab_mcp.refusals.translate import translate
from gitlab_mcp.settings import Secret, Settings
from tests.support import exam
from tests.support.facts import facts
from tests.support.guarded import UNGUARDED
from tests.support.standin import GitLabCom, StandIn, challenge_page, rate_limited, too_many_from_here
from tests.support.standin.gitlab_com import GROUPS, PLANS, PROJECTS, STRANGERS, TIERS, URL, VERSION

Call = Callable[..., Any]
JSON = {"content-type": "application/json"}


def lookups(url: str, standin: StandIn) -> CachedLookups:
    upstream = Upstream(url, Timeouts(1, 1, 3))
    return CachedLookups(upstream.as_caller("alice"), AnswerCache())


@pytest.fixture
def com(standin: StandIn, monkeypatch: pytest.MonkeyPatch) -> Iterator[GitLabCom]:
    for name in ("HTTP_PROXY", "http_proxy"):
        monkeypatch.setenv(name, standin.url)
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    gitlab = GitLabCom()
    standin.add(gitlab)
    yield gitlab


@pytest.fixture
def call(com: GitLabCom) -> Iterator[Call]:
    """The data of the result, or the failure."""
    apps: dict[str, App] = {}

    def call(tool: str, action: str, *, caller: str = "alice", **arguments: Any) -> Any:
        if caller not in apps:
            chosen: dict[str, Any] = {
                **UNGUARDED,
                "token": Secret(caller),
                "toolsets": ("all",),
                "deadline": 3.0,
            }
            apps[caller] = App(Settings(url=URL, **chosen))

        async def once() -> Any:
            try:
                return (await apps[caller].call(tool, {"action": action, **arguments})).data
            except CallFailed as failed:
                return failed.failure

        return anyio.run(once)

    yield call
    for app in apps.values():
        app.close()


PAID_READS = {
    "browse_epics list": {"group_id": "{}"},
    "browse_approval_rules list": {"project_id": "{}/website"},
    "browse_iterations list": {"group_id": "{}"},
    "browse_dependencies list": {"project_id": "{}/website"},
}


def asked(call: Call, name: str, namespace: str, **more: Any) -> Any:
    tool, action = name.split()
    arguments = {key: value.format(namespace) for key, value in PAID_READS[name].items()}
    return call(tool, action, **arguments, **more)


@pytest.mark.parametrize("caller", ["alice", "bob"])
@pytest.mark.parametrize("name", PAID_READS)
def test_a_free_namespace_is_refused_for_its_tier_and_an_ultimate_one_is_answered(
    call: Call, name: str, caller: str
) -> None:
    refused, answered = (asked(call, name, place, caller=caller) for place in ("acme-free", "acme-ultimate"))
    assert not isinstance(answered, Failure)
    if isinstance(refused, Failure):
        assert (refused.code, refused.facts["current_tier"]) == ("TIER_RESTRICTED", "Free")
        assert refused.facts["confidence"] == "certain"
        assert "this namespace is on Free" in refused.message
    else:
        assert [warning["current_tier"] for warning in refused["warnings"]] == ["Free"]


OURS = {normalised(str(endpoint)) for action in Registry().actions() for endpoint in action.spec.endpoints}


def refusals_at(namespace: str) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """What GitLab's code says that GitLab.com answers in a Free namespace, asked in this one. Synthetic."""
    project, group = PROJECTS[f"{namespace}/website"], GROUPS[namespace]
    for known in facts("gitlab_com_free"):
        for route in known["endpoints"]:
            method, path = route.split(" ", 1)
            path = path.replace("/projects/:id", f"/projects/{project}", 1)
            path = re.sub(r":\w+", "1", path.replace("/groups/:id", f"/groups/{group}", 1))
            yield (
                known,
                {
                    "label": route,
                    "actor": "alice",
                    "method": method,
                    "path": f"/api/v4{path}",
                    "status": known["status"],
                    "headers": JSON,
                    "body": known["body"],
                    "route": route,
                },
            )


async def graded(standin: StandIn, caller: str, namespace: str) -> list[tuple[dict[str, Any], str, Failure]]:
    """Each refusal with the code that names its cause in a Free namespace, and what it was told as."""
    upstream = Upstream(URL, Timeouts(1, 1, 3))
    ask, told = CachedLookups(upstream.as_caller(caller), AnswerCache()), []
    for known, row in refusals_at(namespace):
        failure = await translate(exam.refused(row), exam.action_for(row, known["feature"]), ask)
        told.append((row, "PERMISSION_DENIED" if known.get("administrators") else "TIER_RESTRICTED", failure))
    upstream.close()
    return told


@pytest.mark.anyio
@pytest.mark.parametrize("caller", ["alice", "bob"])
async def test_what_gitlabs_code_refuses_a_free_namespace_is_told_as_its_tier(
    com: GitLabCom, standin: StandIn, caller: str
) -> None:
    told = await graded(standin, caller, "acme-free")
    wrong = [row["label"] for row, code, failure in told if failure.code != code]
    assert len(told) > 150
    assert 1 - len(wrong) / len(told) >= 0.94, wrong
    # The others are what no action calls: Geo, code suggestions, moves of groups between storages.
    assert [label for label in wrong if normalised(label) in OURS] == []


@pytest.mark.anyio
async def test_the_same_answer_in_an_ultimate_namespace_has_another_cause(
    com: GitLabCom, standin: StandIn
) -> None:
    told = await graded(standin, "alice", "acme-ultimate")
    tiers = [(row["path"], failure) for row, _, failure in told if failure.code == "TIER_RESTRICTED"]
    assert [path for path, _ in tiers if re.search(r"/(projects|groups)/\d", path)] == []
    # Where the address names no namespace, its plan is unknown.
    assert {failure.facts["confidence"] for _, failure in tiers} <= {"possible", "likely"}


@pytest.mark.parametrize("caller", ["alice", "bob"])
@pytest.mark.parametrize(("namespace", "plan"), PLANS.items())
def test_the_tier_is_that_of_the_namespace_also_for_who_does_not_own_it(
    call: Call, namespace: str, plan: str, caller: str
) -> None:
    told = call("browse_instance", "explain_access", project_id=f"{namespace}/website", caller=caller)
    assert told["gitlab"]["tier"] == TIERS[plan]
    assert told["gitlab"]["version"] == VERSION


def test_the_plan_of_a_group_is_its_owners_to_read_and_others_learn_no_more_than_is_shown(call: Call) -> None:
    def tier(caller: str, namespace: str) -> tuple[str, str | None]:
        told = call("browse_instance", "explain_access", group_id=namespace, caller=caller)["gitlab"]
        return told["tier"], told.get("tier_at_least")

    assert tier("alice", "acme-ultimate") == ("Ultimate", None)
    assert tier("bob", "acme-ultimate") == ("unknown", "Premium")
    assert tier("bob", "acme-free") == ("Free", None)


def test_the_instance_as_a_whole_has_no_tier(call: Call) -> None:
    told = call("browse_instance", "explain_access")["gitlab"]
    assert told["tier"] == "unknown"


@pytest.mark.parametrize("title", ["Just a moment...", "Checking your Browser - GitLab"])
@pytest.mark.parametrize("status", [403, 503, 200])
def test_a_challenge_page_is_not_gitlabs_answer(
    standin: StandIn, call: Call, status: int, title: str
) -> None:
    standin.fault("GET", "*", challenge_page(status, title), times=None)
    failure = asked(call, "browse_epics list", "acme-free")
    assert isinstance(failure, Failure)
    assert failure.code not in (
        "TIER_RESTRICTED",
        "PERMISSION_DENIED",
        "NOT_FOUND",
        "SCOPE_INSUFFICIENT",
        "INTERNAL_ERROR",
    )
    assert "current_tier" not in failure.facts
    assert title not in str(failure)


def test_a_challenge_in_the_middle_of_detection_leaves_the_tier_unknown_not_free(
    standin: StandIn, call: Call
) -> None:
    for path in ("/projects/acme-ultimate%2Fwebsite", "/projects/701", "/metadata"):
        standin.fault("GET", path, challenge_page(), times=None)
    told = call("browse_instance", "explain_access", project_id="acme-ultimate/website")
    assert told["gitlab"]["tier"] == "unknown"


def test_a_429_of_what_stands_before_gitlab_holds_every_request_not_one_route(
    standin: StandIn, call: Call
) -> None:
    standin.fault("GET", "/projects", too_many_from_here())
    failure = call("browse_projects", "list", owned=True)
    assert (failure.code, failure.facts["retry_after_seconds"]) == ("RATE_LIMITED", 30)
    assert "other calls go on" not in failure.facts["suggested_fix"]
    before = len(standin.requests)
    again = call("browse_projects", "get", project_id="acme-free/website")
    assert (again.code, len(standin.requests)) == ("RATE_LIMITED", before)


def test_a_429_of_gitlab_with_ratelimit_headers_holds_every_request_of_the_token(
    standin: StandIn, call: Call
) -> None:
    limited = rate_limited("30", RateLimit_Limit=2000, RateLimit_Remaining=0)
    standin.fault("GET", "/projects", limited)
    failure = call("browse_projects", "list", owned=True)
    assert (failure.code, failure.facts["limit"], failure.facts["remaining"]) == ("RATE_LIMITED", 2000, 0)
    before = len(standin.requests)
    assert call("browse_projects", "get", project_id="acme-free/website").code == "RATE_LIMITED"
    assert len(standin.requests) == before
    # Another person's token has a limit of its own.
    assert call("browse_projects", "get", project_id="acme-free/website", caller="bob")["id"] == 700


def test_a_list_of_projects_has_no_strangers_in_it_unless_they_are_asked_for(call: Call) -> None:
    mine = call("browse_projects", "list")
    assert {each["path_with_namespace"] for each in mine["items"]}.isdisjoint(STRANGERS)
    assert "membership" in str(mine)
    everybody = call("browse_projects", "list", membership=False)
    assert not {each["path_with_namespace"] for each in everybody["items"]}.isdisjoint(STRANGERS)


@pytest.mark.parametrize(
    "narrowed", [{"owned": True}, {"starred": True}, {"min_access_level": 30}, {"membership": True}]
)
def test_what_was_narrowed_by_the_caller_is_sent_as_it_was(
    standin: StandIn, call: Call, narrowed: dict[str, Any]
) -> None:
    call("browse_projects", "list", **narrowed)
    [request] = [each for each in standin.requests if each.route == "/projects"]
    assert {
        name for name, _ in request.params if name in ("owned", "starred", "min_access_level", "membership")
    } == set(narrowed)


@pytest.mark.parametrize(
    "refusal",
    [
        Refused(Request("GET", "/projects/702/pages"), 404, JSON, b'{"message":"404 Not Found"}'),
        Refused(Request("POST", "/bulk_imports"), 404, JSON, b'{"message":"404 Not Found"}'),
        Refused(Request("POST", "/projects/import"), 403, JSON, b'{"message":"403 Forbidden"}'),
        Refused(Request("POST", "/projects/remote-import"), 403, JSON, b'{"message":"403 Forbidden"}'),
    ],
    ids=lambda refusal: refusal.request.path,
)
@pytest.mark.anyio
async def test_nobody_is_told_to_ask_an_administrator_for_a_switch_of_the_instance(
    com: GitLabCom, standin: StandIn, refusal: Refused
) -> None:
    self_managed = await translate(refusal, None, lookups("https://gitlab.example.com", standin))
    assert "Ask an administrator" in self_managed.facts["suggested_fix"]
    failure = await translate(refusal, None, lookups(URL, standin))
    assert failure.code == self_managed.code
    assert "dministrator" not in failure.facts["suggested_fix"]
    assert "GitLab.com" in failure.facts["suggested_fix"]


def test_what_only_an_administrator_may_sends_nobody_to_one(call: Call) -> None:
    failure = call("browse_audit_events", "list")
    assert isinstance(failure, Failure)
    assert "sk an administrator" not in str(failure.facts)


def test_the_doctor_knows_it_and_says_that_each_namespace_has_a_tier(
    com: GitLabCom, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GITLAB_TOKEN", "alice")
    assert main(["doctor", "--url", URL]) == 0
    said = capsys.readouterr().out
    assert VERSION in said
    assert "each top-level group has a plan of its own" in said


@pytest.mark.parametrize("namespace", PLANS)
def test_tiers_check_confirms_the_map_in_each_namespace(
    com: GitLabCom,
    standin: StandIn,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    namespace: str,
) -> None:
    monkeypatch.setenv("GITLAB_TOKEN", "alice")
    words = ["--project", f"{namespace}/website", "--group", namespace]
    assert main(["tiers", "--check", "--url", URL, *words]) == 0
    *_, about, counts, _ = capsys.readouterr().out.splitlines()
    assert f"Enterprise Edition, {TIERS[PLANS[namespace]]}, project {namespace}/website" in about
    assert int(counts.split()[0]) >= 100
    assert {request.method for request in standin.requests if request.path != "/api/graphql"} == {"GET"}

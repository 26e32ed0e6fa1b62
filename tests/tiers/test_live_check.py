"""`gitlab-mcp tiers --check` against GitLabs of several versions, editions and tiers.

17.2 and 19.3 answer as they were recorded. The licensed GitLab is synthetic: none was ever measured.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from gitlab_mcp.cli import main
from gitlab_mcp.settings import SETTINGS
from gitlab_mcp.tiers.feature_map import tier_map
from tests.support.facts import facts
from tests.support.recordings import rows
from tests.support.standin import Drop, StandIn, forbidden_page, rate_limited, server_error
from tests.support.standin.licence import NOT_TOLD, Licence

Check = Callable[..., tuple[int, dict[str, Any]]]

SAME_PLACES = {
    "17.2": {"projects/20": "projects/10", "groups/51": "groups/22"},
    "19.3": {"projects/28": "projects/26", "groups/43": "groups/39"},
}
"""What was asked in a second project or group of the same owner, on the same GitLab."""
PLACES = {"17.2": ("10", "22"), "19.3": ("26", "39")}
PLANS = facts("licensed_plans")
MINE = {"project_access": {"access_level": 50}, "group_access": None}


@pytest.fixture
def check(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Check:
    """The exit code, and what is told in JSON."""
    for variable in (name for setting in SETTINGS for name in setting.environment):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GITLAB_TOKEN", "alice")

    def check(url: str, *words: str) -> tuple[int, dict[str, Any]]:
        code = main(["tiers", "--check", "--json", "--url", url, *words])
        said = capsys.readouterr()
        assert said.err == ""
        told: dict[str, Any] = json.loads(said.out)
        assert {each["feature"] for each in told["features"]} == set(tier_map().features)
        assert sum(told["counts"].values()) == len(told["features"])
        assert all(each["reason"] for each in told["features"])
        return code, told

    return check


def verdicts(told: dict[str, Any]) -> dict[str, str]:
    return {each["feature"]: each["verdict"] for each in told["features"]}


def of(told: dict[str, Any], verdict: str) -> set[str]:
    return {name for name, its in verdicts(told).items() if its == verdict}


def play(standin: StandIn, version: str, edition: str) -> None:
    """Everything that alice was answered to a read, as if in one project and one group of hers."""
    for name in (f"context_{edition}", f"detect_{edition}", f"tiers_{edition}"):
        for row in rows(name, version):
            if row["method"] != "GET" or "request_headers" in row:
                continue
            path = row["path"]
            standin.play_rows([row])
            for other, place in SAME_PLACES[version].items():
                standin.play_rows([{**row, "path": re.sub(rf"/{other}(?=/)", f"/{place}", path)}])
            if re.fullmatch(r"/api/v4/groups/\d+", path):
                standin.play_rows([{**row, "path": f"{path}?with_projects=false"}])

    if (version, edition) == ("19.3", "ee"):
        standin.add(Licence())
    else:
        standin.answer("POST", "/api/graphql", body=NOT_TOLD)


def licensed(standin: StandIn, tier: str, plans: Mapping[str, str] = PLANS) -> None:
    """Synthetic: an instance whose licence opens everything up to this tier. The keys are those of GitLab's source."""
    keys = {"requirements_access_level": "enabled", "allow_pipeline_trigger_approve_deployment": False}
    if tier == "Ultimate":
        keys["only_allow_merge_if_all_status_checks_passed"] = False
    namespace = {"id": 7, "kind": "group", "full_path": "acme"}
    project = {"id": 5, "path_with_namespace": "acme/website", "permissions": MINE, "namespace": namespace}
    group = {
        "id": 7,
        "full_path": "acme",
        "prevent_forking_outside_group": None,
        "allowed_email_domains_list": "",
    }
    ranks = ["Free", "Premium", "Ultimate"]
    for feature in tier_map().features.values():
        open_ = ranks.index(feature.tier_in("19.3.0-ee")) <= ranks.index(tier)
        [without] = feature.expected("ee_without_license", "19.3.0-ee").behaviours
        refused = without.effect == "refused" and not open_
        for endpoint in feature.endpoints:
            path = re.sub(r":\w+", "*", endpoint.partition(" ")[2])
            body = {"message": without.says} if refused else []
            standin.answer("GET", path, (without.status or 403) if refused else 200, body)
    standin.add(Licence(tier, plans))
    standin.answer("GET", "/metadata", 200, {"version": "19.3.0-ee", "enterprise": True})
    standin.answer("GET", "/projects/0/approval_rules", 404, {"message": "404 Project Not Found"})
    standin.answer("GET", "/projects", 200, [project])
    standin.answer("GET", "/projects/5", 200, {**project, **keys})
    standin.answer("GET", "/groups/7", 200, group)
    standin.answer("GET", "/groups/7/members/all/2", 200, {"access_level": 50})
    standin.answer(
        "GET", "/personal_access_tokens/self", 200, {"user_id": 2, "scopes": ["api"], "active": True}
    )
    standin.answer("GET", "/user", 200, {"id": 2, "username": "alice"})


@pytest.mark.parametrize("edition", ["ee", "ce"])
@pytest.mark.parametrize("version", ["17.2", "19.3"])
def test_the_recorded_gitlabs_confirm_the_map_and_contradict_nothing(
    standin: StandIn, check: Check, version: str, edition: str
) -> None:
    play(standin, version, edition)
    project, group = PLACES[version]
    code, told = check(standin.url, "--project", project, "--group", group)
    assert (of(told, "contradicted"), code) == (set(), 0)
    assert told["version"].startswith(version)
    assert (told["edition"], told["tier"]) == (edition.upper(), "Free")
    unrecorded = {request.route for request in standin.unanswered}
    proved = [
        each
        for each in told["features"]
        if each["verdict"] == "confirmed"
        and each["asked"]
        .removeprefix("GET ")
        .replace(":id", project if "/projects" in each["asked"] else group)
        not in unrecorded
    ]
    assert len(proved) >= 24
    # Of the four only an Enterprise Edition 19.3 says which plan it sells a feature in.
    assert (len(by_plan(told)) > 60) is ((version, edition) == ("19.3", "ee"))


def test_only_reads_are_sent(standin: StandIn, check: Check) -> None:
    play(standin, "19.3", "ee")
    check(standin.url, "--project", "26", "--group", "39")
    for request in standin.requests:
        assert request.method == "GET" or request.body.decode().startswith('{"query": "query(')


@pytest.mark.parametrize("tier", ["Premium", "Ultimate"])
def test_a_licensed_gitlab_confirms_what_its_licence_opens(standin: StandIn, check: Check, tier: str) -> None:
    licensed(standin, tier)
    code, told = check(standin.url)
    assert (code, told["tier"], of(told, "contradicted")) == (0, tier, set())
    assert {"epics", "push_rules_project", "group_wikis"} <= of(told, "confirmed")
    reasons = {each["feature"]: each["reason"] for each in told["features"]}
    assert reasons["epics"].startswith(f"it works on {tier}")
    assert ("works" in reasons["dependency_list"]) is (tier == "Ultimate")


def by_plan(told: dict[str, Any]) -> set[str]:
    return {each["feature"] for each in told["features"] if each["asked"] == "POST /graphql"}


@pytest.mark.parametrize("tier", ["Premium", "Ultimate"])
def test_what_no_read_tells_the_plan_tells_where_gitlab_names_it(
    standin: StandIn, check: Check, tier: str
) -> None:
    licensed(standin, tier)
    code, told = check(standin.url)
    assert (code, of(told, "contradicted")) == (0, set())
    assert len(of(told, "confirmed")) >= 110
    assert {"issue_weight", "scoped_labels", "code_owners", "okrs"} <= by_plan(told) & of(told, "confirmed")
    reasons = {each["feature"]: each["reason"] for each in told["features"]}
    there = "is here" if tier == "Ultimate" else "is not here"
    assert reasons["okrs"] == f"GitLab says that OKRS needs the plan ultimate and {there}"


def test_a_feature_that_is_sold_in_another_plan_is_contradicted(standin: StandIn, check: Check) -> None:
    licensed(standin, "Premium", {**PLANS, "OKRS": "premium", "EPICS": "ultimate"})
    code, told = check(standin.url)
    assert code == 1
    assert {"okrs", "epics"} <= of(told, "contradicted")
    reasons = {each["feature"]: each["reason"] for each in told["features"]}
    assert (
        reasons["okrs"] == "the map says Ultimate; GitLab says that OKRS needs the plan premium and is here"
    )


def test_a_name_that_this_version_does_not_have_leaves_the_others(standin: StandIn, check: Check) -> None:
    without = {name: plan for name, plan in PLANS.items() if name not in ("OKRS", "CODE_OWNERS")}
    licensed(standin, "Premium", without)
    _, told = check(standin.url)
    assert verdicts(told)["okrs"] == verdicts(told)["code_owners"] == "not askable"
    assert {"issue_weight", "scoped_labels"} <= by_plan(told)


def test_where_gitlab_tells_no_plan_the_reads_alone_count(standin: StandIn, check: Check) -> None:
    licensed(standin, "Premium")
    standin.answer("POST", "/api/graphql", body=NOT_TOLD)
    code, told = check(standin.url)
    assert (code, by_plan(told)) == (0, set())
    assert len([each for each in standin.requests if each.path == "/api/graphql"]) == 1


def test_a_feature_that_moved_is_contradicted_and_the_exit_code_says_so(
    standin: StandIn, check: Check
) -> None:
    licensed(standin, "Premium")
    standin.answer("GET", "/groups/7/epics", 403, {"message": "403 Forbidden"})
    standin.answer("GET", "/projects/5/dependencies", 200, [])
    code, told = check(standin.url)
    assert (code, of(told, "contradicted")) == (1, {"epics", "dependency_list"})
    reasons = {each["feature"]: each["reason"] for each in told["features"]}
    assert "the map says it works on Premium; GitLab answered 403" in reasons["epics"]
    assert "GitLab answered 200" in reasons["dependency_list"]


def test_a_refusal_that_the_role_explains_is_no_verdict(standin: StandIn, check: Check) -> None:
    licensed(standin, "Premium")
    standin.answer("POST", "/api/graphql", body=NOT_TOLD)
    standin.answer("GET", "/groups/7/members/all/2", 200, {"access_level": 10})
    standin.answer("GET", "/groups/7/hooks", 403, {"message": "403 Forbidden"})
    _, told = check(standin.url)
    [hooks] = [each for each in told["features"] if each["feature"] == "group_webhooks"]
    assert hooks["verdict"] == "not askable"
    assert "role" in hooks["reason"]


@pytest.mark.parametrize(("version", "least"), [("17.2", 25), ("19.3", 30)])
def test_a_recording_is_asked_about_every_project_and_group_it_lists(
    check: Check, cassettes: Path, version: str, least: int
) -> None:
    folder = cassettes.parent / version if cassettes.name in PLACES else cassettes / version
    code, told = check("https://gitlab.example.com", "--replay", str(folder))
    assert (code, of(told, "contradicted")) == (0, set())
    assert len(of(told, "confirmed")) >= least
    asked = {each["at"] for each in told["features"] if each["verdict"] == "confirmed"}
    assert asked - {None} <= {*told["projects"], *told["groups"]}


def test_a_feature_of_a_merge_request_is_asked_about_one_that_is_there(
    standin: StandIn, check: Check, tmp_path: Path
) -> None:
    licensed(standin, "Premium")
    merge_request = {"id": 611, "iid": 377, "title": "Takeover of Initech"}
    standin.answer("GET", "/projects/5/merge_requests", 200, [merge_request])
    state = {"approval_rules_overwritten": False, "rules": [{"id": 8, "name": "Initech"}]}
    standin.answer("GET", "/projects/5/merge_requests/377/approval_state", 200, state)
    places = ("--project", "5", "--group", "7")
    _, told = check(standin.url, *places, "--record", "checked.json")
    assert verdicts(told)["mr_approval_state"] == "confirmed"
    text = (tmp_path / "checked.json").read_text()
    assert not any(private in text for private in ("377", "611", "Initech"))
    _, again = check(
        "https://gitlab.example.com", "--replay", "checked.json", "--project", "1", "--group", "2"
    )
    assert verdicts(again) == verdicts(told)


def test_where_there_is_no_merge_request_the_reason_says_so(standin: StandIn, check: Check) -> None:
    licensed(standin, "Premium")
    standin.answer("POST", "/api/graphql", body=NOT_TOLD)
    standin.answer("GET", "/projects/5/merge_requests", 200, [])
    _, told = check(standin.url)
    [state] = [each for each in told["features"] if each["feature"] == "mr_approval_state"]
    assert (state["verdict"], state["reason"]) == (
        "not askable",
        "there are no merge requests in acme/website to ask about",
    )


def test_a_page_in_the_middle_stops_the_check_and_is_no_verdict(standin: StandIn, check: Check) -> None:
    licensed(standin, "Premium")
    standin.fault("GET", "/groups/7/epic_boards", forbidden_page(), times=None)
    code, told = check(standin.url)
    assert code == 1
    assert told["stopped"]["code"] != "TIER_RESTRICTED"
    assert verdicts(told)["epics"] == "confirmed"
    assert verdicts(told)["epic_boards"] == "not askable"


def test_a_rate_limit_stops_the_check_and_what_was_found_is_told(standin: StandIn, check: Check) -> None:
    licensed(standin, "Premium")
    standin.fault("GET", "/groups/7/epic_boards", rate_limited("600", RateLimit_Remaining=0), times=None)
    code, told = check(standin.url, "--deadline", "5")
    assert (code, told["stopped"]["code"]) == (1, "RATE_LIMITED")
    assert verdicts(told)["epics"] == "confirmed"
    asked = [request.route for request in standin.requests]
    assert asked.count("/groups/7/epic_boards") == 1
    assert asked[-1] == "/groups/7/epic_boards"


def test_a_token_that_dies_stops_the_check(standin: StandIn, check: Check) -> None:
    licensed(standin, "Premium")
    expired = {"error": "invalid_token", "error_description": "Token is expired."}
    standin.answer("GET", "/groups/7/epic_boards", 401, expired)
    code, told = check(standin.url)
    assert (code, told["stopped"]["code"]) == (1, "AUTHENTICATION_FAILED")


def test_a_token_that_was_never_good_is_told_at_once(standin: StandIn, check: Check) -> None:
    standin.knows("somebody else")
    code, told = check(standin.url)
    assert (code, told["stopped"]["code"]) == (1, "AUTHENTICATION_FAILED")
    assert len(standin.requests) < 8


@pytest.mark.parametrize("fault", [Drop(), server_error(502)])
def test_a_dead_gitlab_stops_the_check(standin: StandIn, check: Check, fault: Any) -> None:
    standin.fault("*", "*", fault, times=None)
    code, told = check(standin.url, "--deadline", "3")
    assert code == (3 if isinstance(fault, Drop) else 1)
    assert told["stopped"]["message"]
    assert of(told, "confirmed") == of(told, "contradicted") == set()


def test_a_project_that_is_not_there_is_a_mistake_of_the_command(
    standin: StandIn, check: Check, capsys: pytest.CaptureFixture[str]
) -> None:
    licensed(standin, "Premium")
    standin.answer("GET", "/projects/acme%2Fnone", 404, {"message": "404 Project Not Found"})
    assert main(["tiers", "--check", "--url", standin.url, "--project", "acme/none"]) == 2
    assert "--project" in capsys.readouterr().err


def test_without_a_project_one_of_the_callers_own_is_taken_never_a_strangers(
    standin: StandIn, check: Check
) -> None:
    licensed(standin, "Premium")
    check(standin.url)
    lists = [dict(request.params) for request in standin.requests if request.route == "/projects"]
    assert lists
    assert all("min_access_level" in query or query.get("membership") == "true" for query in lists)


def test_what_is_sent_in_holds_the_answers_without_what_is_in_them_and_gives_the_same_verdicts(
    standin: StandIn, check: Check, tmp_path: Path
) -> None:
    licensed(standin, "Ultimate")
    secret = {
        "id": 77,
        "title": "Takeover of Initech",
        "author": {"username": "bill", "email": "bill@initech.com"},
    }
    standin.answer("GET", "/groups/7/epics", 200, [secret, secret])
    _, told = check(standin.url, "--project", "5", "--group", "7", "--record", "checked.json")
    text = (tmp_path / "checked.json").read_text()
    for private in ("Initech", "bill", "website", "acme", "alice", standin.url, "77"):
        assert private not in text
    assert "title" in text
    code, again = check(
        "https://gitlab.example.com", "--replay", "checked.json", "--project", "1", "--group", "2"
    )
    assert (code, verdicts(again)) == (0, verdicts(told))


def test_the_table_names_the_contradictions_after_what_is_confirmed_and_counts(
    standin: StandIn, check: Check, capsys: pytest.CaptureFixture[str]
) -> None:
    licensed(standin, "Premium")
    standin.answer("GET", "/groups/7/epics", 403, {"message": "403 Forbidden"})
    assert main(["tiers", "--check", "--url", standin.url]) == 1
    *lines, by_plan = capsys.readouterr().out.splitlines()
    assert re.match(r"\d+ of them by what GitLab says of its plans", by_plan)
    assert lines[0].split() == ["VERDICT", "FEATURE", "TIER", "REASON"]
    assert any(line.startswith("contradicted  epics") for line in lines)
    assert lines[-2] == "GitLab 19.3.0-ee, Enterprise Edition, Premium, project acme/website, group acme"
    assert re.fullmatch(r"\d+ confirmed, 1 contradicted, \d+ not askable, of \d+ features", lines[-1])


def test_the_map_is_shown_with_the_versions_it_was_measured_on(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tiers", "--json"]) == 0
    shown = {each["feature"]: each for each in json.loads(capsys.readouterr().out)}
    assert shown.keys() == tier_map().features.keys()
    assert (shown["epics"]["tier"], shown["epics"]["measured"]) == ("Premium", ["17.2", "19.3"])
    assert main(["tiers"]) == 0
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.split() == ["FEATURE", "NAME", "TIER", "EARLIER", "MEASURED"]
    assert len(lines) == len(shown)

"""What GitLab does without a licence changed from 17.2 to 19.3: the version of the instance decides what is told.

The answers are those that a GitLab 17.2 or 19.3 without a licence gave, shortened; the versions between are synthetic.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from gitlab_mcp.app import App
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.tiers.feature_map import Feature, TierMapError, tier_map
from tests.support.standin import StandIn

pytestmark = pytest.mark.anyio
Against = Callable[..., App]

FEATURES = tier_map().features
REFUSED_AS_STATUS_ONLY = {"message": "403 Forbidden"}


def is_a(standin: StandIn, version: str | None, *, enterprise: bool = True) -> None:
    """A GitLab of this version; None where the token may not ask for it."""
    if version is None:
        standin.answer("GET", "/metadata", 403, REFUSED_AS_STATUS_ONLY)
        standin.answer("GET", "/projects/0/approval_rules", 403, REFUSED_AS_STATUS_ONLY)
    else:
        standin.answer("GET", "/metadata", body={"version": version, "enterprise": enterprise})


async def warned(app: App, tool: str, **arguments: Any) -> list[str]:
    result = await app.call(tool, arguments)
    return [each["code"] for each in result.data.get("warnings", ())]


async def refused(app: App, tool: str, **arguments: Any) -> Failure:
    with pytest.raises(CallFailed) as problem:
        await app.call(tool, arguments)
    return problem.value.failure


# The map.


def effects(feature: Feature, version: str | None) -> set[str]:
    return set(feature.expected("ee_without_license", version).effects)


@pytest.mark.parametrize(
    ("key", "by_version"),
    [
        (
            "group_protected_branches",
            {"17.2.0": {"not_enforced"}, "17.5": {"not_enforced"}, "17.6": {"works"}},
        ),
        ("mr_approval_rules", {"17.2": {"refused"}, "18.9": {"not_enforced"}, "19.3": {"not_enforced"}}),
        ("mr_approval_rules", {"18.0": {"refused", "not_enforced"}, None: {"refused", "not_enforced"}}),
        (
            "merged_results_pipelines",
            {"16.0": {"not_enforced"}, "19.3.0-pre": {"dropped"}, "20.1": {"dropped"}},
        ),
        ("advanced_search_fields", {"17.2": {"dropped"}, "19.3": {"refused"}}),
        ("requirements", {"17.2": {"dropped"}, "19.3": {"dropped"}, None: {"dropped"}}),
        ("service_accounts", {"17.2": {"refused"}, "19.3": {"works"}}),
        ("delayed_deletion_restore", {"17.2": {"refused"}, "18.0": {"works"}}),
    ],
)
def test_what_happens_without_a_feature_depends_on_the_version(
    key: str, by_version: Mapping[str | None, set[str]]
) -> None:
    assert {version: effects(FEATURES[key], version) for version in by_version} == by_version


@pytest.mark.parametrize(
    ("behaviours", "wrong"),
    [
        ("[{effect: works, basis: inferred}, {effect: empty, basis: inferred}]", "the oldest first"),
        (
            "[{until: '18.0', effect: works, basis: inferred}, {since: '17.0', effect: empty, basis: inferred}]",
            "the oldest first",
        ),
        ("[{since: soon, effect: works, basis: inferred}]", "since: a version such as"),
    ],
)
def test_a_mistake_in_the_versions_of_an_own_file_is_named(
    tmp_path: Path, behaviours: str, wrong: str
) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(f"epics:\n  without_it: {{ce: {behaviours}}}\n", encoding="utf-8")
    with pytest.raises(TierMapError) as problem:
        tier_map(path)
    assert f"epics: without_it: ce: {wrong}" in str(problem.value)


def test_the_tier_of_a_feature_that_moved_is_not_sure_where_the_version_is_unknown() -> None:
    accounts, linked = FEATURES["service_accounts"], FEATURES["linked_epics"]
    assert accounts.tiers_possible_in(None) == {"Premium", "Free"}
    assert accounts.tiers_possible_in("19.3") == {"Free"}
    assert accounts.available_on(None) == "Premium or Ultimate before 18.11"
    assert linked.available_on(None) == "Premium or Ultimate (Ultimate before 17.9)"
    assert linked.available_on("17.2") == "Ultimate"


# Calls that succeed.

RULE = {"id": 4, "name": "R", "rule_type": "regular", "approvals_required": 2}


@pytest.mark.parametrize("version", ["19.3.0", "18.9.0", None])
async def test_a_rule_of_one_merge_request_that_is_kept_and_not_enforced_is_told(
    standin: StandIn, against: Against, version: str | None
) -> None:
    is_a(standin, version)
    standin.answer("POST", "/projects/26/merge_requests/3/approval_rules", 201, RULE)
    told = await warned(
        against(tier="free"),
        "manage_approval_rule",
        action="create",
        project_id="26",
        merge_request_iid=3,
        name="R",
        approvals_required=2,
    )
    assert told == ["TIER_NOT_ENFORCED"]


async def test_the_same_rule_refused_by_an_older_gitlab_is_a_matter_of_the_tier(
    standin: StandIn, against: Against
) -> None:
    is_a(standin, "17.2.0")
    standin.answer(
        "POST", "/projects/26/merge_requests/3/approval_rules", 400, {"message": "400 Bad request"}
    )
    failure = await refused(
        against(tier="free"),
        "manage_approval_rule",
        action="create",
        project_id="26",
        merge_request_iid=3,
        name="R",
        approvals_required=2,
    )
    assert (failure.code, failure.facts["tier_required"]) == ("TIER_RESTRICTED", "Premium")


@pytest.mark.parametrize("version", ["17.2.0", "19.3.0", None])
async def test_an_approval_state_without_rules_says_that_the_tier_has_none(
    standin: StandIn, against: Against, version: str | None
) -> None:
    is_a(standin, version)
    body = {"approval_rules_overwritten": False, "rules": []}
    standin.answer("GET", "/projects/26/merge_requests/3/approval_state", body=body)
    call = {"action": "approval_state", "project_id": "26", "merge_request_iid": 3}
    assert await warned(against(tier="free"), "browse_merge_requests", **call) == ["EMPTY_BECAUSE"]
    assert await warned(against(tier="premium"), "browse_merge_requests", **call) == []


PROTECTED = {"id": 45, "name": "release/*", "push_access_levels": [], "merge_access_levels": []}


@pytest.mark.parametrize(
    ("version", "told"),
    [("17.2.0", "surely"), ("17.6.0", None), ("19.3.0", None), (None, "possible")],
)
async def test_protected_branches_of_a_group_work_without_a_licence_since_17_6(
    standin: StandIn, against: Against, version: str | None, told: str | None
) -> None:
    is_a(standin, version)
    standin.answer("POST", "/groups/39/protected_branches", 201, PROTECTED)
    arguments = {"action": "create", "group_id": "39", "name": "release/*"}
    result = await against(tier="free").call("manage_protected_branch", arguments)
    warnings = result.data.get("warnings", ())
    assert [each["code"] for each in warnings] == (["TIER_NOT_ENFORCED"] if told else [])
    assert [each.get("confidence", "surely") for each in warnings] == ([told] if told else [])


@pytest.mark.parametrize(
    ("tool", "path", "told"),
    [
        ("browse_protected_branches", "/groups/39/protected_branches", []),
        # Kept without a licence: the list is empty because nobody made one.
        ("browse_webhooks", "/groups/39/hooks", ["TIER_NOT_ENFORCED"]),
    ],
)
async def test_a_list_that_the_tier_does_not_keep_empty_is_not_called_empty_because_of_it(
    standin: StandIn, against: Against, tool: str, path: str, told: list[str]
) -> None:
    is_a(standin, "19.3.0")
    standin.answer("GET", path, body=[])
    assert await warned(against(tier="free"), tool, action="list", group_id="39") == told


@pytest.mark.parametrize(
    ("version", "told"),
    [("17.2.0", ["TIER_NOT_ENFORCED"]), ("19.3.0", ["TIER_IGNORED"]), (None, ["TIER_NOT_ENFORCED"])],
)
async def test_merged_results_are_dropped_or_kept_in_vain_by_version(
    standin: StandIn, against: Against, version: str | None, told: list[str]
) -> None:
    """The project shows neither of the two settings without a licence."""
    is_a(standin, version)
    standin.answer("PUT", "/projects/26", body={"id": 26, "name": "one"})
    arguments = {"action": "update", "project_id": "26", "merge_pipelines_enabled": True}
    assert await warned(against(tier="free"), "manage_project", **arguments) == told


async def test_a_project_shared_with_a_group_by_its_path_is_shared(
    standin: StandIn, against: Against
) -> None:
    standin.answer("GET", "/namespaces/live%2Fother", body={"id": 63, "full_path": "live/other"})
    standin.answer("POST", "/projects/26/share", 201, {"id": 1, "group_id": 63, "group_access": 20})
    arguments = {"action": "share", "project_id": "26", "group_id": "live/other", "group_access": 20}
    assert await warned(against(), "manage_project", **arguments) == []


BOB = {"id": 3, "username": "bob", "name": "Bob Example", "state": "active"}


@pytest.mark.parametrize(
    ("users", "told"),
    [([BOB], ["NOT_APPLIED"]), ([{**BOB, "is_admin": True}], []), ([], [])],
    ids=["as anybody", "as an administrator", "nobody"],
)
async def test_a_filter_that_only_administrators_have_is_not_ignored_in_silence(
    standin: StandIn, against: Against, users: list[Any], told: list[str]
) -> None:
    standin.answer("GET", "/users", body=users)
    assert await warned(against(), "browse_users", action="list", admins=True) == told


# Calls that are refused.

ON_FREE: dict[str, tuple[str, tuple[str, str, int], Any, tuple[str, dict[str, Any]]]] = {
    "a merge train, 19.3": (
        "19.3.0",
        ("POST", "/projects/26/merge_trains/merge_requests/3", 400),
        {"message": "400 Bad request - Merge trains are not enabled for this project"},
        (
            "manage_merge_request",
            {"action": "add_to_merge_train", "project_id": "26", "merge_request_iid": 3},
        ),
    ),
    "a merge train, 17.2": (
        "17.2.0",
        ("POST", "/projects/26/merge_trains/merge_requests/3", 400),
        {"message": "400 Bad request - Failed to merge"},
        (
            "manage_merge_request",
            {"action": "add_to_merge_train", "project_id": "26", "merge_request_iid": 3},
        ),
    ),
    "in no merge train": (
        "19.3.0",
        ("GET", "/projects/26/merge_trains/merge_requests/3", 404),
        {"message": "404 Not Found"},
        ("browse_merge_requests", {"action": "merge_train", "project_id": "26", "merge_request_iid": 3}),
    ),
    "a deployment approval": (
        "19.3.0",
        ("POST", "/projects/26/deployments/21/approval", 400),
        {"message": "This environment is not protected."},
        (
            "manage_environment",
            {"action": "approve_deployment", "project_id": "26", "deployment_id": 21, "status": "approved"},
        ),
    ),
    "code everywhere": (
        "19.3.0",
        ("GET", "/search", 400),
        {"message": "Scope supported only with advanced search or exact code search"},
        ("search", {"action": "code", "search": "coupon"}),
    ),
    "wikis of a group": (
        "19.3.0",
        ("GET", "/groups/39/search", 400),
        {"message": "Scope supported only with advanced search"},
        ("search", {"action": "wiki", "search": "install", "group_id": "39"}),
    ),
}


@pytest.mark.parametrize("case", ON_FREE)
async def test_what_nobody_can_switch_on_without_a_licence_is_a_matter_of_the_tier(
    standin: StandIn, against: Against, case: str
) -> None:
    version, (method, path, status), body, (tool, arguments) = ON_FREE[case]
    is_a(standin, version)
    standin.answer(method, path, status, body)
    failure = await refused(against(tier="free"), tool, **arguments)
    assert (failure.code, failure.facts["tier_required"]) == ("TIER_RESTRICTED", "Premium")
    offered = [each["action"] for each in failure.facts["alternatives"]]
    assert offered
    assert "search code" not in offered


async def test_code_everywhere_on_ce_is_a_matter_of_the_tier(standin: StandIn, against: Against) -> None:
    is_a(standin, "19.3.0", enterprise=False)
    standin.answer("GET", "/search", 400, {"error": "scope does not have a valid value"})
    failure = await refused(against(), "search", action="code", search="coupon")
    assert (failure.code, failure.facts["current_tier"]) == ("TIER_RESTRICTED", "Free")


SERVICE_ACCOUNTS = ("browse_service_accounts", {"action": "list", "group_id": "39"})


@pytest.mark.parametrize(
    ("version", "told"), [("17.2.0", (True, True)), ("19.3.0", (False, False)), (None, (True, False))]
)
async def test_a_refusal_of_what_became_free_names_the_tier_only_where_it_was_paid(
    standin: StandIn, against: Against, version: str | None, told: tuple[bool, bool]
) -> None:
    is_a(standin, version)
    standin.answer("GET", "/groups/39/service_accounts", 403, REFUSED_AS_STATUS_ONLY)
    tool, arguments = SERVICE_ACCOUNTS
    failure = await refused(against(tier="free"), tool, **arguments)
    causes = {failure.code, *failure.facts.get("also", ())}
    assert ("TIER_RESTRICTED" in causes, failure.facts["confidence"] == "certain") == told


# What is said beforehand.


@pytest.mark.parametrize(
    ("version", "action", "code"),
    [
        ("19.3.0", "browse_merge_request_details approval_state", "EMPTY_BECAUSE"),
        ("19.3.0", "browse_merge_request_details merge_train", "TIER_RESTRICTED"),
        ("19.3.0", "manage_merge_request_details add_to_merge_train", "TIER_RESTRICTED"),
        ("19.3.0", "manage_environment approve_deployment", "TIER_RESTRICTED"),
        ("17.2.0", "browse_merge_request_details approval_state", "EMPTY_BECAUSE"),
        ("17.2.0", "manage_project restore", "TIER_RESTRICTED"),
        ("19.3.0", "manage_project restore", None),
    ],
)
async def test_explain_access_says_what_the_call_would_be_told(
    standin: StandIn, against: Against, version: str, action: str, code: str | None
) -> None:
    is_a(standin, version)
    standin.answer(
        "GET", "/projects/26", body={"id": 26, "permissions": {"project_access": {"access_level": 50}}}
    )
    arguments = {"action": "explain_access", "project_id": "26", "toolset": "all"}
    result = await against(tier="free").call("browse_instance", arguments)
    tool, name = action.split(" ")
    found = [
        each["code"]
        for each in result.data["does_not"]
        for names in each["actions"]
        if names.startswith(f"{tool} ") and name in names.removeprefix(f"{tool} ").split(", ")
    ]
    assert found == ([code] if code else [])


async def test_explain_access_says_that_a_test_case_becomes_an_issue(
    standin: StandIn, against: Against
) -> None:
    is_a(standin, "19.3.0")
    standin.answer("GET", "/projects/26", body={"id": 26})
    arguments = {"action": "explain_access", "project_id": "26", "toolset": "all"}
    result = await against(tier="free").call("browse_instance", arguments)
    [found] = [each for each in result.data["fields"] if "manage_issue create issue_type" in each["fields"]]
    assert found["code"] == "TIER_IGNORED"

"""What is free in a project and paid in a group: wikis, webhooks, protected branches, and rules for pushes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gitlab_mcp.app import App
from gitlab_mcp.failures.failure import CallFailed, Failure
from tests.support.standin import StandIn

pytestmark = pytest.mark.anyio
Against = Callable[..., App]


async def refusal(app: App, tool: str, **arguments: Any) -> Failure:
    with pytest.raises(CallFailed) as refused:
        await app.call(tool, arguments)
    return refused.value.failure


async def test_the_wiki_of_a_project_is_free_and_that_of_a_group_is_not(replayed: App) -> None:
    result = await replayed.call("browse_wikis", {"action": "list", "project_id": "acme/website"})
    assert [page["slug"] for page in result.data["items"]] == ["Home", "guides/Set-up"]
    failure = await refusal(replayed, "browse_wikis", action="list", group_id="tiers-a")
    assert failure.code == "TIER_RESTRICTED"
    assert failure.facts["feature_name"] == "Group wikis"


async def test_a_refusal_about_a_group_names_the_feature_of_groups(replayed: App) -> None:
    project = await refusal(replayed, "browse_push_rules", action="get", project_id="tiers-a/one")
    group = await refusal(replayed, "browse_push_rules", action="get", group_id="tiers-a")
    assert (project.facts["feature_name"], group.facts["feature_name"]) == (
        "Project push rules",
        "Group push rules",
    )


async def test_rules_of_a_group_and_of_a_project_are_different_features(replayed: App) -> None:
    project = await refusal(replayed, "browse_approval_rules", action="list", project_id="tiers-a/one")
    group = await refusal(replayed, "browse_approval_rules", action="list", group_id="tiers-a")
    assert (project.facts["feature_name"], group.facts["feature_name"]) == (
        "Project approval rules",
        "Group approval rules",
    )


async def test_a_page_of_a_wiki_is_text_and_not_a_string_in_json(replayed: App) -> None:
    result = await replayed.call(
        "browse_wikis", {"action": "get", "project_id": "acme/website", "slug": "home"}
    )
    assert result.text is not None
    assert result.text.content == "# Welcome\n"
    assert "content" not in result.data


async def test_renaming_a_page_says_where_it_is_now(replayed: App) -> None:
    arguments = {"action": "update", "project_id": "writes/app", "slug": "guides/Set-up"}
    change = {"title": "guides/Install", "content": "Install it twice.", "format": "markdown"}
    result = await replayed.call("manage_wiki", {**arguments, **change})
    assert result.data["slug"] == "guides/Install"


async def test_a_webhook_shows_what_it_fires_on_and_not_twenty_switches(replayed: App) -> None:
    result = await replayed.call(
        "browse_webhooks", {"action": "get", "project_id": "acme/website", "hook_id": 1}
    )
    assert result.data["events"] == ["push_events", "merge_requests_events"]
    assert "push_events" not in result.data


async def test_the_secret_of_a_webhook_is_sent_and_never_shown(standin: StandIn, against: Against) -> None:
    hook = {"id": 9, "url": "https://hooks.example.com", "token": "hush-hush"}
    standin.answer("POST", "/projects/1/hooks", 201, hook)
    arguments = {
        "action": "create",
        "project_id": "1",
        "url": "https://hooks.example.com",
        "token": "hush-hush",
    }
    result = await against().call("manage_webhook", arguments)
    assert standin.requests[0].json["token"] == "hush-hush"
    assert "hush" not in str(result.data)


@pytest.mark.parametrize(
    ("tool", "arguments", "field"),
    [
        ("manage_webhook", {"action": "create", "url": "ftp://x"}, "url"),
        (
            "manage_webhook",
            {"action": "create", "url": "https://x.example", "member_events": True},
            "member_events",
        ),
        ("manage_webhook", {"action": "test", "hook_id": 1, "trigger": "push"}, "trigger"),
        ("manage_wiki", {"action": "update", "slug": "home"}, "content"),
        ("manage_wiki", {"action": "create", "title": "t", "content": "c", "format": "word"}, "format"),
        ("manage_push_rules", {"action": "update"}, "commit_message_regex"),
        ("manage_push_rules", {"action": "create", "branch_name_regex": "("}, "branch_name_regex"),
        (
            "manage_protected_branch",
            {"action": "create", "name": "x", "push_access_level": 35},
            "push_access_level",
        ),
        ("manage_protected_branch", {"action": "update", "name": "x"}, "allow_force_push"),
        (
            "manage_approval_rule",
            {
                "action": "create",
                "merge_request_iid": 1,
                "name": "x",
                "approvals_required": 1,
                "protected_branch_ids": [1],
            },
            "protected_branch_ids",
        ),
        ("manage_approval_rule", {"action": "update", "approval_rule_id": 1}, "approvals_required"),
        ("manage_approval_rule", {"action": "update_settings"}, "allow_author_approval"),
        (
            "manage_approval_rule",
            {
                "action": "respond_status_check",
                "merge_request_iid": 1,
                "external_status_check_id": 1,
                "sha": "abc123",
                "status": "passed",
            },
            "sha",
        ),
    ],
)
async def test_what_gitlab_would_refuse_or_forget_is_refused_before_it_is_sent(
    standin: StandIn, against: Against, tool: str, arguments: dict[str, Any], field: str
) -> None:
    failure = await refusal(against(), tool, project_id="1", **arguments)
    assert [each["field"] for each in failure.facts["invalid_fields"]] == [field]
    assert standin.requests == []


async def test_a_regular_expression_that_only_gitlab_understands_is_left_to_gitlab(
    standin: StandIn, against: Against
) -> None:
    """Synthetic: a licensed GitLab answers. RE2 has character classes that Python has not."""
    standin.answer("PUT", "/projects/1/push_rule", body={"id": 1})
    arguments = {"action": "update", "project_id": "1", "branch_name_regex": r"(?i)^\pL+$"}
    await against().call("manage_push_rules", arguments)
    assert standin.requests[0].json == {"branch_name_regex": r"(?i)^\pL+$"}


async def test_a_protected_branch_is_changed_by_patch(replayed: App) -> None:
    arguments = {
        "action": "update",
        "project_id": "writes/app",
        "name": "release/*",
        "allow_force_push": True,
    }
    result = await replayed.call("manage_protected_branch", arguments)
    assert result.data["merge"] == ["Developers + Maintainers"]


async def test_people_on_the_list_of_a_protected_branch_are_paid_and_roles_are_not(
    standin: StandIn, against: Against, cassettes: Any
) -> None:
    standin.play(cassettes)
    app = against()
    arguments = {"action": "update", "project_id": "tiers-a/one", "name": "al-ee-base"}
    failure = await refusal(app, "manage_protected_branch", **arguments, allowed_to_push=[{"user_id": 3}])
    assert failure.code == "TIER_RESTRICTED"
    assert failure.facts["feature_name"] == "Allow lists on protected branches and tags"


async def test_an_iteration_says_its_state_in_the_word_one_asks_with(
    standin: StandIn, against: Against
) -> None:
    """Synthetic: a licensed GitLab answers."""
    body = [
        {"id": 5, "iid": 2, "title": None, "state": 2, "start_date": "2026-11-16", "due_date": "2026-11-29"}
    ]
    standin.answer("GET", "/groups/acme/iterations", body=body)
    result = await against().call(
        "browse_iterations", {"action": "list", "group_id": "acme", "state": "current"}
    )
    assert result.data["items"][0]["state"] == "current"
    assert dict(standin.requests[0].params) == {"state": "current"}


async def test_the_token_of_a_service_account_is_shown_the_one_time_it_can_be(
    standin: StandIn, against: Against
) -> None:
    """Synthetic: a licensed GitLab answers."""
    made = {"id": 6, "name": "ci", "scopes": ["read_api"], "token": "glpat-aaaaaaaaaaaaaaaaaaaa"}
    path = "/groups/acme/service_accounts/57/personal_access_tokens"
    standin.answer("POST", path, 201, made)
    arguments = {
        "action": "create_token",
        "group_id": "acme",
        "user_id": 57,
        "name": "ci",
        "scopes": "read_api",
    }
    result = await against().call("manage_service_account", arguments)
    assert result.data["token"] == "glpat-aaaaaaaaaaaaaaaaaaaa"


async def test_a_permission_gitlab_does_not_know_is_not_granted_in_silence(
    standin: StandIn, against: Against
) -> None:
    """Synthetic: a licensed GitLab answers."""
    role = {"id": 3, "name": "r", "base_access_level": 10, "read_code": True, "admin_runners": False}
    standin.answer("POST", "/member_roles", 201, role)
    arguments = {"action": "create_role", "base_access_level": 10, "name": "r"}
    result = await against().call(
        "manage_service_account", {**arguments, "permissions": ["read_code", "read_minds"]}
    )
    assert standin.requests[0].json == {
        "base_access_level": 10,
        "name": "r",
        "read_code": True,
        "read_minds": True,
    }
    assert result.data["permissions"] == ["read_code"]
    assert [each["code"] for each in result.data["warnings"]] == ["NOT_APPLIED"]


@pytest.mark.parametrize(
    ("word", "number"),
    [("no_access", 0), ("Nobody", 0), ("developer", 30), ("Maintainer", 40), ("admin", 60), ("40", 40)],
)
async def test_levels_of_protection_are_taken_by_name(
    standin: StandIn, against: Against, word: str, number: int
) -> None:
    app = against()
    branch = {"project_id": "acme/website", "name": "release/*"}
    levels = {
        "push_access_level": word,
        "merge_access_level": word,
        "allowed_to_push": [{"access_level": word}],
    }
    for call, sent in (
        (
            {"action": "create", **branch, **levels},
            {"push_access_level": number, "allowed_to_push": [{"access_level": number}]},
        ),
        ({"action": "protect_tag", **branch, "create_access_level": word}, {"create_access_level": number}),
    ):
        tried = (await app.call("manage_protected_branch", {**call, "dry_run": True})).data
        body = tried["would_send"]["body"]
        assert {name: body[name] for name in sent} == sent


async def test_a_level_that_is_none_is_answered_with_what_the_numbers_mean(
    standin: StandIn, against: Against
) -> None:
    call = {"action": "create", "project_id": "acme/website", "name": "x", "push_access_level": "reporter"}
    failure = await refusal(against(), "manage_protected_branch", **call)
    expected = "one of 0 (no_access), 30 (developer), 40 (maintainer), 60 (admin)"
    assert failure.facts["invalid_fields"][0]["expected"] == expected

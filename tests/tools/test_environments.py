"""Environments, deployments, deploy freezes and protected environments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gitlab_mcp.app import App
from gitlab_mcp.failures.failure import CallFailed
from tests.support.standin import StandIn

pytestmark = pytest.mark.anyio
Against = Callable[..., App]


async def test_deployments_come_newest_first_though_gitlab_lists_the_oldest_first(
    standin: StandIn, against: Against
) -> None:
    standin.answer("GET", "/projects/1/deployments", body=[])
    await against().call("browse_environments", {"action": "list_deployments", "project_id": "1"})
    (request, *_) = standin.requests
    assert dict(request.params) == {"sort": "desc"}


async def test_who_wants_the_oldest_deployments_first_gets_them(standin: StandIn, against: Against) -> None:
    standin.answer("GET", "/projects/1/deployments", body=[])
    arguments = {"action": "list_deployments", "project_id": "1", "sort": "asc"}
    await against().call("browse_environments", arguments)
    assert dict(standin.requests[0].params) == {"sort": "asc"}


async def test_a_review_environment_is_only_named_unless_the_dry_run_is_called_off(replayed: App) -> None:
    arguments = {"action": "delete_review_apps", "project_id": "writes/sub-one/second"}
    before = {"before": "2026-11-17T00:00:00Z", "dry_run": True}
    result = await replayed.call("manage_environment", {**arguments, **before})
    assert result.data["scheduled_entries"] == [{"id": 11, "name": "review/two"}]


async def test_a_protection_that_does_nothing_is_said_to_do_nothing(replayed: App) -> None:
    arguments = {"action": "get_protected", "project_id": "tiers-a/one", "name": "production"}
    result = await replayed.call("browse_environments", arguments)
    assert result.data["deploy"] == ["Maintainers"]
    assert [each["code"] for each in result.data["warnings"]] == ["TIER_NOT_ENFORCED"]


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        (
            {"action": "create_freeze_period", "freeze_start": "friday", "freeze_end": "0 7 * * 1"},
            "freeze_start",
        ),
        ({"action": "update_freeze_period", "freeze_period_id": 1}, "freeze_start"),
        ({"action": "update", "environment_id": 1}, "external_url"),
        ({"action": "create", "name": "x", "external_url": "javascript:alert(1)"}, "external_url"),
        ({"action": "protect", "name": "x", "deploy_access_levels": []}, "deploy_access_levels"),
        ({"action": "protect", "name": "x", "deploy_access_levels": [{}]}, "deploy_access_levels"),
        (
            {"action": "protect", "name": "x", "deploy_access_levels": [{"access_level": 40, "user_id": 2}]},
            "deploy_access_levels",
        ),
        (
            {"action": "protect", "name": "x", "deploy_access_levels": [{"access_level": "chief"}]},
            "deploy_access_levels",
        ),
        (
            {"action": "protect", "name": "x", "deploy_access_levels": [{"access_level": 40, "why": "so"}]},
            "deploy_access_levels",
        ),
        ({"action": "update_protected", "name": "x"}, "approval_rules"),
    ],
)
async def test_what_cannot_work_is_refused_before_it_is_sent(
    standin: StandIn, against: Against, arguments: dict[str, Any], field: str
) -> None:
    with pytest.raises(CallFailed) as refused:
        await against().call("manage_environment", {"project_id": "1", **arguments})
    assert [each["field"] for each in refused.value.failure.facts["invalid_fields"]] == [field]
    assert standin.requests == []


async def test_an_entry_of_a_protection_is_removed_by_its_id(standin: StandIn, against: Against) -> None:
    """Synthetic: a licensed GitLab answers."""
    standin.answer("PUT", "/projects/1/protected_environments/production", body={"name": "production"})
    entries = [{"id": 7, "_destroy": True}, {"access_level": 40}]
    arguments = {"action": "update_protected", "project_id": "1", "name": "production"}
    await against().call("manage_environment", {**arguments, "deploy_access_levels": entries})
    assert standin.requests[0].json == {"deploy_access_levels": entries}

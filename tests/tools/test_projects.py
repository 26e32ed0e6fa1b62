from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gitlab_mcp.app import App
from gitlab_mcp.failures.failure import CallFailed
from tests.support.standin import StandIn

pytestmark = pytest.mark.anyio
Against = Callable[..., App]

MARKED = {"marked_for_deletion_on": "2030-01-07"}


async def wrong_fields(app: App, tool: str, **arguments: Any) -> list[str]:
    with pytest.raises(CallFailed) as failed:
        await app.call(tool, arguments)
    return [each["field"] for each in failed.value.failure.facts["invalid_fields"]]


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"group_id": "acme", "membership": True}, "membership"),
        ({"group_id": "acme", "topic": ["web"]}, "topic"),
        ({"include_subgroups": True}, "include_subgroups"),
        ({"user_id": 2, "with_shared": False}, "with_shared"),
    ],
)
async def test_a_filter_gitlab_would_ignore_is_refused(
    standin: StandIn, against: Against, arguments: dict[str, Any], field: str
) -> None:
    assert await wrong_fields(against(), "browse_projects", action="list", **arguments) == [field]
    assert standin.requests == []


async def test_a_project_is_created_in_a_group_named_by_its_path(standin: StandIn, against: Against) -> None:
    standin.answer("GET", "/namespaces/*", body={"id": 7, "full_path": "acme/platform"})
    standin.answer("POST", "/projects", 201, {"id": 9, "path_with_namespace": "acme/platform/api"})
    arguments = {"action": "create", "name": "API", "namespace_id": "acme/platform"}
    await against().call("manage_project", arguments)
    asked, created = standin.requests
    assert asked.path == "/api/v4/namespaces/acme%2Fplatform"
    assert created.json == {"name": "API", "namespace_id": 7}


async def test_a_default_branch_without_a_first_commit_is_refused(against: Against) -> None:
    arguments = {"action": "create", "name": "x", "default_branch": "trunk"}
    assert await wrong_fields(against(), "manage_project", **arguments) == ["initialize_with_readme"]


async def test_a_project_needs_a_name_or_a_path(against: Against) -> None:
    assert await wrong_fields(against(), "manage_project", action="create", visibility="private") == ["name"]


async def test_an_update_of_nothing_is_refused(against: Against) -> None:
    arguments = {"action": "update", "project_id": "acme/website"}
    assert await wrong_fields(against(), "manage_project", **arguments) == ["project_id"]


async def test_access_that_ended_before_it_begins_is_refused(against: Against) -> None:
    arguments = {"project_id": "1", "group_id": "8", "group_access": "30", "expires_at": "2020-01-31"}
    assert await wrong_fields(against(), "manage_project", action="share", **arguments) == ["expires_at"]


@pytest.mark.parametrize(
    ("status", "body", "told"),
    [
        (404, {"message": "404 Project Not Found"}, {"deleted": True}),
        (200, {"id": 1, "path_with_namespace": "acme/old", **MARKED}, {"deleted": False, **MARKED}),
        (200, {"id": 1}, {"accepted": True}),
        (500, {"message": "500 Internal Server Error"}, {"accepted": True}),
    ],
)
async def test_a_deleted_project_is_told_from_one_that_waits_for_it(
    standin: StandIn, against: Against, status: int, body: dict[str, Any], told: dict[str, Any]
) -> None:
    standin.answer("DELETE", "/projects/*", 202, {"message": "202 Accepted"})
    standin.answer("GET", "/projects/*", status, body)
    result = await against().call("manage_project", {"action": "delete", "project_id": "acme/old"})
    assert told.items() <= dict(result.data).items()


async def test_starring_twice_is_no_error(standin: StandIn, against: Against) -> None:
    standin.answer("POST", "/projects/*/star", 304)
    result = await against().call("manage_project", {"action": "star", "project_id": "acme/website"})
    assert result.data == {"already": True}


async def test_the_kind_of_event_does_not_collide_with_the_action_of_the_call(
    standin: StandIn, against: Against
) -> None:
    standin.answer("GET", "/projects/*/events", body=[])
    arguments = {"action": "events", "project_id": "acme/shop", "event_action": "commented"}
    await against().call("browse_projects", arguments)
    assert ("action", "commented") in standin.requests[0].params


async def test_a_project_that_may_not_be_marked_is_not_removed_for_good(
    standin: StandIn, against: Against
) -> None:
    """GitLab 17.2 ignores permanently_remove and full_path, and deletes at once."""
    standin.answer("GET", "/projects/1", body={"id": 1, "path_with_namespace": "acme/other"})
    arguments = {"action": "delete", "project_id": "1", "permanently_remove": True}
    with pytest.raises(CallFailed) as refused:
        await against().call("manage_project", arguments)
    assert refused.value.failure.facts["state"] == "not marked for deletion"
    assert [each.method for each in standin.requests] == ["GET"]


async def test_a_public_project_that_its_private_group_made_private_is_told(
    standin: StandIn, against: Against
) -> None:
    standin.answer("POST", "/projects", 201, {"id": 5, "name": "Open", "visibility": "private"})
    arguments = {"action": "create", "name": "Open", "namespace_id": 6, "visibility": "public"}
    data = (await against().call("manage_project", arguments)).data
    assert [(each["code"], each["field"]) for each in data["warnings"]] == [("NOT_APPLIED", "visibility")]

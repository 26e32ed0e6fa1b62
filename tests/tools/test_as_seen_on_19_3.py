"""What agents were told wrongly on a live GitLab 19.3. Sentences are as it said them; the rest is synthetic."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from gitlab_mcp.app import App
from gitlab_mcp.settings import Settings
from tests.support.guarded import UNGUARDED, Server, refused
from tests.support.recordings import rows
from tests.support.standin import StandIn
from tests.support.versions import NEWEST, cassettes_of

pytestmark = pytest.mark.anyio

OWNER = {"permissions": {"project_access": {"access_level": 50}, "group_access": None}}
FILE = {"project_id": "1", "file_path": "a.txt", "branch": "main", "content": "x", "commit_message": "m"}


@pytest.mark.parametrize(
    ("tool", "arguments", "status", "sentence", "code", "state"),
    [
        (
            "manage_file",
            {"action": "update", **FILE},
            400,
            "9:reference update: reference does not point to expected object.",
            "CONFLICT",
            "changed",
        ),
        (
            "manage_file",
            {"action": "commit", **FILE, "actions": [{"action": "create", "file_path": "a", "content": "b"}]},
            400,
            "Could not update refs/heads/main. Please refresh and try again.",
            "CONFLICT",
            "changed",
        ),
        (
            "manage_project",
            {"action": "share", "group_id": 8, "group_access": 20},
            409,
            "Project already shared with this group",
            "CONFLICT",
            "exists",
        ),
        (
            "manage_issue",
            {"action": "add_link", "issue_iid": 1, "target_project_id": "1", "target_issue_iid": 2},
            409,
            "Issue(s) already assigned",
            "CONFLICT",
            "exists",
        ),
    ],
)
async def test_a_refusal_is_named_for_what_it_is(
    standin: StandIn,
    against: Server,
    tool: str,
    arguments: dict[str, Any],
    status: int,
    sentence: str,
    code: str,
    state: str,
) -> None:
    standin.answer("*", "/projects/1/*", status, {"message": sentence})
    standin.answer("GET", "/projects/1", body={"id": 1, **OWNER})
    if arguments["action"] == "commit":
        arguments = {name: value for name, value in arguments.items() if name not in ("file_path", "content")}
    failure = await refused(against(), tool, {"project_id": "1", **arguments})
    assert (failure.code, failure.facts["state"]) == (code, state)


async def test_no_review_environment_to_delete_is_no_lack_of_rights(
    standin: StandIn, against: Server
) -> None:
    says = (
        "No environments found for scheduled deletion. Either your query did not match any environments (default "
        "parameters match environments that are 30 days or older), or you have insufficient permissions to delete "
        "matching environments."
    )
    standin.answer("DELETE", "/projects/1/environments/review_apps", 400, {"message": says})
    failure = await refused(
        against(), "manage_environment", {"action": "delete_review_apps", "project_id": "1"}
    )
    assert failure.code == "NOT_FOUND"
    assert "nothing to delete" in failure.message


async def test_custom_roles_of_a_group_are_said_to_be_those_of_the_instance(
    standin: StandIn, against: Server
) -> None:
    standin.play_rows(row for row in rows("errors", "19.3") if row["label"] == "member_roles/free")
    standin.answer("GET", "/metadata", body={"version": "19.3.0", "enterprise": True})
    arguments = {"action": "list_roles", "group_id": "47"}
    failure = await refused(against(tier="ultimate"), "browse_service_accounts", arguments)
    assert failure.code == "FEATURE_UNAVAILABLE"
    assert "group_id" in failure.facts["suggested_fix"]


@pytest.mark.parametrize(
    ("tool", "arguments", "path"),
    [
        ("browse_commits", {"sha": "716d2929"}, "/projects/1/repository/commits/716d2929/signature"),
        ("browse_tags", {"tag_name": "v1.0.0"}, "/projects/1/repository/tags/v1.0.0/signature"),
    ],
)
async def test_what_is_not_signed_is_said_to_be_there(
    standin: StandIn, against: Server, tool: str, arguments: dict[str, Any], path: str
) -> None:
    standin.answer("GET", path, 404, {"message": "404 Signature Not Found"})
    standin.answer("GET", "/projects/1", body={"id": 1, **OWNER})
    failure = await refused(against(), tool, {"action": "signature", "project_id": "1", **arguments})
    assert (failure.code, failure.facts["missing"]) == ("NOT_FOUND", "signature")
    assert "not signed" in failure.message


async def test_artifacts_by_ref_are_said_to_be_of_the_last_pipeline_that_succeeded(
    standin: StandIn, against: Server
) -> None:
    standin.answer("GET", "/projects/1/jobs/artifacts/*", 404, {"message": "404 Not found"})
    standin.answer("GET", "/projects/1", body={"id": 1, **OWNER})
    arguments = {"action": "artifact_file", "ref_name": "main", "job": "test", "artifact_path": "a.txt"}
    failure = await refused(against(), "browse_jobs", {"project_id": "1", **arguments})
    assert failure.code == "NOT_FOUND"
    assert "succeeded" in failure.facts["suggested_fix"] and "job_id" in failure.facts["suggested_fix"]


async def test_share_locations_are_asked_for_by_number(standin: StandIn, against: Server) -> None:
    standin.answer("GET", "/projects/acme%2Fwebsite", body={"id": 16})
    standin.answer("GET", "/projects/16/share_locations", body=[{"id": 8, "full_path": "acme"}])
    arguments = {"action": "share_locations", "project_id": "acme/website"}
    data = (await against().call("browse_projects", arguments)).data
    assert [each["full_path"] for each in data["items"]] == ["acme"]


async def test_a_wiki_page_stays_in_its_folder(standin: StandIn, against: Server) -> None:
    page = "/projects/1/wikis/guides%2FSet-up"
    standin.answer("GET", page, body={"slug": "guides/Set-up", "title": "Set up", "content": "Old."})
    standin.answer("PUT", page, body={"slug": "guides/Set-up", "title": "Set up", "content": "New."})
    arguments = {"action": "update", "project_id": "1", "slug": "guides/Set-up", "content": "New."}
    await against().call("manage_wiki", arguments)
    assert standin.requests[-1].json == {"content": "New.", "title": "guides/Set up"}


async def test_a_link_of_a_release_keeps_its_type(standin: StandIn, against: Server) -> None:
    link = {"id": 3, "name": "old", "url": "https://example.com/a", "link_type": "runbook"}
    standin.answer("*", "/projects/1/releases/v1/assets/links/3", body=link)
    arguments = {"action": "update_link", "project_id": "1", "tag_name": "v1", "link_id": 3, "name": "new"}
    await against().call("manage_release", arguments)
    assert standin.requests[-1].json == {"name": "new", "link_type": "runbook"}


@pytest.mark.parametrize(
    ("tool", "arguments", "path", "status"),
    [
        (
            "manage_job",
            {"action": "delete_project_artifacts", "project_id": "1"},
            "/projects/1/artifacts",
            202,
        ),
        (
            "manage_service_account",
            {"action": "delete", "group_id": "8", "user_id": 57},
            "/groups/8/service_accounts/57",
            204,
        ),
        (
            "manage_branch",
            {"action": "delete_merged", "project_id": "1"},
            "/projects/1/repository/merged_branches",
            202,
        ),
    ],
)
async def test_what_gitlab_does_in_the_background_is_started_and_not_done(
    standin: StandIn, against: Server, tool: str, arguments: dict[str, Any], path: str, status: int
) -> None:
    standin.answer("DELETE", path, status, {"message": "202 Accepted"} if status == 202 else None)
    data = (await against().call(tool, arguments)).data
    assert data["started"] is True and "done" not in data


async def test_a_merge_request_without_a_change_is_told(standin: StandIn, against: Server) -> None:
    standin.answer("GET", "/projects/1/repository/branches/*", body={"name": "x", "commit": {"id": "a" * 40}})
    standin.answer("POST", "/projects/1/merge_requests", 201, {"iid": 1, "state": "opened"})
    new = {"project_id": "1", "source_branch": "x", "target_branch": "main", "title": "X"}
    data = (await against().call("manage_merge_request", {"action": "create", **new})).data
    assert [(each["code"], each["field"]) for each in data["warnings"]] == [("NOT_APPLIED", "source_branch")]


@pytest.mark.parametrize("project", ["1", "acme/website"])
async def test_an_issue_that_was_moved_to_its_own_project_is_told(
    standin: StandIn, against: Server, project: str
) -> None:
    stayed = {"id": 11, "iid": 5, "project_id": 1, "references": {"full": "acme/website#5"}}
    standin.answer("POST", "/projects/*/issues/5/move", 201, stayed)
    arguments = {"action": "move", "project_id": project, "issue_iid": 5, "to_project_id": 1}
    data = (await against().call("manage_issue", arguments)).data
    assert [(each["code"], each["field"]) for each in data["warnings"]] == [("NOT_APPLIED", "to_project_id")]


@pytest.mark.parametrize(
    ("action", "method", "status", "body"),
    [
        ("create", "POST", 201, {"file_path": "a.txt", "branch": "main"}),
        ("update", "PUT", 200, {"file_path": "a.txt", "branch": "main"}),
        ("delete", "DELETE", 204, None),
    ],
)
async def test_the_answer_to_a_commit_of_a_file_has_its_commit(
    standin: StandIn, against: Server, action: str, method: str, status: int, body: Any
) -> None:
    sha = "716d29294e1ed1d715b5025a81ccd9b320e2a018"
    standin.answer(method, "/projects/1/repository/files/a.txt", status, body)
    standin.answer("GET", "/projects/1/repository/commits", body=[{"id": sha, "message": "m\n"}])
    arguments = {name: value for name, value in FILE.items() if action != "delete" or name != "content"}
    data = (await against().call("manage_file", {"action": action, **arguments})).data
    assert data["commit_id"] == sha


@pytest.fixture(scope="module")
def newest() -> Iterator[App]:
    app = App(Settings(url="https://gitlab.example.com", replay=(cassettes_of(NEWEST),), **UNGUARDED))
    yield app
    app.close()


@pytest.mark.parametrize(("action", "group"), [("code", {}), ("wiki", {}), ("wiki", {"group_id": "tiers-a"})])
async def test_a_search_of_many_projects_is_told_with_its_tier_and_how_one_project_is_searched(
    newest: App, action: str, group: dict[str, str]
) -> None:
    failure = await refused(newest, "search", {"action": action, "search": "readme", **group})
    facts = failure.facts
    assert (failure.code, facts["tier_required"], facts["current_tier"]) == (
        "TIER_RESTRICTED",
        "Premium",
        "Free",
    )
    assert "wikis" in failure.message
    first = facts["alternatives"][0]
    assert (first["action"], first.get("arguments", {})) == ("browse_projects list", group)
    assert "project_id" in first["description"]


async def test_lists_say_what_is_confidential_a_draft_and_how_old(newest: App) -> None:
    issues = (await newest.call("browse_issues", {"action": "list", "project_id": "acme/website"})).data
    assert [each["iid"] for each in issues["items"] if each.get("confidential")] == [3]
    assert all(each["created_at"].startswith("2026-11-18") for each in issues["items"])
    requests = (
        await newest.call("browse_merge_requests", {"action": "list", "project_id": "acme/website"})
    ).data
    assert [each["iid"] for each in requests["items"] if each.get("draft")] == [3]
    assert all(each["updated_at"].startswith("2026-11-18") for each in requests["items"])


async def test_a_comment_on_a_commit_shows_what_was_said(standin: StandIn, against: Server) -> None:
    said = {"note": "Nice.", "path": "a.py", "line": 3, "line_type": "new", "created_at": "2026-11-18"}
    standin.answer("POST", "/projects/1/repository/commits/abc123/comments", 201, said)
    arguments = {"action": "comment", "project_id": "1", "sha": "abc123", "note": "Nice."}
    data = (await against().call("manage_commit", arguments)).data
    assert data["note"] == "Nice."


@pytest.mark.parametrize(("place", "page"), [("project_id", "api/wikis/"), ("group_id", "api/group_wikis/")])
async def test_a_wiki_is_documented_where_it_is(
    standin: StandIn, against: Server, place: str, page: str
) -> None:
    standin.answer("*", "*/wikis*", 400, {"message": "content is empty"})
    arguments = {"action": "update", place: "1", "slug": "a", "title": "a", "content": "x"}
    failure = await refused(against(), "manage_wiki", arguments)
    assert page in failure.facts["docs_url"]

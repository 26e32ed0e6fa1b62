"""Projects that are marked for deletion, with what GitLab 19.3 answered."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.guarded import Server, refused, writes
from tests.support.recordings import rows
from tests.support.standin import StandIn

pytestmark = pytest.mark.anyio

OLD_PATH, NUMBER = "errs/todel", "55"
RENAMED = "errs/todel-deletion_scheduled-55"
MARKED = {"id": 55, "path_with_namespace": RENAMED, "marked_for_deletion_on": "2026-11-18", "archived": False}
LIVE = {"id": 55, "path_with_namespace": OLD_PATH, "marked_for_deletion_on": None, "archived": False}
OWNER = {"permissions": {"project_access": {"access_level": 50}, "group_access": None}}


def recorded(*labels: str) -> Iterator[dict[str, Any]]:
    return (row for row in rows("errors", "19.3") if row["label"] in labels)


def with_marked_project(standin: StandIn) -> None:
    """The old path answers as recorded; what the project says of itself is cut down."""
    standin.play_rows(recorded("deletion/old_path"))
    standin.answer("GET", "/projects/55", body={**MARKED, **OWNER})


@pytest.mark.parametrize("project", [NUMBER, OLD_PATH])
async def test_a_deletion_says_that_it_waits_and_how_to_take_it_back(
    standin: StandIn, against: Server, project: str
) -> None:
    with_marked_project(standin)
    standin.answer("DELETE", "/projects/*", 202, {"message": "202 Accepted"})
    when = {"project": {"permanentDeletionDate": "2026-12-18"}}
    standin.answer("POST", "/api/graphql", body={"data": when})
    data = (await against().call("manage_project", {"action": "delete", "project_id": project})).data
    told = {name: data[name] for name in ("deleted", "marked_for_deletion_on", "gone_on", "id")}
    assert told == {
        "deleted": False,
        "marked_for_deletion_on": "2026-11-18",
        "gone_on": "2026-12-18",
        "id": 55,
    }
    assert data["path_with_namespace"] == RENAMED
    assert "manage_project restore" in data["then"]


@pytest.mark.parametrize(
    ("tool", "arguments", "label"),
    [
        ("manage_issue", {"action": "create", "title": "x"}, "marked_issue_create"),
        ("manage_issue", {"action": "update", "issue_iid": 1, "title": "y"}, "marked_issue_edit"),
        ("manage_branch", {"action": "create", "branch": "n", "ref": "main"}, "marked_branch"),
        (
            "manage_file",
            {
                "action": "create",
                "file_path": "n.txt",
                "branch": "main",
                "content": "x",
                "commit_message": "m",
            },
            "marked_file",
        ),
    ],
)
async def test_a_write_in_a_marked_project_names_the_deletion_and_not_the_role(
    standin: StandIn, against: Server, tool: str, arguments: dict[str, Any], label: str
) -> None:
    standin.play_rows(recorded(f"deletion/{label}"))
    standin.answer("GET", "/projects/55", body={**MARKED, **OWNER})
    failure = await refused(against(), tool, {"project_id": NUMBER, **arguments})
    assert (failure.code, failure.facts["state"]) == ("CONFLICT", "marked for deletion")
    assert "manage_project restore" in failure.facts["suggested_fix"]


async def test_whoever_may_not_restore_is_told_of_the_role(standin: StandIn, against: Server) -> None:
    developer = {"permissions": {"project_access": {"access_level": 30}, "group_access": None}}
    standin.answer("POST", "/projects/55/restore", 403, {"message": "403 Forbidden"})
    standin.answer("GET", "/projects/55", body={**MARKED, **developer})
    failure = await refused(against(), "manage_project", {"action": "restore", "project_id": NUMBER})
    assert (failure.code, failure.facts["role_required"]) == ("PERMISSION_DENIED", "Owner")


async def test_the_old_path_of_a_marked_project_says_that_it_is_marked(
    standin: StandIn, against: Server
) -> None:
    with_marked_project(standin)
    failure = await refused(against(), "browse_projects", {"action": "get", "project_id": OLD_PATH})
    assert (failure.facts["moved_to"], failure.facts["state"]) == (NUMBER, "marked for deletion")


@pytest.mark.parametrize(
    ("action", "status", "sentence", "state"),
    [
        ("delete", 400, "Project has already been marked for deletion", "marked for deletion"),
        ("restore", 400, "Project has not been marked for deletion", "not marked for deletion"),
    ],
)
async def test_deleting_twice_and_restoring_a_live_one_are_named(
    standin: StandIn, against: Server, action: str, status: int, sentence: str, state: str
) -> None:
    standin.answer("*", "/projects/55*", status, {"message": sentence})
    failure = await refused(against(), "manage_project", {"action": action, "project_id": NUMBER})
    assert (failure.code, failure.facts["state"]) == ("CONFLICT", state)


async def test_nobody_is_asked_to_delete_what_is_marked_already(standin: StandIn, against: Server) -> None:
    standin.answer("GET", "/projects/55", body=MARKED)
    call = {"action": "delete", "project_id": NUMBER}
    failure = await refused(against(confirm="destructive"), "manage_project", call)
    assert (failure.code, failure.facts["state"]) == ("CONFLICT", "marked for deletion")


async def test_for_good_is_asked_about_by_itself_and_names_the_path_that_gitlab_gave(
    standin: StandIn, against: Server
) -> None:
    standin.answer("GET", "/projects/55", body=MARKED)
    standin.answer("DELETE", "/projects/55", 202, {"message": "202 Accepted"})
    app, for_good = (
        against(confirm="destructive"),
        {"action": "delete", "project_id": NUMBER, "permanently_remove": True},
    )
    asked = (await refused(app, "manage_project", for_good)).facts
    assert "cannot be restored" in asked["what_will_happen"]
    token = asked["confirmation_token"]
    without = await refused(
        app, "manage_project", {"action": "delete", "project_id": NUMBER, "confirmation_token": token}
    )
    assert without.code == "CONFIRMATION_MISMATCH"
    data = (await app.call("manage_project", {**for_good, "confirmation_token": token})).data
    assert (data["started"], data["permanently"]) == (True, True)
    deletion = next(each for each in standin.requests if each.method == "DELETE")
    assert dict(deletion.params) == {"permanently_remove": "true", "full_path": RENAMED}


async def test_what_is_not_marked_is_not_removed_for_good(standin: StandIn, against: Server) -> None:
    standin.answer("GET", "/projects/55", body=LIVE)
    call = {"action": "delete", "project_id": NUMBER, "permanently_remove": True}
    failure = await refused(against(), "manage_project", call)
    assert (failure.code, failure.facts["state"]) == ("CONFLICT", "not marked for deletion")
    assert [each["arguments"] for each in failure.facts["alternatives"]] == [
        {"project_id": NUMBER},
        {"project_id": NUMBER, "permanently_remove": True},
    ]
    assert "1. manage_project delete without" in failure.facts["suggested_fix"]
    assert "2. manage_project delete again" in failure.facts["suggested_fix"]
    assert writes(standin) == []


@pytest.mark.parametrize(
    ("group", "state"),
    [({"archived": True}, "archived"), ({"marked_for_deletion_on": "2026-11-18"}, "marked for deletion")],
)
async def test_a_project_for_a_closed_group_names_the_group(
    standin: StandIn, against: Server, group: dict[str, Any], state: str
) -> None:
    standin.play_rows(recorded("archived_group/project_create"))
    standin.answer("GET", "/groups/114", body={"id": 114, **group})
    call = {"action": "create", "name": "inarch", "namespace_id": "114"}
    failure = await refused(against(), "manage_project", call)
    assert (failure.code, failure.facts["state"]) == ("CONFLICT", state)


async def test_a_project_of_an_archived_group_says_that_the_group_has_to_be_opened(
    standin: StandIn, against: Server
) -> None:
    standin.play_rows(recorded("archived_group/unarchive_project"))
    failure = await refused(against(), "manage_project", {"action": "unarchive", "project_id": "58"})
    assert (failure.code, failure.facts["state"]) == ("CONFLICT", "archived")
    assert "group" in failure.facts["suggested_fix"]


@pytest.mark.parametrize(
    ("group", "state", "projects"),
    [
        ({"archived": True}, "archived", "Archived with it"),
        ({"marked_for_deletion_on": "2026-11-18"}, "marked for deletion", "Can still be changed"),
        ({"archived": False, "marked_for_deletion_on": None}, None, None),
    ],
)
async def test_the_state_of_a_group_is_told_where_it_refuses_and_before(
    standin: StandIn, against: Server, group: dict[str, Any], state: str | None, projects: str | None
) -> None:
    """Synthetic: no write to such a group itself was recorded, so nothing is called certain."""
    standin.answer("GET", "/metadata", body={"version": "19.3.0-ee", "enterprise": True})
    standin.answer("GET", "/groups/114", body={"id": 114, "full_path": "acme", **group})
    standin.answer("GET", "/user", body={"id": 2, "username": "alice"})
    token = {"user_id": 2, "scopes": ["api"], "active": True}
    standin.answer("GET", "/personal_access_tokens/self", body=token)
    standin.answer("GET", "/groups/114/members/all/2", body={"access_level": 50})
    standin.answer("POST", "/groups/114/labels", 403, {"message": "403 Forbidden"})
    call = {"action": "create", "group_id": "114", "name": "bug", "color": "#111111"}
    failure = await refused(against(), "manage_label", call)
    assert failure.facts.get("state") == state
    assert failure.facts["confidence"] != "certain"
    assert "PERMISSION_DENIED" in {failure.code, *failure.facts.get("also", ())}
    explain = {"action": "explain_access", "group_id": "114"}
    told = (await against().call("browse_instance", explain)).data
    assert (told.get("projects_of_this_group") or "").startswith(projects or "")
    assert ("projects_of_this_group" in told) is (projects is not None)
    for name, value in group.items():
        assert told["here"].get(name) == value


@pytest.mark.parametrize("word", ["permanently", "permanent"])
async def test_for_good_is_understood_in_other_words_and_asked_about_all_the_same(
    standin: StandIn, against: Server, word: str
) -> None:
    standin.answer("GET", "/projects/55", body={**MARKED, **OWNER})
    call = {"action": "delete", "project_id": NUMBER, word: True}
    failure = await refused(against(trust="dangerous", confirm="destructive"), "manage_project", call)
    assert failure.code == "CONFIRMATION_REQUIRED"
    assert failure.facts["danger"] == "dangerous"
    assert writes(standin) == []

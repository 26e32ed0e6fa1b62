"""Writes that a person's sentence means as one: each alone, cut off on its way, refused, tried out, asked about once.

On the recorded shop that keeps what is written to it; what it does not have is synthetic.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha1
from typing import Any

import pytest

from gitlab_mcp.app import App
from tests.journeys.jobs_with_ci_and_people import Coverage, Deployments
from tests.journeys.jobs_with_files import Store
from tests.support.guarded import DEFAULTS, refused, writes
from tests.support.standin import LoseAnswer, Reply, ReplyWith, StandIn
from tests.support.standin.nouns.suggestions import Suggestions
from tests.support.standin.shop import Shop

pytestmark = pytest.mark.anyio
Against = Callable[..., App]

P = {"project_id": "acme/shop"}
PROJECT = "/projects/acme%2Fshop"
PICK = {"action": "cherry_pick", **P, "sha": "!5", "branch": "release/1.0", "start_ref": "v1.0.0"}
MERGE = {"action": "merge", **P, "merge_request_iid": 22, "approve": True}
RESOLVE = {"action": "resolve_all", **P, "merge_request_iid": 12}
PICTURE = {"filename": "shot.png", "content": "iVBORw0KGgo=", "encoding": "base64"}
COMMENT = {"action": "create_note", **P, "issue_iid": 1, "body": "Look:", "attached_files": [PICTURE]}
SET = {"action": "set", **P, "key": "DEPLOY_ENV", "value": "staging"}
REFUSED = ReplyWith(Reply.of(403, {"message": "403 Forbidden"}))


@pytest.fixture
def store(standin: StandIn) -> Store:
    """Of files and images, in front of the shop where a test names it first."""
    part = Store()
    standin.add(part)
    return part


# merge with approve


async def test_approving_and_merging_is_one_yes(shop: Shop, standin: StandIn, against: Against) -> None:
    app = against(**DEFAULTS)
    asked = await refused(app, "manage_merge_request", MERGE)
    assert asked.code == "CONFIRMATION_REQUIRED"
    assert "you vouch for the change" in asked.facts["what_will_happen"]
    assert writes(standin) == []
    token = asked.facts["confirmation_token"]
    result = await app.call("manage_merge_request", {**MERGE, "confirmation_token": token})
    assert (result.data["state"], result.data["approved"]) == ("merged", "now")
    path = f"{PROJECT}/merge_requests/22"
    assert writes(standin) == [f"POST {path}/approve", f"PUT {path}/merge"]
    shas = {each.json["sha"] for each in standin.requests if each.method in ("POST", "PUT")}
    assert shas == {shop.as_recorded("projects/77/merge_requests", 22)["sha"]}


async def test_what_is_approved_already_is_only_merged(
    shop: Shop, standin: StandIn, against: Against
) -> None:
    result = await against().call("manage_merge_request", {**MERGE, "merge_request_iid": 6})
    assert result.data["approved"] == "already"
    assert writes(standin) == [f"PUT {PROJECT}/merge_requests/6/merge"]


async def test_where_it_cannot_be_merged_the_approval_that_stands_is_told(
    shop: Shop, standin: StandIn, against: Against
) -> None:
    result = await against().call("manage_merge_request", {**MERGE, "merge_request_iid": 25})
    [warning] = result.data["warnings"]
    assert (result.data["approved"], warning["code"], warning["error_code"]) == ("now", "PARTIAL", "CONFLICT")
    assert warning["next"]["action"] == "manage_merge_request merge"


async def test_without_an_approval_nothing_is_merged(shop: Shop, standin: StandIn, against: Against) -> None:
    standin.fault("POST", f"{PROJECT}/merge_requests/22/approve", REFUSED)
    assert (await refused(against(), "manage_merge_request", MERGE)).code == "PERMISSION_DENIED"
    assert shop.thing("projects/77/merge_requests", 22)["state"] == "opened"


async def test_an_operator_who_forbids_approving_forbids_it_here(
    shop: Shop, standin: StandIn, against: Against
) -> None:
    app = against(never_actions=("manage_merge_request.approve",))
    assert (await refused(app, "manage_merge_request", MERGE)).code == "OUT_OF_SCOPE"
    assert writes(standin) == []


@pytest.mark.parametrize(("status", "merges"), [("success", True), ("failed", False)])
async def test_an_auto_merge_that_waited_for_nothing_but_success_merges_now(
    standin: StandIn, against: Against, status: str, merges: bool
) -> None:
    """Synthetic, after what GitLab 19.3 was seen to do: 405 where no pipeline is running."""
    sha, path = "a" * 40, "/projects/1/merge_requests/3"
    shown = {"iid": 3, "project_id": 1, "state": "opened", "detailed_merge_status": "mergeable", "sha": sha}
    standin.answer("GET", path, body={**shown, "head_pipeline": {"id": 5, "sha": sha, "status": status}})
    standin.answer("PUT", f"{path}/merge", body={**shown, "state": "merged"})
    standin.fault("PUT", f"{path}/merge", ReplyWith(Reply.of(405, {"message": "405 Method Not Allowed"})))
    call = {"action": "merge", "project_id": "1", "merge_request_iid": 3, "auto_merge": True}
    if merges:
        assert (await against().call("manage_merge_request", call)).data["state"] == "merged"
    else:
        assert (await refused(against(), "manage_merge_request", call)).code == "CONFLICT"
    sent = [
        each.json.get("merge_when_pipeline_succeeds") for each in standin.requests if each.method == "PUT"
    ]
    assert sent == ([True, None] if merges else [True])


# cherry_pick of a merge request, onto a new branch


async def test_a_merge_request_is_picked_onto_a_new_branch(
    shop: Shop, standin: StandIn, against: Against
) -> None:
    result = await against().call("manage_commit", PICK)
    sha = shop.as_recorded("projects/77/merge_requests", 5)["merge_commit_sha"]
    branches = f"{PROJECT}/repository/branches"
    assert writes(standin) == [f"POST {branches}", f"POST {PROJECT}/repository/commits/{sha}/cherry_pick"]
    assert result.data["branch"] == "release/1.0" and result.data["id"]
    assert result.data["branch_created_from"] == "v1.0.0"


async def test_the_number_may_stand_in_a_field_of_its_own(shop: Shop, against: Against) -> None:
    pick = {**{name: value for name, value in PICK.items() if name != "sha"}, "merge_request_iid": 5}
    result = await against().call("manage_commit", pick)
    assert "!5" in str(result.data["taken_as"])


async def test_an_open_merge_request_has_no_commit_to_pick(
    shop: Shop, standin: StandIn, against: Against
) -> None:
    for action in ("cherry_pick", "revert"):
        call = {"action": action, **P, "sha": "!22", "branch": "main"}
        failure = await refused(against(), "manage_commit", call)
        assert (failure.code, failure.facts["state"]) == ("CONFLICT", "opened")
    assert writes(standin) == []


async def test_a_pick_that_conflicts_leaves_the_branch_and_says_so(
    shop: Shop, standin: StandIn, against: Against
) -> None:
    conflict = {
        "message": "Sorry, we cannot cherry-pick this commit automatically.",
        "error_code": "conflict",
    }
    standin.fault("POST", "*/cherry_pick", ReplyWith(Reply.of(400, conflict)))
    result = await against().call("manage_commit", PICK)
    [warning] = result.data["warnings"]
    assert warning["code"] == "PARTIAL" and warning["next"]["action"] == "manage_commit cherry_pick"
    assert "start_ref" not in warning["next"]["arguments"] and "undo" not in result.data


async def test_a_branch_of_that_name_is_gone_on_with_only_at_the_same_commit(
    shop: Shop, standin: StandIn, against: Against
) -> None:
    app = against()
    await app.call("manage_branch", {"action": "create", **P, "branch": "release/1.0", "ref": "v1.0.0"})
    head = shop.thing("projects/77/repository/branches", "release/1.0")["commit"]["id"]
    start = f"{PROJECT}/repository/commits/v1.0.0"
    standin.answer("GET", start, body={"id": "b" * 40})
    failure = await refused(app, "manage_commit", PICK)
    assert (failure.code, failure.facts["state"]) == ("CONFLICT", "exists")
    standin.answer("GET", start, body={"id": head})
    picked = await app.call("manage_commit", PICK)
    assert picked.data["branch"] == "release/1.0" and "branch_created_from" not in picked.data
    assert [each for each in writes(standin) if each.endswith("/branches")] == [
        f"POST {PROJECT}/repository/branches"
    ]


async def test_a_pick_is_not_tried_on_a_branch_that_is_not_there(standin: StandIn, against: Against) -> None:
    failure = await refused(against(), "manage_commit", {**PICK, "dry_run": True})
    assert failure.facts["invalid_fields"][0]["field"] == "dry_run" and standin.requests == []


# retry and play, until it has ended


async def test_what_a_retried_job_came_to_is_told_with_it(
    shop: Shop, standin: StandIn, against: Against
) -> None:
    call = {"action": "retry", **P, "job_id": 301, "wait": True}
    data = (await against().call("manage_job", call)).data
    assert (data["verdict"], data["job"]["status"]) == ("The job is success.", "success")
    assert writes(standin) == [f"POST {PROJECT}/jobs/301/retry"]
    [started] = [each for each in standin.requests if each.method == "POST"]
    assert "wait" not in (started.json or {})


async def test_a_job_that_was_started_is_told_also_where_it_cannot_be_read(
    shop: Shop, standin: StandIn, against: Against
) -> None:
    standin.fault("GET", f"{PROJECT}/jobs/*", REFUSED, times=None)
    data = (await against().call("manage_job", {"action": "retry", **P, "job_id": 301, "wait": True})).data
    [warning] = data["warnings"]
    assert warning["code"] == "PARTIAL" and data["job"]["id"] != 301
    assert warning["next"] == {
        "tool": "browse_pipelines",
        "arguments": {"action": "wait", **P, "job_id": data["job"]["id"]},
    }


async def test_a_pipeline_that_was_started_is_waited_for(
    shop: Shop, standin: StandIn, against: Against
) -> None:
    standin.answer("POST", f"{PROJECT}/pipeline", 201, {"id": 5, "status": "created", "web_url": "x"})
    ended = {"id": 5, "project_id": 77, "status": "success", "ref": "main", "sha": "aa"}
    standin.answer("GET", f"{PROJECT}/pipelines/5", body=ended)
    data = (
        await against().call("manage_pipeline", {"action": "create", **P, "ref": "main", "wait": True})
    ).data
    assert data["verdict"] == "The pipeline is success."


# Comments and issues with files


async def test_a_comment_shows_the_files_it_came_with(
    store: Store, shop: Shop, standin: StandIn, against: Against
) -> None:
    text = {"filename": "log.txt", "content": "a"}
    made = await against().call("manage_discussion", {**COMMENT, "attached_files": [PICTURE, text]})
    assert list(store.uploads.values()) == [b"\x89PNG\r\n\x1a\n", b"a"]
    [note] = [
        each
        for each in shop.made_in("projects/77/issues/1/notes")
        if all(address in each["body"] for address in store.uploads)
    ]
    assert note["body"].startswith("Look:\n\n!") and "undo" not in made.data


async def test_one_file_need_not_be_a_list_and_goes_by_other_names(
    store: Store, shop: Shop, standin: StandIn, against: Against
) -> None:
    call = {
        **{name: value for name, value in COMMENT.items() if name != "attached_files"},
        "screenshot": PICTURE,
    }
    await against().call("manage_discussion", call)
    assert len(store.uploads) == 1


@pytest.mark.parametrize(
    ("file", "stored"),
    [
        ({"filename": "a.png", "content": "iVBORw0KGgo="}, b"\x89PNG\r\n\x1a\n"),
        ({"filename": "a.png", "content": "data:image/png;base64,iVBORw0KGgo="}, b"\x89PNG\r\n\x1a\n"),
        ({"filename": "a.txt", "content": "iVBORw0KGgo=", "encoding": "text"}, b"iVBORw0KGgo="),
        ({"filename": "a.txt", "content": "aGVsbG8="}, b"aGVsbG8="),
    ],
)
async def test_a_picture_is_not_kept_as_the_letters_of_its_base64(
    store: Store, shop: Shop, against: Against, file: dict[str, str], stored: bytes
) -> None:
    await against().call("manage_discussion", {**COMMENT, "attached_files": [file]})
    assert list(store.uploads.values()) == [stored]


async def test_an_issue_is_opened_with_a_screenshot(
    store: Store, shop: Shop, standin: StandIn, against: Against
) -> None:
    call = {"action": "create", **P, "title": "Broken", "attached_files": [PICTURE]}
    await against().call("manage_issue", call)
    [issue] = shop.named("projects/77/issues", title="Broken")
    assert issue["description"].startswith("![shot.png](/uploads/") and "attached_files" not in issue


@pytest.mark.parametrize("wrong", ["shot.png", [{}], [{"filename": "a"}], [PICTURE] * 11])
async def test_what_is_no_file_is_refused_before_anything_is_sent(
    standin: StandIn, against: Against, wrong: Any
) -> None:
    await refused(against(), "manage_discussion", {**COMMENT, "attached_files": wrong})
    assert standin.requests == []


async def test_where_uploads_are_forbidden_no_comment_is_written(
    shop: Shop, standin: StandIn, against: Against
) -> None:
    app = against(never_actions=("manage_upload.create",))
    assert (await refused(app, "manage_discussion", COMMENT)).code == "OUT_OF_SCOPE"
    assert writes(standin) == []


async def test_a_dry_run_uploads_nothing(shop: Shop, standin: StandIn, against: Against) -> None:
    told = (await against().call("manage_discussion", {**COMMENT, "dry_run": True})).data
    assert told["would_send"]["path"] == f"{PROJECT}/uploads" and told["more_may_follow"] is True
    assert writes(standin) == []


async def test_a_local_file_in_a_list_is_read_only_where_it_may_be(
    store: Store, shop: Shop, standin: StandIn, against: Against, tmp_path: Any
) -> None:
    (tmp_path / "shot.png").write_bytes(b"png")
    call = {**COMMENT, "attached_files": [PICTURE, {"path": "shot.png"}]}
    assert (await refused(against(), "manage_discussion", call)).code == "INVALID_VALUE"
    assert store.uploads == {}
    await against(upload_root=tmp_path).call("manage_discussion", call)
    assert list(store.uploads.values()) == [b"\x89PNG\r\n\x1a\n", b"png"]


# resolve_all


def threads(shop: Shop) -> dict[str, Any]:
    return shop.things["projects/77/merge_requests/12/discussions"]


async def test_all_open_threads_are_resolved_and_opened_again_by_the_undo(
    shop: Shop, standin: StandIn, against: Against
) -> None:
    app = against()
    before = (await app.call("browse_discussions", {"action": "list", **P, "merge_request_iid": 12})).data
    told = (await app.call("manage_discussion", RESOLVE)).data
    assert told["resolved"] and "warnings" not in told
    assert [each["discussion_id"] for each in told["threads"]] == told["resolved"]
    assert all(each["body"] for each in told["threads"])
    again = (await app.call("manage_discussion", RESOLVE)).data
    assert again["resolved"] == [] and "undo" not in again
    await app.call(told["undo"]["tool"], told["undo"]["arguments"])
    after = (await app.call("browse_discussions", {"action": "list", **P, "merge_request_iid": 12})).data
    assert [each["id"] for each in after["items"]] == [each["id"] for each in before["items"]]
    notes = [note for each in threads(shop).values() for note in each["notes"] if note.get("resolvable")]
    assert notes and not any(note["resolved"] for note in notes)


def many_threads(standin: StandIn, count: int) -> str:
    path = f"{PROJECT}/merge_requests/12/discussions"
    open_note = {"id": 1, "resolvable": True, "resolved": False, "body": "Why?"}
    rows = [{"id": f"{number:040x}", "notes": [open_note]} for number in range(count)]
    standin.answer("GET", path, body=rows)
    for row in rows:
        standin.answer("PUT", f"{path}/{row['id']}", body={**row, "notes": [{**open_note, "resolved": True}]})
    return path


async def test_several_threads_are_undone_by_one_batch_and_many_by_none(
    standin: StandIn, against: Against
) -> None:
    many_threads(standin, 3)
    undo = (await against().call("manage_discussion", RESOLVE)).data["undo"]
    assert undo["tool"] == "run_batch" and len(undo["arguments"]["calls"]) == 3
    many_threads(standin, 11)
    told = (await against().call("manage_discussion", RESOLVE)).data
    assert len(told["resolved"]) == 11 and "undo" not in told


async def test_a_thread_that_cannot_be_resolved_keeps_no_other_from_it(
    standin: StandIn, against: Against
) -> None:
    path = many_threads(standin, 3)
    standin.answer("PUT", f"{path}/{1:040x}", 403, {"message": "403 Forbidden"})
    told = (await against().call("manage_discussion", RESOLVE)).data
    assert told["resolved"] == [f"{0:040x}", f"{2:040x}"] and "undo" not in told
    [warning] = told["warnings"]
    assert [each["discussion_id"] for each in warning["failed"]] == [f"{1:040x}"]


async def test_where_none_can_be_resolved_it_is_a_failure(standin: StandIn, against: Against) -> None:
    path = many_threads(standin, 2)
    for number in range(2):
        standin.answer("PUT", f"{path}/{number:040x}", 403, {"message": "403 Forbidden"})
    assert (await refused(against(), "manage_discussion", RESOLVE)).code == "PERMISSION_DENIED"


async def test_a_dry_run_lists_the_threads_and_resolves_none(
    shop: Shop, standin: StandIn, against: Against
) -> None:
    told = (await against().call("manage_discussion", {**RESOLVE, "dry_run": True})).data
    assert told["dry_run"] is True and told["would_resolve"][0]["discussion_id"] in threads(shop)
    assert writes(standin) == []


# The suggestion of a merge request


async def test_the_only_open_suggestion_needs_no_number(standin: StandIn, against: Against) -> None:
    suggestions, app = Suggestions("a\nb\n", {4: "x", 5: "y"}), against()
    standin.add(suggestions)
    apply = {"action": "apply", **P, "merge_request_iid": 1}
    several = await refused(app, "manage_review", apply)
    assert (several.code, several.facts["candidates"]) == ("MISSING_REQUIRED_FIELD", [{"id": 4}, {"id": 5}])
    await app.call("manage_review", {**apply, "suggestion_ids": [5]})
    await app.call("manage_review", apply)
    assert suggestions.applied == {4, 5}
    assert (await refused(app, "manage_review", apply)).facts["state"] == "no open suggestion"


async def test_where_suggestions_are_not_shown_a_number_is_needed(standin: StandIn, against: Against) -> None:
    standin.add(Suggestions("a\n", {4: "x"}, shown_with_notes=False))
    failure = await refused(against(), "manage_review", {"action": "apply", **P, "merge_request_iid": 1})
    assert failure.facts["missing_fields"] == ["suggestion_ids"] and writes(standin) == []


# A variable, new or not


async def test_a_variable_is_set_whether_or_not_it_is_there(
    shop: Shop, standin: StandIn, against: Against
) -> None:
    app = against()
    made = (await app.call("manage_variable", SET)).data
    assert made["created"]["key"] == "DEPLOY_ENV" and made["undo"]["arguments"]["action"] == "delete"
    changed = (await app.call("manage_variable", {**SET, "value": "production"})).data
    assert "created" not in changed and "undo" not in changed
    assert shop.thing("projects/77/variables", "DEPLOY_ENV")["value"] == "production"
    assert "production" not in str(changed)
    await app.call(made["undo"]["tool"], made["undo"]["arguments"])
    assert "DEPLOY_ENV" not in shop.things["projects/77/variables"]


async def test_only_the_variable_of_the_scope_is_changed(standin: StandIn, against: Against) -> None:
    """Of all environments, where none is named: a value for production is not overwritten in passing."""
    path = "/projects/1/variables/KEY"
    standin.answer("PUT", path, body={"key": "KEY", "environment_scope": "*"})
    await against().call("manage_variable", {"action": "set", "project_id": "1", "key": "KEY", "value": "x"})
    [sent] = [each.json for each in standin.requests if each.method == "PUT"]
    assert sent == {"value": "x", "filter": {"environment_scope": "*"}}


async def test_nobody_is_asked_about_a_new_variable_and_a_person_about_an_old_one(
    shop: Shop, standin: StandIn, against: Against
) -> None:
    app = against(**DEFAULTS)
    await app.call("manage_variable", SET)
    asked = await refused(app, "manage_variable", {**SET, "value": "production"})
    assert asked.code == "CONFIRMATION_REQUIRED"
    assert shop.thing("projects/77/variables", "DEPLOY_ENV")["value"] == "staging"


async def test_where_it_cannot_be_seen_whether_there_is_a_variable_a_person_is_asked(
    shop: Shop, standin: StandIn, against: Against
) -> None:
    standin.fault("GET", f"{PROJECT}/variables/*", REFUSED, times=None)
    assert (await refused(against(**DEFAULTS), "manage_variable", SET)).code == "CONFIRMATION_REQUIRED"


async def test_a_project_that_is_not_there_gets_no_variable(standin: StandIn, against: Against) -> None:
    standin.answer("PUT", "/projects/9/variables/KEY", 404, {"message": "404 Project Not Found"})
    call = {"action": "set", "project_id": "9", "key": "KEY", "value": "x"}
    assert (await refused(against(), "manage_variable", call)).facts["missing"] == "project_id"
    assert not any(each.startswith("POST") for each in writes(standin))


# A release with its notes


async def test_a_release_is_cut_with_the_notes_that_prepare_drafts(
    shop: Shop, standin: StandIn, against: Against
) -> None:
    app = against()
    drafted = (await app.call("browse_releases", {"action": "prepare", **P})).data["release"]
    create = {"action": "create", **P, "tag_name": "v1.3.0", "prepared": True}
    told = (await app.call("manage_release", create)).data
    made = shop.thing("projects/77/releases", "v1.3.0")
    assert (made["description"], made["name"]) == (drafted["description"], "v1.3.0")
    assert [each["code"] for each in told["warnings"]] == ["NOT_GREEN"]


async def test_what_the_caller_gives_is_kept_and_nothing_is_released_where_nothing_changed(
    standin: StandIn, against: Against
) -> None:
    standin.answer("GET", "/projects/1", body={"id": 1, "default_branch": "main"})
    tags = [
        {"name": name, "commit": {"committed_date": "2026-11-01T12:00:00Z"}} for name in ("v2.0.0", "v1.2.0")
    ]
    standin.answer("GET", "/projects/1/repository/tags", body=tags)
    standin.answer("GET", "/projects/1/merge_requests", body=[])
    standin.answer("GET", "/projects/1/issues", body=[])
    standin.answer("GET", "/projects/1/repository/commits", body=[])
    standin.answer("POST", "/projects/1/releases", 201, {"tag_name": "v1.2.1", "name": "Mine"})
    call = {"action": "create", "project_id": "1", "tag_name": "v1.2.1", "ref": "1-2-stable", "name": "Mine"}
    failure = await refused(against(), "manage_release", {**call, "prepared": True})
    assert (failure.code, failure.facts["state"]) == ("CONFLICT", "nothing changed")
    commit = {"id": "a" * 40, "title": "fix: x", "message": "fix: x", "author_name": "Al", "parent_ids": []}
    standin.answer("GET", "/projects/1/repository/commits", body=[commit])
    await against().call("manage_release", {**call, "prepared": True})
    [sent] = [each.json for each in standin.requests if each.method == "POST"]
    assert (sent["name"], sent["ref"], sent["tag_name"]) == ("Mine", "1-2-stable", "v1.2.1")
    assert sent["description"].startswith("## Fixes") and "prepared" not in sent
    asked = [dict(each.params).get("ref_name") for each in standin.requests]
    assert "v1.2.0..1-2-stable" in asked, "since the version below it, not since the highest one"


# Images


async def test_images_are_deleted_by_pattern_and_by_name_in_one_call(
    store: Store, standin: StandIn, against: Against
) -> None:
    call = {"action": "delete_tags", **P, "repository_id": 5, "tag_names": ["v1.0.0", "nope"]}
    told = (await against().call("manage_registry", {**call, "name_regex_delete": "dev-.*"})).data
    assert (told["started"], told["deleted"]) == (True, ["v1.0.0"]) and list(store.tags) == ["latest"]
    assert [each["tag_name"] for each in told["warnings"][0]["failed"]] == ["nope"]
    assert (await refused(against(), "manage_registry", call)).code == "NOT_FOUND"


@pytest.mark.parametrize("given", [{}, {"tag_names": ["a"], "keep_n": 1}, {"tag_names": []}])
async def test_a_deletion_without_a_pattern_needs_names_and_nothing_that_goes_with_one(
    standin: StandIn, against: Against, given: dict[str, Any]
) -> None:
    call = {"action": "delete_tags", **P, "repository_id": 5, **given}
    assert (await refused(against(), "manage_registry", call)).code == "INVALID_VALUE"
    assert standin.requests == []


async def test_a_person_is_asked_once_for_all_images(
    store: Store, standin: StandIn, against: Against
) -> None:
    app = against(trust="dangerous", confirm="destructive")
    call = {"action": "delete_tags", **P, "repository_id": 5, "tag_names": ["v1.0.0", "dev-1"]}
    asked = await refused(app, "manage_registry", call)
    assert '"v1.0.0", "dev-1"' in asked.facts["what_will_happen"]
    await app.call("manage_registry", {**call, "confirmation_token": asked.facts["confirmation_token"]})
    assert list(store.tags) == ["latest", "dev-2"]


# Reads of several steps


async def test_a_file_is_read_of_the_newest_job_that_has_it(standin: StandIn, against: Against) -> None:
    standin.add(Coverage())
    standin.answer("GET", PROJECT, body={"id": 77, "default_branch": "main"})
    call = {"action": "artifact_file", **P, "artifact_path": "coverage.xml"}
    found = await against().call("browse_jobs", call)
    assert (found.data["job_id"], found.data["job_status"]) == (284, "failed") and found.text
    failure = await refused(against(), "browse_jobs", {**call, "artifact_path": "other.xml"})
    assert (failure.code, failure.facts["missing"]) == ("NOT_FOUND", "artifact_path")
    failure = await refused(against(), "browse_jobs", {**call, "ref_name": "feature/y"})
    assert (failure.code, failure.facts["missing"]) == ("NOT_FOUND", "artifacts")


async def test_deployments_are_listed_with_what_they_shipped(standin: StandIn, against: Against) -> None:
    standin.add(Deployments())
    call = {"action": "list_deployments", **P, "with_merge_requests": True}
    found = (await against().call("browse_environments", call)).data
    assert [[each["iid"] for each in row["merge_requests"]] for row in found["items"]] == [[1, 2], [1, 2]]
    standin.fault("GET", "*/47/merge_requests", REFUSED, times=None)
    found = (await against().call("browse_environments", call)).data
    assert [each["code"] for each in found["warnings"]] == ["PARTIAL"]


async def test_a_lost_answer_to_a_step_is_looked_for_by_the_proof_of_the_step(
    shop: Shop, standin: StandIn, against: Against
) -> None:
    standin.answer("GET", f"{PROJECT}/repository/commits/v1.0.0", body={"id": sha1(b"v1.0.0").hexdigest()})
    standin.fault("POST", f"{PROJECT}/repository/branches", LoseAnswer())
    result = await against().call("manage_commit", PICK)
    assert result.data["id"] and "warnings" not in result.data
    assert len([each for each in writes(standin) if each.endswith("/branches")]) == 1

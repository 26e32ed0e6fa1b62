"""What GitLab 19.3 says in other words than 17.2, and what is made of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gitlab_mcp.app import App
from gitlab_mcp.failures.failure import CallFailed, Failure
from tests.support import exam
from tests.support.recordings import rows
from tests.support.standin import StandIn

pytestmark = pytest.mark.anyio
Against = Callable[..., App]


async def told(label: str) -> Failure:
    [question] = [each for each in exam.errors("19.3") if each.row["label"] == label]
    return await question.asked()


@pytest.mark.parametrize(
    ("label", "field"),
    [
        ("merge_requests/merge_without_sha_ok", "sha"),
        ("commits/missing_all", "branch"),
        ("files/blank_message", "commit_message"),
    ],
)
async def test_a_field_that_gitlab_asks_for_is_called_missing_and_not_wrong(label: str, field: str) -> None:
    failure = await told(label)
    assert failure.code == "REJECTED"
    assert failure.facts["missing_fields"] == [field]
    assert "invalid_fields" not in failure.facts


async def test_a_wrong_action_in_a_commit_is_told_by_its_field() -> None:
    failure = await told("commits/bad_action")
    assert [entry["field"] for entry in failure.facts["invalid_fields"]] == ["actions"]


@pytest.mark.parametrize("what", ["issue_create", "issue_edit", "note", "branch", "file", "commit", "mr"])
async def test_a_project_marked_for_deletion_takes_no_writes_and_can_be_restored(what: str) -> None:
    failure = await told(f"deletion/marked_{what}")
    assert (failure.code, failure.facts["state"]) == ("CONFLICT", "marked for deletion")
    assert "manage_project restore" in failure.facts["suggested_fix"]


async def test_who_may_not_restore_a_project_is_told_so() -> None:
    assert (await told("deletion/dev_restores")).code == "PERMISSION_DENIED"


async def test_a_push_to_a_repository_that_is_switched_off_is_no_matter_of_rights() -> None:
    assert (await told("files/off_repository_create")).code == "FEATURE_UNAVAILABLE"


async def test_too_many_pipelines_is_a_limit_whatever_the_status() -> None:
    failure = await told("rate_limits/pipelines_create")
    assert (failure.code, failure.facts["retryable"]) == ("RATE_LIMITED", True)


async def test_what_is_not_enabled_because_of_the_tier_is_told_as_the_tier() -> None:
    assert (await told("merge_requests/merge_train_free")).code == "TIER_RESTRICTED"


@pytest.mark.parametrize("version", ["17.2", "19.3"])
async def test_what_no_switch_can_make_work_is_told_as_the_tier_and_the_switch_goes_along(
    version: str,
) -> None:
    label = "mr_approval_rules/switched_off"
    [question] = [each for each in exam.tiers("ee", version) if each.row["label"] == label]
    failure = await question.asked()
    assert failure.code == "TIER_RESTRICTED"
    assert "FEATURE_UNAVAILABLE" in failure.facts["also"]
    # 17.2 refuses it for the tier alone; 19.3 answers with nothing where merge requests are on.
    assert failure.facts["confidence"] == ("certain" if version == "17.2" else "likely")


async def test_dots_in_a_path_are_told_in_words_of_their_own() -> None:
    [row] = [row for row in rows("errors", "19.3") if row["label"] == "routes/encoded_dot_segments"]
    failure = await exam.Question(row, "context_ee", "19.3").asked()
    assert failure.code == "REJECTED"
    assert "`..`" in failure.message


# Synthetic: the sentences are GitLab's, as they were read live; the exchanges were not recorded.
@pytest.mark.parametrize(
    ("says", "code", "state"),
    [
        ("9:reference update: reference does not point to expected object.", "CONFLICT", "changed"),
        ("Could not update refs/heads/main. Please refresh and try again.", "CONFLICT", "changed"),
        ("Project has not been marked for deletion", "CONFLICT", "not marked for deletion"),
    ],
)
async def test_a_lost_race_is_a_conflict_and_no_mistake_in_the_arguments(
    standin: StandIn, against: Against, says: str, code: str, state: str
) -> None:
    standin.answer("PUT", "/projects/1/repository/files/a.txt", 400, {"message": says})
    arguments: dict[str, Any] = {
        "action": "update",
        "project_id": 1,
        "file_path": "a.txt",
        "branch": "main",
        "content": "x",
        "commit_message": "x",
    }
    with pytest.raises(CallFailed) as failed:
        await against().call("manage_file", arguments)
    assert (failed.value.failure.code, failed.value.failure.facts["state"]) == (code, state)


async def test_nothing_to_delete_is_no_lack_of_permission(standin: StandIn, against: Against) -> None:
    says = "No environments found for scheduled deletion, or insufficient permissions."
    standin.answer("DELETE", "/projects/1/environments/review_apps", 400, {"message": says})
    with pytest.raises(CallFailed) as failed:
        await against().call(
            "manage_environment", {"action": "delete_review_apps", "project_id": 1, "dry_run": False}
        )
    assert failed.value.failure.code == "NOT_FOUND"


async def test_a_value_that_this_gitlab_does_not_have_is_not_named_among_those_to_choose_from(
    standin: StandIn, against: Against
) -> None:
    """A Community Edition has no epics, and so no to-dos of them."""
    standin.play_rows(row for row in rows("params_ce", "19.3") if row["label"] == "params/new_get_todos.type")
    with pytest.raises(CallFailed) as refused:
        await against().call("browse_todos", {"action": "list", "type": "Epic"})
    assert refused.value.failure.code == "REJECTED"
    [told] = refused.value.failure.facts["invalid_fields"]
    assert (told["field"], told["received"]) == ("type", '"Epic"')
    assert "Epic" not in told["expected"]
    assert "edition" in told["expected"]

"""Recorded refusals that were named rightly, with advice that led nowhere: read one by one, as their caller would."""

from __future__ import annotations

import pytest

from gitlab_mcp.failures.failure import Failure
from tests.support import exam
from tests.support.versions import VERSIONS

pytestmark = pytest.mark.anyio

QUESTIONS = {version: {each.row["label"]: each for each in exam.errors(version)} for version in VERSIONS}


async def told(version: str, label: str) -> Failure:
    return await QUESTIONS[version][label].asked()


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("label", "code", "advice"),
    [
        ("commits/revert_twice", "CONFLICT", "browse_commits list"),
        ("pipelines/ambiguous_ref", "CONFLICT", "refs/heads/NAME"),
        ("pipelines/ci_empty", "REJECTED", ".gitlab-ci.yml"),
        ("pagination/offset_limit_over_users", "REJECTED", "pagination=keyset"),
        ("pagination/offset_limit_over_groups_anon", "REJECTED", "Narrow the list"),
        ("members/dev_adds", "PERMISSION_DENIED", "the role Maintainer"),
        ("members/dev_promotes_self", "PERMISSION_DENIED", "the role Maintainer"),
        ("members/maint_adds_owner", "PERMISSION_DENIED", "a lower role, or ask an owner"),
        ("members/dev_removes", "PERMISSION_DENIED", "Ask a maintainer or owner of the project"),
        ("pipelines/ci_filtered", "REJECTED", ".gitlab-ci.yml"),
        ("access_tokens/level_above_own", "PERMISSION_DENIED", "own role or a lower one"),
        ("merge_requests/rebase_twice", "CONFLICT", "Wait a moment"),
        ("projects/maint_visibility", "PERMISSION_DENIED", "ask an owner"),
    ],
)
async def test_the_next_step_is_one_that_helps(version: str, label: str, code: str, advice: str) -> None:
    failure = await told(version, label)
    assert failure.code == code
    assert advice in failure.facts["suggested_fix"]


async def test_a_rebase_without_a_source_branch_names_the_branch_and_not_the_merge_request() -> None:
    failure = await told("19.3", "merge_requests/rebase_closed")
    assert (failure.code, failure.facts["missing"]) == ("NOT_FOUND", "source_branch")


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_level_that_the_group_forbids_is_not_listed_as_one_that_is_expected(version: str) -> None:
    failure = await told(version, "groups/visibility_below_projects")
    [wrong] = failure.facts["invalid_fields"]
    assert wrong["field"] == "visibility"
    assert "public" not in wrong["expected"]

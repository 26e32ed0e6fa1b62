"""Refusals for want of a tier: feature × edition × cause, over the recorded answers whose cause is known.

What no recording can show, licensed instances and GitLab.com, is synthetic: the recorded refusal, put to a translator
that is told of a licence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cache
from typing import Any

import pytest

from gitlab_mcp.actions.ask import InstanceFacts, NobodyToAsk, TokenFacts
from gitlab_mcp.failures.failure import Failure
from gitlab_mcp.refusals.translate import translate
from gitlab_mcp.tiers.feature_map import tier_map
from tests.support import exam
from tests.support.exam import Question, action_for, refused

pytestmark = pytest.mark.anyio

EDITIONS = ("ee", "ce")
OWNER = {"permissions": {"project_access": {"access_level": 50}, "group_access": None}}
EE_KEY = {"requirements_access_level": "enabled"}
PREMIUM_KEY = {"allow_pipeline_trigger_approve_deployment": False}
ULTIMATE_KEY = {"only_allow_merge_if_all_status_checks_passed": False}
PROJECTS: dict[str, Mapping[str, Any]] = {
    "Free": {**OWNER, **EE_KEY},
    "Premium": {**OWNER, **EE_KEY, **PREMIUM_KEY},
    "Ultimate": {**OWNER, **EE_KEY, **PREMIUM_KEY, **ULTIMATE_KEY},
}


@cache
def questions(edition: str) -> tuple[Question, ...]:
    return tuple(exam.tiers(edition, "17.2"))


def restricted(edition: str) -> list[Question]:
    return [question for question in questions(edition) if question.truth == "TIER_RESTRICTED"]


@pytest.mark.parametrize("edition", EDITIONS)
async def test_a_refusal_for_want_of_a_tier_says_which_and_what_to_do(edition: str) -> None:
    seen = Counter[str]()
    for question in restricted(edition):
        failure = await question.asked()
        if failure.code != "TIER_RESTRICTED":
            continue
        label, facts = question.row["label"], failure.facts
        seen[label.split("/")[0]] += 1
        feature = next(each for each in tier_map().features.values() if each.name == facts["feature_name"])
        assert facts["tier_required"] == feature.tier_in("17.2"), label
        assert facts["confidence"] in ("certain", "likely", "possible"), label
        assert facts["evidence"], label
        assert facts["upgrade_url"].startswith("https://about.gitlab.com/"), label
        assert facts["docs_url"].startswith("https://docs.gitlab.com/"), label
        assert facts.get("current_tier") in ("Free", None), label
        for alternative in facts.get("alternatives", ()):
            assert not any(
                str(value).startswith("$") for value in alternative.get("arguments", {}).values()
            ), label
    assert len(seen) >= 40, "features"


async def test_a_paid_feature_that_ce_has_no_route_for_names_the_edition() -> None:
    without_route = [
        question
        for question in restricted("ce")
        # Licences cost nothing to read; CE still has no such route.
        if '"error":"404 Not Found"' in question.row["body"] and "license_api/" not in question.row["label"]
    ]
    assert len(without_route) > 100
    for question in without_route:
        failure = await question.asked()
        concluded = (failure.code, failure.facts.get("edition"))
        assert concluded == ("TIER_RESTRICTED", "CE"), question.row["label"]


@pytest.mark.parametrize("edition", EDITIONS)
async def test_the_same_status_for_another_reason_is_not_the_tier(edition: str) -> None:
    """Role, scope, wrong ids, switched off: whatever it really was, not for want of a tier."""
    others = [question for question in questions(edition) if question.truth != "TIER_RESTRICTED"]
    assert len(others) > 50
    blamed = [
        question.row["label"]
        for question in others
        if (failure := await question.asked()).code == "TIER_RESTRICTED"
        and failure.facts["confidence"] == "certain"
    ]
    assert blamed == []


class Licensed(NobodyToAsk):
    """Synthetic: an owner on a GitLab that has bought everything, or in a namespace that has."""

    def __init__(self, instance: InstanceFacts, tier: str) -> None:
        self._instance, self._tier = instance, tier

    async def token(self) -> TokenFacts | None:
        return TokenFacts(alive=True, kind="personal", scopes=("api",), user_id=1, admin=False)

    async def instance(self) -> InstanceFacts:
        return self._instance

    async def project(self, id: str) -> Mapping[str, Any] | None:
        return PROJECTS[self._tier]

    async def group(self, id: str) -> Mapping[str, Any] | None:
        return {"prevent_forking_outside_group": False, "plan": self._tier.lower()}

    async def group_role(self, id: str) -> int | None:
        return 50


SELF_MANAGED = InstanceFacts("EE", "17.2.0", "Ultimate", known_by="synthetic")
GITLAB_COM = InstanceFacts("EE", "17.2.0", is_gitlab_com=True)


async def asked_of(question: Question, ask: NobodyToAsk) -> Failure:
    return await translate(refused(question.row), action_for(question.row, question.feature), ask)


def is_about_a_place(question: Question) -> bool:
    path: str = question.row["path"]
    return path.startswith(("/api/v4/projects/", "/api/v4/groups/"))


@pytest.mark.parametrize("instance", [SELF_MANAGED, GITLAB_COM], ids=["self-managed", "GitLab.com"])
async def test_whoever_has_paid_is_never_told_to_upgrade(instance: InstanceFacts) -> None:
    """Synthetic: refusals recorded without a licence, as if a licensed GitLab had answered so."""
    asked = [question for question in restricted("ee") if is_about_a_place(question)]
    assert len(asked) > 100
    told = [
        question.row["label"]
        for question in asked
        if (await asked_of(question, Licensed(instance, "Ultimate"))).code == "TIER_RESTRICTED"
    ]
    assert told == []


async def test_a_free_namespace_of_gitlab_com_is_told() -> None:
    """Synthetic: the same refusals where the project or group shows that nobody paid."""
    codes = Counter[str]()
    for question in restricted("ee"):
        if is_about_a_place(question):
            codes[(await asked_of(question, Licensed(GITLAB_COM, "Free"))).code] += 1
    assert codes["TIER_RESTRICTED"] / codes.total() > 0.9, codes

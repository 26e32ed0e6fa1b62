"""Successes that are none: what GitLab dropped, saved in vain or left out is told, and nothing else is.

`params_*` are real answers to one paid parameter at a time, sent to an EE without a licence and to a CE;
`parameter_tiers_measured` says what became of it, found by reading back.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from gitlab_mcp.actions.action import Action
from gitlab_mcp.actions.ask import InstanceFacts, NobodyToAsk
from gitlab_mcp.actions.exchange import Answer
from gitlab_mcp.api.endpoints import normalised
from gitlab_mcp.app import App
from gitlab_mcp.gitlab.instance import AnswerCache, CachedLookups
from gitlab_mcp.recording.cassette import load_cassettes
from gitlab_mcp.success_checks.all_checks import run_all_checks
from gitlab_mcp.success_checks.field_outcome import FieldOutcome, field_outcome
from tests.support import exam
from tests.support.facts import facts
from tests.support.recordings import rows
from tests.support.standin import StandIn

pytestmark = pytest.mark.anyio
Against = Callable[..., App]

VERDICTS: dict[str, set[str]] = {
    "ignored": {"TIER_IGNORED"},
    "filter_ignored": {"TIER_IGNORED"},
    "filter_empty": {"EMPTY_BECAUSE"},
    "filter_works": {"none", "EMPTY_BECAUSE"},
    "stored": {"none"},
    "works": {"none"},
}


class Knows(NobodyToAsk):
    """What is known of the instance, without a GitLab behind it."""

    def __init__(self, instance: InstanceFacts, project: Mapping[str, Any] | None = None) -> None:
        self._instance, self._project = instance, project
        self.asked: list[str] = []

    async def instance(self) -> InstanceFacts:
        self.asked.append("instance")
        return self._instance

    async def project(self, id: str) -> Mapping[str, Any] | None:
        self.asked.append("project")
        return self._project


FREE_EE = InstanceFacts("EE", "17.2.0", "Free", known_by="the instance has no licence")
CE = InstanceFacts("CE", "17.2.0", "Free", known_by="this is the Community Edition")
ULTIMATE = InstanceFacts("EE", "17.2.0", "Ultimate", known_by="synthetic")
UNKNOWN = InstanceFacts("EE", "17.2.0")


@dataclass(frozen=True)
class Sending:
    row: Mapping[str, Any]
    feature: str
    verdict: str

    @property
    def action(self) -> Action:
        action = exam.action_for(self.row, self.feature)
        assert action is not None
        return action

    @property
    def answer(self) -> Answer:
        body = json.loads(self.row["body"]) if self.row["body"] else None
        return Answer(self.row["status"], self.row["headers"], body)

    async def warned(self, instance: InstanceFacts) -> set[str]:
        found = await run_all_checks(self.action, self.answer, Knows(instance))
        return {warning.code for warning in found} or {"none"}


def sendings(edition: str) -> Iterator[Sending]:
    verdicts = {
        (normalised(entry["endpoint"]), entry["attribute"]): entry[edition]["effect"]
        for entry in facts("parameter_tiers_measured")
        if entry["kind"] == "request_parameter"
    }
    for row in rows(f"params_{edition}"):
        sent = re.fullmatch(r"params/\w+\.(\w+?)(_alone|_inverse|_as_owner)?", row["label"])
        if row["status"] >= 300 or not sent or "route" not in row or row["body"].startswith("<"):
            continue
        verdict = verdicts.get((normalised(row["route"]), sent[1]))
        feature = exam.feature_of(row)
        if verdict in VERDICTS and feature:
            yield Sending(row, feature, verdict)


FOR_ANOTHER_REASON = {
    "params/post_groups.extra_shared_runners_minutes_limit_as_owner",
    "params/post_groups.shared_runners_minutes_limit_as_owner",
    "params/put_groups.shared_runners_minutes_limit_as_owner",
    "params/post_users.extra_shared_runners_minutes_limit",
}
"""Without a licence an administrator can set it, by PUT: that it was dropped here is not for want of a tier."""


@pytest.mark.parametrize(("edition", "instance"), [("ee", FREE_EE), ("ce", CE)])
async def test_a_paid_parameter_that_is_dropped_is_told_and_one_that_works_is_not(
    edition: str, instance: InstanceFacts
) -> None:
    wrong, seen = [], Counter[str]()
    for sending in sendings(edition):
        label = sending.row["label"]
        warned = await sending.warned(instance)
        seen[sending.verdict] += 1
        expected = VERDICTS[sending.verdict]
        if edition == "ee" and label in FOR_ANOTHER_REASON:
            expected = {"NOT_APPLIED"}
        if not warned <= expected:
            wrong.append(f"{label}: {sorted(warned)} instead of {sorted(expected)}")
    assert wrong == []
    assert seen.total() >= 60, seen


@pytest.mark.parametrize("edition", ["ee", "ce"])
async def test_a_licensed_instance_is_never_warned_about_its_tier(edition: str) -> None:
    """Synthetic: nobody recorded a licensed one. What an unlicensed GitLab left out may still be told as not kept."""
    for sending in sendings(edition):
        warned = await sending.warned(ULTIMATE)
        assert not {code for code in warned if code.startswith(("TIER", "EMPTY"))}, sending.row["label"]


ACCEPTED = {
    "issues/assignee_ids_words": "NOT_APPLIED assignee_ids",
    "issues/labels_object": "NOT_APPLIED labels",
    "issues/due_date_bad": "NOT_APPLIED due_date",
    "issues/milestone_id_beyond": "NOT_APPLIED milestone_id",
    "issues/confidential_by_guest": "NOT_APPLIED confidential",
    "issues/incident_type_guest": "NOT_APPLIED issue_type",
    "issues/weight_free": "TIER_IGNORED weight",
    "milestones/bad_date": "NOT_APPLIED due_date",
    "notes/bad_created_at": "NOT_APPLIED created_at",
    "notes/quick_action_not_allowed": "NOT_APPLIED",
    "environments/reporter_stops": "NOT_APPLIED",
    "merge_requests/squash_forbidden": "NOT_APPLIED squash",
    "approvals/settings_free": "TIER_NOT_ENFORCED",
    "protected_environments/free": "TIER_NOT_ENFORCED",
    "merge_trains/list_free": "EMPTY_BECAUSE",
    "runners/off_list": "EMPTY_BECAUSE",
    "trees/path_is_file": "EMPTY_BECAUSE path",
    "files/blame_range_bad": "EMPTY_BECAUSE range_start",
}
"""Mistakes that a real GitLab accepted, and what is told. The others that it accepted are refused before they are
sent, or leave no trace in the answer."""


@pytest.mark.parametrize("label", ACCEPTED)
async def test_a_mistake_that_gitlab_accepts_is_told(label: str) -> None:
    [row] = [row for row in rows("errors") if row["label"] == label]
    action = exam.action_for(row, exam.feature_of(row))
    assert action is not None
    ask = CachedLookups(exam.Recorded("context_ee", row["actor"]), AnswerCache(), tier="free")
    answer = Answer(row["status"], row["headers"], json.loads(row["body"]))
    found = await run_all_checks(action, answer, ask)
    assert ACCEPTED[label] in [f"{each.code} {each.facts.get('field', '')}".strip() for each in found]


REALLY_CHANGED = {
    *("assignee_ids", "issue_type", "environment_scope", "allowed_to_push", "compliance_frameworks"),
    *("prevent_forking_outside_group", "shared_runners_minutes_limit"),
    *("allow_collaboration", "job_title", "projects_limit"),
}
"""What the recordings sent and did not get: mostly for want of a licence."""


def test_nothing_that_was_kept_is_called_dropped(cassettes: Path) -> None:
    """Every write in the recordings that went well, field by field."""
    compared, changed = 0, set()
    for each in load_cassettes(cassettes):
        sent, shown = json_object(each.request_body), json_object(each.content)
        if (
            each.method not in ("POST", "PUT")
            or each.status >= 300
            or each.uri.endswith(("/graphql", "/lock"))
        ):
            continue
        for name, value in sent.items():
            outcome = field_outcome(name, value, shown)
            compared += outcome is not FieldOutcome.NOT_SHOWN
            if outcome in (FieldOutcome.NOT_SAVED, FieldOutcome.PARTLY_SAVED):
                changed.add(name)
    assert changed == REALLY_CHANGED
    assert compared > 500


def json_object(text: str | bytes | None) -> dict[str, Any]:
    try:
        parsed = json.loads(text or "null")
    except ValueError:
        return {}
    return parsed if isinstance(parsed, dict) else {}


async def test_a_simple_success_asks_nothing(standin: StandIn, against: Against) -> None:
    standin.answer(
        "POST", "/projects/1/issues", 201, {"iid": 1, "title": "x", "state": "opened", "weight": 3}
    )
    arguments = {"action": "create", "project_id": "1", "title": "x", "weight": 3}
    result = await against().call("manage_issue", arguments)
    assert "warnings" not in result.data
    assert [request.method for request in standin.requests] == ["POST"]


async def test_a_type_that_quietly_became_an_ordinary_issue_is_told(
    standin: StandIn, against: Against
) -> None:
    [row] = [row for row in rows("tiers_ee") if row["label"] == "requirements/create_issue_test_case"]
    standin.play_rows([row])
    standin.play_rows(rows("context_ee"))
    arguments = {"action": "create", "project_id": "20", **row["request"]}
    result = await against(tier="free").call("manage_issue", arguments)
    [warning] = result.data["warnings"]
    assert (warning["code"], warning["field"]) == ("TIER_IGNORED", "issue_type")
    assert warning["tier_required"] == "Ultimate"


async def test_a_filter_that_ce_does_not_know_lists_everything_and_says_so(
    standin: StandIn, against: Against
) -> None:
    [row] = [row for row in rows("tiers_ce") if row["label"] == "issue_weight/filter"]
    standin.play_rows([row])
    standin.answer("GET", "/metadata", body={"version": "17.2.0", "enterprise": False})
    weight = int(row["path"].partition("weight=")[2].partition("&")[0])
    arguments = {"action": "list", "project_id": row["path"].split("/")[4], "weight": weight}
    result = await against().call("browse_issues", arguments)
    assert result.data["items"]
    assert [(each["code"], each["field"]) for each in result.data["warnings"]] == [("TIER_IGNORED", "weight")]


async def test_an_empty_list_of_a_switched_off_feature_says_so(standin: StandIn, against: Against) -> None:
    standin.play_rows(row for row in rows("errors") if row["label"] == "search/off_issues")
    standin.play_rows(rows("context_ee"))
    arguments = {"action": "issues", "project_id": "16", "search": "before"}
    result = await against().call("search", arguments)
    [warning] = result.data["warnings"]
    assert warning["code"] == "EMPTY_BECAUSE"
    assert "Issues" in warning["message"]


async def test_an_empty_list_of_commits_says_that_there_is_no_such_ref(
    standin: StandIn, against: Against
) -> None:
    standin.play_rows(row for row in rows("errors") if row["label"] == "commits/list_missing_ref")
    standin.answer("GET", "/projects/1/repository/commits/nosuch", 404, {"message": "404 Commit Not Found"})
    arguments = {"action": "list", "project_id": "1", "ref_name": "nosuch"}
    result = await against().call("browse_commits", arguments)
    assert [(each["code"], each["field"]) for each in result.data["warnings"]] == [
        ("EMPTY_BECAUSE", "ref_name")
    ]


async def test_an_empty_list_of_something_that_is_there_is_just_empty(
    standin: StandIn, against: Against
) -> None:
    standin.answer("GET", "/projects/1/issues", body=[])
    standin.answer("GET", "/projects/1", body={"id": 1, "issues_access_level": "enabled"})
    result = await against().call("browse_issues", {"action": "list", "project_id": "1"})
    assert "warnings" not in result.data


WEBHOOK = {"id": 4, "url": "https://hooks.example.com/x"}


@pytest.mark.parametrize(("tier", "warned"), [("free", ["TIER_NOT_ENFORCED"]), ("premium", None)])
async def test_what_is_saved_in_vain_is_told_where_the_tier_lacks_it(
    standin: StandIn, against: Against, tier: str, warned: list[str] | None
) -> None:
    """Synthetic for Premium; the answer is the one that was recorded without a licence."""
    standin.answer("POST", "/groups/22/hooks", 201, WEBHOOK)
    standin.answer("GET", "/metadata", body={"version": "17.2.0", "enterprise": True})
    arguments = {"action": "create", "group_id": "22", "url": WEBHOOK["url"]}
    result = await against(tier=tier).call("manage_webhook", arguments)
    told = result.data.get("warnings")
    assert (told and [each["code"] for each in told]) == warned


class Broken(NobodyToAsk):
    async def instance(self) -> InstanceFacts:
        raise RuntimeError("nobody expected this")


async def test_a_success_stays_one_when_checking_it_fails(caplog: pytest.LogCaptureFixture) -> None:
    [row] = [row for row in rows("errors") if row["label"] == "issues/weight_free"]
    action = exam.action_for(row, "issue_weight")
    assert action is not None
    answer = Answer(row["status"], row["headers"], json.loads(row["body"]))
    assert await run_all_checks(action, answer, Broken()) == ()
    assert "could not be checked" in caplog.text


PREMIUM_PROJECT = {"requirements_access_level": "enabled", "allow_pipeline_trigger_approve_deployment": False}
FREE_PROJECT = {"requirements_access_level": "enabled"}
GITLAB_COM = InstanceFacts("EE", "18.9.0", is_gitlab_com=True)


@pytest.mark.parametrize(
    ("instance", "project", "warned"),
    [
        (GITLAB_COM, PREMIUM_PROJECT, {"none"}),
        (GITLAB_COM, FREE_PROJECT, {"TIER_IGNORED"}),
        (UNKNOWN, None, {"TIER_IGNORED"}),
    ],
    ids=["a paid namespace of GitLab.com", "a free one", "nobody knows"],
)
async def test_on_gitlab_com_the_namespace_decides(
    instance: InstanceFacts, project: Mapping[str, Any] | None, warned: set[str]
) -> None:
    """Synthetic. A weight that was sent is not shown: only an unlicensed GitLab leaves it out."""
    [row] = [row for row in rows("errors") if row["label"] == "issues/weight_free"]
    action = exam.action_for(row, "issue_weight")
    assert action is not None
    found = await run_all_checks(action, Answer(201, {}, json.loads(row["body"])), Knows(instance, project))
    assert ({str(each.code) for each in found} or {"none"}) == warned
    if warned == {"TIER_IGNORED"} and project is None:
        assert found[0].facts["confidence"] == "possible"

"""Recorded mistakes made again, as calls to our tools, with GitLab's recorded answer at the other end of the wire."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import anyio
import pytest

from gitlab_mcp.actions.exchange import Request
from gitlab_mcp.app import App
from gitlab_mcp.failures.failure import CallFailed
from gitlab_mcp.gitlab.faults import FAULTS
from gitlab_mcp.gitlab.instance import AnswerCache, CachedLookups
from gitlab_mcp.refusals.translate import translate
from gitlab_mcp.settings import Secret, Settings
from tests.support.as_called import API, AsCalled, as_called, in_batches, without_strangers
from tests.support.recordings import rows
from tests.support.standin import StandIn
from tests.support.standin.exchange import Reply
from tests.support.standin.faults import ReplyWith
from tests.support.upstreams import upstream_at
from tests.support.versions import VERSIONS

REFUSED_HERE = {
    "MISSING_REQUIRED_FIELD",
    "TYPE_MISMATCH",
    "INVALID_VALUE",
    "FIELD_NOT_ALLOWED",
    "INVALID_ENCODING",
    "PAYLOAD_TOO_LARGE",
}


@dataclass(frozen=True)
class Graded:
    called: AsCalled
    code: str | None
    """None for a success."""
    facts: Mapping[str, Any]
    asked: bool
    """Whether the recordings had an answer to everything the call wanted to know."""

    @property
    def truth(self) -> str:
        truth: str = self.called.row["truth"]["truth"]
        return truth

    @property
    def loud(self) -> bool:
        return int(self.called.row["status"]) >= 400

    @property
    def right(self) -> bool:
        if self.code is None:
            # GitLab took the mistake in silence: what counts is that we did not.
            return bool(self.facts.get("warnings"))
        refused_early = self.code in REFUSED_HERE
        if self.called.row["status"] >= 500:
            return refused_early or self.code in ("SERVER_ERROR", self.truth)
        return self.code == self.truth or (refused_early and self.truth in ("REJECTED", "PAYLOAD_TOO_LARGE"))


async def made_again(called: AsCalled, gitlab: StandIn) -> Graded:
    app = App(Settings(url=gitlab.url, token=Secret(called.row["actor"]), trust="dangerous", confirm="never"))
    before = len(gitlab.unanswered)
    code, facts = None, {}
    for attempt in (called, without_strangers(called)):
        try:
            facts = dict((await app.call(attempt.tool, attempt.arguments)).data)
        except CallFailed as failed:
            code, facts = failed.failure.code, dict(failed.failure.facts)
        # An agent that meant something else would leave out the field we do not have.
        if code != "FIELD_NOT_ALLOWED" or called.row["truth"]["truth"] == "REJECTED":
            break
    app.close()
    return Graded(called, code, facts, asked=len(gitlab.unanswered) == before)


async def at_the_seam(called: AsCalled, gitlab: StandIn) -> Graded:
    """The recorded request itself, past our validation: what our action declares meets what GitLab said."""
    row, parts = called.row, urlsplit(called.row["path"])
    body = row.get("request")
    request = Request(
        row["method"],
        parts.path.removeprefix(API),
        dict(parse_qsl(parts.query)),
        body if isinstance(body, dict) else None,
    )
    given = {name: value for name, value in without_strangers(called).arguments.items() if name != "action"}
    action = called.action.model_construct(_fields_set=set(given), **given)
    upstream = upstream_at(gitlab.url)
    client = upstream.as_caller(row["actor"])
    try:
        await client.send(request)
        return Graded(called, None, {}, asked=False)
    except (CallFailed, *FAULTS) as fault:
        failure = await translate(fault, action, CachedLookups(client, AnswerCache()))
        return Graded(called, failure.code, dict(failure.facts), asked=True)
    finally:
        upstream.close()


@cache
def grades(version: str, way: Callable[[AsCalled, StandIn], Awaitable[Graded]] = made_again) -> list[Graded]:
    fair = (row for row in rows("errors", version) if not row.get("unfair") and row["truth"]["truth"])
    calls = [called for row in fair if (called := as_called(row))]

    async def all_of_them() -> list[Graded]:
        graded = []
        for batch in in_batches(calls):
            with StandIn() as gitlab:
                gitlab.play_rows(rows("context_ee", version))
                for called in batch:
                    row = called.row
                    path = urlsplit(row["path"]).path.removeprefix(API).replace("[", "[[]")
                    reply = Reply(row["status"], row["body"].encode(), row["headers"], synthetic=False)
                    gitlab.fault(row["method"], path, ReplyWith(reply), times=None, caller=row["actor"])
                graded += [await way(called, gitlab) for called in batch]
        return graded

    return anyio.run(all_of_them)


def described(grade: Graded) -> str:
    row = grade.called.row
    return f"{row['label']} ({row['status']}): {grade.code or 'success'} instead of {grade.truth}"


def share_right(answers: Sequence[Graded]) -> float:
    return sum(answer.right for answer in answers) / len(answers)


def wrong(answers: Sequence[Graded]) -> str:
    return "\n".join(described(answer) for answer in answers if not answer.right)


@pytest.mark.parametrize(("version", "least"), [("17.2", 0.99), ("19.3", 0.99)])
def test_the_true_cause_of_a_refusal_is_named(version: str, least: float) -> None:
    loud = [grade for grade in grades(version) if grade.loud and (grade.asked or grade.right)]
    ours = [grade for grade in loud if grade.code in REFUSED_HERE]
    of_gitlab = [grade for grade in loud if grade.code not in REFUSED_HERE]
    assert len(of_gitlab) > 250
    assert share_right(of_gitlab) >= least, wrong(of_gitlab)
    # What our own validation refuses is easier, so it is counted apart.
    assert len(ours) > 80
    assert share_right(ours) >= 0.9, wrong(ours)


# The recordings call the approval of a deployment on Free a conflict; we name the tier, which no state can change.
@pytest.mark.parametrize(("version", "least"), [("17.2", 0.99), ("19.3", 0.99)])
def test_the_true_cause_is_named_at_the_seam(version: str, least: float) -> None:
    loud = [grade for grade in grades(version, at_the_seam) if grade.loud]
    certain = [each for each in loud if each.facts.get("confidence") == "certain"]
    assert len(loud) > 400
    assert share_right(loud) >= least, wrong(loud)
    assert [described(each) for each in certain if not each.right] == []


@pytest.mark.parametrize(("version", "least"), [("17.2", 0.88), ("19.3", 0.86)])
def test_a_mistake_that_gitlab_accepts_in_silence_is_refused_or_warned_of(version: str, least: float) -> None:
    silent = [grade for grade in grades(version) if not grade.loud and (grade.asked or grade.right)]
    assert len(silent) > 25
    assert share_right(silent) >= least, wrong(silent)


@pytest.mark.parametrize("version", VERSIONS)
def test_nothing_false_is_called_certain(version: str) -> None:
    assert [
        described(grade)
        for grade in grades(version)
        if grade.facts.get("confidence") == "certain" and grade.asked and not grade.right
    ] == []


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("code", ["PERMISSION_DENIED", "NOT_FOUND", "CONFLICT", "SCOPE_INSUFFICIENT"])
def test_the_exam_asks_for_more_than_one_kind_of_cause(version: str, code: str) -> None:
    assert sum(grade.truth == code for grade in grades(version)) >= 8

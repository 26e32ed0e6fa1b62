"""Merges that something blocks, through the server, against recorded merge requests."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gitlab_mcp.app import App
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.gitlab.client import Clock
from gitlab_mcp.gitlab.instance import AnswerCache, CachedLookups
from gitlab_mcp.refusals.merge_blockers import refuse_blocked_merge
from gitlab_mcp.workflows.merge_requests.merge_readiness import merge_readiness
from gitlab_mcp.workflows.merge_requests.merge_readiness_facts import read_merge_facts
from tests.support.standin import Reply, ReplyWith, StandIn
from tests.support.upstreams import everywhere, upstream_at

pytestmark = pytest.mark.anyio

Against = Callable[..., App]
BLOCKERS_OF_19 = ["draft_status", "discussions_not_resolved", "ci_must_pass", "conflict"]


async def refused_merge(app: App, project: str, iid: int, **more: Any) -> Failure:
    with pytest.raises(CallFailed) as refused:
        await app.call(
            "manage_merge_request",
            {"action": "merge", "project_id": project, "merge_request_iid": iid, **more},
        )
    return refused.value.failure


def statuses(failure: Failure) -> list[str]:
    return [blocker["status"] for blocker in failure.facts.get("blockers", ())]


async def test_a_refused_merge_names_every_blocker(
    standin: StandIn, against: Against, cassettes: Path
) -> None:
    standin.play(cassettes)
    standin.answer("PUT", "/projects/*/merge_requests/19/merge", 405, {"message": "405 Method Not Allowed"})
    failure = await refused_merge(against(), "acme/shop", 19)
    assert (failure.code, failure.facts["confidence"]) == ("CONFLICT", "certain")
    assert statuses(failure) == BLOCKERS_OF_19


async def test_nobody_is_asked_to_confirm_a_merge_that_is_blocked(
    standin: StandIn, against: Against, cassettes: Path
) -> None:
    standin.play(cassettes)
    failure = await refused_merge(against(confirm="destructive"), "acme/shop", 19)
    assert failure.code == "CONFLICT"
    assert statuses(failure) == BLOCKERS_OF_19
    assert all(request.method != "PUT" for request in standin.requests)


async def test_a_merge_that_nothing_blocks_is_asked_about(
    standin: StandIn, against: Against, cassettes: Path
) -> None:
    standin.play(cassettes)
    failure = await refused_merge(against(confirm="destructive"), "acme/shop", 6)
    assert failure.code == "CONFIRMATION_REQUIRED"


def shown(status: str) -> dict[str, Any]:
    """Synthetic, in the shape of a recorded merge request."""
    return {
        "iid": 3,
        "project_id": 1,
        "state": "opened",
        "detailed_merge_status": status,
        "references": {"full": "acme/website!3"},
        "head_pipeline": None,
    }


@pytest.mark.parametrize(("checks_for", "asked", "mergeable"), [(2, 3, True), (99, 5, False)])
async def test_a_verdict_waits_for_gitlabs_check_but_not_for_long(
    standin: StandIn, checks_for: int, asked: int, mergeable: bool
) -> None:
    waited: list[float] = []
    standin.answer("GET", "/projects/1/merge_requests/3", body=shown("checking"))

    async def sleep(seconds: float) -> None:
        waited.append(seconds)
        if len(waited) == checks_for:
            standin.answer("GET", "/projects/1/merge_requests/3", body=shown("mergeable"))

    upstream = upstream_at(standin.url, clock=Clock(sleep=sleep))
    facts = await read_merge_facts(upstream.as_caller("alice"), everywhere, "/projects/1/merge_requests/3")
    upstream.close()
    reads = [each for each in standin.requests if each.route == "/projects/1/merge_requests/3"]
    assert len(reads) == asked
    data = merge_readiness(facts).data
    assert data["mergeable"] is mergeable
    assert ("not the last word" in data["verdict"]) is not mergeable


async def test_a_pipeline_that_runs_blocks_and_is_not_called_a_check(
    standin: StandIn, against: Against
) -> None:
    """Synthetic: what a newer GitLab shows while auto-merge waits for a pipeline."""
    running = {"id": 5, "status": "running", "project_id": 1}
    standin.answer(
        "GET",
        "/projects/1/merge_requests/3",
        body={**shown("ci_still_running"), "head_pipeline": running, "merge_when_pipeline_succeeds": True},
    )
    checks = {"mergeabilityChecks": [{"identifier": "CI_MUST_PASS", "status": "CHECKING"}]}
    standin.answer("POST", "/api/graphql", body={"data": {"project": {"mergeRequest": checks}}})
    arguments = {"action": "merge_readiness", "project_id": "1", "merge_request_iid": 3}
    data = (await against().call("browse_merge_requests", arguments)).data
    assert [blocker["check"] for blocker in data["blockers"]] == ["ci_still_running"]
    assert "still checking" not in data["verdict"]


async def test_nobody_is_asked_to_confirm_a_merge_before_gitlab_has_checked_it(
    standin: StandIn, against: Against
) -> None:
    """Synthetic: the check ends after the first read, and finds a draft."""
    path = "/projects/1/merge_requests/3"
    standin.answer("GET", path, body={**shown("draft_status"), "draft": True})
    standin.fault("GET", path, ReplyWith(Reply.of(200, shown("checking"))), times=1)
    failure = await refused_merge(against(confirm="destructive"), "1", 3)
    assert (failure.code, failure.facts["state"]) == ("CONFLICT", "draft_status")
    assert "confirmation_token" not in failure.facts


async def test_a_merge_does_not_wait_for_long_for_a_check_that_does_not_end(standin: StandIn) -> None:
    waited: list[float] = []
    standin.answer("GET", "/projects/1/merge_requests/3", body=shown("checking"))

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    upstream = upstream_at(standin.url, clock=Clock(sleep=sleep))
    ask = CachedLookups(upstream.as_caller("alice"), AnswerCache())
    await refuse_blocked_merge("1", 3, False, ask)
    upstream.close()
    assert 1 <= len(waited) <= 5

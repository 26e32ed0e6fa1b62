"""manage_environment roll_back. The deployments are synthetic, in the shape of the recorded ones of acme/shop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gitlab_mcp.app import App
from tests.support.guarded import DEFAULTS, refused, writes
from tests.support.standin import LoseAnswer, Reply, ReplyWith, StandIn

pytestmark = pytest.mark.anyio
Against = Callable[..., App]

CALL = {"action": "roll_back", "project_id": "acme/shop", "environment": "production"}
PROJECT = "/projects/acme%2Fshop"
A, B, C = "a" * 40, "b" * 40, "c" * 40


def deployment(number: int, sha: str, outcome: str = "success", **job: Any) -> dict[str, Any]:
    deployable = {"id": 100 + number, "name": "deploy", "status": outcome, "archived": False, **job}
    return {
        "id": number,
        "sha": sha,
        "status": outcome,
        "created_at": f"2026-11-{number:02}T12:00:00Z",
        "deployable": deployable,
    }


def deployed(standin: StandIn, *oldest_first: dict[str, Any], retried: str = "pending") -> None:
    standin.answer("GET", f"{PROJECT}/deployments", body=list(reversed(oldest_first)))
    standin.answer("POST", f"{PROJECT}/jobs/*/retry", 201, {"id": 900, "name": "deploy", "status": retried})
    standin.answer(
        "POST", f"{PROJECT}/jobs/900/play", 200, {"id": 900, "name": "deploy", "status": "pending"}
    )


def retried(job: int) -> list[str]:
    return [f"POST {PROJECT}/jobs/{job}/retry"]


@pytest.mark.parametrize(
    ("history", "job"),
    [
        ([deployment(1, A), deployment(2, B)], 101),
        ([deployment(1, A), deployment(2, B), deployment(3, B)], 101),
        ([deployment(1, A), deployment(2, B, "failed"), deployment(3, C)], 101),
        ([deployment(1, A), deployment(2, B), deployment(3, C), deployment(4, B)], 101),
        ([deployment(1, A), deployment(2, B), deployment(3, C, "failed")], 101),
        ([deployment(1, A), deployment(2, B), deployment(3, C, "blocked", status="manual")], 101),
    ],
    ids=[
        "the one before",
        "the same commit deployed twice",
        "what failed is passed over",
        "after a rollback further back",
        "a failure on top is not live",
        "what waits for a person is not under way",
    ],
)
async def test_the_last_success_of_an_earlier_commit_is_deployed_again(
    standin: StandIn, against: Against, history: list[Any], job: int
) -> None:
    deployed(standin, *history)
    result = await against().call("manage_environment", CALL)
    assert writes(standin) == retried(job)
    assert result.data["to"]["sha"] == A and result.data["from"]["sha"] != A
    assert result.data["job"]["status"] == "pending"
    looked = dict(standin.requests[0].params)
    assert (looked["environment"], looked["order_by"], looked["sort"]) == ("production", "id", "desc")


async def test_a_chosen_deployment_is_deployed_again(standin: StandIn, against: Against) -> None:
    deployed(standin, deployment(1, A), deployment(2, B), deployment(3, C))
    await against().call("manage_environment", {**CALL, "deployment_id": 1})
    assert writes(standin) == retried(101)


async def test_a_new_try_that_waits_is_started(standin: StandIn, against: Against) -> None:
    deployed(standin, deployment(1, A), deployment(2, B), retried="manual")
    result = await against().call("manage_environment", CALL)
    assert writes(standin) == [*retried(101), f"POST {PROJECT}/jobs/900/play"]
    assert result.data["job"]["status"] == "pending"


async def test_a_new_try_that_could_not_be_started_is_told(standin: StandIn, against: Against) -> None:
    deployed(standin, deployment(1, A), deployment(2, B), retried="manual")
    standin.fault("POST", "*/play", ReplyWith(Reply.of(403, {"message": "403 Forbidden"})))
    result = await against().call("manage_environment", CALL)
    [warning] = result.data["warnings"]
    assert warning["next"]["arguments"] == {"project_id": "acme/shop", "job_id": 900}
    assert "nothing is rolled back yet" in warning["message"]


@pytest.mark.parametrize(
    ("history", "more", "code", "state"),
    [
        ([], {}, "NOT_FOUND", None),
        ([deployment(1, A, "failed")], {}, "CONFLICT", "nothing earlier"),
        ([deployment(1, A)], {}, "CONFLICT", "nothing earlier"),
        ([deployment(1, A), deployment(2, B), deployment(3, A)], {}, "CONFLICT", "nothing earlier"),
        ([deployment(1, A), deployment(2, B), deployment(3, C, "running")], {}, "CONFLICT", "deploying"),
        (
            [deployment(1, A), deployment(2, B), deployment(3, C, "created", status="pending")],
            {},
            "CONFLICT",
            "deploying",
        ),
        ([{**deployment(1, A), "deployable": None}, deployment(2, B)], {}, "CONFLICT", "no job"),
        ([deployment(1, A, archived=True), deployment(2, B)], {}, "CONFLICT", "no job"),
        ([deployment(1, A), deployment(2, B)], {"deployment_id": 2}, "CONFLICT", "live"),
        ([deployment(1, A), deployment(2, B)], {"deployment_id": 7}, "NOT_FOUND", None),
        ([deployment(1, A, "failed"), deployment(2, B)], {"deployment_id": 1}, "NOT_FOUND", None),
    ],
)
async def test_where_there_is_nothing_to_go_back_to_it_is_said_before_a_person_is_asked(
    standin: StandIn, against: Against, history: list[Any], more: dict[str, Any], code: str, state: str | None
) -> None:
    deployed(standin, *history)
    for rules in ({}, DEFAULTS):
        failure = await refused(against(**rules), "manage_environment", {**CALL, **more})
        assert (failure.code, failure.facts.get("state")) == (code, state)
    assert writes(standin) == []


async def test_the_person_is_told_which_commit_goes_back_to_which(standin: StandIn, against: Against) -> None:
    deployed(standin, deployment(1, A), deployment(2, B))
    app = against(**DEFAULTS)
    asked = await refused(app, "manage_environment", CALL)
    told = asked.facts["what_will_happen"]
    assert "from commit bbbbbbbb (deployed on 2026-11-02) to commit aaaaaaaa (deployed on 2026-11-01)" in told
    assert '"production"' in told and "job 101" in told
    assert writes(standin) == []
    await app.call("manage_environment", {**CALL, "confirmation_token": asked.facts["confirmation_token"]})
    assert writes(standin) == retried(101)


async def test_a_yes_is_to_the_deployment_that_was_named(standin: StandIn, against: Against) -> None:
    deployed(standin, deployment(1, A), deployment(2, B))
    app = against(**DEFAULTS)
    asked = await refused(app, "manage_environment", CALL)
    deployed(standin, deployment(1, A), deployment(2, B), deployment(3, C))
    call = {**CALL, "confirmation_token": asked.facts["confirmation_token"]}
    assert (await refused(app, "manage_environment", call)).code == "CONFIRMATION_MISMATCH"
    assert writes(standin) == []


async def test_a_lost_answer_says_where_to_look_and_is_not_sent_again(
    standin: StandIn, against: Against
) -> None:
    deployed(standin, deployment(1, A), deployment(2, B))
    standin.fault("POST", "*/retry", LoseAnswer())
    failure = await refused(against(), "manage_environment", CALL)
    assert failure.code == "OUTCOME_UNKNOWN" and failure.facts["check_with"]
    assert writes(standin) == retried(101)


async def test_a_job_that_gitlab_does_not_run_again_is_told(standin: StandIn, against: Against) -> None:
    deployed(standin, deployment(1, A), deployment(2, B))
    standin.fault(
        "POST", "*/retry", ReplyWith(Reply.of(403, {"message": "403 Forbidden - Job is not retryable"}))
    )
    assert (await refused(against(), "manage_environment", CALL)).code in ("CONFLICT", "PERMISSION_DENIED")


@pytest.mark.parametrize("rules", [{"read_only": True}, {"never_actions": ("manage_job.retry",)}])
async def test_what_may_not_be_done_is_not_begun(
    standin: StandIn, against: Against, rules: dict[str, Any]
) -> None:
    deployed(standin, deployment(1, A), deployment(2, B))
    await refused(against(**rules), "manage_environment", CALL)
    assert writes(standin) == []


async def test_a_dry_run_shows_the_job_that_would_be_run_again(standin: StandIn, against: Against) -> None:
    deployed(standin, deployment(1, A), deployment(2, B))
    result = await against().call("manage_environment", {**CALL, "dry_run": True})
    assert result.data["would_send"]["path"] == f"{PROJECT}/jobs/101/retry"
    assert writes(standin) == []

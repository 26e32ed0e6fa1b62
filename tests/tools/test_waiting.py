"""Waiting for pipelines, jobs, deployments and merges. GitLab is invented here, and so is the time that passes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import anyio
import pytest

from gitlab_mcp.actions.result import Result
from gitlab_mcp.app import App
from gitlab_mcp.failures.failure import CallFailed
from gitlab_mcp.gitlab.client import Clock, Upstream
from gitlab_mcp.gitlab.faults import Refused
from gitlab_mcp.tools.browse_pipelines import Wait
from tests.support.standin import StandIn
from tests.support.upstreams import everywhere, upstream_at

pytestmark = pytest.mark.anyio

PIPELINE = "/projects/1/pipelines/5"
JOB = "/projects/1/jobs/7"
REQUEST = "/projects/1/merge_requests/3"
DEPLOYMENT = "/projects/1/deployments/9"


@dataclass(slots=True)
class Time:
    """Passes only while somebody sleeps. `then` happens during the pause of that number."""

    now: float = 1000.0
    pauses: list[float] = field(default_factory=list)
    then: dict[int, Callable[[], object]] = field(default_factory=dict)

    def clock(self) -> Clock:
        return Clock(lambda: self.now, lambda: self.now, self.sleep, lambda: 0.0)

    async def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += seconds
        self.then.get(len(self.pauses), lambda: None)()


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def gitlab(standin: StandIn, time: Time) -> Iterator[Upstream]:
    upstream = upstream_at(standin.url, clock=time.clock())
    yield upstream
    upstream.close()


async def wait(gitlab: Upstream, **arguments: Any) -> Result:
    caller = gitlab.as_caller("alice", deadline=50.0)
    return await Wait(project_id="1", **arguments).wait(caller, everywhere)


def pipeline(status: str, **more: Any) -> dict[str, Any]:
    return {"id": 5, "project_id": 1, "status": status, "ref": "main", "sha": "aa", **more}


async def test_what_has_ended_is_answered_without_a_pause(
    gitlab: Upstream, standin: StandIn, time: Time
) -> None:
    standin.answer("GET", PIPELINE, body=pipeline("success"))
    data = (await wait(gitlab, pipeline_id=5)).data
    assert (data["pipeline"]["status"], time.pauses) == ("success", [])
    assert "still_running" not in data


async def test_a_wait_asks_less_and_less_often_and_ends_with_what_it_waited_for(
    gitlab: Upstream, standin: StandIn, time: Time
) -> None:
    standin.answer("GET", PIPELINE, body=pipeline("running"))
    time.then[4] = lambda: standin.answer("GET", PIPELINE, body=pipeline("success"))
    data = (await wait(gitlab, pipeline_id=5)).data
    assert time.pauses == [2.0, 3.0, 4.5, 6.75]
    assert data["verdict"] == "The pipeline is success."
    assert data["waited_seconds"] == 16.2
    assert len(standin.requests) == 5


async def test_a_longer_wait_says_how_to_go_on_before_the_call_is_out_of_time(
    gitlab: Upstream, standin: StandIn, time: Time
) -> None:
    standin.answer("GET", PIPELINE, body=pipeline("running"))
    data = (await wait(gitlab, pipeline_id=5, seconds=600)).data
    assert data["still_running"] is True
    assert data["call_again"] == {
        "tool": "browse_pipelines",
        "arguments": {"action": "wait", "project_id": "1", "pipeline_id": 5, "seconds": 600},
    }
    assert 30 < sum(time.pauses) <= 38
    assert all(2 <= pause <= 30 for pause in time.pauses)


async def test_a_short_deadline_leaves_most_of_it_for_the_wait(
    standin: StandIn, gitlab: Upstream, time: Time
) -> None:
    standin.answer("GET", PIPELINE, body=pipeline("running"))
    await Wait(project_id="1", pipeline_id=5).wait(gitlab.as_caller("alice", deadline=12.0), everywhere)
    assert time.pauses == [2.0, 3.0]


async def test_a_wait_lasts_no_longer_than_was_asked_for(
    gitlab: Upstream, standin: StandIn, time: Time
) -> None:
    standin.answer("GET", JOB, body={"id": 7, "name": "unit", "status": "running"})
    data = (await wait(gitlab, job_id=7, seconds=6)).data
    assert data["still_running"] is True
    assert time.pauses == [2.0, 4.0]


async def test_a_pipeline_that_fails_meanwhile_comes_with_why(
    gitlab: Upstream, standin: StandIn, time: Time
) -> None:
    failed = {"id": 7, "name": "unit", "status": "failed", "stage": "test"}
    standin.answer("GET", "/projects/1", body={"default_branch": "main"})
    standin.answer("GET", "/projects/1/pipelines", body=[pipeline("failed")])
    standin.answer("GET", f"{PIPELINE}/jobs", body=[failed])
    standin.answer("GET", f"{PIPELINE}/bridges", body=[])
    standin.answer("GET", f"{PIPELINE}/test_report_summary", body={"total": {}})
    standin.answer("GET", f"{JOB}/trace", body="boom\nERROR: Job failed\n")
    standin.answer("GET", PIPELINE, body=pipeline("running"))
    time.then[1] = lambda: standin.answer("GET", PIPELINE, body=pipeline("failed"))
    result = await wait(gitlab, pipeline_id=5)
    assert result.data["why"].startswith("1 job failed.")
    assert [job["name"] for job in result.data["failed_jobs"]] == ["unit"]
    assert "boom" in str(result.text)


async def test_a_job_that_fails_comes_with_the_end_of_its_log(gitlab: Upstream, standin: StandIn) -> None:
    standin.answer("GET", f"{JOB}/trace", body="boom\nERROR: Job failed\n")
    standin.answer("GET", JOB, body={"id": 7, "name": "unit", "status": "failed", "stage": "test"})
    result = await wait(gitlab, job_id=7)
    assert "boom" in str(result.text)
    assert (result.data["job"]["log_lines"], "failed_jobs" in result.data) == (2, False)


async def test_why_it_failed_may_be_unreadable_and_that_it_failed_is_told_all_the_same(
    gitlab: Upstream, standin: StandIn
) -> None:
    standin.answer("GET", f"{JOB}/trace", 403, {"message": "403 Forbidden"})
    standin.answer("GET", JOB, body={"id": 7, "name": "unit", "status": "failed", "stage": "test"})
    result = await wait(gitlab, job_id=7)
    assert result.data["verdict"] == "The job is failed."
    assert [warning.facts["unread"] for warning in result.warnings] == [["log of job 7"]]


async def test_a_failed_deployment_comes_with_the_log_of_its_job(gitlab: Upstream, standin: StandIn) -> None:
    job = {"id": 7, "name": "deploy", "status": "failed", "stage": "deploy"}
    standin.answer("GET", f"{JOB}/trace", body="no such host\nERROR: Job failed\n")
    standin.answer("GET", DEPLOYMENT, body={"id": 9, "status": "failed", "deployable": job})
    result = await wait(gitlab, deployment_id=9)
    assert "no such host" in str(result.text)


async def test_a_deployment_that_waits_for_an_approval_is_not_waited_for(
    gitlab: Upstream, standin: StandIn, time: Time
) -> None:
    standin.answer("GET", DEPLOYMENT, body={"id": 9, "status": "blocked"})
    assert "approval" in (await wait(gitlab, deployment_id=9)).data["verdict"]
    assert time.pauses == []


def request(state: str, head: str | None = None, *, auto: bool = True, **more: Any) -> dict[str, Any]:
    pipeline = (
        {"id": 5, "project_id": 1, "status": head, "ref": "refs/merge-requests/3/head"} if head else None
    )
    return {
        "iid": 3,
        "project_id": 1,
        "state": state,
        "title": "Coupons",
        "merge_when_pipeline_succeeds": auto,
        "detailed_merge_status": "ci_still_running",
        "head_pipeline": pipeline,
        **more,
    }


async def test_a_merge_is_waited_for_where_the_merge_request_merges_by_itself(
    gitlab: Upstream, standin: StandIn, time: Time
) -> None:
    standin.answer("GET", REQUEST, body=request("opened", "running"))
    time.then[2] = lambda: standin.answer("GET", REQUEST, body=request("locked", "success"))
    time.then[3] = lambda: standin.answer("GET", REQUEST, body=request("merged", "success"))
    data = (await wait(gitlab, merge_request_iid=3)).data
    assert (data["verdict"], len(time.pauses)) == ("The merge request is merged.", 3)


async def test_nothing_is_waited_for_where_nothing_will_merge_it(
    gitlab: Upstream, standin: StandIn, time: Time
) -> None:
    status = {"detailed_merge_status": "not_approved"}
    standin.answer("GET", REQUEST, body=request("opened", "success", auto=False, **status))
    data = (await wait(gitlab, merge_request_iid=3)).data
    assert time.pauses == []
    assert "auto-merge is not set" in data["verdict"]
    assert [blocker["check"] for blocker in data["blockers"]] == ["not_approved"]


async def test_a_merge_whose_pipeline_waits_for_a_person_is_not_waited_for(
    gitlab: Upstream, standin: StandIn, time: Time
) -> None:
    standin.answer("GET", REQUEST, body=request("opened", "manual"))
    assert "pipeline has not succeeded" in (await wait(gitlab, merge_request_iid=3)).data["verdict"]
    assert time.pauses == []


async def test_why_the_pipeline_of_a_fork_failed_is_read_in_the_fork(
    gitlab: Upstream, standin: StandIn
) -> None:
    fork = {"id": 5, "project_id": 9, "status": "failed", "ref": "patch", "tag": True}
    standin.answer("GET", REQUEST, body={**request("opened"), "head_pipeline": fork})
    standin.answer("GET", "/projects/9", body={"default_branch": "main"})
    standin.answer("GET", "/projects/9/pipelines", body=[])
    standin.answer("GET", "/projects/9/pipelines/5/*", body=[])
    standin.answer("GET", "/projects/9/pipelines/5/test_report_summary", body={"total": {}})
    data = (await wait(gitlab, merge_request_iid=3)).data
    assert data["why"] == "It failed, and no job says why."
    assert "manage_pipeline retry" in data["then"]
    assert not standin.unanswered


async def test_gitlab_is_asked_again_when_it_wants_to_be(
    gitlab: Upstream, standin: StandIn, time: Time
) -> None:
    standin.answer("GET", PIPELINE, body=pipeline("running"))

    def limited() -> None:
        standin.answer("GET", PIPELINE, 429, {"message": "Retry later"}, {"Retry-After": "300"})

    time.then[1] = limited
    result = await wait(gitlab, pipeline_id=5)
    assert (result.data["still_running"], result.data["pipeline"]["status"]) == (True, "running")
    assert "in 300 seconds" in result.data["then"]
    assert [warning.code for warning in result.warnings] == ["PARTIAL"]


async def test_what_was_seen_is_told_where_gitlab_is_gone(
    gitlab: Upstream, standin: StandIn, time: Time
) -> None:
    standin.answer("GET", PIPELINE, body=pipeline("running"))
    time.then[1] = lambda: standin.answer("GET", PIPELINE, 503, {"message": "down"})
    data = (await wait(gitlab, pipeline_id=5)).data
    assert (data["still_running"], data["pipeline"]["id"]) == (True, 5)


async def test_what_is_deleted_while_it_is_waited_for_is_not_found(
    gitlab: Upstream, standin: StandIn, time: Time
) -> None:
    standin.answer("GET", PIPELINE, body=pipeline("running"))
    time.then[1] = lambda: standin.answer("GET", PIPELINE, 404, {"message": "404 Not found"})
    with pytest.raises(Refused) as refused:
        await wait(gitlab, pipeline_id=5)
    assert refused.value.status == 404


async def test_others_are_served_while_more_wait_than_may_ask_at_once(standin: StandIn) -> None:
    standin.answer("GET", PIPELINE, body=pipeline("running"))
    standin.answer("GET", "/user", body={"id": 3, "username": "bob"})
    all_wait, time_passes, asleep = anyio.Event(), anyio.Event(), []

    async def sleep(seconds: float) -> None:
        asleep.append(seconds)
        if len(asleep) == 80:
            all_wait.set()
        await time_passes.wait()

    upstream = upstream_at(standin.url, clock=Clock(sleep=sleep))
    with anyio.fail_after(30):
        async with anyio.create_task_group() as tasks:
            for _ in range(80):
                tasks.start_soon(
                    Wait(project_id="1", pipeline_id=5).wait, upstream.as_caller("alice"), everywhere
                )
            await all_wait.wait()
            assert (await upstream.as_caller("bob").get("/user")).body["username"] == "bob"
            assert (await upstream.as_caller("alice").get(PIPELINE)).body["id"] == 5
            standin.answer("GET", PIPELINE, body=pipeline("success"))
            time_passes.set()
    upstream.close()


async def test_a_wait_can_be_cancelled(gitlab: Upstream, standin: StandIn, time: Time) -> None:
    standin.answer("GET", PIPELINE, body=pipeline("running"))
    with anyio.CancelScope() as scope:
        time.then[2] = scope.cancel
        await wait(gitlab, pipeline_id=5)
    assert scope.cancelled_caught
    assert len(standin.requests) == 2


async def test_whoever_waits_is_told_how_long(standin: StandIn, gitlab: Upstream, time: Time) -> None:
    standin.answer("GET", PIPELINE, body=pipeline("running"))
    time.then[3] = lambda: standin.answer("GET", PIPELINE, body=pipeline("success"))
    told: list[tuple[float, float | None, str]] = []
    caller = gitlab.as_caller("alice", deadline=50.0, report=lambda *step: told.append(step))
    await Wait(project_id="1", pipeline_id=5).wait(caller, everywhere)
    assert [done for done, _, _ in told] == [0, 2.0, 5.0, 9.5]
    assert told[1][1:] == (38.0, "seconds waited: it is running")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({}, "MISSING_REQUIRED_FIELD"),
        ({"pipeline_id": 5, "job_id": 7}, "INVALID_VALUE"),
        ({"job_id": 7, "seconds": 0}, "INVALID_VALUE"),
        ({"deployment_id": "last"}, "TYPE_MISMATCH"),
    ],
)
async def test_a_wait_for_nothing_for_two_things_or_for_no_time_is_refused(
    replayed: App, arguments: dict[str, Any], code: str
) -> None:
    with pytest.raises(CallFailed) as failed:
        await replayed.call("browse_pipelines", {"action": "wait", "project_id": "1", **arguments})
    assert failed.value.failure.code == code


@pytest.mark.parametrize(
    ("tool", "name"),
    [
        ("browse_jobs", "wait"),
        ("browse_merge_requests", "wait_for_merge"),
        ("browse_environments", "wait"),
        ("browse_pipelines", "watch"),
    ],
)
async def test_a_wait_is_found_under_the_tool_of_what_is_waited_for(
    replayed: App, tool: str, name: str
) -> None:
    arguments = {"action": name, "project_id": "acme/shop", "pipeline_id": 205}
    data = (await replayed.call(tool, arguments)).data
    assert data["verdict"] == "The pipeline is success."

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest

from gitlab_mcp.app import App
from gitlab_mcp.failures.failure import CallFailed
from gitlab_mcp.results.content_blocks import text_size
from tests.support.recordings import rows
from tests.support.standin import Held, Reply, StandIn
from tests.support.standin.exchange import Received

pytestmark = pytest.mark.anyio
Against = Callable[..., App]


async def digest(app: App, pipeline_id: int, **options: Any) -> Any:
    arguments = {"action": "failure_digest", "project_id": "acme/shop", "pipeline_id": pipeline_id, **options}
    return await app.call("browse_pipelines", arguments)


async def test_the_jobs_of_a_pipeline_come_with_its_bridges(replayed: App) -> None:
    arguments = {"action": "jobs", "project_id": "acme/shop", "pipeline_id": 220}
    result = await replayed.call("browse_pipelines", arguments)
    assert all("downstream_id" not in job for job in result.data["items"])
    assert [(each["name"], each["downstream_id"]) for each in result.data["bridges"]] == [("storefront", 221)]


async def test_bridges_that_cannot_be_read_do_not_hide_the_jobs(
    standin: StandIn, against: Against, cassettes: Path
) -> None:
    standin.play(cassettes / "shop_pipelines.json")
    standin.answer("GET", "/projects/*/pipelines/220/bridges", 403, {"message": "403 Forbidden"})
    arguments = {"action": "jobs", "project_id": "acme/shop", "pipeline_id": 220}
    result = await against().call("browse_pipelines", arguments)
    assert result.data["items"]
    assert [warning["code"] for warning in result.data["warnings"]] == ["PARTIAL"]


async def test_no_pipeline_yet_is_not_found_and_not_forbidden(standin: StandIn, against: Against) -> None:
    standin.play_rows(row for row in rows("errors") if row["label"] == "pipelines/latest_none")
    standin.answer("GET", "/projects/7/pipelines", body=[])
    with pytest.raises(CallFailed) as failed:
        await against().call("browse_pipelines", {"action": "latest", "project_id": "7"})
    assert failed.value.failure.code == "NOT_FOUND"


async def test_a_forbidden_project_stays_forbidden(standin: StandIn, against: Against) -> None:
    standin.answer("GET", "/projects/7/pipelines*", 403, {"message": "403 Forbidden"})
    with pytest.raises(CallFailed) as failed:
        await against().call("browse_pipelines", {"action": "latest", "project_id": "7"})
    assert failed.value.failure.code != "NOT_FOUND"


async def test_a_test_report_shows_the_tests_that_failed_and_counts_the_others(replayed: App) -> None:
    arguments = {"action": "test_report", "project_id": "acme/shop", "pipeline_id": 202}
    data = (await replayed.call("browse_pipelines", arguments)).data
    assert {failure["name"] for failure in data["failures"]} == {
        "test_checkout_with_coupon",
        "test_round_half_even",
        "test_discount_rounding",
        "test_checkout_total",
        "test_order_is_stored",
    }
    assert (data["total"], data["success"], data["failed"], data["error"]) == (54, 47, 4, 1)


async def test_an_unknown_source_is_answered_with_all_sources(replayed: App) -> None:
    with pytest.raises(CallFailed) as failed:
        await replayed.call("browse_pipelines", {"action": "list", "project_id": "a/b", "source": "merge"})
    [problem] = failed.value.failure.facts["invalid_fields"]
    assert "merge_request_event" in problem["expected"]


async def test_variables_may_be_json_text_and_their_values_numbers(
    standin: StandIn, against: Against
) -> None:
    standin.answer("POST", "/projects/1/pipeline", 201, {"id": 3, "status": "created"})
    variables = '[{"key": "REGION", "value": "eu"}, {"key": "N", "value": 3}]'
    arguments = {"action": "create", "project_id": "1", "ref": "main", "variables": variables}
    await against().call("manage_pipeline", arguments)
    assert standin.requests[-1].json["variables"] == [
        {"key": "REGION", "value": "eu"},
        {"key": "N", "value": "3"},
    ]


@pytest.mark.parametrize(
    ("pipeline_id", "failed_jobs", "said"),
    [
        (201, {"unit"}, "1 job failed. The default branch is red too, and 1 of these jobs fails there."),
        (202, {"unit", "integration", "e2e: [firefox]"}, "3 jobs failed."),
        (205, {"lint"}, "The pipeline is success."),
        (
            208,
            {"svc_payments"},
            "1 job failed. The default branch is red too, and none of these jobs fails there.",
        ),
        (
            210,
            set(),
            "1 bridge started nothing. The default branch is red too, and none of these jobs fails there.",
        ),
        (
            212,
            set(),
            "1 bridge started nothing. The default branch is red too, and none of these jobs fails there.",
        ),
        (213, set(), "The CI configuration is not valid, so no job ran: see yaml_errors."),
        (216, set(), "The pipeline is skipped."),
        (
            220,
            {"storefront_test"},
            "1 job failed. The default branch is red too, and none of these jobs fails there.",
        ),
    ],
)
async def test_a_digest_names_what_failed(
    replayed: App, pipeline_id: int, failed_jobs: set[str], said: str
) -> None:
    data = (await digest(replayed, pipeline_id)).data
    assert {job["name"] for job in data.get("failed_jobs", ())} == failed_jobs
    assert data["verdict"] == said
    # What came before on these branches was never recorded.
    lacking = ["earlier pipelines of the ref"] if pipeline_id in (208, 210, 212, 213, 220) else []
    assert [warning["unread"] for warning in data.get("warnings", ())] == ([lacking] if lacking else [])


@pytest.mark.parametrize("pipeline_id", [202, 203])
async def test_a_digest_shows_the_error_in_the_middle_of_a_long_log(replayed: App, pipeline_id: int) -> None:
    text = (await digest(replayed, pipeline_id)).text.content
    assert "sqlite3.OperationalError: no such table: orders" in text
    assert "ERROR: Job failed: exit code 1" in text


async def test_a_digest_finds_the_failed_job_in_the_pipeline_of_another_project(replayed: App) -> None:
    data = (await digest(replayed, 220)).data
    [job] = data["failed_jobs"]
    assert (job["id"], job["pipeline_id"], job["project_id"]) == (369, 221, 78)


async def test_a_digest_says_why_a_child_pipeline_could_not_be_created(replayed: App) -> None:
    data = (await digest(replayed, 210)).data
    assert "script:" in data["bridges"][0]["downstream"]["yaml_errors"]


async def test_a_digest_says_that_a_log_was_erased_and_that_artifacts_are_gone(replayed: App) -> None:
    jobs = {job["name"]: job for job in (await digest(replayed, 214)).data["failed_jobs"]}
    assert "erased" in jobs["lint"]["log"]
    assert jobs["unit"]["failure_reason"] == "missing_dependency_failure"
    assert "retry that job first" in jobs["unit"]["means"]


async def test_a_job_that_needed_a_second_try_is_flaky_and_not_failed(replayed: App) -> None:
    data = (await digest(replayed, 204)).data
    assert "failed_jobs" not in data
    assert [job["id"] for job in data["flaky_jobs"]] == [301]


@pytest.mark.parametrize(("pipeline_id", "waits_for"), [(217, "gpu"), (218, "manage_job play")])
async def test_a_digest_says_what_an_unfinished_pipeline_waits_for(
    replayed: App, pipeline_id: int, waits_for: str
) -> None:
    [job] = (await digest(replayed, pipeline_id)).data["waiting_jobs"]
    assert waits_for in job["means"]


async def test_a_digest_says_since_when_the_default_branch_is_red(replayed: App) -> None:
    branch = (await digest(replayed, 203)).data["default_branch"]
    assert (branch["last_green"]["id"], branch["red_since"]["id"]) == (198, 201)
    assert branch["failing_there_too"] == ["integration"]


def a_failed_pipeline(standin: StandIn, project: int, jobs: list[dict[str, Any]]) -> dict[str, Any]:
    """Pipeline 5, invented: in no recorded one do so many jobs fail, and none of a fork can be read."""
    pipeline = {"id": 5, "project_id": project, "status": "failed", "ref": "main", "web_url": "https://x"}
    here = f"/projects/{project}"
    standin.answer("GET", here, body={"default_branch": "main"})
    standin.answer("GET", f"{here}/pipelines", body=[pipeline])
    standin.answer("GET", f"{here}/pipelines/5", body=pipeline)
    standin.answer("GET", f"{here}/pipelines/5/jobs", body=jobs)
    standin.answer("GET", f"{here}/pipelines/5/bridges", body=[])
    standin.answer("GET", f"{here}/pipelines/5/test_report_summary", body={"total": {}, "test_suites": []})
    standin.answer("GET", f"{here}/jobs/*/trace", body="boom\nERROR: Job failed\n")
    return pipeline


async def test_the_pipeline_of_a_merge_request_from_a_fork_is_read_in_the_fork(
    standin: StandIn, against: Against
) -> None:
    job = {"id": 7, "name": "unit", "status": "failed", "stage": "test"}
    head = a_failed_pipeline(standin, 9, [job])
    standin.answer("GET", "/projects/1/merge_requests/3", body={"project_id": 1, "head_pipeline": head})
    arguments = {"action": "failure_digest", "project_id": "1", "merge_request_iid": 3}
    data = (await against().call("browse_pipelines", arguments)).data
    assert [failed["id"] for failed in data["failed_jobs"]] == [7]
    assert not standin.unanswered


async def test_a_merge_request_without_a_pipeline_has_nothing_to_digest(
    standin: StandIn, against: Against
) -> None:
    standin.answer("GET", "/projects/1/merge_requests/3", body={"project_id": 1, "head_pipeline": None})
    arguments = {"action": "failure_digest", "project_id": "1", "merge_request_iid": 3}
    data = (await against().call("browse_pipelines", arguments)).data
    assert data == {"verdict": "The merge request has no pipeline."}


async def test_a_digest_keeps_within_its_budget(replayed: App) -> None:
    result = await digest(replayed, 202, max_bytes=4_000)
    assert text_size(result) <= 4_000
    assert result.data["truncated"]


async def test_one_log_that_cannot_be_read_leaves_the_others(
    standin: StandIn, against: Against, cassettes: Path
) -> None:
    standin.play(cassettes)
    standin.answer("GET", "/projects/*/jobs/286/trace", 403, {"message": "403 Forbidden"})
    result = await digest(against(), 202)
    assert "no such table: orders" in result.text.content
    [warning] = result.data["warnings"]
    assert (warning["code"], warning["unread"]) == ("PARTIAL", ["log of job 286"])


async def test_only_so_many_logs_are_read_and_the_rest_is_said(standin: StandIn, against: Against) -> None:
    jobs = [{"id": each, "name": f"job {each}", "status": "failed", "stage": "test"} for each in range(1, 12)]
    a_failed_pipeline(standin, 1, jobs)
    arguments = {"action": "failure_digest", "project_id": "1", "pipeline_id": 5}
    result = await against().call("browse_pipelines", arguments)
    assert len(result.data["failed_jobs"]) == 11
    assert sum(request.path.endswith("/trace") for request in standin.requests) == 8
    assert result.data["truncated"][0]["omitted"] == 3


PARTS = {"jobs", "bridges", "test_report_summary"}


async def test_what_a_failed_pipeline_consists_of_is_asked_for_beside_it(
    standin: StandIn, against: Against, cassettes: Path
) -> None:
    standin.play(cassettes)
    held = Held()
    standin.fault("GET", "/projects/*/pipelines/202", held)

    def parts(gitlab: StandIn) -> list[str]:
        lasts = (request.path.rpartition("/pipelines/202/")[2] for request in gitlab.requests)
        return [each for each in lasts if each in PARTS]

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(digest, against(), 202)
        beside = await anyio.to_thread.run_sync(lambda: standin.wait_for(lambda it: set(parts(it)) == PARTS))
        held.let_go()
    assert beside and sorted(parts(standin)) == sorted(PARTS)


class ManyFailedJobs:
    """More than fit on the biggest page."""

    def owns(self, received: Received) -> bool:
        return received.route == "/projects/1/pipelines/5/jobs"

    def reply_to(self, received: Received) -> Reply:
        asked = dict(received.params)
        page, size = int(asked.get("page", 1)), int(asked.get("per_page", 20))
        jobs = [{"id": each, "name": f"job {each}", "status": "failed"} for each in range(1, 131)]
        more = str(page + 1) if page * size < len(jobs) else ""
        return Reply.of(
            200, jobs[(page - 1) * size : page * size], {"X-Next-Page": more, "X-Page": str(page)}
        )


async def test_of_many_failed_jobs_none_is_lost_between_two_pages(standin: StandIn, against: Against) -> None:
    standin.add(ManyFailedJobs())
    standin.answer(
        "GET", "/projects/1/pipelines/5", body={"id": 5, "project_id": 1, "status": "failed", "ref": "x"}
    )
    standin.answer("GET", "/projects/1/jobs/*/trace", body="")
    arguments = {"action": "failure_digest", "project_id": "1", "pipeline_id": 5, "max_bytes": 200_000}
    found = (await against().call("browse_pipelines", arguments)).data["failed_jobs"]
    assert sorted(job["id"] for job in found) == list(range(1, 131))


async def test_of_a_pipeline_that_did_not_fail_all_jobs_are_read_after_all(
    standin: StandIn, against: Against
) -> None:
    a_failed_pipeline(standin, 1, [{"id": 1, "name": "flaky", "status": "failed", "stage": "test"}])
    pipeline = {"id": 5, "project_id": 1, "status": "success", "ref": "main"}
    standin.answer("GET", "/projects/1/pipelines/5", body=pipeline)
    await against().call(
        "browse_pipelines", {"action": "failure_digest", "project_id": "1", "pipeline_id": 5}
    )
    asked = [request.query for request in standin.requests if request.path.endswith("/pipelines/5/jobs")]
    assert sorted(each.replace("per_page=100&", "") for each in asked) == [
        "include_retried=true",
        "scope%5B%5D=failed",
    ]


@pytest.mark.parametrize("pipeline_id", [15, 8])
async def test_a_status_that_lags_behind_the_cancelling_is_not_told(replayed: App, pipeline_id: int) -> None:
    arguments = {"action": "cancel", "project_id": "acme/website", "pipeline_id": pipeline_id}
    data = (await replayed.call("manage_pipeline", arguments)).data
    assert "status" not in data
    assert "warnings" not in data


def on_main(
    standin: StandIn, *pipelines: tuple[int, str, str], jobs: dict[int, list[tuple[str, str]]]
) -> None:
    """Project 1, invented: no recorded job was broken twice. Pipelines are id, status and sha, the newest first."""
    made: list[dict[str, Any]] = [
        {"id": id, "project_id": 1, "status": status, "sha": sha, "ref": "main", "web_url": "https://x"}
        for id, status, sha in pipelines
    ]
    standin.answer("GET", "/projects/1", body={"default_branch": "main"})
    standin.answer("GET", "/projects/1/pipelines", body=made)
    standin.answer("GET", "/projects/1/pipelines/latest", body=made[0])
    standin.answer("GET", "/projects/1/jobs/*/trace", body="ERROR: Job failed\n")
    standin.answer("GET", "/projects/1/repository/commits", body=[])
    standin.answer("GET", "/projects/1/repository/commits/*/merge_requests", body=[])
    for pipeline in made:
        here = f"/projects/1/pipelines/{pipeline['id']}"
        of_it = [
            {"id": pipeline["id"] * 10 + index, "name": name, "status": status, "stage": "test"}
            for index, (name, status) in enumerate(jobs.get(pipeline["id"], ()))
        ]
        standin.answer("GET", here, body=pipeline)
        standin.answer("GET", f"{here}/jobs", body=of_it)
        standin.answer("GET", f"{here}/bridges", body=[])
        standin.answer("GET", f"{here}/test_report_summary", body={"total": {}, "test_suites": []})


async def why_red(app: App) -> Any:
    return (await app.call("browse_pipelines", {"action": "failure_digest", "project_id": "1"})).data


async def test_a_job_that_was_skipped_in_a_red_pipeline_may_have_been_broken_before_it(
    standin: StandIn, against: Against
) -> None:
    jobs = {
        4: [("lint", "success"), ("unit", "failed")],
        3: [("lint", "failed"), ("unit", "skipped")],
        2: [("lint", "success"), ("unit", "success")],
    }
    on_main(standin, (4, "failed", "dd"), (3, "failed", "cc"), (2, "success", "bb"), jobs=jobs)
    [culprit] = (await why_red(against()))["culprits"]
    assert (culprit["first_red"]["id"], culprit["last_good"]["id"]) == (4, 2)
    asked = [request.query for request in standin.requests if request.path.endswith("/repository/commits")]
    assert asked == ["ref_name=bb..dd"]


async def test_a_job_that_failed_before_and_was_green_again_is_blamed_on_what_came_last(
    standin: StandIn, against: Against
) -> None:
    jobs = {
        5: [("unit", "failed")],
        4: [("unit", "success"), ("lint", "failed")],
        3: [("unit", "failed")],
        2: [("unit", "success")],
    }
    pipelines = ((5, "failed", "ee"), (4, "failed", "dd"), (3, "failed", "cc"), (2, "success", "bb"))
    on_main(standin, *pipelines, jobs=jobs)
    [culprit] = (await why_red(against()))["culprits"]
    assert (culprit["first_red"]["id"], culprit["last_good"]["id"]) == (5, 4)


async def test_a_commit_that_was_green_before_is_not_blamed_and_a_job_that_was_retried_is_called_flaky(
    standin: StandIn, against: Against
) -> None:
    jobs = {3: [("unit", "failed")], 2: [("unit", "failed"), ("unit", "success")]}
    on_main(standin, (3, "failed", "bb"), (2, "success", "bb"), jobs=jobs)
    data = await why_red(against())
    assert "no commit is at fault" in data["culprits"][0]["means"]
    assert data["flaky_before"] == [{"name": "unit", "pipeline_id": 2}]


async def test_why_a_branch_is_red_is_told_while_a_newer_pipeline_runs(
    standin: StandIn, against: Against
) -> None:
    jobs = {3: [("unit", "pending")], 2: [("unit", "failed")], 1: [("unit", "success")]}
    on_main(standin, (3, "pending", "cc"), (2, "failed", "bb"), (1, "success", "aa"), jobs=jobs)
    data = await why_red(against())
    assert (data["pipeline"]["id"], data["newer_pipeline"]["id"]) == (2, 3)
    assert "newer pipeline" in data["verdict"]


async def test_a_pipeline_that_runs_on_a_green_branch_is_told_itself(
    standin: StandIn, against: Against
) -> None:
    on_main(standin, (3, "running", "cc"), (2, "success", "bb"), jobs={3: [("unit", "running")]})
    data = await why_red(against())
    assert data["pipeline"]["id"] == 3
    assert "culprits" not in data


async def test_a_pipeline_that_failed_in_another_is_blamed_on_the_first_red_one(
    standin: StandIn, against: Against
) -> None:
    on_main(standin, (4, "failed", "dd"), (3, "failed", "cc"), (2, "success", "bb"), jobs={})
    bridge = {"id": 41, "name": "shop", "status": "failed", "stage": "test", "downstream_pipeline": None}
    standin.answer("GET", "/projects/1/pipelines/4/bridges", body=[bridge])
    requests = [
        {"iid": 8, "title": "Open still", "state": "opened", "author": {"username": "bob"}},
        {"iid": 7, "title": "Coupons", "state": "merged", "author": {"username": "carol"}},
    ]
    standin.answer("GET", "/projects/1/repository/commits/cc/merge_requests", body=requests)
    [culprit] = (await why_red(against()))["culprits"]
    assert (culprit["first_red"]["id"], culprit["last_good"]["id"]) == (3, 2)
    assert [(each["iid"], each["author"]) for each in culprit["merge_requests"]] == [(7, "carol")]


async def test_where_nothing_was_green_before_no_commit_is_blamed_and_that_is_said(
    standin: StandIn, against: Against
) -> None:
    on_main(standin, (3, "failed", "cc"), (2, "failed", "bb"), jobs={3: [("unit", "failed")]})
    data = await why_red(against())
    assert "culprits" not in data
    assert "1 earlier pipeline " in data["remarks"][0]
    assert "remarks" not in data["untrusted"]


async def test_a_pipeline_that_runs_is_told_itself_where_those_before_it_cannot_be_read(
    standin: StandIn, against: Against
) -> None:
    on_main(standin, (3, "running", "cc"), (2, "failed", "bb"), jobs={3: [("unit", "running")]})
    standin.answer("GET", "/projects/1/pipelines", 403, {"message": "403 Forbidden"})
    assert (await why_red(against()))["pipeline"]["id"] == 3


async def test_a_tag_and_a_merge_request_have_no_culprits(standin: StandIn, against: Against) -> None:
    head = {**a_failed_pipeline(standin, 1, []), "ref": "refs/merge-requests/3/head"}
    standin.answer("GET", "/projects/1/merge_requests/3", body={"project_id": 1, "head_pipeline": head})
    arguments = {"action": "failure_digest", "project_id": "1", "merge_request_iid": 3}
    data = (await against().call("browse_pipelines", arguments)).data
    assert "culprits" not in data
    assert [request.query for request in standin.requests if request.path.endswith("/pipelines")] == [
        "ref=main"
    ]


async def test_culprits_that_cannot_be_read_do_not_hide_why_it_failed(
    standin: StandIn, against: Against
) -> None:
    jobs = {3: [("unit", "failed")], 2: [("unit", "success")]}
    on_main(standin, (3, "failed", "cc"), (2, "success", "bb"), jobs=jobs)
    standin.answer("GET", "/projects/1/repository/*", 403, {"message": "403 Forbidden"})
    data = await why_red(against())
    assert [job["name"] for job in data["failed_jobs"]] == ["unit"]
    assert data["warnings"][0]["unread"] == ["commits of pipeline 3", "merge requests of pipeline 3"]


async def compared(app: App, **arguments: Any) -> Any:
    return await app.call("browse_pipelines", {"action": "compare", "project_id": "acme/shop", **arguments})


@pytest.mark.parametrize("order", [(202, 201), (201, 202)])
async def test_two_pipelines_are_compared_in_the_order_they_ran(
    replayed: App, order: tuple[int, int]
) -> None:
    data = (await compared(replayed, pipeline_id=order[0], other_pipeline_id=order[1])).data
    assert data["verdict"] == "2 failed newly, 0 mended, 1 still failing."
    assert [job["name"] for job in data["failed_newly"]] == ["integration", "e2e: [firefox]"]
    assert [job["name"] for job in data["still_failing"]] == ["unit"]
    assert (data["before"]["id"], data["after"]["id"]) == (201, 202)


async def test_a_job_that_did_not_run_again_is_not_called_mended(standin: StandIn, against: Against) -> None:
    jobs = {
        1: [("lint", "failed"), ("unit", "failed"), ("gone", "success")],
        2: [("lint", "success"), ("unit", "skipped"), ("new", "success")],
    }
    on_main(standin, (2, "success", "bb"), (1, "failed", "aa"), jobs=jobs)
    data = (await compared(against(), project_id="1", pipeline_id=1, other_pipeline_id=2)).data
    assert (data["mended"], data["failed_before_and_not_run_now"]) == (["lint"], ["unit"])
    assert (data["only_before"], data["only_after"]) == (["gone"], ["new"])


async def test_jobs_that_became_much_slower_are_named(standin: StandIn, against: Against) -> None:
    on_main(standin, (2, "success", "bb"), (1, "success", "aa"), jobs={})
    for pipeline_id, seconds in ((1, 60.2), (2, 95.0)):
        jobs = [
            {"id": pipeline_id, "name": "unit", "status": "success", "duration": seconds},
            {"id": pipeline_id + 10, "name": "lint", "status": "success", "duration": 20 + pipeline_id},
        ]
        standin.answer("GET", f"/projects/1/pipelines/{pipeline_id}/jobs", body=jobs)
    data = (await compared(against(), project_id="1", pipeline_id=1, other_pipeline_id=2)).data
    assert data["durations"] == [{"name": "unit", "before": 60, "after": 95}]


async def test_pipelines_are_compared_without_the_bridges_that_cannot_be_read(
    standin: StandIn, against: Against
) -> None:
    on_main(standin, (2, "failed", "bb"), (1, "success", "aa"), jobs={2: [("unit", "failed")]})
    standin.answer("GET", "/projects/1/pipelines/2/bridges", 403, {"message": "403 Forbidden"})
    data = (await compared(against(), project_id="1", pipeline_id=1, other_pipeline_id=2)).data
    assert [job["name"] for job in data["failed_newly"]] == ["unit"]
    assert data["warnings"][0]["unread"] == ["bridges of pipeline 2"]


async def test_a_pipeline_is_not_compared_with_itself(replayed: App) -> None:
    with pytest.raises(CallFailed) as failed:
        await compared(replayed, pipeline_id=202, other_pipeline_id=202)
    assert failed.value.failure.code == "INVALID_VALUE"

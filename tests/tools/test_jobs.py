from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from typing import Any

import pytest

from gitlab_mcp.app import App
from gitlab_mcp.failures.failure import CallFailed
from tests.support.recordings import rows
from tests.support.standin import StandIn

pytestmark = pytest.mark.anyio
Against = Callable[..., App]


async def log(app: App, job_id: int, **window: Any) -> Any:
    arguments = {"action": "log", "project_id": "acme/shop", "job_id": job_id, **window}
    return await app.call("browse_jobs", arguments)


@pytest.mark.parametrize(
    ("job_id", "why"),
    [
        (344, "The log was erased at 2026-11-16T03:22:27.640Z."),
        (367, "The job never ran, so it wrote no log."),
        (353, "It waits for a runner with the tags gpu."),
        (318, "The job wrote no log, or GitLab no longer has it."),
    ],
)
async def test_a_log_that_is_not_there_says_why(replayed: App, job_id: int, why: str) -> None:
    result = await log(replayed, job_id)
    assert result.data["why_empty"] == why
    assert result.text is None


async def test_a_search_finds_the_line_that_a_tail_does_not_show(replayed: App) -> None:
    tail = await log(replayed, 287, tail=20)
    assert "no such table" not in tail.text.content
    found = await log(replayed, 287, search="NO SUCH TABLE")
    assert found.data["matches"] >= 1
    assert "no such table: orders" in found.text.content


async def test_the_line_numbers_of_a_search_are_those_of_a_range(replayed: App) -> None:
    found = (await log(replayed, 287, search="no such table: orders")).text.content
    number = next(int(line.split(":")[0]) for line in found.splitlines() if "no such table" in line)
    window = await log(replayed, 287, start_line=number, end_line=number)
    assert "no such table: orders" in window.text.content


async def test_a_log_without_arguments_shows_the_error_that_its_tail_does_not(
    standin: StandIn, against: Against
) -> None:
    lines = [f"line {number}" for number in range(1, 601)]
    lines[99] = "E   AssertionError: 1 != 2"
    standin.answer(
        "GET", "/projects/*/jobs/7/trace", body="\n".join(lines), headers={"content-type": "text/plain"}
    )
    standin.answer("GET", "/projects/*/jobs/7", body={"id": 7, "status": "failed"})
    found = await log(against(), 7)
    assert found.data["status"] == "failed"
    assert found.data["start_line"] > 111
    assert "100: E   AssertionError: 1 != 2" in found.data["error_lines"].splitlines()
    assert "error_lines" in found.data["untrusted"]
    assert "error_lines" not in (await log(against(), 7, tail=20)).data


async def test_a_job_that_succeeded_is_not_said_to_have_an_error(standin: StandIn, against: Against) -> None:
    """Synthetic: the first lines of its log look like an error."""
    lines = ["ERROR: could not read the cache", *(f"line {number}" for number in range(2, 601))]
    standin.answer(
        "GET", "/projects/*/jobs/7/trace", body="\n".join(lines), headers={"content-type": "text/plain"}
    )
    standin.answer("GET", "/projects/*/jobs/7", body={"id": 7, "status": "success"})
    found = await log(against(), 7)
    assert found.data["status"] == "success"
    assert "error_lines" not in found.data


async def test_a_link_to_one_line_of_a_log_shows_the_lines_around_it(replayed: App) -> None:
    url = "https://gitlab.example.com/acme/shop/-/jobs/287#L20"
    found = await replayed.call("browse_jobs", {"action": "log", "url": url})
    assert found.data["start_line"] == 10
    assert found.text is not None
    assert len(found.text.content.splitlines()) == 21


async def test_a_range_beyond_the_log_says_where_the_log_ends(replayed: App) -> None:
    result = await log(replayed, 286, start_line=5_000)
    assert result.data["why_empty"] == f"The log ends at line {result.data['total_lines']}."


@pytest.mark.parametrize(
    "window",
    [{"tail": 5, "search": "x"}, {"tail": 5, "start_line": 2}, {"start_line": 9, "end_line": 3}, {"tail": 0}],
)
async def test_a_window_that_makes_no_sense_is_refused(replayed: App, window: dict[str, Any]) -> None:
    with pytest.raises(CallFailed) as failed:
        await log(replayed, 287, **window)
    assert failed.value.failure.code == "INVALID_VALUE"


async def test_an_artifact_keeps_the_slashes_of_its_path(standin: StandIn, against: Against) -> None:
    standin.answer("GET", "/projects/1/jobs/2/artifacts/*", body="built\n")
    arguments = {
        "action": "artifact_file",
        "project_id": "1",
        "job_id": 2,
        "artifact_path": "out dir/a#b.txt",
    }
    result = await against().call("browse_jobs", arguments)
    assert [request.route for request in standin.requests] == [
        "/projects/1/jobs/2/artifacts/out%20dir/a%23b.txt"
    ]
    assert result.text and result.text.content == "built"


async def test_an_artifact_of_the_newest_job_on_a_branch_is_found_by_name(
    standin: StandIn, against: Against
) -> None:
    standin.answer("GET", "/projects/1/jobs/artifacts/*", body="built\n")
    arguments = {"project_id": "1", "ref_name": "feature/x", "job": "build", "artifact_path": "a/b.txt"}
    await against().call("browse_jobs", {"action": "artifact_file", **arguments})
    [request] = standin.requests
    assert (request.route, request.params) == (
        "/projects/1/jobs/artifacts/feature%2Fx/raw/a/b.txt",
        [("job", "build")],
    )


@pytest.mark.parametrize("path", ["../secret", "a/../../b", "/etc/passwd"])
async def test_an_artifact_path_stays_inside_the_archive(replayed: App, path: str) -> None:
    arguments = {"action": "artifact_file", "project_id": "1", "job_id": 2, "artifact_path": path}
    with pytest.raises(CallFailed) as failed:
        await replayed.call("browse_jobs", arguments)
    assert failed.value.failure.facts["invalid_fields"][0]["field"] == "artifact_path"


async def test_a_large_artifact_is_read_from_its_beginning_and_says_so(
    standin: StandIn, against: Against
) -> None:
    standin.answer("GET", "/projects/1/jobs/2/artifacts/*", body="x" * 99 + "\n" + "line\n" * 300_000)
    arguments = {"action": "artifact_file", "project_id": "1", "job_id": 2, "artifact_path": "a.txt"}
    result = await against().call("browse_jobs", arguments)
    assert result.text and result.text.content.startswith("xxx")
    assert [warning["code"] for warning in result.data["warnings"]] == ["TRUNCATED"]


async def test_the_files_of_an_archive_are_listed_without_unpacking_them(
    standin: StandIn, against: Against
) -> None:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as opened:
        opened.writestr("dist/", "")
        opened.writestr("dist/app.txt", "built\n")
        opened.writestr("report.xml", "<x/>")
    standin.answer("GET", "/projects/1/jobs/2/artifacts", body=archive.getvalue())
    arguments = {"action": "artifacts", "project_id": "1", "job_id": 2}
    data = (await against().call("browse_jobs", arguments)).data
    assert data["items"] == [{"path": "dist/app.txt", "size": 6}, {"path": "report.xml", "size": 4}]


@pytest.mark.parametrize("given", [{"ref_name": "main"}, {"job": "build"}, {"job_id": 2, "job": "build"}])
async def test_a_job_is_named_by_id_or_by_ref_and_name(replayed: App, given: dict[str, Any]) -> None:
    with pytest.raises(CallFailed):
        await replayed.call("browse_jobs", {"action": "artifacts", "project_id": "1", **given})


async def test_jobs_of_one_status_are_asked_for_as_gitlab_wants_them(replayed: App) -> None:
    arguments = {"action": "list", "project_id": "acme/shop", "scope": "failed"}
    data = (await replayed.call("browse_jobs", arguments)).data
    assert {job["status"] for job in data["items"]} == {"failed"}


async def test_retried_jobs_are_a_matter_of_one_pipeline(replayed: App) -> None:
    arguments = {"action": "list", "project_id": "acme/shop", "include_retried": True}
    with pytest.raises(CallFailed) as failed:
        await replayed.call("browse_jobs", arguments)
    assert failed.value.failure.facts["invalid_fields"][0]["field"] == "include_retried"


async def test_cancelling_a_job_that_has_ended_says_that_nothing_was_cancelled(
    standin: StandIn, against: Against
) -> None:
    standin.play_rows(row for row in rows("errors") if row["label"] == "jobs/cancel_finished")
    arguments = {"action": "cancel", "project_id": "67", "job_id": 166}
    data = (await against().call("manage_job", arguments)).data
    assert data["status"] == "success"
    assert [warning["code"] for warning in data["warnings"]] == ["NOT_APPLIED"]

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qsl

import pytest

from gitlab_mcp.api.versions import version_number
from gitlab_mcp.app import App
from gitlab_mcp.failures.failure import CallFailed
from tests.support.recordings import rows
from tests.support.standin import StandIn
from tests.support.standin.exchange import Received, Reply

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
    [
        {"tail": 5, "search": "x"},
        {"byte_offset": 5, "search": "x"},
        {"byte_offset": -1},
        {"tail": 5, "start_line": 2},
        {"start_line": 9, "end_line": 3},
        {"tail": 0},
    ],
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


class LogOf:
    """Synthetic: a job with a long log on a GitLab of this version. Only 19.3 and later send single bytes of a log."""

    def __init__(self, log: bytes, version: str, *, archived: bool = True) -> None:
        self.log, self.version, self.archived = log, version, archived
        self.sends_ranges = version_number(version) >= (19, 3)
        self.sent: list[int] = []

    def owns(self, received: Received) -> bool:
        return received.method == "GET"

    def reply_to(self, received: Received) -> Reply:
        if received.route == "/metadata":
            return Reply.of(200, {"version": self.version, "enterprise": True})
        if not received.route.endswith("/trace"):
            file = {"file_type": "trace", "size": len(self.log), "filename": "job.log"}
            return Reply.of(200, {"id": 7, "status": "failed", "artifacts": [file] if self.archived else []})
        asked = dict(parse_qsl(received.query))
        part = self.log
        if "byte_offset" in asked and self.sends_ranges:
            offset = int(asked["byte_offset"])
            part = self.log[offset : offset + int(asked["byte_limit"])]
        self.sent.append(len(part))
        return Reply.of(200, part.decode(), {"content-type": "text/plain"})


LONG_LOG = b"".join(b"line %07d of the log\n" % number for number in range(1, 200_001))


@pytest.mark.parametrize(
    ("version", "archived", "downloads_whole"),
    [("19.3.0-ee", True, 1), ("19.3.0-ee", False, 2), ("17.2.0-ee", True, 2), ("18.5.0-ee", True, 2)],
)
async def test_the_end_of_a_long_log_is_read_without_the_rest_where_gitlab_can(
    standin: StandIn, against: Against, version: str, archived: bool, downloads_whole: int
) -> None:
    """The first try stops at two million bytes, though the stand-in has the whole ready."""
    gitlab = LogOf(LONG_LOG, version, archived=archived)
    standin.add(gitlab)
    found = await log(against(), 7, tail=3)
    assert found.text.content.splitlines() == [f"line {n:07} of the log" for n in (199_998, 199_999, 200_000)]
    assert [size == len(LONG_LOG) for size in gitlab.sent].count(True) == downloads_whole
    if downloads_whole == 1:
        assert gitlab.sent[-1] <= 512_000
        assert found.data == {"total_bytes": len(LONG_LOG), "only_the_end_was_read": True}
    else:
        assert found.data["start_line"] == 199_998


async def test_more_last_lines_than_gitlab_sends_at_once_are_read_with_the_whole_log(
    standin: StandIn, against: Against
) -> None:
    """Synthetic: of lines this long, one range holds fewer than were asked for."""
    lines = [b"%05d \x1b[0K" % number + b"\x1b[0m" * 600 + b"\n" for number in range(1, 2_001)]
    standin.add(LogOf(b"".join(lines), "19.3.0-ee"))
    found = await log(against(), 7, tail=1_000)
    assert found.data["total_lines"] == 2_000
    assert found.data["start_line"] == 1_001


@pytest.mark.parametrize("version", ["17.2.0-ee", "19.3.0-ee", "20.1.0-ee"])
async def test_a_log_is_read_on_by_bytes_line_after_line(
    standin: StandIn, against: Against, version: str
) -> None:
    text = "".join(f"line {number} ü\n" for number in range(1, 2_001))
    standin.add(LogOf(text.encode(), version))
    app, offset, read = against(), 0, ""
    while offset is not None:
        part = await log(app, 7, byte_offset=offset, max_bytes=5_000)
        assert part.data.get("next_byte_offset", offset + 1) > offset
        assert "warnings" not in part.data and "truncated" not in part.data
        read += part.text.content + "\n"
        offset = part.data.get("next_byte_offset")
    assert read == text
    beyond = await log(app, 7, byte_offset=10_000_000)
    assert beyond.data == {"why_empty": "The log has nothing from byte 10000000 on."}


async def test_a_range_that_gitlab_ignored_is_cut_out_of_the_whole_log(
    standin: StandIn, against: Against
) -> None:
    gitlab = LogOf(LONG_LOG, "19.3.0-ee")
    gitlab.sends_ranges = False
    standin.add(gitlab)
    found = await log(against(), 7, byte_offset=24 * 99_999)
    assert found.text.content.startswith("line 0100000 of the log\n")


async def test_bytes_of_a_line_that_is_too_long_are_shown_in_parts(
    standin: StandIn, against: Against
) -> None:
    standin.add(LogOf(b"x" * 20_000, "19.3.0-ee"))
    part = await log(against(), 7, byte_offset=0, max_bytes=2_000)
    assert part.data["next_byte_offset"] == len(part.text.content)

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitlab_mcp.actions.result import Omission, TailText, Text
from gitlab_mcp.results import job_log_lines
from gitlab_mcp.results.job_log_lines import Excerpt, log_lines
from gitlab_mcp.results.job_logs import read_log
from tests.support.recorded_answers import recorded_text


def lines(log: bytes | str) -> list[str]:
    data = log.encode() if isinstance(log, str) else log
    return [line.text for line in log_lines([data])]


def trace(job: int, project: str = "acme%2Fshop") -> bytes:
    return recorded_text("shop_jobs", f"/projects/{project}/jobs/{job}/trace")[2].encode()


NUMBERED = "\n".join(f"line {number}" for number in range(1, 101)).encode()


def test_a_recorded_log_reads_as_in_the_browser() -> None:
    assert lines(trace(317)) == [
        "Running with gitlab-runner 17.2.0 (00000000)",
        'Preparing the "docker" executor',
        "ERROR: Preparation failed: Cannot connect to the Docker daemon at unix:///var/run/docker.sock."
        " Is the docker daemon running?",
        "Will be retried in 3s ...",
        "ERROR: Job failed (system failure): Cannot connect to the Docker daemon at unix:///var/run/docker.sock."
        " Is the docker daemon running? (docker.go:905:0s)",
    ]


@pytest.mark.parametrize(
    ("log", "seen"),
    [
        ("\x1b[31;1mred\x1b[0;m plain", ["red plain"]),
        ("\x1b]8;;https://x\x07link\x1b]8;;\x07", ["link"]),
        ("section_start:1794800004:get_sources\r\x1b[0K\x1b[36;1mGetting source\x1b[0;m", ["Getting source"]),
        ("section_end:1:a\r\x1b[0Ksection_start:2:b[collapsed=true]\r\x1b[0Kb", ["b"]),
        ("a\nsection_end:1:a\r\x1b[0K\nb", ["a", "b"]),
        ("a\n\nb", ["a", "", "b"]),
        ("\r 10%\r 50%\r100%", ["100%"]),
        ("done 100%\r", ["done 100%"]),
        ("windows\r\nends\r\n", ["windows", "ends"]),
        ("2026-11-16T02:12:53.203Z 00O \x1b[0Khello", ["hello"]),
        ("2026-11-16T02:12:53Z 01E oops\n2026-11-16T02:12:53Z 01E+ again", ["oops again"]),
        (b"caf\xe9 \xff", ["caf\ufffd \ufffd"]),
        ("zero\u200bwidth \u202etxt\x07", ["zerowidth txt"]),
    ],
)
def test_a_line_is_what_a_person_sees(log: bytes | str, seen: list[str]) -> None:
    assert lines(log) == seen


@given(st.binary(max_size=400), st.integers(1, 50))
def test_how_the_bytes_arrive_makes_no_difference(log: bytes, size: int) -> None:
    pieces = [log[start : start + size] for start in range(0, len(log), size)]
    assert list(log_lines(pieces)) == list(log_lines([log]))


def test_the_tail_is_the_default() -> None:
    window = read_log([NUMBERED], tail=3)
    assert window.excerpts == (Excerpt(98, ("line 98", "line 99", "line 100")),)
    assert (window.start_line, window.total_lines, window.total_bytes) == (98, 100, len(NUMBERED))
    assert window.text("job 1 log") == TailText("line 98\nline 99\nline 100", "job 1 log")
    assert window.truncated == ()


def test_a_tail_that_does_not_fit_says_how_to_read_what_is_before_it() -> None:
    window = read_log([NUMBERED], tail=50, limit_bytes=100)
    assert window.excerpts[0].end_line == 100
    shown = len(window.excerpts[0].lines)
    assert window.truncated == (Omission("lines of the log", 50 - shown, f"end_line={100 - shown}"),)


def test_a_range_that_does_not_fit_says_where_to_read_on() -> None:
    window = read_log([NUMBERED], start=10, end=30, limit_bytes=30)
    assert window.excerpts == (Excerpt(10, ("line 10", "line 11", "line 12")),)
    assert window.truncated == (Omission("lines of the log", 18, "start_line=13"),)


def test_a_search_ignores_case_and_shows_what_is_around_it() -> None:
    window = read_log([NUMBERED], search="LINE 50", context=1)
    assert window.matches == 1
    assert window.text("log") == Text("49: line 49\n50: line 50\n51: line 51", "log")


def test_a_search_joins_neighbours_and_counts_what_it_cannot_show() -> None:
    window = read_log([NUMBERED], search="line 9", context=1, limit_bytes=60)
    assert window.matches == 11
    assert window.excerpts[0] == Excerpt(8, ("line 8", "line 9", "line 10"))
    assert window.excerpts[1].start_line == 89
    assert window.omitted > 0


def test_a_pattern_is_plain_text() -> None:
    assert read_log([b"a.b\naxb"], search="a.b", context=0).excerpts == (Excerpt(1, ("a.b",)),)


def test_a_range_behind_the_end_is_empty_and_knows_the_end() -> None:
    window = read_log([NUMBERED], start=500)
    assert (window.excerpts, window.total_lines) == ((), 100)


def endless() -> Iterator[bytes]:
    for number in range(500):
        yield b"x" * 8_000 + b"\n" if number % 100 else b"y" * 8_192
    yield b"the end\n"


@pytest.mark.parametrize("question", [{"tail": 50}, {"search": "the end"}, {"start": 5, "end": 9}])
def test_a_long_log_needs_little_memory(question: dict[str, int]) -> None:
    tracemalloc.start()
    try:
        window = read_log(endless(), find_error=True, **question)  # type: ignore[arg-type]
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert window.total_bytes > 3_900_000
    assert peak < 1_500_000


@pytest.mark.parametrize(
    ("project", "job", "true_error"),
    [
        ("acme%2Fshop", 276, "fixture 'gift_card' not found"),
        ("acme%2Fshop", 276, "AssertionError: assert 297 == 298"),
        ("acme%2Fshop", 286, "AssertionError: assert 297 == 298"),
        ("acme%2Fshop", 287, "sqlite3.OperationalError: no such table: orders"),
        ("acme%2Fshop", 297, "sqlite3.OperationalError: no such table: orders"),
        ("acme%2Fshop", 289, "ERROR: Job failed: execution took longer than 10m0s seconds"),
        ("acme%2Fshop", 314, "ERROR: Job failed: execution took longer than 10m0s seconds"),
        ("acme%2Fshop", 301, "TimeoutError: 5 s"),
        ("acme%2Fshop", 306, "E401 Multiple imports on one line"),
        ("acme%2Fshop", 317, "ERROR: Preparation failed: Cannot connect to the Docker daemon"),
        ("acme%2Fshop", 328, "panic: runtime error: index out of range [3] with length 3"),
        ("acme%2Fshop-ff", 369, 'Received: "2.97 EUR"'),
    ],
)
def test_the_true_error_of_a_recorded_failure_is_in_the_excerpt(
    project: str, job: int, true_error: str
) -> None:
    error = read_log([trace(job, project)], find_error=True).error
    assert error is not None
    assert any(true_error in line for line in error.lines)
    assert len(error.lines) <= 21


@pytest.mark.parametrize("piece", [b"a.", b"section_start:1:a[", b"\x1b]", b"\r", b"E    ", b"a:1:1 "])
def test_a_line_made_to_be_slow_is_not(piece: bytes) -> None:
    started = time.thread_time()
    read_log([piece * 30_000 + b"\n"] * 10, find_error=True, search="x")
    assert time.thread_time() - started < 2


@pytest.mark.parametrize("job", [258, 315, 318, 358])
def test_a_log_without_an_error_has_no_error(job: int) -> None:
    assert read_log([trace(job)], find_error=True).error is None


@pytest.mark.parametrize(
    ("log", "anchor"),
    [
        (["foo.c: In function 'main':", "foo.c:3:5: error: expected ';' before '}' token"], 1),
        (["error: 0 problems found", "src/a.ts(3,5): error TS2304: Cannot find name 'x'."], 1),
        (["ValueError: x", "handled, continuing", *["ok"] * 20, "bash: frobnicate: command not found"], 22),
        (["ERROR: one", *["step"] * 30, "ERROR: two", "ERROR: Job failed: exit code 1"], 31),
        (
            [
                "bash: x: command not found",
                *["step"] * 30,
                "ValueError: y",
                "handled, continuing",
                *["step"] * 30,
            ],
            0,
        ),
        (
            [
                "section_start:1:step_script\r\x1b[0KExecuting",
                "ValueError: real",
                *["step"] * 30,
                "section_start:2:after_script\r\x1b[0KRunning after_script",
                "ValueError: while cleaning up",
            ],
            1,
        ),
        (["ok", "make: *** [Makefile:2: all] Error 2", "ERROR: Job failed: exit code 1"], 1),
    ],
)
def test_of_several_candidates_the_one_that_stopped_the_job_is_chosen(log: list[str], anchor: int) -> None:
    """Synthetic logs."""
    error = read_log(["\n".join(log).encode()], find_error=True).error
    assert error is not None
    assert error.start_line == max(1, anchor + 1 - 10)


PIECES = st.sampled_from(
    [
        *("text", " ", "\n", "\n\n", "\r\n", "\r", "\t", "\x07", "é", "\u200b", "\u2028", "x" * 300),
        *("\x1b[31;1m", "\x1b[0K", "\x1b]8;;https://x\x07", "\x1b"),
        *("section_start:1:a\r\x1b[0K", "section_end:1:a\r\x1b[0K", "2026-11-16T02:12:53.203Z 00O "),
        *("2026-11-16T02:12:53Z 01E+", "2026-11-16T02:12:53Z 01E", "error: no", "FAILED x", "E   assert"),
        *("a.py:1:2: E501", "ok", "will retry", "not ok 1", "0 errors"),
    ]
)
ASKED: list[dict[str, object]] = [
    {"tail": 3, "find_error": True},
    {"search": "text", "context": 2},
    {"start": 2, "end": 5, "limit_bytes": 50},
]


@given(st.lists(PIECES, max_size=120).map("".join), st.integers(1, 200), st.integers(1, 120))
def test_a_log_that_is_read_in_blocks_reads_as_line_by_line(log: str, block: int, chunk: int) -> None:
    data = log.encode()
    chunks = [data[start : start + chunk] for start in range(0, len(data), chunk)]

    def read(**settings: object) -> list[object]:
        with pytest.MonkeyPatch.context() as patch:
            for name, value in settings.items():
                patch.setattr(job_log_lines, name, value)
            return [read_log(chunks, **question) for question in ASKED]  # type: ignore[arg-type]

    assert read(_BLOCK=block) == read(_BLOCK=10**6, _cleaned_at_once=lambda raw: None)

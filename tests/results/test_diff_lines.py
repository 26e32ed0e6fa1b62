from __future__ import annotations

import difflib

from hypothesis import given
from hypothesis import strategies as st

from gitlab_mcp.workflows.merge_requests.diff_lines import DiffLine, read_diff

FILES = st.lists(st.sampled_from("abcd"), min_size=1, max_size=40)


def diff_of(old: list[str], new: list[str]) -> str:
    rows = list(difflib.unified_diff(old, new, lineterm=""))[2:]
    return "".join(f"{row}\n" for row in rows)


@given(FILES, FILES)
def test_every_line_is_found_by_its_number_on_either_side(old: list[str], new: list[str]) -> None:
    lines = read_diff(diff_of(old, new))
    if not lines.hunks:
        return
    for number, text in enumerate(new, 1):
        line = lines.new(number)
        assert line is not None and line.kind != "removed" and line.new == number
        if line.kind == "unchanged":
            assert old[line.old - 1] == text
            assert lines.old(line.old) == line
    for number in range(1, len(old) + 1):
        line = lines.old(number)
        assert line is not None and line.kind != "added" and line.old == number


@given(FILES, FILES)
def test_no_line_is_found_beyond_an_end_that_the_diff_shows(old: list[str], new: list[str]) -> None:
    lines = read_diff(diff_of(old, new))
    if not lines.hunks:
        return
    beyond = lines.new(len(new) + 1)
    assert beyond is None or lines.is_after_last_hunk(beyond)
    if lines.hunks[-1].ends_file:
        assert beyond is None and lines.old(len(old) + 1) is None


def test_a_line_that_looks_like_a_head_of_a_hunk_is_a_line() -> None:
    lines = read_diff("@@ -1 +1,2 @@\n a\n+@@ -9,9 +9,9 @@\n")
    assert lines.new(2) == DiffLine(2, 2, "added")
    assert len(lines.hunks) == 1


def test_a_missing_newline_at_the_end_is_no_line() -> None:
    lines = read_diff("@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n")
    assert (lines.old(1), lines.new(1)) == (DiffLine(1, 1, "removed"), DiffLine(2, 1, "added"))
    assert lines.new(2) is None


def test_only_a_newline_ends_a_line() -> None:
    lines = read_diff("@@ -0,0 +1,2 @@\n+a\x0cb\u2028c\r\n+d\n")
    assert lines.new(2) == DiffLine(1, 2, "added")

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitlab_mcp.workflows.repository.text_edits import (
    Edited,
    NotOnce,
    Replacement,
    as_text,
    edited,
    why_not_editable,
)


def made(text: str, *pairs: tuple[str, str]) -> str:
    found = edited(text, [Replacement(*pair) for pair in pairs])
    assert isinstance(found, Edited), found
    return found.text


def refused(text: str, *pairs: tuple[str, str]) -> list[NotOnce]:
    found = edited(text, [Replacement(*pair) for pair in pairs])
    assert isinstance(found, list), found
    return found


@pytest.mark.parametrize(
    ("text", "old", "new", "after"),
    [
        ("a\nb\nc\n", "b", "B", "a\nB\nc\n"),
        ("a\r\nb\r\nc\r\n", "a\nb", "x\ny\nz", "x\r\ny\r\nz\r\nc\r\n"),
        ("a\r\nb\r\n", "b", "b\nc", "a\r\nb\r\nc\r\n"),
        ("a\nb\n", "a\r\nb", "c\r\nd", "c\nd\n"),
        ("a\r\nb\r\n", "\nb", "\nc", "a\r\nc\r\n"),
        ("a\r\nb\nc\nd", "b\nc", "x\ny", "a\r\nx\ny\nd"),
        ("\ufeffkey = 1\n", "key = 1", "key = 2", "\ufeffkey = 2\n"),
        ("Größe = 1 😀\n", "Größe = 1 😀", "Größe = 2 🎉", "Größe = 2 🎉\n"),
        ("keep\ndrop\n", "drop\n", "", "keep\n"),
        ("no end", "end", "line end\n", "no line end\n"),
        ("a.b(c)*\n", "a.b(c)*", "\\1\\g<0>", "\\1\\g<0>\n"),
    ],
    ids=[
        "one word",
        "line ends of the file",
        "line ends of the file in one line",
        "line ends of the caller",
        "a line end is matched whole",
        "mixed line ends",
        "a byte order mark",
        "beyond ASCII",
        "nothing in its place",
        "no line end at the end",
        "no patterns",
    ],
)
def test_only_what_is_meant_changes(text: str, old: str, new: str, after: str) -> None:
    assert made(text, (old, new)) == after


def test_all_edits_are_made_in_the_text_as_it_was() -> None:
    assert made("a b c", ("c", "a"), ("a", "c")) == "c b a"
    assert made("ab", ("a", "1"), ("b", "2")) == "12"


def test_places_are_lines_of_the_file_as_it_was_in_the_order_of_the_edits() -> None:
    found = edited("1\n2\n3\n4\n", [Replacement("3\n4", "x"), Replacement("1\n", "y\ny\n")])
    assert isinstance(found, Edited)
    assert [str(place) for place in found.places] == ["lines 3-4", "line 1"]


def test_text_that_is_there_twice_is_told_by_its_lines() -> None:
    [why] = refused("x\ny\nx\n", ("x", "z"))
    assert [str(lines) for lines in why.found_at] == ["line 1", "line 3"]


def test_places_that_overlap_are_counted_too() -> None:
    [why] = refused("aaa", ("aa", "b"))
    assert len(why.found_at) == 2


def test_edits_of_the_same_text_are_refused() -> None:
    [why] = refused("one two three", ("one two", "1 2"), ("two three", "2 3"))
    assert (why.number, why.overlaps) == (1, 0)


PYTHON = "def one():\n    return 1\n\n\ndef two():\n    value = 2\n    return value\n"


@pytest.mark.parametrize(
    ("old", "lines", "difference"),
    [
        ("def two():\n  value = 2\n", "lines 5-6", "white space"),
        ("value  =  2", "line 6", "white space"),
        ("def two():\n    value = 3\n    return value\n", "lines 5-7", "line 6 is the first"),
        ("    retrun value", "line 7", "much of it"),
        ("return\u200b 1", "line 2", "invisible"),
    ],
)
def test_what_is_not_there_is_told_with_what_is_like_it(old: str, lines: str, difference: str) -> None:
    [why] = refused(PYTHON, (old, "x"))
    assert str(why.near[0].lines) == lines
    assert difference in why.near[0].difference


def test_an_edit_that_is_made_already_is_told_as_made() -> None:
    [why] = refused("a\nnew\n", ("old", "new"))
    assert str(why.made_at) == "line 2"


def test_what_is_like_nothing_has_no_near_misses() -> None:
    [why] = refused(PYTHON, ("completely different", "x"))
    assert why.near == ()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"\x89PNG\0\0", "binary"),
        ("x = 1".encode("utf-16"), "text in UTF-16"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:1\n", "a pointer to a file in Git LFS"),
        (b"", None),
        ("Größe".encode("latin-1"), None),
    ],
)
def test_what_is_no_text_is_not_edited(content: bytes, reason: str | None) -> None:
    assert why_not_editable(content) == reason


@given(st.binary(max_size=200))
def test_every_file_is_the_same_after_it_was_read_as_text(content: bytes) -> None:
    text, encoding = as_text(content)
    assert text.encode(encoding) == content


@given(st.text("ab\r\n", max_size=12), st.text("ab\n", min_size=1, max_size=4))
def test_what_stands_outside_of_an_edit_stays(text: str, old: str) -> None:
    found = edited(text, [Replacement(old, "<new>")])
    if isinstance(found, Edited):
        before, _, after = found.text.partition("<new>")
        assert text.startswith(before) and text.endswith(after)


def test_a_large_file_is_searched_at_once() -> None:
    text = "".join(f"line {number} of many\n" for number in range(100_000))
    [why] = refused(text, ("line 5 of mny", "x"))
    assert len(why.near) <= 3

"""The lines of the client, however they come."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitlab_mcp.transports.standard_streams import Lines


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    ends = os.pipe()
    yield ends
    for end in ends:
        os.close(end)


@given(st.lists(st.binary(max_size=20).map(lambda piece: piece.replace(b"\x00", b"\n")), max_size=20))
def test_lines_are_those_of_a_file_whatever_the_pieces_they_come_in(pieces: list[bytes]) -> None:
    reading, writing = os.pipe()
    lines, found = Lines(reading), []
    for piece in pieces:
        os.write(writing, piece)
        found += [next(lines) for _ in range(piece.count(b"\n"))]
    os.close(writing)
    found += lines
    os.close(reading)
    assert found == BytesIO(b"".join(pieces)).readlines()


def test_a_line_longer_than_what_is_read_at_once_comes_whole(tmp_path: Path) -> None:
    long = b"x" * 1_000_000 + b"\n"
    path = tmp_path / "said"
    path.write_bytes(long + b"short\nthe rest")
    with path.open("rb") as file:
        assert list(Lines(file.fileno())) == [long, b"short\n", b"the rest"]


def test_what_comes_first_is_known_without_reading_it(pipe: tuple[int, int]) -> None:
    reading, writing = pipe
    lines = Lines(reading)
    ended, end = os.pipe()
    os.close(end)
    assert not lines.come_before(ended)
    os.write(writing, b"one\ntwo\nthr")
    assert lines.come_before(ended)
    assert next(lines) == b"one\n"
    # It was read with the first.
    assert lines.come_before(ended)
    assert next(lines) == b"two\n"
    assert not lines.come_before(ended)
    os.close(ended)


def test_on_windows_the_client_always_comes_first(
    pipe: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    reading, _ = pipe
    assert Lines(reading).come_before(reading)

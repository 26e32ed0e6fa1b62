from __future__ import annotations

import base64
from typing import Any

import pytest

from gitlab_mcp.actions.result import Image, Result, Text
from gitlab_mcp.results.file_contents import LARGEST_IMAGE, content_result, file_result
from tests.support.recorded_answers import recorded

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 20


def body(content: bytes, path: str = "a.txt") -> dict[str, Any]:
    return {
        "file_path": path,
        "size": len(content),
        "encoding": "base64",
        "content": base64.b64encode(content).decode(),
        "ref": "main",
        "last_commit_id": "abc",
    }


def test_a_recorded_file_is_text_with_its_lines_counted() -> None:
    result = file_result(
        recorded("files", "/projects/1/repository/files/src%2Fapp.py?ref=main").body, start_line=4, end_line=5
    )
    assert result == Result(
        data={
            "file_path": "src/app.py",
            "ref": "main",
            "size": 1899,
            "last_commit_id": "dbc35632b7b69fd93edcc32d714d59617c7b5790",
            "start_line": 4,
            "total_lines": 119,
        },
        text=Text("def route_1(request):\n    return {'page': 1}", "file src/app.py"),
    )


@pytest.mark.parametrize(
    ("content", "text", "said"),
    [
        (b"one\ntwo\n", "one\ntwo", {"total_lines": 2}),
        (b"one\r\ntwo\r\n", "one\ntwo", {"total_lines": 2, "line_endings": "crlf"}),
        ("naïve ☃".encode(), "naïve ☃", {"total_lines": 1}),
        ("naïve".encode("latin-1"), "naïve", {"total_lines": 1, "encoding": "latin-1"}),
        (b"version https://git-lfs.github.com/spec/v1\n", "version https://git-lfs.github.com/spec/v1",
         {"total_lines": 1, "lfs_pointer": True}),
    ],
)  # fmt: skip
def test_text_is_decoded_and_what_is_unusual_is_said(content: bytes, text: str, said: dict[str, Any]) -> None:
    result = content_result(content, "a.txt", {})
    assert result == Result(data={"start_line": 1, **said}, text=Text(text, "file a.txt"))


@pytest.mark.parametrize(
    ("content", "start", "why"), [(b"", None, "The file is empty."), (b"a\n", 7, "The file ends at line 1.")]
)
def test_no_lines_say_why(content: bytes, start: int | None, why: str) -> None:
    result = file_result(body(content), start_line=start)
    assert result.text is None
    assert result.data["why_empty"] == why


def test_a_binary_is_what_is_known_of_it() -> None:
    result = file_result(body(b"PK\x03\x04\0\0", "x.zip"))
    assert result == Result(
        data={
            "file_path": "x.zip",
            "ref": "main",
            "size": 6,
            "last_commit_id": "abc",
            "binary": True,
            "mime_type": "application/zip",
        }
    )


@pytest.mark.parametrize(
    ("content", "mime_type"),
    [
        (PNG, "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a", "image/gif"),
        (b"RIFF\0\0\0\0WEBPVP8 ", "image/webp"),
    ],
)
def test_an_image_is_known_by_its_bytes_whatever_its_name(content: bytes, mime_type: str) -> None:
    assert content_result(content, "readme.txt", {}) == Result(
        data={"mime_type": mime_type}, image=Image(content, mime_type)
    )


def test_an_image_that_is_too_large_is_metadata() -> None:
    content = PNG + b"\0" * LARGEST_IMAGE
    assert content_result(content, "a.png", {}).data == {
        "size": len(content),
        "binary": True,
        "mime_type": "image/png",
    }

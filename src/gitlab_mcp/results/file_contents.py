"""Contents of files and exports: text by lines, images as images, of other binaries only size and type."""

from __future__ import annotations

import base64
import binascii
import mimetypes
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from gitlab_mcp.actions.result import Image, Notice, Result, Text
from gitlab_mcp.failures.codes import NoticeCode

LARGEST_IMAGE = 1_000_000
LARGEST_EXPORT = 2_000_000

_IMAGES = ((b"\x89PNG\r\n\x1a\n", "image/png"), (b"\xff\xd8\xff", "image/jpeg"), (b"GIF8", "image/gif"))
_LFS_POINTER = "version https://git-lfs.github.com/spec/"
_CHECKED_FOR_BINARY = 8000
"""As in git: a NUL among the first bytes makes a file binary."""


def file_result(
    body: Mapping[str, Any],
    *,
    asked_for: str | None = None,
    start_line: int | None = None,
    end_line: int | None = None,
) -> Result:
    """The answer of `GET /projects/:id/repository/files/:path`, decoded.

    `asked_for` is the path that the caller gave. It names the file outside the boundary around untrusted text, where
    nothing of the answer may stand.
    """
    facts = {
        "file_path": body.get("file_path"),
        "ref": body.get("ref"),
        "size": body.get("size"),
        "last_commit_id": body.get("last_commit_id"),
        **({"executable": True} if body.get("execute_filemode") else {}),
    }
    content = str(body.get("content") or "")
    data = _decoded(content) if body.get("encoding") == "base64" else content.encode()
    path = asked_for or str(body.get("file_path") or "")
    return content_result(data, path, facts, start_line=start_line, end_line=end_line)


def content_result(
    data: bytes,
    path: str,
    facts: Mapping[str, Any],
    *,
    start_line: int | None = None,
    end_line: int | None = None,
) -> Result:
    """The content of the file at `path`."""
    shown = {name: value for name, value in facts.items() if value is not None}
    mime_type = _image_type(data)
    if mime_type is not None and len(data) <= LARGEST_IMAGE:
        return Result(data={**shown, "mime_type": mime_type}, image=Image(data, mime_type))
    decoded = _text(data)
    if mime_type is not None or decoded is None:
        guessed = mime_type or mimetypes.guess_type(path)[0] or "application/octet-stream"
        return Result(data={**shown, "size": len(data), "binary": True, "mime_type": guessed})
    content, encoding = decoded
    if encoding != "utf-8":
        shown["encoding"] = encoding
    if "\r\n" in content:
        shown["line_endings"] = "crlf"
        content = content.replace("\r\n", "\n")
    if content.startswith(_LFS_POINTER):
        shown["lfs_pointer"] = True
    return _lines(content, path, shown, start_line or 1, end_line)


def _image_type(data: bytes) -> str | None:
    """The type of an image by its first bytes, since its name may be wrong."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((mime_type for magic, mime_type in _IMAGES if data.startswith(magic)), None)


def export_result(chunks: Iterator[bytes], name: str) -> Result:
    """An export, as text; only its beginning where it is too large."""
    content, is_whole = read_beginning(chunks, LARGEST_EXPORT)
    text = content.decode("utf-8", "replace")
    message = f"Only the first {LARGEST_EXPORT} bytes were read."
    return Result(
        data={"size": len(content), "lines": text.count("\n")}
        if is_whole
        else {"larger_than": LARGEST_EXPORT},
        text=Text(text, name),
        warnings=[] if is_whole else [Notice(NoticeCode.TRUNCATED, message)],
    )


def download_result(chunks: Iterator[bytes], path: str) -> Result:
    """A file as GitLab sends it; only its beginning where it is too large."""
    data, is_whole = read_beginning(chunks, LARGEST_EXPORT)
    result = content_result(data, path, {"size": len(data)} if is_whole else {"larger_than": LARGEST_EXPORT})
    if is_whole:
        return result
    message = f"Only the first {LARGEST_EXPORT} bytes were read."
    return replace(result, warnings=[Notice(NoticeCode.TRUNCATED, message)])


def read_beginning(chunks: Iterator[bytes], most: int) -> tuple[bytes, bool]:
    """The first `most` bytes, and whether they are all."""
    content = bytearray()
    for chunk in chunks:
        content += chunk
        if len(content) > most:
            return bytes(content[:most]), False
    return bytes(content), True


def _lines(content: str, path: str, facts: dict[str, Any], start: int, end: int | None) -> Result:
    content = content.removesuffix("\n") if content else content
    total = content.count("\n") + 1 if content else 0
    facts = {**facts, "start_line": start, "total_lines": total}
    if start > total:
        why = f"The file ends at line {total}." if total else "The file is empty."
        return Result(data={**facts, "why_empty": why})
    # Not split: a list of all lines takes many times the memory of the text.
    first = _line_start(content, start - 1, 0)
    last = len(content) if end is None or end >= total else _line_start(content, end - start + 1, first) - 1
    return Result(data=facts, text=Text(content[first:last], f"file {path}"))


def _line_start(content: str, lines: int, position: int) -> int:
    """Where the line begins that comes so many lines after the one at this position."""
    for _ in range(lines):
        position = content.index("\n", position) + 1
    return position


def _text(data: bytes) -> tuple[str, str] | None:
    """The text and its encoding, or None for a binary file."""
    if b"\0" in data[:_CHECKED_FOR_BINARY]:
        return None
    try:
        return data.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        # Old sources are often in Latin 1. Every byte is a character there, so only controls tell a binary.
        text = data.decode("latin-1")
        controls = (
            character < " " and character not in "\t\n\r\f" for character in text[:_CHECKED_FOR_BINARY]
        )
        return None if any(controls) else (text, "latin-1")


def _decoded(content: str) -> bytes:
    try:
        return base64.b64decode(content)
    except binascii.Error:
        return content.encode()

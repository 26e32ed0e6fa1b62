"""A call may name a local file only where the operator opened a folder, and never one outside of it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from gitlab_mcp.actions.action import Action
from gitlab_mcp.actions.exchange import File
from gitlab_mcp.actions.sent_files import LARGEST_FILE, FileField, SentFile
from gitlab_mcp.calls.local_files import LocalFiles, NoLocalFiles
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import CallFailed

pytestmark = pytest.mark.anyio


class Upload(Action):
    file: FileField


@pytest.fixture
def root(tmp_path: Path) -> Path:
    opened = tmp_path / "opened"
    (opened / "shots").mkdir(parents=True)
    (opened / "shots" / "a.png").write_bytes(b"\x89PNG\xff")
    (tmp_path / "private.txt").write_text("keep out")
    (opened / "link.txt").symlink_to(tmp_path / "private.txt")
    (opened / "inside.png").symlink_to(opened / "shots" / "a.png")
    (opened / "way_out").symlink_to(tmp_path)
    os.mkfifo(opened / "pipe")
    with (opened / "huge").open("wb") as huge:
        huge.truncate(LARGEST_FILE + 1)
    return opened


def naming(path: Any, **more: Any) -> Upload:
    return Upload.model_validate({"file": {"path": str(path), **more}})


async def refusal(files: LocalFiles | NoLocalFiles, path: Any) -> Code:
    with pytest.raises(CallFailed) as failed:
        await files.read_into(naming(path))
    assert "keep out" not in str(failed.value.failure)
    return failed.value.failure.code


@pytest.mark.parametrize("absolute", [True, False])
async def test_a_file_below_the_root_is_sent_with_its_own_name(root: Path, absolute: bool) -> None:
    path = Path("shots/a.png")
    read = await LocalFiles(root).read_into(naming(root / path if absolute else path))
    assert read.given()["file"].as_sent() == File("a.png", b"\x89PNG\xff")


async def test_a_file_can_be_sent_under_another_name_and_through_a_link_to_the_root(
    root: Path, tmp_path: Path
) -> None:
    (tmp_path / "alias").symlink_to(root)
    files = LocalFiles(tmp_path / "alias")
    for path in ("shots/a.png", tmp_path / "alias/shots/a.png", root / "shots/a.png"):
        read = await files.read_into(naming(path, filename="b.png"))
        assert read.given()["file"].as_sent().name == "b.png"


@pytest.mark.parametrize(
    "path",
    [
        "../private.txt",
        "shots/../../private.txt",
        "/etc/passwd",
        "link.txt",
        "inside.png",
        "way_out/private.txt",
        "way_out/opened/shots/a.png",
        "pipe",
        "shots",
        ".",
        "/",
        "nothing",
        "shots/a.png/x",
        "x" * 4000,
        "~/private.txt",
        "/dev/zero",
        "shots/a.png ",
    ],
)
async def test_nothing_else_is_sent(root: Path, path: str) -> None:
    assert await refusal(LocalFiles(root), path) is Code.INVALID_VALUE


async def test_a_file_that_is_too_large_is_refused(root: Path) -> None:
    assert await refusal(LocalFiles(root), "huge") is Code.PAYLOAD_TOO_LARGE


async def test_without_a_root_and_over_http_no_path_is_taken(root: Path) -> None:
    inside = root / "shots/a.png"
    assert await refusal(LocalFiles(None), inside) is Code.INVALID_VALUE
    assert await refusal(NoLocalFiles(), inside) is Code.INVALID_VALUE


async def test_content_in_the_call_needs_no_root() -> None:
    given = Upload.model_validate({"file": {"filename": "a.txt", "content": "ü"}})
    for files in (LocalFiles(None), NoLocalFiles()):
        assert await files.read_into(given) is given
    assert given.file.as_sent() == File("a.txt", "ü".encode())


@pytest.mark.parametrize("content", ["iVBO\nRw0K", "data:image/png;base64,iVBORw0K"])
def test_base64_is_taken_in_lines_and_as_a_data_url(content: str) -> None:
    file = SentFile(filename="a.png", content=content, encoding="base64")
    assert file.as_sent().content == b"\x89PNG\r\n"


@pytest.mark.parametrize(
    "file",
    [
        {},
        {"filename": "a.txt"},
        {"content": "x"},
        {"filename": "a.txt", "content": "x", "path": "y"},
        {"path": "y", "encoding": "base64"},
        {"path": ""},
        {"filename": "../a.txt", "content": "x"},
        {"filename": "..", "content": "x"},
        {"filename": "a\nb", "content": "x"},
        {"filename": "a" * 256, "content": "x"},
        {"filename": "", "content": "x"},
        {"filename": "a.png", "content": "not base64!", "encoding": "base64"},
        {"filename": "a.png", "content": "x", "encoding": "gzip"},
        {"filename": "a.png", "content": 3, "surprise": 1},
        "a.png",
        ["a.png"],
        None,
    ],
)
def test_a_file_that_says_too_little_or_too_much_is_refused(file: Any) -> None:
    with pytest.raises(ValidationError):
        Upload.model_validate({"file": file})

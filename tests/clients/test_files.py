"""A client's file is replaced as a whole, with what belongs to it, or it stays as it is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gitlab_mcp.clients.client import Refused
from gitlab_mcp.clients.files import read, replace


def test_rights_stay_and_the_former_file_is_kept_with_them(tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    file.write_text("old")
    file.chmod(0o640)
    backup = replace(file, "old", "new")
    assert backup == tmp_path / "mcp.json.bak"
    assert (file.read_text(), backup.read_text()) == ("new", "old")
    assert [path.stat().st_mode & 0o777 for path in (file, backup)] == [0o640, 0o640]
    assert replace(file, "new", "newer") == tmp_path / "mcp.json.1.bak"
    assert backup.read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mcp.json", "mcp.json.1.bak", "mcp.json.bak"]


def test_a_new_file_is_for_its_owner_alone_in_folders_that_are_made(tmp_path: Path) -> None:
    file = tmp_path / "a" / "b" / "mcp.json"
    assert read(file) is None
    assert replace(file, None, "new") is None
    assert file.read_text() == "new"
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_link_stays_one(tmp_path: Path) -> None:
    target = tmp_path / "dotfiles" / "real.json"
    target.parent.mkdir()
    target.write_text("old")
    link = tmp_path / "mcp.json"
    link.symlink_to(target)
    assert replace(link, "old", "new") == target.with_name("real.json.bak")
    assert link.is_symlink() and target.read_text() == "new"


def test_a_link_that_leads_nowhere_yet_gets_its_file(tmp_path: Path) -> None:
    link = tmp_path / "mcp.json"
    link.symlink_to(tmp_path / "later.json")
    replace(link, read(link), "new")
    assert link.is_symlink() and (tmp_path / "later.json").read_text() == "new"


def test_what_another_program_wrote_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    file.write_text("theirs")
    for before in ("old", None):
        with pytest.raises(Refused, match="changed by another program"):
            replace(file, before, "new")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["theirs"]


@pytest.mark.parametrize("content", [b"\xff\xfe{\x00}\x00", b'{"a": "\xe9"}'])
def test_a_file_in_another_encoding_is_refused(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    file.write_bytes(content)
    with pytest.raises(Refused, match="not in UTF-8"):
        read(file)


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    folder, loop = tmp_path / "folder", tmp_path / "loop"
    folder.mkdir()
    loop.symlink_to(loop)
    for path in (folder, loop, folder / "no.json" / "x"):
        (folder / "no.json").write_text("a file, not a folder")
        with pytest.raises(Refused, match="could not be read"):
            read(path)
        with pytest.raises(Refused, match="could not be"):
            replace(path, None, "new")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_to_is_said(tmp_path: Path) -> None:
    (tmp_path / "mcp.json").write_text("old")
    tmp_path.chmod(0o500)
    with pytest.raises(Refused, match="permission denied"):
        replace(tmp_path / "mcp.json", "old", "new")

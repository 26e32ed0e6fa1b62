from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import keyring
import pytest
from keyring.core import load_keyring

from gitlab_mcp.accounts.credential import Credential, Renewal, from_text, to_text
from gitlab_mcp.accounts.keeping import AccountName, TokenKeeper
from gitlab_mcp.callers import Secret
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import CallFailed

ACME = AccountName("https://gitlab.acme.example")
WORK = AccountName("https://gitlab.acme.example", "work")
PASTED = Credential(Secret("glpat-kept-where-nobody-looks"), username="alice")
SIGNED_IN = Credential(Secret("a" * 64), Renewal(Secret("b" * 64), "c" * 64, 1_800_000_000.5), "alice")
KEYRING = "tests.support.keyring_in_a_file.KeyringInAFile"
NO_KEYRING = "keyring.backends.null.Keyring"


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """Where there is no keyring."""
    before = keyring.get_keyring()
    keyring.set_keyring(load_keyring(NO_KEYRING))
    yield tmp_path / "gitlab-mcp" / "tokens"
    keyring.set_keyring(before)


@pytest.fixture
def in_keyring(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What the keyring keeps."""
    monkeypatch.setenv("KEYRING_FILE", str(tmp_path / "keyring.json"))
    keyring.set_keyring(load_keyring(KEYRING))
    return tmp_path / "keyring.json"


@pytest.mark.parametrize("credential", [PASTED, SIGNED_IN], ids=["pasted", "signed in"])
def test_what_is_kept_comes_back_as_it_was(folder: Path, credential: Credential) -> None:
    TokenKeeper(folder).write(ACME, credential)
    kept = TokenKeeper(folder).read(ACME)
    assert kept is not None
    assert kept.credential == credential
    assert str(folder) in kept.place


def test_each_account_has_what_was_kept_for_it_and_no_other(folder: Path) -> None:
    keeper = TokenKeeper(folder)
    keeper.write(ACME, PASTED)
    keeper.write(WORK, SIGNED_IN)
    assert keeper.forget(ACME)
    assert keeper.read(ACME) is None
    assert not keeper.forget(ACME)
    kept = keeper.read(WORK)
    assert kept is not None and kept.credential == SIGNED_IN
    assert keeper.read(AccountName("https://gitlab.other.example", "work")) is None


@pytest.mark.skipif(os.name == "nt", reason="Windows keeps who may read in another way")
def test_files_can_be_read_by_their_owner_alone(folder: Path) -> None:
    folder.mkdir(parents=True, mode=0o755)
    TokenKeeper(folder).write(ACME, PASTED)
    [file] = folder.glob("*.json")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_nothing_but_the_file_is_left_behind(folder: Path) -> None:
    keeper = TokenKeeper(folder)
    keeper.write(ACME, PASTED)
    keeper.write(ACME, SIGNED_IN)
    assert [file.suffix for file in folder.iterdir()] == [".json"]


def test_a_keyring_is_preferred_and_takes_over_what_was_in_a_file(folder: Path, in_keyring: Path) -> None:
    keyring.set_keyring(load_keyring(NO_KEYRING))
    TokenKeeper(folder).write(ACME, PASTED)
    keyring.set_keyring(load_keyring(KEYRING))
    kept = TokenKeeper(folder).read(ACME)
    assert kept is not None and kept.credential == PASTED
    place = TokenKeeper(folder).write(ACME, SIGNED_IN)
    assert place == "the keyring of the system (a keyring of the tests)"
    assert list(folder.glob("*.json")) == []
    assert json.loads(in_keyring.read_text()).keys() == {f"gitlab-mcp: {ACME}"}
    assert TokenKeeper(folder).forget(ACME)
    assert json.loads(in_keyring.read_text()) == {}


def test_a_locked_keyring_is_said_and_the_token_is_put_nowhere_else(
    folder: Path, in_keyring: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEYRING_LOCKED", "1")
    for attempt in (lambda: TokenKeeper(folder).write(ACME, PASTED), lambda: TokenKeeper(folder).read(ACME)):
        with pytest.raises(CallFailed) as failed:
            attempt()
        assert failed.value.failure.code == Code.CONFIGURATION_ERROR
        assert PASTED.token.reveal() not in repr(failed.value.failure)
        assert "Unlock" in failed.value.failure.facts["suggested_fix"]
    assert not folder.exists()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'{"token": 3, "sign_in": "x"}',
        b'{"token": "a\\nb", "sign_in": "x"}',
        b'{"token": "abc"}',
        b'{"token": "abc", "sign_in": "x", "refresh_token": "d", "client_id": "e", "expires_at": true}',
        b"\xff\xfe",
    ],
)
def test_a_file_that_was_damaged_is_said_without_what_is_in_it(folder: Path, content: bytes) -> None:
    TokenKeeper(folder).write(ACME, PASTED)
    [file] = folder.glob("*.json")
    file.write_bytes(content)
    with pytest.raises(CallFailed) as failed:
        TokenKeeper(folder).read(ACME)
    assert failed.value.failure.code == Code.CONFIGURATION_ERROR
    assert failed.value.__cause__ is None
    assert TokenKeeper(folder).forget(ACME)


def test_a_folder_that_cannot_be_made_is_said(folder: Path) -> None:
    folder.parent.mkdir(parents=True)
    folder.write_text("in the way")
    with pytest.raises(CallFailed) as failed:
        TokenKeeper(folder).write(ACME, PASTED)
    assert failed.value.failure.code == Code.CONFIGURATION_ERROR


def test_what_is_kept_fits_into_the_keyring_of_windows() -> None:
    assert len(to_text(SIGNED_IN)) <= 1280
    assert from_text(to_text(SIGNED_IN)) == SIGNED_IN


def test_one_process_alone_renews_and_a_killed_one_holds_nobody_up(folder: Path) -> None:
    holder = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sys, time, pathlib; from gitlab_mcp.accounts.keeping import *\n"
            "with TokenKeeper(pathlib.Path(sys.argv[1])).alone(AccountName(sys.argv[2])):\n"
            "    print('held', flush=True); time.sleep(60)",
            str(folder),
            str(ACME),
        ],
        stdout=subprocess.PIPE,
    )
    assert holder.stdout and holder.stdout.readline() == b"held\n"
    keeper = TokenKeeper(folder, seconds_for_a_renewal=0.2)
    with pytest.raises(CallFailed) as failed, keeper.alone(ACME):
        pytest.fail("two were let in")
    assert failed.value.failure.code == Code.BUSY
    with keeper.alone(WORK):
        pass
    holder.kill()
    holder.communicate()
    with keeper.alone(ACME):
        pass

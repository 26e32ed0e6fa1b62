"""A keyring for processes that a test starts: PYTHON_KEYRING_BACKEND names it, KEYRING_FILE is what it keeps."""

from __future__ import annotations

import json
import os
from pathlib import Path

from keyring.backend import KeyringBackend
from keyring.errors import KeyringLocked, PasswordDeleteError


class KeyringInAFile(KeyringBackend):
    priority = 5

    @property
    def name(self) -> str:
        return "a keyring of the tests"

    def get_password(self, service: str, username: str) -> str | None:
        return self._all().get(f"{service}: {username}")

    def set_password(self, service: str, username: str, password: str) -> None:
        self._write({**self._all(), f"{service}: {username}": password})

    def delete_password(self, service: str, username: str) -> None:
        kept = self._all()
        if kept.pop(f"{service}: {username}", None) is None:
            raise PasswordDeleteError
        self._write(kept)

    def _all(self) -> dict[str, str]:
        if os.environ.get("KEYRING_LOCKED"):
            raise KeyringLocked("locked")
        file = Path(os.environ["KEYRING_FILE"])
        kept: dict[str, str] = json.loads(file.read_text("utf-8")) if file.exists() else {}
        return kept

    def _write(self, kept: dict[str, str]) -> None:
        file = Path(os.environ["KEYRING_FILE"])
        written = file.with_suffix(f".{os.getpid()}")
        written.write_text(json.dumps(kept), "utf-8")
        written.replace(file)

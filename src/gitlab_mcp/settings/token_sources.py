"""Where the token comes from: a file that may change, or a fixed value; and what kind of token it is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from gitlab_mcp.callers import JOB_TOKEN, OAUTH_TOKEN, Secret, Token, TokenKind, sort_of
from gitlab_mcp.settings import parsers
from gitlab_mcp.settings.errors import SettingsError, bad_secret_file

_OF_OTHERS: Final = ("token_file", "redis_password_file")
SECRET_FILES: Final = (*_OF_OTHERS, "require_bearer_file", "operator_secret_file", "confirmation_key_file")
"""The settings that name a file with a secret."""


def secret_parser(setting: str) -> Callable[[str], Secret]:
    """What checks the file of a setting. How strong a token is, GitLab decides, and a password whoever runs Redis; a
    secret of ours must be strong."""
    return parsers.secret if setting in _OF_OTHERS else parsers.strong_secret


class SecretFile:
    """Gives the secret as it is now: reads the file again when it has changed."""

    def __init__(self, path: Path, setting: str, source: str) -> None:
        self._path = path
        self._setting = setting
        self._source = source
        self._read_at: tuple[int, int, int] | None = None
        self._secret: Secret | None = None

    def __call__(self) -> Secret:
        try:
            stat = self._path.stat()
            # The inode too: a file renamed into place can carry the time of the old one.
            now = (stat.st_mtime_ns, stat.st_size, stat.st_ino)
            if self._secret is None or now != self._read_at:
                self._secret, self._read_at = secret_parser(self._setting)(self._path.read_text("utf-8")), now
        except (OSError, ValueError) as problem:
            raise SettingsError(bad_secret_file(self._setting, self._source)) from problem
        return self._secret


def token_from_file(file: SecretFile) -> Callable[[], Token]:
    def token() -> Token:
        secret = file()
        return Token(secret, token_kind(secret))

    return token


def token_kind(secret: Secret) -> TokenKind:
    token = secret.reveal()
    if sort_of(token) is JOB_TOKEN:
        return "job"
    # GitLab takes them as Bearer only.
    return "bearer" if sort_of(token) is OAUTH_TOKEN else "private"

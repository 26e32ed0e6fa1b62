"""The token that the settings name. It is asked for as one that is kept and renewed is (`kept_account.py`)."""

from __future__ import annotations

from collections.abc import Callable

from gitlab_mcp.callers import Token


class GivenToken:
    def __init__(self, source: Callable[[], Token | None]) -> None:
        self._source = source

    @property
    def last_known(self) -> Token | None:
        return self._source()

    async def token(self) -> Token | None:
        return self._source()

    async def token_after(self, refused: str) -> Token | None:
        """A file may have another one by now."""
        token = self._source()
        return token if token is not None and token.value.reveal() != refused else None

    def finish(self) -> None:
        """Nothing is under way."""

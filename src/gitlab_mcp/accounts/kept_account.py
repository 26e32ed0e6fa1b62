"""The token of a kept account as it is now: read when it is needed, and renewed once for all that share it."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Lock
from typing import Final

import anyio
import anyio.to_thread

from gitlab_mcp.accounts.credential import Credential
from gitlab_mcp.accounts.keeping import AccountName, TokenKeeper
from gitlab_mcp.actions.exchange import Request
from gitlab_mcp.callers import Token
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.gitlab.faults import BadAnswer, NoToken, Refused, Unreachable, UnreachableReason

_READ_AGAIN: Final = 60.0
"""Seconds after which it is looked whether somebody signed in or out meanwhile."""
_TO_FINISH: Final = 5.0
"""Seconds that a server which ends leaves to a renewal."""

Renew = Callable[[Credential], Credential]


class KeptAccount:
    """`renew` asks GitLab; with it the old refresh token is spent, so one process at a time may do it."""

    def __init__(
        self,
        name: AccountName,
        keeper: TokenKeeper,
        renew: Renew,
        *,
        deadline: float,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._name = name
        self._keeper = keeper
        self._renew = renew
        self._deadline = deadline
        self._clock = clock
        self._lock = Lock()
        self._credential: Credential | None = None
        self._read_at = 0.0

    async def token(self) -> Token:
        """Raises NoToken where nothing is kept, and CallFailed where it cannot be read or renewed."""
        known = self._credential
        if known is not None and self._is_fresh(known):
            return known.as_token()
        token = await self._aside(self._current)
        if token is None:
            raise NoToken(self._name.profile)
        return token

    async def token_after(self, refused: str) -> Token | None:
        """Another one than this, which GitLab has just refused; None where there is none."""
        return await self._aside(lambda: self._other_than(refused))

    def finish(self) -> None:
        """Waits a moment for a renewal under way: what GitLab gave in place of a spent token would be lost."""
        if self._lock.acquire(timeout=_TO_FINISH):
            self._lock.release()

    @property
    def last_known(self) -> Token | None:
        return self._credential.as_token() if self._credential else None

    async def _aside(self, work: Callable[[], Credential | None]) -> Token | None:
        """In a thread: a keyring may ask its person, and another process may be renewing."""
        with anyio.move_on_after(self._deadline):
            credential = await anyio.to_thread.run_sync(work, abandon_on_cancel=True)
            return credential.as_token() if credential else None
        host = self._name.url.partition("://")[2]
        raise Unreachable(Request("POST", "/oauth/token"), UnreachableReason.DEADLINE, host, sent=False)

    def _current(self) -> Credential | None:
        with self._lock:
            if self._credential is None or not self._is_fresh(self._credential):
                now_kept = self._read()
                if now_kept is not None and now_kept.is_due(self._clock()):
                    self._renewed(lambda now: now.is_due(self._clock()))
            return self._credential

    def _other_than(self, refused: str) -> Credential | None:
        with self._lock:
            if self._is_the(refused, self._credential):
                # Another process may have renewed it, or somebody signed in again.
                self._read()
            known = self._credential
            if known is not None and known.renewal is not None and self._is_the(refused, known):
                self._renewed(lambda now: self._is_the(refused, now))
            if self._credential is None:
                raise CallFailed(
                    self._sign_in_again(f"Nobody is signed in at {self._name} any more.", "revoked")
                )
            return None if self._is_the(refused, self._credential) else self._credential

    @staticmethod
    def _is_the(token: str, credential: Credential | None) -> bool:
        return credential is not None and credential.token.reveal() == token

    def _renewed(self, needs_it: Callable[[Credential], bool]) -> None:
        """Unless another process has done so while this one waited for it."""
        with self._keeper.alone(self._name):
            credential = self._read()
            if credential is None or credential.renewal is None or not needs_it(credential):
                return
            try:
                renewed = self._renew(credential)
            except (Unreachable, Refused, BadAnswer):
                now = self._clock()
                if credential.is_due(now) and not credential.is_due(now, margin=0.0):
                    # It still holds for a moment, and the next call tries again.
                    return
                raise
            except CallFailed as failed:
                if failed.failure.code != Code.AUTHENTICATION_FAILED:
                    raise
                message = f"The sign-in at {self._name} has ended: GitLab does not renew it."
                raise CallFailed(self._sign_in_again(message, "expired")) from None
            self._keeper.write(self._name, renewed)
            self._credential = renewed

    def _read(self) -> Credential | None:
        kept = self._keeper.read(self._name)
        self._credential, self._read_at = (kept.credential if kept else None), self._clock()
        return self._credential

    def _is_fresh(self, credential: Credential) -> bool:
        now = self._clock()
        return not credential.is_due(now) and abs(now - self._read_at) < _READ_AGAIN

    def _sign_in_again(self, message: str, problem: str) -> Failure:
        command = "gitlab-mcp login" + (f" --profile {self._name.profile}" if self._name.profile else "")
        return Failure(Code.AUTHENTICATION_FAILED, message).knowing(
            confidence="certain",
            token_problem=problem,
            suggested_fix=f"Run `{command}` in a terminal, then call again.",
        )

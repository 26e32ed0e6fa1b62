"""The token that calls are made with: what it is, where it is kept, and how another one gets there."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

import anyio.to_thread

from gitlab_mcp.accounts.account import Account
from gitlab_mcp.accounts.keeping import Kept
from gitlab_mcp.callers import Token
from gitlab_mcp.doctor.where_set import where_set
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.gitlab.faults import BadAnswer, NoToken, Refused, Unreachable
from gitlab_mcp.settings import Settings


@dataclass(frozen=True, slots=True)
class HeldToken:
    token: Token | None
    where: str
    """A variable, a key of the settings file, or where this program keeps it; where there is none, where it can go."""
    command: str | None = None
    """What keeps another one there; None where the person puts it there."""
    signed_in_until: datetime | None = None
    """When an access token ends that is renewed by itself."""
    scopes: tuple[str, ...] = ()
    """Of a sign-in."""
    problem: Failure | None = None
    """Why it cannot be used."""

    @property
    def new_token(self) -> str:
        """How to come to another one."""
        if self.signed_in_until is not None or (self.command or "").startswith("gitlab-mcp login"):
            return f"Run `{self.command}`."
        return f"Create a personal access token with the scope api (or read_api to read only) and {self.put('it')}."

    def put(self, what: str) -> str:
        into = f"put {what} into {self.where}"
        if self.command is None:
            return into
        given = f"give {what} to `{self.command}`"
        return f"{given}, or {into}" if self.token is None and self.where else given


async def held_token(settings: Settings) -> HeldToken:
    """Renewed where that is due. Problems are told, not raised."""
    account = settings.account() if settings.uses_kept_token else None
    if account is None:
        where = where_set(settings, "token_file" if settings.token_file else "token", "GITLAB_TOKEN")
        return HeldToken(settings.token_source()(), where)
    asking = f" --profile {settings.profile}" if settings.profile else ""
    try:
        kept = await anyio.to_thread.run_sync(account.keeper().read, account.name)
    except CallFailed as failed:
        return HeldToken(None, "the keyring", f"gitlab-mcp init{asking}", problem=failed.failure)
    if kept is None:
        return HeldToken(None, "" if settings.profile else "GITLAB_TOKEN", f"gitlab-mcp init{asking}")
    if kept.credential.renewal is None:
        return HeldToken(kept.credential.as_token(), kept.place, f"gitlab-mcp init{asking}")
    return await _signed_in(account, kept, f"gitlab-mcp login{asking}")


async def _signed_in(account: Account, kept: Kept, command: str) -> HeldToken:
    try:
        token = await account.kept().token()
        now = await anyio.to_thread.run_sync(account.keeper().read, account.name)
    except CallFailed as failed:
        return HeldToken(None, kept.place, command, problem=failed.failure)
    except (Unreachable, Refused, BadAnswer, NoToken):
        # The connection is a check of its own.
        token, now = kept.credential.as_token(), kept
    if now is None or now.credential.renewal is None:
        return HeldToken(token, kept.place, command)
    renewal = now.credential.renewal
    try:
        scopes = await anyio.to_thread.run_sync(account.oauth(renewal.client_id).scopes, now.credential)
    except (CallFailed, Unreachable, Refused, BadAnswer):
        scopes = ()
    until = datetime.fromtimestamp(renewal.expires_at, UTC)
    return HeldToken(token, now.place, command, until, scopes)

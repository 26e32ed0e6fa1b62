"""Which write made which thing, so that two writes whose answers were lost never both take the same thing for theirs.

Before a create is sent it is noted as under way, and what its answer shows is claimed. A create whose answer was lost
looks what is there, waits until the caller's others are answered, then takes only what nobody claimed. Both are in the
store, so it holds between replicas.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import anyio

from gitlab_mcp.actions.action import Action
from gitlab_mcp.actions.exchange import GitLab, Request
from gitlab_mcp.callers import CallerKey
from gitlab_mcp.store import Store, StoreUnavailable

_REMEMBERED_SECONDS: Final = 600.0
"""Longer than any write is under way."""
_LONGEST_WAIT: Final = 3.0
_POLL_SECONDS: Final = 0.05
_SECONDS_TO_LEAVE: Final = 2.0


@dataclass(frozen=True, slots=True)
class Claims:
    store: Store

    def of(self, caller: CallerKey, action: Action, request: Request) -> ClaimsOfCreate:
        kind = f"{caller.gitlab_url}\n{action.spec.tool.name} {action.spec.name}"
        return ClaimsOfCreate(self.store, kind, _digest(f"{kind}\n{caller.digest}"), request.path)


@dataclass(frozen=True, slots=True)
class ClaimsOfCreate:
    store: Store
    kind: str
    """What the things are, and at which GitLab."""
    by_caller: str
    """The caller's creates of this kind."""
    path: str
    token: str = field(default_factory=lambda: secrets.token_hex(8))

    @asynccontextmanager
    async def under_way(self) -> AsyncIterator[None]:
        """While the create may still be answered."""
        key = f"under way:{self.by_caller}"
        try:
            await self.store.add_member(key, self.token, _REMEMBERED_SECONDS)
        except StoreUnavailable:
            # The write goes on: the guards decide what needs the store. A lost answer will not be claimed.
            yield
            return
        try:
            yield
        finally:
            # Also where the caller left: others wait for this.
            with anyio.CancelScope(shield=True), anyio.move_on_after(_SECONDS_TO_LEAVE):
                await self._leave(key)

    async def _leave(self, key: str) -> None:
        try:
            await self.store.remove_member(key, self.token)
        except StoreUnavailable:
            return

    async def wait_for_the_others(self, gitlab: GitLab) -> bool:
        """Wait until the caller's creates that are under way now have ended: what was there before, and they did not
        claim, is free. False where one takes too long. Creates that begin later made nothing that was there before."""
        key, waited = f"under way:{self.by_caller}", 0.0
        try:
            others = set(await self.store.members(key)) - {self.token}
            while others:
                if waited >= _LONGEST_WAIT or not await gitlab.pause(_POLL_SECONDS):
                    return False
                waited += _POLL_SECONDS
                others &= set(await self.store.members(key))
        except StoreUnavailable:
            return False
        return True

    async def is_claimed(self, thing: Any) -> bool:
        return await self.store.get(self._key(thing)) is not None

    async def claim(self, thing: Any) -> bool:
        """Whether the thing is ours: nobody claimed it before."""
        try:
            return (
                await self.store.put_if_absent(self._key(thing), self.token, _REMEMBERED_SECONDS)
                == self.token
            )
        except StoreUnavailable:
            return False

    def _key(self, thing: Any) -> str:
        return "claim:" + _digest(f"{self.kind}\n{self._identity(thing)}")

    def _identity(self, thing: Any) -> str:
        """GitLab's number of the thing, or its address; else its name where it is."""
        if isinstance(thing, Mapping):
            for name in ("id", "web_url"):
                if thing.get(name) is not None:
                    return f"{name}={thing[name]}"
            for name in ("tag_name", "file_path", "name"):
                if thing.get(name) is not None:
                    return f"{self.path}\n{name}={thing[name]}"
        return self.path


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]

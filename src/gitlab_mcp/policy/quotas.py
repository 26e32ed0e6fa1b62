"""How much of each kind a caller may do in an hour. Near the end it is said, then asked, then over."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from gitlab_mcp.actions.action import Danger
from gitlab_mcp.actions.call import Call
from gitlab_mcp.actions.result import Notice
from gitlab_mcp.failures.codes import Code, NoticeCode
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.policy import Intent
from gitlab_mcp.policy.confirmation_tokens import Tokens, claims, moment
from gitlab_mcp.store import Store, StoreUnavailable

HOUR: Final = 3600
_WARN, _PAUSE = 0.8, 0.9


def kind_of(call: Call) -> str:
    match call.danger:
        case Danger.READ:
            return "reads"
        case Danger.REVERSIBLE:
            return "writes"
        case _:
            return "destructive"


def _metric(kind: str) -> str:
    return f"{kind}_per_hour"


def going_on(call: Call) -> str:
    """What a person says yes to when work that was paused shall go on."""
    return f"go on:{kind_of(call)}"


@dataclass(frozen=True, slots=True)
class Quotas:
    limits: Mapping[str, int]
    """The most of each kind in an hour; a kind that is missing has no limit."""
    tokens: Tokens
    store: Store
    clock: Callable[[], float] = time.time

    async def allow(self, intent: Intent) -> None:
        """As a guard, before anything is asked or used up: refuses what is over, pauses what is nearly over."""
        limit = self.limits.get(kind_of(intent.call))
        if limit is None:
            return
        try:
            used = int(await self.store.get(self._key(intent)) or 0)
        except StoreUnavailable:
            # Reading goes on without the store; whatever changes something does not.
            if intent.call.action.spec.writes:
                raise
            return
        if used >= limit:
            raise CallFailed(self._exhausted(intent, limit))
        if used >= math.ceil(limit * _PAUSE) and not await self._may_go_on(intent):
            raise CallFailed(await self._paused(intent, used, limit))

    async def spend(self, intent: Intent) -> Notice | None:
        """As the last guard: counts what is now going to happen."""
        kind = kind_of(intent.call)
        limit = self.limits.get(kind)
        if limit is None:
            return None
        try:
            used = await self.store.increment(self._key(intent), HOUR)
        except StoreUnavailable:
            if intent.call.action.spec.writes:
                raise
            return None
        if used > limit:
            # Others of the same caller came in between.
            raise CallFailed(self._exhausted(intent, limit))
        if used < math.ceil(limit * _WARN):
            return None
        facts = {**self._numbers(kind, used, limit), "warn_at": math.ceil(limit * _WARN)}
        return Notice(NoticeCode.QUOTA_WARNING, f"{used} of {limit} {kind} of this hour are used.", facts)

    async def _may_go_on(self, intent: Intent) -> bool:
        token, flag = intent.call.options.confirmation_token, f"{self._key(intent)}:go on"
        if claims(token, going_on(intent.call)) and token is not None:
            await self.tokens.redeem(token, intent.caller, going_on(intent.call))
            await self.store.put(flag, "yes", HOUR)
            return True
        return await self.store.get(flag) is not None

    async def _paused(self, intent: Intent, used: int, limit: int) -> Failure:
        kind = kind_of(intent.call)
        token, ends = await self.tokens.issue(intent.caller, going_on(intent.call), _metric(kind))
        will = f"Work goes on until {limit} {kind} of this hour are used; {used} are used now."
        return Failure(Code.QUOTA_PAUSED, f"Paused: {used} of {limit} {kind} of this hour are used.").knowing(
            what_will_happen=will,
            confirmation_token=token,
            expires_at=ends,
            **self._numbers(kind, used, limit),
            suggested_fix="Ask the person whether to go on. After a yes, send the call with confirmation_token.",
        )

    def _exhausted(self, intent: Intent, limit: int) -> Failure:
        kind = kind_of(intent.call)
        return Failure(Code.QUOTA_EXHAUSTED, f"All {limit} {kind} of this hour are used.").knowing(
            **self._numbers(kind, limit, limit),
            retry_after_seconds=math.ceil(HOUR - self.clock() % HOUR),
            suggested_fix="Stop, and tell the person what is left to do. The operator sets the quota with --quota.",
        )

    def _numbers(self, kind: str, used: int, limit: int) -> dict[str, Any]:
        return {
            "metric": _metric(kind),
            "used": used,
            "pause_at": math.ceil(limit * _PAUSE),
            "limit": limit,
            "remaining": max(limit - used, 0),
            "reset_at": self._reset_at(),
        }

    def _key(self, intent: Intent) -> str:
        return f"quota:{intent.caller.digest}:{kind_of(intent.call)}:{self._hour()}"

    def _hour(self) -> int:
        return int(self.clock() // HOUR)

    def _reset_at(self) -> str:
        return moment((self._hour() + 1) * HOUR)
